//! Compiles a tile program to a kernel, stage by stage.

use std::borrow::Cow;

use super::compiler::{ProgramCompiler, ProgramOptions};
use super::config::{launch_config, plan_cache};
use super::error::ProgramError;
use super::sizes::Sized;
use super::stage::CompilationStageOutput;
use tilewright_assign::layouts::LayoutCache;
use tilewright_assign::synthesis::{has_explicit_memory_ops, synthesize};
use tilewright_assign::{self as engine, AssignedModule, LaunchConfig};
use tilewright_kernel::{self as kernel, Kernel};
use tilewright_layout::FamilyProviders;
use tilewright_layout::families::NeutralFamilies;
use tilewright_lower as lower;
use tilewright_target::Optimization;
use tilewright_tile::axis_info::AxisInfoMap;

impl ProgramCompiler<'_> {
    /// Compiles a program to a kernel. `seen` is called with the program after every stage.
    ///
    /// # Errors
    /// [`ProgramError`], with a variant for each stage that can fail. [`ProgramError::is_unsupported`] is true if the
    /// target lacks an instruction or a resource, and false if the program is in error.
    ///
    /// # Examples
    /// ```
    /// # use tilewright::plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Target};
    /// # use tilewright::target::{Instruction, TargetDescription};
    /// # struct Plain(TargetDescription);
    /// # impl Target for Plain {
    /// #     fn description(&self) -> &TargetDescription { &self.0 }
    /// #     fn families(&self) -> &dyn tilewright_layout::Families { &tilewright_layout::families::NeutralFamilies }
    /// #     fn instructions(&self) -> &[Instruction] { &[] }
    /// #     fn compile(&self, _: &tilewright::kernel::Module, _: &CompileOptions) -> Result<Artifact, CompileError> {
    /// #         Err(CompileError::Unsupported("no code generator".to_owned()))
    /// #     }
    /// #     fn devices(&self) -> Result<Vec<Box<dyn Device>>, DeviceError> { Ok(Vec::new()) }
    /// # }
    /// use tilewright::tile::{Dialects, ForeignOpReplacements};
    /// use tilewright::{CompilationStageOutput, ProgramCompiler, ProgramOptions};
    ///
    /// let program = "tt.func @iota(%out: !tt.ptr<i32>) {
    ///   %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    ///   %base = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    ///   %to = tt.addptr %base, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    ///   tt.store %to, %i : tensor<128x!tt.ptr<i32>>
    ///   tt.return
    /// }";
    /// let (dialects, imports) = (Dialects::neutral(), ForeignOpReplacements::default());
    /// # // In place of `session.target("h100")?`, which needs a plugin.
    /// # let target = Plain(tilewright_targets::read_default_catalogue()?.get("h100")?.clone());
    /// let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    /// let mut stages = Vec::new();
    /// let seen = &mut |stage: CompilationStageOutput<'_>| stages.push(stage.name());
    /// let kernel = compiler.compile_kernel(program, &ProgramOptions::default(), seen)?;
    /// assert_eq!((&*kernel.name, kernel.launch.warps), ("iota", 4));
    /// assert_eq!(stages, ["read", "import", "shape", "layouts", "kernel", "math"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compile_kernel(
        &self,
        text: &str,
        options: &ProgramOptions,
        seen: &mut dyn FnMut(CompilationStageOutput<'_>),
    ) -> Result<Kernel, ProgramError> {
        let sized = self.sized(text, options)?;
        let (text, known) = match sized {
            Some(Sized { chosen, text, found }) => {
                seen(CompilationStageOutput::Sizes(&chosen));
                (Cow::Owned(text), found)
            }
            None => (Cow::Borrowed(text), None),
        };
        let text = &*text;
        let module = self.neutral(text, options, seen)?;
        let families = FamilyProviders::new(vec![&NeutralFamilies, self.target.families()]);
        let plans = plan_cache(self.target);
        let config = launch_config(self.target, Some(&module), options, &families, &plans)?;
        let assigned = if has_explicit_memory_ops(&module) {
            let found = match known {
                Some(found) => found,
                None => synthesize(&module, &config, options.synthesis())
                    .map_err(|error| ProgramError::synthesis(error, text))?,
            };
            seen(CompilationStageOutput::Synthesis(&found.derivation));
            found.assigned
        } else {
            let stages = max_stages(&config, options.stages);
            engine::assign_layouts(&module, &config, engine::AssignmentOptions { strategy: options.strategy, stages })?
        };
        let mut kernel = with_stages(&assigned, &config, options.stages, text, seen)?;
        seen(CompilationStageOutput::Kernel(&kernel));
        tilewright_math::expand_math_functions(&mut kernel, |function, element| {
            config.context.is_native_function(function, element)
        });
        seen(CompilationStageOutput::Math(&kernel));
        let verified = kernel::Module { kernels: vec![kernel] };
        kernel::verify(&verified)?;
        verified.kernels.into_iter().next().ok_or_else(|| ProgramError::Entry("there is no kernel".to_owned()))
    }
}

/// Lowers a program with assigned layouts to a kernel. If the kernel exceeds the shared memory of the target, lowers
/// the program again with less scratch memory for data movements, which then take more rounds; only lowering determines
/// how much they take. Returns the first kernel if no lowering fits.
fn lower_within(assigned: &AssignedModule, config: &LaunchConfig<'_>, text: &str) -> Result<Kernel, ProgramError> {
    const MAX_LOWERINGS: u32 = 4;
    let most = u64::from(config.context.target.shared.bytes);
    let first = lowered(assigned, config, text)?;
    if first.shared_bytes() <= most {
        return Ok(first);
    }
    let scratch = (1..MAX_LOWERINGS).map(|step| config.context.scratch_bytes >> (2 * step));
    let mut smaller = scratch.filter_map(|bytes| {
        let context = config.context.with_scratch_bytes(bytes);
        lowered(assigned, &LaunchConfig { context, ..*config }, text).ok()
    });
    Ok(smaller.find(|kernel| kernel.shared_bytes() <= most).unwrap_or(first))
}

/// Lowers a program with assigned layouts to a kernel.
fn lowered(assigned: &AssignedModule, config: &LaunchConfig<'_>, text: &str) -> Result<Kernel, ProgramError> {
    let Some(function) = assigned.module.functions.first() else {
        return Err(ProgramError::Entry("the program has no entry function".to_owned()));
    };
    let (axis_info, layouts, plans) =
        (AxisInfoMap::analyze(function), LayoutCache::new(config.families), lower::FixedPlans::default());
    let program = lower::LoweringInput { function, axis_info: &axis_info, layouts: &layouts, config, plans: &plans };
    lower::lower_function(&program).map_err(|error| ProgramError::lowered(error, text))
}

/// Returns the max number of stages of a program's loops; `None` leaves it to the loops. The buffers of a pipelined loop
/// are planned for one block, so loops of a cluster of several blocks are not pipelined.
fn max_stages(config: &LaunchConfig<'_>, requested: Option<u32>) -> Option<u32> {
    let is_pipelined = config.context.blocks == 1 && config.context.enables(Optimization::Prefetch);
    if is_pipelined { requested } else { Some(1) }
}

/// Pipelines the loops of a program with at most `stages` stages ([`ProgramOptions::stages`]) and lowers it. Only
/// lowering determines the scratch memory: if the kernel then exceeds the shared memory of the target, both are
/// repeated with fewer stages, and `seen` is called again.
fn with_stages(
    assigned: &AssignedModule,
    config: &LaunchConfig<'_>,
    stages: Option<u32>,
    text: &str,
    seen: &mut dyn FnMut(CompilationStageOutput<'_>),
) -> Result<Kernel, ProgramError> {
    let most = u64::from(config.context.target.shared.bytes);
    let mut required = max_stages(config, stages);
    loop {
        let staged = engine::stages::pipeline_loops(assigned, config, required)?;
        seen(CompilationStageOutput::Layouts(&staged));
        let loops = staged.report.functions.iter().flat_map(|function| &function.loops);
        // A loop of one stage that has buffers stores operands to shared memory before the loop. It counts as two
        // stages, so that the limit of one stage, which is tried last, removes these buffers too.
        let stages_of =
            |of: &engine::stages::LoopPipelineReport| if of.bytes > 0 { of.stages.max(2) } else { of.stages };
        let deepest = loops.map(stages_of).max().unwrap_or(1);
        let kernel = lower_within(&staged, config, text)?;
        if kernel.shared_bytes() <= most || deepest < 2 {
            return Ok(kernel);
        }
        required = Some(deepest - 1);
    }
}
