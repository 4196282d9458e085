//! One barrier for several movements.
//!
//! A movement stores, the block meets, and then it loads. Where what the next one stores does not follow from what this
//! one loads, both can store before the one barrier that is then for both: the second one orders nothing anymore and is left
//! out. Their buffers are in use at the same time then, and so lie apart.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_kernel::{Kernel, MemorySpace, Op, Region, Scope, Statement, Type, Value};

use super::annotations::Accesses;
use super::uses::{Buffers, Uses};

/// Statements behind a barrier that are looked at, at most: so that long programs take no longer for each of theirs.
const FAR: usize = 4096;

/// Leaves out barriers that one before can stand for. Nothing is moved over an access of a program's own tensors.
pub(super) fn together(kernel: &mut Kernel, uses: &Uses, accesses: &Accesses) {
    let mut global: BTreeSet<Value> = BTreeSet::new();
    let parameters = (0..).map(Value).zip(&kernel.parameters);
    global.extend(parameters.filter(|(_, parameter)| is_global(parameter.ty)).map(|(value, _)| value));
    global_pointers(&kernel.body, &mut global);
    Meeting { uses, accesses, global }.region(&mut kernel.body);
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

struct Meeting<'a> {
    uses: &'a Uses,
    accesses: &'a Accesses,
    /// Pointers to global memory.
    global: BTreeSet<Value>,
}

/// What a statement does with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing: it only computes.
    None,
    /// It reads shared memory.
    Reads,
    /// It writes shared memory, and nothing else.
    Writes,
    /// Anything.
    Other,
}

/// What lies behind a barrier, and where in the region's list each statement stood.
type Tail = Vec<(usize, Statement)>;

impl Meeting<'_> {
    fn region(&self, region: &mut Region) {
        for statement in &mut region.statements {
            statement.op.regions_mut().into_iter().for_each(|inner| self.region(inner));
        }
        let is_barrier = |op: &Op| matches!(op, Op::Barrier { scope: Scope::Block, .. });
        if region.statements.iter().filter(|statement| is_barrier(&statement.op)).count() < 2 {
            return;
        }
        let touched = Touched::of(region, self.uses);
        let mut done: Vec<Statement> = Vec::with_capacity(region.statements.len());
        let mut barrier = None;
        let mut tail: Tail = Vec::new();
        for (number, statement) in std::mem::take(&mut region.statements).into_iter().enumerate() {
            if !is_barrier(&statement.op) {
                tail.push((number, statement));
                continue;
            }
            if let Some((place, since)) = barrier
                && let Some(first) = self.can_be_first(&tail, (since, number), &touched)
            {
                let before = tail.extract_if(.., |(number, _)| first.contains(number));
                let before: Vec<Statement> = before.map(|(_, statement)| statement).collect();
                barrier = Some((place + before.len(), since));
                done.splice(place..place, before);
                continue;
            }
            done.extend(tail.drain(..).map(|(_, statement)| statement));
            barrier = Some((done.len(), number));
            done.push(statement);
        }
        done.extend(tail.into_iter().map(|(_, statement)| statement));
        region.statements = done;
    }

    /// The statements between two barriers, by number, that must come before the first one for the second one to be
    /// needless; nothing where that cannot be.
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
        // What is written has not been touched before, and what is read is not written anymore.
        let fresh = |buffer: &u32| touched.is_own(*buffer) && touched.first(*buffer) > Some(since);
        let settled = |buffer: &u32| touched.is_own(*buffer) && touched.last_write(*buffer) < Some(until);
        if !written.iter().all(|buffer| fresh(buffer) && !read.contains(buffer)) || !read.iter().all(settled) {
            return None;
        }
        Self::with_operands(tail, &effects)
    }

    /// The statements that write, with all that they follow from; nothing where that is what another one has read.
    fn with_operands(tail: &Tail, effects: &[Effect]) -> Option<BTreeSet<usize>> {
        let mut required: BTreeSet<Value> = BTreeSet::new();
        let mut first = BTreeSet::new();
        for (at, (number, statement)) in tail.iter().enumerate().rev() {
            let is_required = statement.results.iter().any(|(value, _)| required.contains(value));
            match effects[at] {
                Effect::Reads if is_required => return None,
                Effect::Writes => {}
                _ if is_required => {}
                _ => continue,
            }
            first.insert(*number);
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

/// Whether an operation only gives results, of its operands and what other lanes offer.
fn computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Constant { .. }
            | Op::Special(_)
            | Op::SharedAddress { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::FMulAdd { .. }
            | Op::Compare { .. }
            | Op::Select { .. }
            | Op::Same { .. }
            | Op::Cast { .. }
            | Op::Pack { .. }
            | Op::Extract { .. }
            | Op::PermuteBytes { .. }
            | Op::Advance { .. }
            | Op::Math { .. }
            | Op::Exchange { .. }
            | Op::ExchangeXor { .. }
            | Op::Swap { .. }
    )
}

/// Where the statements of a region touch buffers, by their numbers.
struct Touched {
    /// Buffers that this region alone touches.
    own: BTreeSet<u32>,
    first: BTreeMap<u32, usize>,
    last_write: BTreeMap<u32, usize>,
}

impl Touched {
    fn of(region: &Region, uses: &Uses) -> Self {
        let (mut own, mut first, mut last_write) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        for (number, statement) in region.statements.iter().enumerate() {
            if let Op::SharedAddress { buffer } = statement.op
                && uses.buffers.get(buffer as usize).is_some_and(|buffer| !buffer.is_kept)
            {
                own.insert(buffer);
            }
            let (mut any, mut written) = (BTreeSet::new(), BTreeSet::new());
            touched_within(&statement.op, uses, &mut any, &mut written);
            for buffer in any {
                first.entry(buffer).or_insert(number);
            }
            last_write.extend(written.into_iter().map(|buffer| (buffer, number)));
        }
        Self { own, first, last_write }
    }

    fn is_own(&self, buffer: u32) -> bool {
        self.own.contains(&buffer)
    }

    fn first(&self, buffer: u32) -> Option<usize> {
        self.first.get(&buffer).copied()
    }

    fn last_write(&self, buffer: u32) -> Option<usize> {
        self.last_write.get(&buffer).copied()
    }
}

/// The buffers that a statement touches, and those that it may write, its regions included.
fn touched_within(op: &Op, uses: &Uses, any: &mut BTreeSet<u32>, written: &mut BTreeSet<u32>) {
    let own: Buffers = uses.touched(op);
    any.extend(own.iter());
    if !matches!(op, Op::Load { .. }) {
        written.extend(own.iter());
    }
    for region in op.regions() {
        region.statements.iter().for_each(|inner| touched_within(&inner.op, uses, any, written));
    }
}
