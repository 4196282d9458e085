//! Checks that results are used after their waits, and that accesses have completed where others may see them.
//!
//! The state before a line is, for each register that a load writes, the least number of later accesses on the load's
//! counter over all paths. A wait for at most n outstanding accesses completes those with n or more later accesses; of
//! scalar loads, which complete in any order, only a wait for zero completes any.
//!
//! Loads from global to shared memory may be in flight at a barrier; programs wait for them before they read the data,
//! which the emulator checks.

use std::collections::BTreeMap;

use super::generation::{Access, Generation, access, is_shuffle, writes_registers};
use super::parse::{Instruction, Line, Listing, Register, Synchronization};

/// The effect of an access that is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    /// A register is written.
    Writes(Register),
    /// Shared memory is read or written.
    Shared,
    /// Global memory is written.
    Global,
    /// A scalar load.
    Scalar,
}

/// The effects in flight on each counter, each with the least number of later accesses on the counter.
type State = BTreeMap<(Effect, &'static str), u32>;

/// A number of later accesses that no counter exceeds.
const MOST: u32 = 64;

/// Returns a line for each use of a register before its wait, and for each access that has not completed at a barrier
/// or fence. The accesses of a block of one warp are in order.
pub fn violations(generation: &Generation, warps: u32, listing: &Listing) -> Vec<String> {
    let checker = Checker { generation, warps };
    let mut before: Vec<Option<State>> = vec![None; listing.lines.len()];
    let mut waiting = vec![0];
    if let Some(first) = before.first_mut() {
        *first = Some(State::new());
    }
    while let Some(at) = waiting.pop() {
        let Some(Some(mut state)) = before.get(at).cloned() else { continue };
        checker.advance(&listing.lines[at], &mut state);
        for &next in &listing.successors[at] {
            if merge(&mut before[next], &state) {
                waiting.push(next);
            }
        }
    }
    let mut violations = Vec::new();
    for (at, (line, state)) in listing.lines.iter().zip(before).enumerate() {
        let Some(state) = state else { continue };
        violations.extend(checker.check(line, &state).map(|why| format!("line {at}: {why}")));
    }
    violations
}

/// Merges the state at the end of another path into `into`; returns whether anything changed.
fn merge(into: &mut Option<State>, other: &State) -> bool {
    let Some(into) = into else {
        *into = Some(other.clone());
        return true;
    };
    let mut changed = false;
    for (effect, &later) in other {
        let entry = into.entry(*effect).or_insert(u32::MAX);
        changed |= later < *entry;
        *entry = later.min(*entry);
    }
    changed
}

struct Checker<'a> {
    generation: &'a Generation,
    warps: u32,
}

impl Checker<'_> {
    /// Applies a line to the state.
    fn advance(&self, line: &Line, state: &mut State) {
        let Line::Instruction(instruction) = line else { return };
        if let Some(waits) = self.generation.wait(instruction) {
            for (counter, outstanding) in waits {
                let unordered = outstanding > 0 && state.contains_key(&(Effect::Scalar, counter));
                state.retain(|&(_, of), later| of != counter || unordered || *later < outstanding);
            }
            return;
        }
        let Some(access) = access(instruction) else { return };
        let counter = self.generation.counter(access);
        let on_counter = state.iter_mut().filter(|((_, of), _)| *of == counter);
        on_counter.for_each(|(_, later)| *later = (*later + 1).min(MOST));
        state.extend(effects(instruction, access).into_iter().map(|effect| ((effect, counter), 0)));
    }

    /// Returns the violation of a line, if any.
    fn check(&self, line: &Line, state: &State) -> Option<String> {
        match line {
            Line::Synchronization(kind, number) => {
                let pending = |effect: Effect| state.keys().any(|&(pending, _)| pending == effect);
                let (shared, global) = match kind {
                    Synchronization::WideFence => (true, true),
                    Synchronization::BlockBarrier if self.warps > 1 => (true, false),
                    Synchronization::BlockFence if self.warps > 1 => {
                        (true, self.generation.block_fences_wait_for_stores)
                    }
                    _ => (false, false),
                };
                let of_shared = shared && pending(Effect::Shared);
                let of_global = global && pending(Effect::Global);
                let memory = if of_shared { "shared" } else { "global" };
                (of_shared || of_global)
                    .then(|| format!("{kind:?} {number}: accesses to {memory} memory have not completed"))
            }
            Line::Instruction(instruction) => {
                if self.is_barrier(instruction) && state.keys().any(|(effect, _)| *effect == Effect::Shared) {
                    return Some(format!("`{}`: accesses to shared memory have not completed", instruction.text));
                }
                let early = self.uses(instruction).find(|(register, own)| {
                    state.keys().any(|&(effect, of)| effect == Effect::Writes(*register) && Some(of) != *own)
                });
                early.map(|((file, number), _)| format!("`{}`: {file}{number} before its wait", instruction.text))
            }
        }
    }

    /// Whether a warp arrives at a block barrier by this instruction.
    fn is_barrier(&self, instruction: &Instruction) -> bool {
        matches!(instruction.mnemonic.as_str(), "s_barrier" | "s_barrier_signal" | "s_barrier_signal_isfirst")
    }

    /// Returns the registers that an instruction uses. For the result of a vector access, the counter on which it may
    /// be in flight: accesses on one counter write their registers in order.
    fn uses(&self, instruction: &Instruction) -> impl Iterator<Item = (Register, Option<&'static str>)> {
        let access = access(instruction);
        let in_order = access.filter(|&access| access != Access::Scalar && writes_registers(instruction, access));
        let own = in_order.map(|access| self.generation.counter(access));
        let results = own.map(|_| instruction.operands.first()).into_iter().flatten().flatten();
        let results: Vec<_> = results.map(|&register| (register, own)).collect();
        let sources = instruction.registers(usize::from(own.is_some())..).map(|register| (register, None));
        results.into_iter().chain(sources.collect::<Vec<_>>())
    }
}

/// Returns the effects of an access.
fn effects(instruction: &Instruction, access: Access) -> Vec<Effect> {
    let mut effects = Vec::new();
    if writes_registers(instruction, access) {
        effects.extend(instruction.operands.first().into_iter().flatten().map(|&register| Effect::Writes(register)));
    }
    match access {
        Access::Scalar => effects.push(Effect::Scalar),
        Access::Shared if !is_shuffle(instruction) => effects.push(Effect::Shared),
        Access::Store if !instruction.mnemonic.starts_with("scratch") => effects.push(Effect::Global),
        Access::Load if instruction.mnemonic.contains("_atomic_") => effects.push(Effect::Global),
        _ => {}
    }
    effects
}
