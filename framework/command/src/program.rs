//! Arguments and options for compiling a tile program, and errors with their places in the program.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use tilewright::Session;
use tilewright::tile::TileModule;
use tilewright::{CompilationStageOutput, ProgramCompiler, ProgramError, ProgramOptions};
use tilewright_assign::synthesis::{LaunchPredictionInput, PredictedPerformance};
use tilewright_assign::{AssignedModule, Strategy};
use tilewright_kernel::Kernel;
use tilewright_target::{Optimization, OptimizationSet};

use crate::failure::CommandError;
use crate::limits::read_text;

/// Strategy by which layouts are assigned to tensors.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Choice {
    /// Propagate layouts from anchors, as Triton does.
    Propagation,
    /// Search for the assignment of least cost.
    #[default]
    LeastCost,
}

/// Arguments that name a program, and the target that it is compiled for.
#[derive(Debug, Args)]
pub struct ProgramRequest {
    /// The program in Triton IR, with or without layouts; or an explicit-memory program.
    pub program: PathBuf,
    /// Name of the target, e.g. `h100`.
    #[arg(long)]
    pub target: String,
    /// The function to compile; may be left out if there is only one.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    compiling: CompilationArguments,
}

impl ProgramRequest {
    /// Returns the optimizations that are disabled.
    pub fn disabled(&self) -> OptimizationSet {
        self.compiling.disabled()
    }

    /// Parses and compiles the program, with or without dynamic shared memory for data movements; returns the program's
    /// text, and the kernel or the error. `seen` is called with the program after each stage.
    pub fn compile_kernel(
        &self,
        session: &Session,
        static_memory: bool,
        seen: &mut dyn FnMut(CompilationStageOutput<'_>),
    ) -> Result<(String, Result<Kernel, ProgramError>), CommandError> {
        let options = self.compiling.to_program_options(self.entry.as_deref()).with_static_memory(static_memory);
        self.with_compiler(session, |compiler, text| compiler.compile_kernel(text, &options, seen))
    }

    /// Predicts the time of a launch of a kernel that [`Self::compile_kernel`] has compiled; `assigned` is its program
    /// with layouts.
    pub fn predict_launch(
        &self,
        session: &Session,
        assigned: &AssignedModule,
        kernel: &Kernel,
        launch: &LaunchPredictionInput,
    ) -> Result<Result<PredictedPerformance, ProgramError>, CommandError> {
        let options = self.compiling.to_program_options(self.entry.as_deref());
        let predict =
            |compiler: &ProgramCompiler<'_>, _: &str| compiler.predict_launch(assigned, kernel, &options, launch);
        Ok(self.with_compiler(session, predict)?.1)
    }

    /// Parses and verifies the program; returns the program's text, and the module or the error.
    pub fn parse_program(&self, session: &Session) -> Result<(String, Result<TileModule, ProgramError>), CommandError> {
        self.with_compiler(session, |compiler, text| compiler.parse_program(text))
    }

    /// Reads the program's file, and calls `run` with a compiler for the target and the program's text; returns the
    /// text and the result of `run`.
    fn with_compiler<T>(
        &self,
        session: &Session,
        run: impl FnOnce(&ProgramCompiler<'_>, &str) -> T,
    ) -> Result<(String, T), CommandError> {
        let target = session.target(&self.target)?;
        let file = &self.program;
        let text =
            read_text(file).map_err(|error| CommandError::Input(format!("cannot read {}: {error}", file.display())))?;
        let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
        let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
        let result = run(&compiler, &text);
        Ok((text, result))
    }
}

/// Options of a compilation.
#[derive(Debug, Args)]
pub struct CompilationArguments {
    /// Number of warps of a block, if the program does not fix it.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    warps: Option<u32>,
    /// Number of lanes of a warp, if the program does not fix it and the target has a choice.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    lanes: Option<u32>,
    /// Number of 32-bit registers of a lane that the kernel is compiled for, if the program does not fix it. Default:
    /// the target's, or more if dots need more and the target has a larger register mode.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    registers: Option<u32>,
    /// Strategy by which layouts are assigned to tensors.
    #[arg(long, value_enum, default_value_t)]
    strategy: Choice,
    /// Max stages of software-pipelined loops; 1 disables prefetching. Default: the loop's attribute, or the number with
    /// the least predicted time.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    stages: Option<u32>,
    /// Value of a size that the program leaves open (`tw.size`); may be given several times, for different sizes.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    sizes: Vec<(String, u64)>,
    /// Round products before they are summed: `--disable fused-multiply-add`.
    #[arg(long)]
    no_fp_fusion: bool,
    /// Compile the function of inline assembly also where it is in the target's own language.
    #[arg(long)]
    replace_assembly: bool,
    /// Disable an optimization, to measure its gain or to find which one a faulty kernel needs; may be given several
    /// times. `tilewright optimizations` lists them.
    #[arg(long, value_name = "OPTIMIZATION")]
    disable: Vec<Optimization>,
}

impl CompilationArguments {
    /// Returns the optimizations that are disabled.
    fn disabled(&self) -> OptimizationSet {
        let named: OptimizationSet = self.disable.iter().copied().collect();
        let is_separate = self.no_fp_fusion || named.contains(Optimization::FusedMultiplyAdd);
        named.with(Optimization::FusedMultiplyAdd, is_separate)
    }

    /// Converts to the compiler's options; `entry` is the name of the function to compile, `None` for the only function
    /// of the program.
    pub fn to_program_options(&self, entry: Option<&str>) -> ProgramOptions {
        let strategy = match self.strategy {
            Choice::Propagation => Strategy::Propagation,
            Choice::LeastCost => Strategy::LeastCost,
        };
        let options = ProgramOptions::default()
            .with_warps(self.warps)
            .with_lanes(self.lanes)
            .with_registers(self.registers)
            .with_strategy(strategy)
            .with_stages(self.stages)
            .with_disabled(self.disabled())
            .with_kept_assembly(!self.replace_assembly)
            .with_tile_sizes(self.sizes.clone());
        match entry {
            Some(entry) => options.with_entry(entry),
            None => options,
        }
    }
}

/// Parses `NAME=NUMBER`: the name and value of a size that the program leaves open.
fn size(text: &str) -> Result<(String, u64), String> {
    let binding =
        text.split_once('=').and_then(|(name, size)| Some((name.trim().to_owned(), size.trim().parse().ok()?)));
    binding.filter(|(_, size)| *size > 0).ok_or_else(|| format!("expected NAME=NUMBER, such as m=64, not `{text}`"))
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Propagation => "propagation",
            Self::LeastCost => "least-cost",
        })
    }
}

/// Converts the error of compiling the program `text`, which was read from `file`.
pub fn to_command_error(file: &Path, text: &str, error: &ProgramError) -> CommandError {
    match (error, error.location()) {
        (ProgramError::Kernel(_), _) => CommandError::Broken(error.to_string()),
        (_, Some(location)) => {
            CommandError::Text { name: file.display().to_string(), text: text.to_owned(), error: location.clone() }
        }
        _ => CommandError::Input(format!("{}: {error}", file.display())),
    }
}
