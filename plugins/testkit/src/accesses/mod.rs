//! Local loads and stores of real layouts, planned with a vendor's instructions, proved on the emulator
//! and compiled.

pub use crate::layouts;

use crate::prelude::*;
use tilewright_kernel::verify_instructions;
use tilewright_plan::movement::SharedAccess;

/// An access of shared memory, and what it must be.
pub struct Case {
    pub name: &'static str,
    pub bits: u32,
    pub shape: &'static [u64],
    pub registers: String,
    pub memory: String,
    /// The row by which it must be, or none for plain accesses.
    pub by: Option<&'static str>,
    /// How many accesses a warp makes. Where another number is not named, Triton 3.9.0 makes as many by
    /// the same instruction for the same layouts.
    pub accesses: u64,
    /// How many wavefronts they take.
    pub wavefronts: u64,
}

/// `swizzled_shared` as text.
pub fn swizzled(vector: u64, phase: u64, phases: u64, order: [u64; 2]) -> String {
    format!("#ttg.swizzled_shared<{{vec = {vector}, perPhase = {phase}, maxPhase = {phases}, order = {order:?}}}>")
}

/// What was planned and proved.
pub struct Moved {
    pub access: SharedAccess,
    pub kernel: Kernel,
}

impl Case {
    /// Plans the loads with and without instructions, proves both, and holds the plan to what it must be.
    pub fn loaded(&self, target: &dyn Target) -> Moved {
        self.moved(target, true)
    }

    /// As [`Case::loaded`], of stores.
    pub fn stored(&self, target: &dyn Target) -> Moved {
        self.moved(target, false)
    }

    fn moved(&self, target: &dyn Target, loads: bool) -> Moved {
        let registers = layouts::distributed(target, &self.registers, self.shape);
        let memory = layouts::memory(target, &self.memory, self.shape);
        let planned = |context: PlanContext<'_>| {
            let direction = if loads { Direction::Load } else { Direction::Store };
            let access = access_shared(&registers, &memory, self.bits, direction, context).unwrap();
            let case = if loads { load_case } else { store_case };
            proven_case(case(&registers, &memory, self.bits, &access), context, self.name);
            access
        };
        let plain = planned(PlanContext::of(target.description()));
        let access = planned(PlanContext::of(target.description()).with_instructions(target.instructions()));
        assert!(slots(&access.stats.counts) <= slots(&plain.stats.counts), "{}: {plain:?}", self.name);
        self.is_as_it_must_be(&access);
        let build = if loads { load_kernel } else { store_kernel };
        let kernel = build(&registers, &memory, self.bits, &access).unwrap();
        verify_instructions(&kernel, target.instructions()).unwrap();
        Moved { access, kernel }
    }

    fn is_as_it_must_be(&self, access: &SharedAccess) {
        let Counts { shared_stores, shared_loads, matrix_stores, matrix_loads, .. } = access.stats.counts;
        let (plain, by_row) = (shared_stores + shared_loads, matrix_stores + matrix_loads);
        let accesses = if self.by.is_some() { (0, self.accesses) } else { (self.accesses, 0) };
        let wavefronts = access.stats.counts.wavefronts_stored + access.stats.counts.wavefronts_loaded;
        let least = access.stats.bound.wavefronts_stored + access.stats.bound.wavefronts_loaded;
        assert_eq!(access.stats.above_bound.is_some(), wavefronts > least, "{}: {access:?}", self.name);
        let found = (access.instruction(), (plain, by_row), wavefronts);
        assert_eq!(found, (self.by, accesses, self.wavefronts), "{}", self.name);
    }
}

impl Moved {
    /// The kernel as assembly.
    pub fn assembly(&self, target: &dyn Target) -> String {
        verify(&Module { kernels: vec![self.kernel.clone()] }).unwrap();
        assembled(target, vec![self.kernel.clone()])
    }
}

/// How many lines of assembly begin with a mnemonic.
pub fn count(assembly: &str, mnemonic: &str) -> u64 {
    let issued = |line: &&str| line.split_whitespace().next() == Some(mnemonic);
    assembly.lines().filter(issued).count() as u64
}
