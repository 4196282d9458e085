//! Tile programs: how they are compiled, and what is wrong with one at its place.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use tilewright::Session;
use tilewright::{ProgramCompiler, ProgramError, ProgramOptions, Stage};
use tilewright_assign::Strategy;
use tilewright_assign::synthesis::Options;
use tilewright_kernel::Kernel;

use crate::failure::CommandError;
use crate::limits::read_text;

/// How layouts are chosen.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Choice {
    /// Anchors choose, others follow.
    Propagation,
    /// At least cost.
    #[default]
    LeastCost,
}

/// A program, and the target that it is compiled for.
#[derive(Debug, Args)]
pub struct ProgramRequest {
    /// The program, in Triton's IR with or without layouts; or one that says where tiles lie.
    pub program: PathBuf,
    /// The target.
    #[arg(long)]
    pub target: String,
    /// The function that a launch begins with; may be left out where there is one alone.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    compiling: Compiling,
}

impl ProgramRequest {
    /// The program's text, and its kernel or why there is none; `seen` is shown every stage.
    pub fn kernel(
        &self,
        session: &Session,
        seen: &mut dyn FnMut(Stage<'_>),
    ) -> Result<(String, Result<Kernel, ProgramError>), CommandError> {
        let target = session.target(&self.target)?;
        let file = &self.program;
        let text =
            read_text(file).map_err(|error| CommandError::Input(format!("cannot read {}: {error}", file.display())))?;
        let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
        let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
        let kernel = compiler.kernel(&text, &self.compiling.options(self.entry.as_deref()), seen);
        Ok((text, kernel))
    }
}

/// How a program is compiled.
#[derive(Debug, Args)]
pub struct Compiling {
    /// Warps of a block, where the program does not say.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    warps: Option<u32>,
    /// Lanes of a warp, where the program does not say and the target has a choice.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    lanes: Option<u32>,
    /// How layouts are chosen.
    #[arg(long, value_enum, default_value_t)]
    strategy: Choice,
    /// Stages of loops whose loads go ahead of what uses them, at most; 1 is none ahead.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    stages: Option<u32>,
    /// What a size of the program is that it leaves open (`tw.size`); may be given for several.
    #[arg(long = "size", value_name = "NAME=NUMBER", value_parser = size)]
    sizes: Vec<(String, u64)>,
    #[command(flatten)]
    without: Without,
}

/// Parts of synthesis that are left out, to see what each gains.
#[derive(Debug, Clone, Copy, Args)]
struct Without {
    /// Tensors in shared memory lie row after row.
    #[arg(long = "without-memory-synthesis")]
    memory: bool,
    /// Lanes copy single elements to shared memory in turn.
    #[arg(long = "without-task-mapping")]
    task_mapping: bool,
    /// Each copy to shared memory is waited for at once.
    #[arg(long = "without-pipeline")]
    pipeline: bool,
}

impl Compiling {
    /// The same for a function.
    pub fn options(&self, entry: Option<&str>) -> ProgramOptions {
        let strategy = match self.strategy {
            Choice::Propagation => Strategy::Propagation,
            Choice::LeastCost => Strategy::LeastCost,
        };
        let Without { memory, task_mapping, pipeline } = self.without;
        let synthesis =
            Options { memory: !memory, task_mapping: !task_mapping, pipeline: !pipeline, ..Options::default() };
        let (warps, lanes, stages) = (self.warps, self.lanes, self.stages);
        let (entry, sizes) = (entry.map(str::to_owned), self.sizes.clone());
        ProgramOptions { warps, lanes, entry, strategy, stages, synthesis, sizes }
    }
}

/// A size by its name.
fn size(text: &str) -> Result<(String, u64), String> {
    let parts = text.split_once('=').and_then(|(name, size)| Some((name.trim().to_owned(), size.trim().parse().ok()?)));
    parts.filter(|(_, size)| *size > 0).ok_or_else(|| format!("expected NAME=NUMBER, such as m=64, not `{text}`"))
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Propagation => "propagation",
            Self::LeastCost => "least-cost",
        })
    }
}

/// The failure of the program of a file.
pub fn failure(file: &Path, text: &str, error: &ProgramError) -> CommandError {
    match (error, error.place()) {
        (ProgramError::Kernel(_), _) => CommandError::Broken(error.to_string()),
        (_, Some(place)) => {
            CommandError::Text { name: file.display().to_string(), text: text.to_owned(), error: place.clone() }
        }
        _ => CommandError::Input(format!("{}: {error}", file.display())),
    }
}
