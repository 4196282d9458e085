//! Checks of loads and stores of shared memory with real layouts: planned with a vendor's instructions, run on the
//! emulator and compiled.

pub use crate::layouts;

use crate::prelude::*;
use tilewright_kernel::verify_vendor_instructions;
use tilewright_plan::movement::SharedAccessPlan;

/// A test case: a load or store of a tensor in shared memory, and the plan that is expected for it.
pub struct Case {
    pub name: &'static str,
    pub bits: u32,
    pub shape: &'static [u64],
    pub registers: String,
    pub memory: String,
    /// Name of the expected instruction; `None` for plain accesses.
    pub by: Option<&'static str>,
    /// Expected number of load or store instructions that a warp issues. Unless a comment gives another number, Triton
    /// 3.9.0 issues as many of the same instruction for the same layouts.
    pub accesses: u64,
    /// Expected number of shared-memory wavefronts of all these instructions together.
    pub wavefronts: u64,
}

/// Returns a `swizzled_shared` layout as text, with the parameters `vec`, `perPhase`, `maxPhase` and `order`.
pub fn format_swizzled_layout(vector: u64, phase: u64, phases: u64, order: [u64; 2]) -> String {
    format!("#ttg.swizzled_shared<{{vec = {vector}, perPhase = {phase}, maxPhase = {phases}, order = {order:?}}}>")
}

/// A planned access that has been checked on the emulator, as a kernel.
pub struct PlannedAccess {
    pub access: SharedAccessPlan,
    pub kernel: Kernel,
}

impl Case {
    /// Plans the loads of the case with and without the vendor's instructions, and checks both plans on the emulator.
    /// Asserts that the plan with these instructions is as expected, and costs at most as much as the plan without
    /// them.
    pub fn loaded(&self, target: &dyn Target) -> PlannedAccess {
        self.moved(target, true)
    }

    /// Plans and checks the case's stores, as [`Case::loaded`] does for loads.
    pub fn stored(&self, target: &dyn Target) -> PlannedAccess {
        self.moved(target, false)
    }

    fn moved(&self, target: &dyn Target, loads: bool) -> PlannedAccess {
        let registers = layouts::resolve_distributed(target, &self.registers, self.shape);
        let memory = layouts::resolve_memory(target, &self.memory, self.shape);
        let planned = |context: PlanContext<'_>| {
            let direction = if loads { Direction::Load } else { Direction::Store };
            let access = plan_shared_access(&registers, &memory, self.bits, direction, context).unwrap();
            let case = if loads { build_shared_load_case } else { build_shared_store_case };
            check_case(case(&registers, &memory, self.bits, &access), context, self.name);
            access
        };
        let plain = planned(PlanContext::new(target.description()));
        let access = planned(PlanContext::new(target.description()).with_instructions(target.instructions()));
        assert!(access.stats.cost <= plain.stats.cost, "{}: {plain:?}", self.name);
        self.is_as_it_must_be(&access);
        let build = if loads { build_shared_load_kernel } else { build_shared_store_kernel };
        let kernel = build(&registers, &memory, self.bits, &access).unwrap();
        verify_vendor_instructions(&kernel, target.instructions()).unwrap();
        PlannedAccess { access, kernel }
    }

    fn is_as_it_must_be(&self, access: &SharedAccessPlan) {
        let Counts { shared_stores, shared_loads, matrix_stores, matrix_loads, .. } = access.stats.counts;
        let (plain, by_row) = (shared_stores + shared_loads, matrix_stores + matrix_loads);
        let accesses = if self.by.is_some() { (0, self.accesses) } else { (self.accesses, 0) };
        let wavefronts = access.stats.counts.wavefronts_stored + access.stats.counts.wavefronts_loaded;
        let min_wavefronts = access.stats.bound.wavefronts_stored + access.stats.bound.wavefronts_loaded;
        assert_eq!(access.stats.above_bound.is_some(), wavefronts > min_wavefronts, "{}: {access:?}", self.name);
        let found = (access.instruction(), (plain, by_row), wavefronts);
        assert_eq!(found, (self.by, accesses, self.wavefronts), "{}", self.name);
    }
}

impl PlannedAccess {
    /// Compiles the kernel of the case to assembly.
    pub fn assembly(&self, target: &dyn Target) -> String {
        verify(&Module { kernels: vec![self.kernel.clone()] }).unwrap();
        assembled(target, vec![self.kernel.clone()])
    }
}

/// Returns the number of lines of assembly whose first word is this mnemonic.
pub fn count(assembly: &str, mnemonic: &str) -> u64 {
    let issued = |line: &&str| line.split_whitespace().next() == Some(mnemonic);
    assembly.lines().filter(issued).count() as u64
}
