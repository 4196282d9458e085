//! Merges the block barriers of several data movements.
//!
//! A data movement stores, passes a block barrier, and loads. If the stores of the next movement do not depend on the
//! loads of this one, both can store before one common barrier; the second barrier is then redundant and removed. The
//! buffers of both movements are live at the same time, and so disjoint.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_kernel::{CollectiveScope, Kernel, MemorySpace, Op, Region, Statement, Type, Value};

use super::annotations::Accesses;
use super::uses::{Buffers, Uses};

/// Max number of statements between two barriers that may be merged; barriers farther apart stay, which keeps the pass
/// linear.
const FAR: usize = 4096;

/// Removes barriers that an earlier barrier can replace. Accesses of the program's own tensors are not moved across
/// barriers.
pub(super) fn together(kernel: &mut Kernel, uses: &Uses, accesses: &Accesses) {
    let mut global: BTreeSet<Value> = BTreeSet::new();
    let parameters = (0..).map(Value).zip(&kernel.parameters);
    global.extend(parameters.filter(|(_, parameter)| is_global(parameter.ty)).map(|(value, _)| value));
    global_pointers(&kernel.body, &mut global);
    BarrierMerger { uses, accesses, global }.region(&mut kernel.body);
}

fn is_global(ty: Type) -> bool {
    ty == Type::Pointer(MemorySpace::Global)
}

fn global_pointers(region: &Region, found: &mut BTreeSet<Value>) {
    let pointers = |values: &[(Value, Type)]| -> Vec<Value> {
        values.iter().filter(|(_, ty)| is_global(*ty)).map(|&(value, _)| value).collect()
    };
    found.extend(pointers(&region.arguments));
    for statement in &region.statements {
        found.extend(pointers(&statement.results));
        statement.op.regions().into_iter().for_each(|inner| global_pointers(inner, found));
    }
}

struct BarrierMerger<'a> {
    uses: &'a Uses,
    accesses: &'a Accesses,
    /// The kernel values that point to global memory.
    global: BTreeSet<Value>,
}

/// The effect of a statement on shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// No effect: the statement only computes.
    None,
    /// The statement reads shared memory.
    Reads,
    /// The statement writes shared memory, and does nothing else.
    Writes,
    /// Any other effect.
    Other,
}

/// The statements that follow a barrier, each with its position in the region.
type Tail = Vec<(usize, Statement)>;

impl BarrierMerger<'_> {
    fn region(&self, region: &mut Region) {
        for statement in &mut region.statements {
            statement.op.regions_mut().into_iter().for_each(|inner| self.region(inner));
        }
        let is_barrier = |op: &Op| matches!(op, Op::Barrier { scope: CollectiveScope::Block, .. });
        if region.statements.iter().filter(|statement| is_barrier(&statement.op)).count() < 2 {
            return;
        }
        let touched = Touched::of(region, self.uses);
        let mut done: Vec<Statement> = Vec::with_capacity(region.statements.len());
        let mut barrier = None;
        let mut tail: Tail = Vec::new();
        for (position, statement) in std::mem::take(&mut region.statements).into_iter().enumerate() {
            if !is_barrier(&statement.op) {
                tail.push((position, statement));
                continue;
            }
            if let Some((index, since)) = barrier
                && let Some(first) = self.can_be_first(&tail, (since, position), &touched)
            {
                let before = tail.extract_if(.., |(position, _)| first.contains(position));
                let before: Vec<Statement> = before.map(|(_, statement)| statement).collect();
                barrier = Some((index + before.len(), since));
                done.splice(index..index, before);
                continue;
            }
            done.extend(tail.drain(..).map(|(_, statement)| statement));
            barrier = Some((done.len(), position));
            done.push(statement);
        }
        done.extend(tail.into_iter().map(|(_, statement)| statement));
        region.statements = done;
    }

    /// Returns the positions of the statements between two barriers that must be hoisted above the first barrier to
    /// make the second redundant. `None` if that is impossible. `since` and `until` are the positions of the barriers
    /// in the region, and `tail` has the statements between them.
    fn can_be_first(&self, tail: &Tail, (since, until): (usize, usize), touched: &Touched) -> Option<BTreeSet<usize>> {
        if tail.len() > FAR {
            return None;
        }
        let effects: Vec<Effect> = tail.iter().map(|(_, statement)| self.effect(statement)).collect();
        if effects.contains(&Effect::Other) {
            return None;
        }
        let (mut written, mut read) = (BTreeSet::new(), BTreeSet::new());
        for (effect, (_, statement)) in effects.iter().zip(tail) {
            match effect {
                Effect::Writes => written.extend(self.uses.touched(&statement.op)),
                Effect::Reads => read.extend(self.uses.touched(&statement.op)),
                Effect::None | Effect::Other => {}
            }
        }
        // The buffers that are written must be unused before the first barrier, and those that are read not written
        // after the second.
        let fresh = |buffer: &u32| touched.is_own(*buffer) && touched.first(*buffer) > Some(since);
        let settled = |buffer: &u32| touched.is_own(*buffer) && touched.last_write(*buffer) < Some(until);
        if !written.iter().all(|buffer| fresh(buffer) && !read.contains(buffer)) || !read.iter().all(settled) {
            return None;
        }
        Self::with_operands(tail, &effects)
    }

    /// Returns the positions of the statements of `tail` that write shared memory, and of all its statements on which
    /// they depend. `None` if they depend on a read of shared memory. `effects` has the effect of each statement.
    fn with_operands(tail: &Tail, effects: &[Effect]) -> Option<BTreeSet<usize>> {
        let mut required: BTreeSet<Value> = BTreeSet::new();
        let mut first = BTreeSet::new();
        for (at, (position, statement)) in tail.iter().enumerate().rev() {
            let is_required = statement.results.iter().any(|(value, _)| required.contains(value));
            match effects[at] {
                Effect::Reads if is_required => return None,
                Effect::Writes => {}
                _ if is_required => {}
                _ => continue,
            }
            first.insert(*position);
            required.extend(statement.op.operands());
        }
        Some(first)
    }

    fn effect(&self, statement: &Statement) -> Effect {
        let buffers = self.uses.touched(&statement.op);
        if self.accesses.mark(statement).is_some() || buffers.iter().any(|&buffer| self.accesses.are_of(buffer)) {
            return Effect::Other;
        }
        let shared = !buffers.is_empty();
        let operands = statement.op.operands();
        let waits = || statement.results.iter().any(|(_, ty)| ty.is_pending());
        match &statement.op {
            Op::Load { .. } if shared => Effect::Reads,
            Op::Store { .. } if shared => Effect::Writes,
            Op::Instruction { .. } => {
                let reaches_out = operands.iter().any(|operand| self.global.contains(operand));
                match (statement.results.is_empty() || waits() || reaches_out, shared) {
                    (true, _) => Effect::Other,
                    (false, true) => Effect::Reads,
                    (false, false) => Effect::None,
                }
            }
            op if computes(op) => Effect::None,
            _ => Effect::Other,
        }
    }
}

/// Whether an operation has no effect besides its results, which follow from its operands and from values of other
/// lanes.
pub(super) fn computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Constant { .. }
            | Op::Unspecified {}
            | Op::Special(_)
            | Op::SharedAddress { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Fma { .. }
            | Op::Compare { .. }
            | Op::Select { .. }
            | Op::AssumeUniform { .. }
            | Op::Cast { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::PermuteBytes { .. }
            | Op::PtrAdd { .. }
            | Op::Math { .. }
            | Op::Shuffle { .. }
            | Op::ShuffleXor { .. }
            | Op::Swap { .. }
    )
}

/// For each buffer, the numbers of the statements of a region that access it.
struct Touched {
    /// The buffers that only this region accesses.
    touched_buffers: BTreeSet<u32>,
    first: BTreeMap<u32, usize>,
    last_write: BTreeMap<u32, usize>,
}

impl Touched {
    fn of(region: &Region, uses: &Uses) -> Self {
        let (mut touched_buffers, mut first, mut last_write) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        for (position, statement) in region.statements.iter().enumerate() {
            if let Op::SharedAddress { buffer } = statement.op
                && uses.buffers.get(buffer as usize).is_some_and(|buffer| !buffer.is_kept)
            {
                touched_buffers.insert(buffer);
            }
            let (mut any, mut written) = (BTreeSet::new(), BTreeSet::new());
            touched_within(&statement.op, uses, &mut any, &mut written);
            for buffer in any {
                first.entry(buffer).or_insert(position);
            }
            last_write.extend(written.into_iter().map(|buffer| (buffer, position)));
        }
        Self { touched_buffers, first, last_write }
    }

    fn is_own(&self, buffer: u32) -> bool {
        self.touched_buffers.contains(&buffer)
    }

    fn first(&self, buffer: u32) -> Option<usize> {
        self.first.get(&buffer).copied()
    }

    fn last_write(&self, buffer: u32) -> Option<usize> {
        self.last_write.get(&buffer).copied()
    }
}

/// Collects the buffers that a statement accesses, and those that it may write, including its nested regions.
fn touched_within(op: &Op, uses: &Uses, any: &mut BTreeSet<u32>, written: &mut BTreeSet<u32>) {
    let touched_buffers: Buffers = uses.touched(op);
    any.extend(touched_buffers.iter());
    if !matches!(op, Op::Load { .. }) {
        written.extend(touched_buffers.iter());
    }
    for region in op.regions() {
        region.statements.iter().for_each(|inner| touched_within(&inner.op, uses, any, written));
    }
}
