//! Checks that accesses stand between the same synchronizations in the listing as in the kernel IR.
//!
//! LLVM merges, splits, duplicates and removes accesses, so single accesses cannot be followed. But an access that
//! crosses a synchronization adds to the bytes that a lane accesses in another interval. So on every path of the
//! listing from one synchronization to the next, a lane may access at most as many bytes of each kind as on a path of
//! the kernel IR. Scalar loads and scratch memory are left out: no store of the kernel changes what they read.

use super::generation::{Access, access, is_copy_to_shared, is_shuffle};
use super::graph::{Bytes, KINDS, Node, most_bytes};
use super::parse::{Instruction, Line, Listing, Synchronization};
use tilewright_kernel::{MemoryOrder, Region, Statement};
use tilewright_vendor_testkit::prelude::*;

const SHARED_LOADS: usize = 0;
const SHARED_STORES: usize = 1;
const GLOBAL_LOADS: usize = 2;
const GLOBAL_STORES: usize = 3;

/// Returns a line for each interval of the listing with more accesses than in the kernel IR.
pub fn violations(kernel: &Kernel, listing: &Listing) -> Vec<String> {
    let mut graph = IrGraph { types: Types::of(kernel), nodes: vec![Node::default()], synchronizations: 0 };
    let end = graph.add(Node::default());
    let first = graph.statements(&kernel.body.statements, end);
    graph.nodes[0].successors.push(first);
    let expected = most_bytes(&graph.nodes);
    let mut violations = if kernel.launch.warps > 1 { missing_barriers(listing) } else { Vec::new() };
    for (interval, found) in most_bytes(&listing_nodes(listing)) {
        let Some(expected) = expected.get(&interval) else {
            if found.iter().any(|&bytes| bytes > 0) {
                violations.push(format!("accesses in {interval:?}, which is no path of the kernel"));
            }
            continue;
        };
        for (kind, (found, expected)) in KINDS.iter().zip(found.iter().zip(expected)) {
            if found > expected {
                violations.push(format!("{kind} in {interval:?}: {found} bytes, in the kernel IR {expected}"));
            }
        }
    }
    violations
}

/// Returns a line for each comment about a block barrier without the barrier's instructions before the next access. The
/// comments stand for barriers in the rest of this check.
fn missing_barriers(listing: &Listing) -> Vec<String> {
    let mut violations = Vec::new();
    for (at, line) in listing.lines.iter().enumerate() {
        let Line::Synchronization(Synchronization::BlockBarrier, number) = line else { continue };
        let follow = listing.lines[at + 1..].iter().map_while(|line| match line {
            Line::Instruction(instruction) if accessed(instruction) == Bytes::default() => Some(instruction),
            _ => None,
        });
        let names: Vec<&str> = follow.map(|instruction| instruction.mnemonic.as_str()).collect();
        let pair = ["s_barrier_signal", "s_barrier_wait"];
        if !names.contains(&"s_barrier") && !pair.iter().all(|half| names.contains(half)) {
            violations.push(format!("BlockBarrier {number}: no instruction of a barrier follows"));
        }
    }
    violations
}

/// The control-flow graph of a kernel's IR. Its first node is the entry.
struct IrGraph {
    types: Types,
    nodes: Vec<Node>,
    /// Number of synchronizations of the statements before the current one.
    synchronizations: u32,
}

impl IrGraph {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds a node that follows the node `last`.
    fn append(&mut self, last: usize, node: Node) -> usize {
        let at = self.add(node);
        self.nodes[last].successors.push(at);
        at
    }

    /// Adds statements in order, followed by the node `next`; returns their first node.
    fn statements(&mut self, statements: &[Statement], next: usize) -> usize {
        let first = self.add(Node::default());
        let mut last = first;
        for statement in statements {
            last = self.statement(statement, last);
        }
        self.nodes[last].successors.push(next);
        first
    }

    /// Adds a statement that follows the node `last`; returns the statement's last node.
    fn statement(&mut self, statement: &Statement, last: usize) -> usize {
        let mut last = last;
        if is_synchronization(&statement.op) {
            let synchronization = Some(self.synchronizations);
            self.synchronizations += 1;
            last = self.append(last, Node { synchronization, ..Node::default() });
        }
        match &statement.op {
            Op::If { then, otherwise, .. } => {
                let join = self.add(Node::default());
                if !synchronizes(then) && !synchronizes(otherwise) {
                    // Lanes may differ in the condition, and then a warp executes both regions.
                    let middle = self.add(Node::default());
                    let (first, second) =
                        (self.statements(&then.statements, middle), self.statements(&otherwise.statements, join));
                    self.nodes[middle].successors.push(second);
                    self.nodes[last].successors.push(first);
                } else {
                    for region in [then, otherwise] {
                        let first = self.statements(&region.statements, join);
                        self.nodes[last].successors.push(first);
                    }
                }
                join
            }
            Op::For { body, .. } | Op::While { body, .. } => {
                let (head, end) = (self.add(Node::default()), self.add(Node::default()));
                let first = self.statements(&body.statements, end);
                self.nodes[last].successors.push(head);
                self.nodes[head].successors.push(first);
                let exit = self.add(Node::default());
                self.nodes[end].successors.extend([head, exit]);
                if matches!(statement.op, Op::For { .. }) {
                    self.nodes[head].successors.push(exit);
                }
                exit
            }
            _ => {
                let bytes = bytes_of(statement, &self.types);
                if bytes == Bytes::default() { last } else { self.append(last, Node { bytes, ..Node::default() }) }
            }
        }
    }
}

/// Whether the listing has a comment for the operation: a barrier, a fence, or an atomic operation that releases.
fn is_synchronization(op: &Op) -> bool {
    match op {
        Op::Barrier { .. } | Op::Fence { .. } => true,
        Op::AtomicRmw { order, .. } | Op::AtomicCompareExchange { order, .. } => {
            matches!(order, MemoryOrder::Release | MemoryOrder::AcquireRelease)
        }
        _ => false,
    }
}

fn synchronizes(region: &Region) -> bool {
    region
        .statements
        .iter()
        .any(|statement| is_synchronization(&statement.op) || statement.op.regions().into_iter().any(synchronizes))
}

/// The types of a kernel's values.
struct Types(BTreeMap<Value, Type>);

impl Types {
    fn of(kernel: &Kernel) -> Self {
        let parameters = kernel.parameters.iter().map(|parameter| parameter.ty);
        let mut types: BTreeMap<Value, Type> = (0..).map(Value).zip(parameters).collect();
        collect(&kernel.body, &mut types);
        Self(types)
    }

    fn is_shared(&self, pointer: Value) -> bool {
        self.0.get(&pointer) == Some(&Type::Pointer(MemorySpace::Shared))
    }

    fn bytes(&self, value: Value) -> u64 {
        self.0.get(&value).map_or(0, |&ty| size(ty))
    }
}

fn collect(region: &Region, types: &mut BTreeMap<Value, Type>) {
    types.extend(region.arguments.iter().copied());
    for statement in &region.statements {
        types.extend(statement.results.iter().copied());
        statement.op.regions().into_iter().for_each(|inner| collect(inner, types));
    }
}

fn size(ty: Type) -> u64 {
    u64::from(ty.bits().div_ceil(8))
}

/// Returns the bytes that a lane accesses by a statement.
fn bytes_of(statement: &Statement, types: &Types) -> Bytes {
    let mut bytes = Bytes::default();
    let result = statement.results.first().map_or(0, |&(_, ty)| size(ty));
    match &statement.op {
        Op::Load { pointer, .. } => bytes[if types.is_shared(*pointer) { SHARED_LOADS } else { GLOBAL_LOADS }] = result,
        Op::Store { pointer, value, .. } => {
            let kind = if types.is_shared(*pointer) { SHARED_STORES } else { GLOBAL_STORES };
            bytes[kind] = types.bytes(*value);
        }
        // LLVM expands some atomic operations to a load and a loop of compare-exchanges.
        Op::AtomicRmw { pointer, .. } | Op::AtomicCompareExchange { pointer, .. } => {
            bytes[if types.is_shared(*pointer) { SHARED_LOADS } else { GLOBAL_LOADS }] = result.max(4);
        }
        Op::Instruction { name, .. } => match name.as_str() {
            "global_load_lds_dword" => (bytes[GLOBAL_LOADS], bytes[SHARED_STORES]) = (4, 4),
            "global_load_lds_dwordx4" => (bytes[GLOBAL_LOADS], bytes[SHARED_STORES]) = (16, 16),
            name if name.starts_with("ds_read") => bytes[SHARED_LOADS] = result,
            _ => {}
        },
        _ => {}
    }
    bytes
}

/// Returns the control-flow graph of a listing.
fn listing_nodes(listing: &Listing) -> Vec<Node> {
    let lines = listing.lines.iter().zip(&listing.successors);
    let node = |(line, successors): (&Line, &Vec<usize>)| {
        let (bytes, synchronization) = match line {
            Line::Synchronization(_, number) => (Bytes::default(), Some(*number)),
            Line::Instruction(instruction) => (accessed(instruction), None),
        };
        Node { bytes, synchronization, successors: successors.clone() }
    };
    let entry = Node { successors: vec![1], ..Node::default() };
    let shifted = lines.map(node).map(|mut node| {
        node.successors.iter_mut().for_each(|next| *next += 1);
        node
    });
    std::iter::once(entry).chain(shifted).collect()
}

/// Returns the bytes that a lane accesses by an instruction.
fn accessed(instruction: &Instruction) -> Bytes {
    let mut bytes = Bytes::default();
    let mnemonic = instruction.mnemonic.as_str();
    let is_atomic = mnemonic.contains("atomic") || mnemonic.starts_with("ds_") && width(mnemonic).is_none();
    if is_atomic || is_shuffle(instruction) || !["global_", "ds_"].iter().any(|unit| mnemonic.starts_with(unit)) {
        return bytes;
    }
    let width = || width(mnemonic).unwrap_or_else(|| panic!("no width in `{}`", instruction.text));
    let is_store = mnemonic.contains("store") || mnemonic.contains("write");
    match access(instruction) {
        Some(Access::Load) if is_copy_to_shared(instruction) => {
            (bytes[GLOBAL_LOADS], bytes[SHARED_STORES]) = (width(), width());
        }
        Some(Access::Load) => bytes[GLOBAL_LOADS] = width(),
        Some(Access::Store) => bytes[GLOBAL_STORES] = width(),
        Some(Access::Shared) => bytes[if is_store { SHARED_STORES } else { SHARED_LOADS }] = width(),
        Some(Access::Scalar) | None => {}
    }
    bytes
}

/// Returns the bytes that a load or store moves for a lane; `None` for other mnemonics.
fn width(mnemonic: &str) -> Option<u64> {
    let operations = ["load", "store", "read", "write"];
    let (_, rest) = operations.iter().find_map(|operation| mnemonic.split_once(operation))?;
    let pairs = if rest.starts_with('2') || rest.starts_with("_2addr") { 2 } else { 1 };
    let words = rest.split('_').map(|word| word.trim_start_matches("lds"));
    let mut bytes = words.filter_map(|word| match word {
        "ubyte" | "sbyte" | "byte" => Some(1),
        "ushort" | "sshort" | "short" => Some(2),
        "dword" => Some(4),
        word => match word.strip_prefix("dwordx") {
            Some(words) => Some(4 * words.parse::<u64>().ok()?),
            None => word
                .trim_start_matches(['b', 'u', 'i'])
                .parse::<u64>()
                .ok()
                .filter(|_| word.len() > 1)
                .map(|bits| bits / 8),
        },
    });
    bytes.next().map(|bytes| pairs * bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_read_from_mnemonics() {
        for (mnemonic, expected) in [
            ("global_load_dwordx4", Some(16)),
            ("global_load_short_d16_hi", Some(2)),
            ("global_load_d16_hi_b16", Some(2)),
            ("global_store_byte_d16_hi", Some(1)),
            ("global_load_lds_dwordx4", Some(16)),
            ("ds_read2st64_b64", Some(16)),
            ("ds_load_2addr_stride64_b32", Some(8)),
            ("ds_read_u16_d16", Some(2)),
            ("ds_store_b8_d16_hi", Some(1)),
            ("ds_read_b64_tr_b16", Some(8)),
            ("ds_add_u32", None),
        ] {
            assert_eq!(width(mnemonic), expected, "{mnemonic}");
        }
    }
}
