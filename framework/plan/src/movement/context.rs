//! The context of a plan: the target, its instruction table and the limits of the plan.

use crate::PlanCache;
use tilewright_kernel::{Element, MathFunction};
use tilewright_math::casts::NativeCasts;
use tilewright_target::{Instruction, Optimization, OptimizationSet, TargetDescription};

/// The input that all planners share: a target, its instructions and the limits that plans must keep.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// The target for which plans are made.
    pub target: &'a TargetDescription,
    /// Instruction table of the target; plans use the instructions that move data.
    pub instructions: &'a [Instruction],
    /// Max bytes of shared memory that a plan may use.
    pub scratch_bytes: u64,
    /// The number of 32-bit registers of a lane that the kernel is compiled for (register mode); `None` lets plans of
    /// MMAs choose the smallest that suffices.
    pub registers: Option<u32>,
    /// Whether threads that hold replicas may divide the work of a store; selects then choose the elements that each
    /// stores. False for asynchronous copies, whose data never are in registers.
    pub(crate) shares_replicas: bool,
    /// Whether an access must move the elements of one 32-bit register of a lane together, so that no instructions
    /// merge registers, even if that takes more wavefronts. The search for a memory layout sets it, because it chooses
    /// a layout that allows such accesses.
    pub(crate) keeps_words: bool,
    /// Whether an access must move the registers of a lane in their order. True for asynchronous copies: no
    /// instruction can permute the order of global memory.
    pub(crate) keeps_order: bool,
    /// Number of blocks of the cluster that executes a program, a power of two: the size of the layouts' block dim.
    pub blocks: u32,
    /// The optimizations that are disabled.
    pub disabled: OptimizationSet,
    /// The plans that are known; `None` plans everything anew.
    pub(crate) cache: Option<&'a PlanCache<'a>>,
}

impl<'a> PlanContext<'a> {
    /// Creates a context with all of the shared memory that a block of the target may have, dynamic shared memory
    /// included, and an empty instruction table.
    #[must_use]
    pub fn new(target: &'a TargetDescription) -> Self {
        Self {
            target,
            instructions: &[],
            scratch_bytes: u64::from(target.shared.bytes),
            registers: None,
            shares_replicas: true,
            keeps_words: false,
            keeps_order: false,
            blocks: 1,
            disabled: OptimizationSet::default(),
            cache: None,
        }
    }

    /// Returns the context with this instruction table.
    #[must_use]
    pub fn with_instructions(self, instructions: &'a [Instruction]) -> Self {
        Self { instructions, ..self }
    }

    /// Returns the context of a program that is executed by clusters of `blocks` blocks.
    #[must_use]
    pub fn with_cluster_blocks(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }

    /// Returns the context for kernels that are compiled for this number of 32-bit registers of a lane; `None` lets
    /// plans of MMAs choose it.
    #[must_use]
    pub fn with_registers(self, registers: Option<u32>) -> Self {
        Self { registers, ..self }
    }

    /// Returns the context with these optimizations disabled, and all others enabled.
    #[must_use]
    pub fn with_disabled(self, disabled: OptimizationSet) -> Self {
        Self { disabled, ..self }
    }

    /// Returns the context with a cache of plans, which several plans of one program share.
    #[must_use]
    pub fn with_cache(self, cache: &'a PlanCache<'a>) -> Self {
        Self { cache: Some(cache), ..self }
    }

    /// Whether an optimization is enabled.
    #[must_use]
    pub fn enables(&self, optimization: Optimization) -> bool {
        !self.disabled.contains(optimization)
    }

    /// Whether a math function stays one operation of the kernel IR, for which the target has an instruction.
    #[must_use]
    pub fn is_native_function(&self, function: MathFunction, element: Element) -> bool {
        self.enables(Optimization::NativeFunctions)
            && self.target.find_native_function(function.name(), element.name()).is_some()
    }

    /// Returns the casts for which instructions of the target are used.
    #[must_use]
    pub fn native_casts(&self) -> NativeCasts {
        match self.enables(Optimization::NativeCasts) {
            true => NativeCasts::from_target(self.target),
            false => NativeCasts::default(),
        }
    }

    /// Returns the context for asynchronous copies: their data bypass the registers, so selects cannot divide the work
    /// among replicas.
    pub(crate) fn without_sharing(self) -> Self {
        Self { shares_replicas: false, ..self }
    }

    /// Returns the context for accesses of memory whose layout is searched: they keep the words of a lane.
    pub(crate) fn with_kept_words(self) -> Self {
        Self { keeps_words: true, ..self }
    }

    /// Returns the context for accesses that keep the order of a lane's registers if `keeps_order`.
    pub(crate) fn with_register_order(self, keeps_order: bool) -> Self {
        Self { keeps_order, ..self }
    }

    /// Returns the context of one of several plans in a block: each of the `movements` plans gets an equal share of the
    /// shared memory.
    pub(super) fn divide_scratch(self, movements: usize) -> Self {
        self.with_scratch_bytes(self.scratch_bytes / movements.max(1) as u64)
    }

    /// Returns the context with shared memory limited to `bytes`.
    #[must_use]
    pub fn with_scratch_bytes(self, bytes: u64) -> Self {
        Self { scratch_bytes: self.scratch_bytes.min(bytes), ..self }
    }
}

impl<'a> From<&'a TargetDescription> for PlanContext<'a> {
    fn from(target: &'a TargetDescription) -> Self {
        Self::new(target)
    }
}
