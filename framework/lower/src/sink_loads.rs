//! Loads of global memory in kernels whose values need more registers than a lane has.
//!
//! A tile program loads whole tiles before it uses them, and a barrier keeps code generators from moving a load to its
//! use behind it. A gather of a large tile in several rounds then holds the tile and its indices in registers from the
//! first round to the last. This pass places loads and arithmetic directly before their first use, as long as the loads
//! read the same values there.

use std::collections::HashMap;

use tilewright_kernel::{CollectiveScope, Kernel, MemorySpace, Op, Region, Statement, Type, Value};

/// Bits of a register.
const REGISTER_BITS: u64 = 32;

/// Moves loads of global memory and arithmetic in the body of a kernel to their first uses if its values need more than
/// `registers` registers of a lane at the same time, and fewer afterwards.
pub(crate) fn sink_loads(kernel: &mut Kernel, registers: u64) {
    let types = Types::of(kernel);
    let before = types.most_live(&kernel.body.statements);
    if before <= registers {
        return;
    }
    let statements = &kernel.body.statements;
    let positions = find_positions(statements, &types);
    let mut order: Vec<usize> = (0..statements.len()).collect();
    // A moved statement comes before the one whose position it has; several keep their order.
    order.sort_by_key(|&at| (positions[at].unwrap_or(at), positions[at].is_none(), at));
    let sunk: Vec<Statement> = order.into_iter().map(|at| statements[at].clone()).collect();
    if types.most_live(&sunk) < before {
        kernel.body.statements = sunk;
    }
}

/// Returns for each statement the index of the statement before which it can stand latest; `None` if it stays.
fn find_positions(statements: &[Statement], types: &Types) -> Vec<Option<usize>> {
    let mut first_use: HashMap<Value, usize> = HashMap::new();
    let mut positions = vec![None; statements.len()];
    // The statement behind which no load may stand, and the next statement that may change global memory.
    let (mut last_barrier, mut writer) = (None, statements.len());
    for (at, statement) in statements.iter().enumerate().rev() {
        let is_load = types.is_global_load(&statement.op);
        if is_load || statement.op.is_arithmetic() {
            let uses = statement.results.iter().filter_map(|(value, _)| first_use.get(value));
            let latest = if is_load { last_barrier.unwrap_or(writer) } else { statements.len() };
            positions[at] = uses.min().map(|&position| position.min(latest).max(at));
        } else if is_block_barrier(&statement.op) {
            // Other warps may write global memory as soon as they have passed the last barrier before the write.
            last_barrier = last_barrier.or((writer < statements.len()).then_some(at));
        } else if !types.is_local(&statement.op) {
            (last_barrier, writer) = (None, at);
        }
        let position = positions[at].unwrap_or(at);
        statement.op.visit_used_values(&mut |value| {
            first_use.entry(value).and_modify(|first| *first = position.min(*first)).or_insert(position);
        });
    }
    positions
}

fn is_block_barrier(op: &Op) -> bool {
    matches!(op, Op::Barrier { scope: CollectiveScope::Block | CollectiveScope::Cluster, .. })
}

/// The types of a kernel's values, without constants, which are immediates of instructions.
struct Types(HashMap<Value, Type>);

impl Types {
    fn of(kernel: &Kernel) -> Self {
        let parameters = kernel.parameters.iter().enumerate();
        let mut types = Self(parameters.map(|(index, parameter)| (Value(index as u32), parameter.ty)).collect());
        types.add(&kernel.body);
        types
    }

    fn add(&mut self, region: &Region) {
        self.0.extend(region.arguments.iter().copied());
        for statement in &region.statements {
            if !matches!(statement.op, Op::Constant { .. }) {
                self.0.extend(statement.results.iter().copied());
            }
            statement.op.regions().into_iter().for_each(|inner| self.add(inner));
        }
    }

    fn is_pointer(&self, value: Value, spaces: &[MemorySpace]) -> bool {
        matches!(self.0.get(&value), Some(Type::Pointer(space)) if spaces.contains(space))
    }

    fn is_global_load(&self, op: &Op) -> bool {
        matches!(op, Op::Load { pointer, .. } if self.is_pointer(*pointer, &[MemorySpace::Global]))
    }

    /// Whether an operation writes no global memory and waits for no other block.
    fn is_local(&self, op: &Op) -> bool {
        match op {
            Op::Store { pointer, .. } => self.is_pointer(*pointer, &[MemorySpace::Shared]),
            Op::Load { .. } | Op::Special(_) | Op::SharedAddress { .. } | Op::Unspecified { .. } => true,
            Op::Barrier { scope, .. } => *scope == CollectiveScope::Warp,
            _ => false,
        }
    }

    /// Returns the most 32-bit registers of a lane that values take at the same time.
    fn most_live(&self, statements: &[Statement]) -> u64 {
        let mut live: HashMap<Value, u64> = HashMap::new();
        let (mut now, mut most) = (0u64, 0u64);
        for statement in statements.iter().rev() {
            for (value, _) in &statement.results {
                now -= live.remove(value).unwrap_or(0);
            }
            statement.op.visit_used_values(&mut |value| {
                let ty = self.0.get(&value).copied();
                let registers = ty.map_or(0, |ty| u64::from(ty.bits()).div_ceil(REGISTER_BITS));
                if live.insert(value, registers).is_none() {
                    now += registers;
                }
            });
            most = most.max(now);
        }
        most
    }
}

#[cfg(test)]
mod tests;
