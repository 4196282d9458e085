//! The compiler of tile programs.

use tilewright_assign::Strategy;
use tilewright_assign::synthesis;
use tilewright_plugin::Target;
use tilewright_target::{Optimization, OptimizationSet};
use tilewright_tile::import::ForeignOpReplacements;
use tilewright_tile::op::Dialects;

/// Compiles tile programs for a target; see [`ProgramCompiler::compile_kernel`].
#[derive(Clone, Copy)]
pub struct ProgramCompiler<'a> {
    /// The operations that programs may contain.
    pub dialects: &'a Dialects,
    /// The translations of vendors' operations to neutral ones.
    pub imports: &'a ForeignOpReplacements,
    /// The target for which programs are compiled, served by its plugin.
    pub target: &'a dyn Target,
}

/// Options of compiling one program: start with the default, and change options with the `with_` methods. The method of
/// an optional value takes the value or an `Option`.
///
/// # Examples
/// ```
/// use tilewright::ProgramOptions;
/// use tilewright::tile::Strategy;
///
/// let options = ProgramOptions::default().with_warps(8).with_stages(None).with_strategy(Strategy::Propagation);
/// assert_eq!((options.warps, options.stages), (Some(8), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramOptions {
    /// Number of warps of a block; the program's own attribute takes precedence. `None` for four.
    pub warps: Option<u32>,
    /// Number of lanes of a warp; the program's own attribute takes precedence. `None` for the target's default.
    pub lanes: Option<u32>,
    /// Number of 32-bit registers of a lane that the kernel is compiled for; the program's own attribute
    /// (`ttg.maxnreg`) takes precedence. `None` for the target's default, or more if its dots need more and the target
    /// has a larger register mode.
    pub registers: Option<u32>,
    /// The name of the entry function; `None` if the program has only one function.
    pub entry: Option<String>,
    /// The strategy by which layout assignment chooses layouts.
    pub strategy: Strategy,
    /// Max number of stages of pipelined loops; one disables prefetching. If `None`, each loop has the number in its
    /// attribute or, without the attribute, the one with the least predicted time ([`tilewright_assign::stages`]).
    pub stages: Option<u32>,
    /// Options of layout synthesis, for programs with explicit memory (`tw` operations that state where tiles lie).
    pub synthesis: synthesis::SynthesisOptions,
    /// Sizes that the program leaves open, each with its name and the value to use.
    pub sizes: Vec<(String, u64)>,
    /// Whether the scratch memory of data movements is limited to the size of static shared memory, as for a function
    /// that the device code of a host compiler calls: it cannot have dynamic shared memory.
    pub static_memory: bool,
    /// The optimizations that are disabled. The code generator has its own copy
    /// ([`CompileOptions::disabled`](tilewright_plugin::CompileOptions::disabled)).
    pub disabled: OptimizationSet,
    /// Whether inline assembly in the target's own language ([`TargetDescription::assembly`]) stays assembly, which the
    /// emulator cannot execute. By default it becomes the function of its instructions, where an import table has them;
    /// the function may be more accurate and slower. Assembly in other languages always does.
    ///
    /// [`TargetDescription::assembly`]: tilewright_target::TargetDescription::assembly
    pub keep_assembly: bool,
}

impl ProgramOptions {
    /// Sets the number of warps of a block ([`Self::warps`]).
    #[must_use]
    pub fn with_warps(self, warps: impl Into<Option<u32>>) -> Self {
        Self { warps: warps.into(), ..self }
    }

    /// Sets the number of lanes of a warp ([`Self::lanes`]).
    #[must_use]
    pub fn with_lanes(self, lanes: impl Into<Option<u32>>) -> Self {
        Self { lanes: lanes.into(), ..self }
    }

    /// Sets the number of 32-bit registers of a lane ([`Self::registers`]).
    #[must_use]
    pub fn with_registers(self, registers: impl Into<Option<u32>>) -> Self {
        Self { registers: registers.into(), ..self }
    }

    /// Sets whether the scratch memory of data movements is limited to static shared memory ([`Self::static_memory`]).
    #[must_use]
    pub fn with_static_memory(self, static_memory: bool) -> Self {
        Self { static_memory, ..self }
    }

    /// Sets whether products and sums are rounded separately: disables or enables [`Optimization::FusedMultiplyAdd`],
    /// Triton's `enable_fp_fusion`.
    #[must_use]
    pub fn with_separate_rounding(self, separate_rounding: bool) -> Self {
        let disabled = self.disabled.with(Optimization::FusedMultiplyAdd, separate_rounding);
        Self { disabled, ..self }
    }

    /// Disables these optimizations, and enables all others ([`Self::disabled`]).
    #[must_use]
    pub fn with_disabled(self, disabled: OptimizationSet) -> Self {
        Self { disabled, ..self }
    }

    /// Sets whether inline assembly in the target's own language stays assembly ([`Self::keep_assembly`]).
    #[must_use]
    pub fn with_kept_assembly(self, keep_assembly: bool) -> Self {
        Self { keep_assembly, ..self }
    }

    /// Sets the name of the entry function ([`Self::entry`]).
    #[must_use]
    pub fn with_entry(self, entry: impl Into<String>) -> Self {
        Self { entry: Some(entry.into()), ..self }
    }

    /// Sets the strategy of layout assignment.
    #[must_use]
    pub fn with_strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// Sets the max number of stages of pipelined loops ([`Self::stages`]).
    #[must_use]
    pub fn with_stages(self, stages: impl Into<Option<u32>>) -> Self {
        Self { stages: stages.into(), ..self }
    }

    /// Returns the options of layout synthesis, limited to the stages and to the enabled optimizations of these options.
    pub(super) fn synthesis(&self) -> synthesis::SynthesisOptions {
        let enables = |optimization| !self.disabled.contains(optimization);
        self.synthesis
            .with_max_stages(self.stages.or(self.synthesis.stages))
            .with_memory_search(self.synthesis.memory && enables(Optimization::MemorySynthesis))
            .with_task_mapping_search(self.synthesis.task_mapping && enables(Optimization::TaskMapping))
            .with_pipelining(self.synthesis.pipeline && enables(Optimization::Prefetch))
    }

    /// Sets the options of layout synthesis.
    #[must_use]
    pub fn with_synthesis(self, synthesis: synthesis::SynthesisOptions) -> Self {
        Self { synthesis, ..self }
    }

    /// Sets the values of the program's open sizes, each with its name.
    #[must_use]
    pub fn with_tile_sizes(self, sizes: Vec<(String, u64)>) -> Self {
        Self { sizes, ..self }
    }
}
