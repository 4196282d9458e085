//! The command line of the conformance suite.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{AnswersError, EvidenceLevel, KnownAnswers, Shard, Thoroughness};

/// Environment variable with a directory of known answers, in addition to those of `--answers`.
const ANSWERS_VARIABLE: &str = "TILEWRIGHT_SHARED";

/// Checks a target: its layouts, its data movement, its code.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
#[command(after_help = "Exit status: 0 all ran and none failed; 1 failures; 2 the command line is wrong; 3 the \
                        harness failed and cases were not run; 130 the run was interrupted.")]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) which: Which,
    #[command(flatten)]
    pub(super) choice: Choice,
    /// List the cases instead of running them.
    #[arg(long)]
    pub(super) list: bool,
    /// List the targets that are known.
    #[arg(long)]
    pub(super) list_targets: bool,
    /// Worker processes at a time; default: the number of processors.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
    /// Time limit of one case, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(super) timeout: Duration,
    /// Repeat a failing case up to this many times, in a process of its own; one that passes then is a flake.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) retries: u8,
    /// Also write results to this file as JSON lines, each as soon as it is final.
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    /// Resume the run whose results are in the file: cases with an outcome are not run again.
    #[arg(long, requires = "results")]
    pub(super) resume: bool,
    #[command(flatten)]
    pub(super) reporting: Reporting,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// Options that select the targets, plugins and known answers of a run.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The target to test, repeatable; `all` for every known one.
    #[arg(long = "target", value_name = "NAME")]
    pub(super) targets: Vec<String>,
    /// A plugin library to use before those that discovery finds, repeatable.
    #[arg(long = "plugin", value_name = "FILE")]
    pub(super) plugins: Vec<PathBuf>,
    /// A file or directory of known answers in addition to those of the suite and the plugin, repeatable.
    #[arg(long = "answers", value_name = "PATH")]
    pub(super) answers: Vec<PathBuf>,
    /// A folder of complete programs for the group `kernels`, instead of those that the suite carries, repeatable.
    #[arg(long = "cases", value_name = "DIR")]
    pub(super) cases: Vec<PathBuf>,
    /// Check every pair of layouts on every tensor instead of on a few: hours where the default takes minutes.
    #[arg(long)]
    pub(super) thorough: bool,
    /// Also run cases on a device of the target: the first one, or the first whose name contains NAME; skipped if this
    /// machine has none.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) device: Option<String>,
    /// First seed of random cases; another seed gives other cases under other names.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u32,
}

/// Options that select cases.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Cases to run: globs over their names, `*` matching `/` too; a leading part of a name chooses all below it.
    #[arg(value_name = "GLOB")]
    pub(super) globs: Vec<String>,
    /// Glob of chosen cases to leave out, repeatable.
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// A file of case names, one a line, as `--list` writes them, or `-` for standard input: only chosen cases on this
    /// list are run.
    #[arg(long, value_name = "FILE")]
    pub(super) case_list: Option<PathBuf>,
    /// Part K of N of the chosen cases. A case is in the same part in every run with the same N.
    #[arg(long, value_name = "K/N")]
    pub(super) shard: Option<Shard>,
    /// Run a sample of each group that covers every instruction and family, the same in every run: a minute on two
    /// processors.
    #[arg(long, conflicts_with = "thorough")]
    pub(super) smoke: bool,
}

/// Options that select the reports of a run.
#[derive(Debug, Args)]
pub(super) struct Reporting {
    /// For people, or one JSON object a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    pub(super) message_format: MessageFormat,
    /// Lists of unsupported cases, expected failures and flakes, each with its reason. Such a case that is on no list
    /// then fails the run, and so does a case that passes although it is listed as unsupported or failing.
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the lists of known deviations with which this run passes, instead of failing.
    #[arg(long, requires = "baseline")]
    pub(super) bless: bool,
    /// Also write a JUnit report.
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Also write an HTML page: one file, with pictures of the layouts of failed cases.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Also write tables of targets by groups, for each level, in Markdown.
    #[arg(long, value_name = "FILE")]
    pub(super) table: Option<PathBuf>,
    /// Number of slowest cases to name.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(super) slowest: usize,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Merges the results of several runs (shards, targets) into one report.
    Merge {
        /// Files that `--results` wrote.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Also write all results to one file.
        #[arg(long, value_name = "FILE")]
        results: Option<PathBuf>,
        #[command(flatten)]
        reporting: Reporting,
    },
    /// Decides whether results support a level for a target: every mandatory case passed at that level.
    Claim {
        /// Files that `--results` wrote.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The level to claim, which includes the levels before it.
        #[arg(long, value_enum)]
        level: EvidenceLevel,
        #[command(flatten)]
        which: Which,
        /// For people, or one JSON object.
        #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
        message_format: MessageFormat,
    },
    /// Writes compiled cases of a target and all files to run them into a folder, for a machine that has a GPU.
    Pack {
        /// The folder, empty or absent.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        choice: Choice,
        /// Date to record in the pack.
        #[arg(long, value_name = "TEXT")]
        date: Option<String>,
    },
    /// Runs such a folder on a device of this machine. `conformance-run` does the same without code generators.
    Run {
        #[command(flatten)]
        command: conformance_pack::PlayCommand,
        /// A plugin library to use before those that discovery finds, repeatable.
        #[arg(long = "plugin", value_name = "FILE")]
        plugins: Vec<PathBuf>,
    },
    /// Runs the cases named on standard input; internal.
    #[command(hide = true)]
    RunBatch {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MessageFormat {
    Human,
    Json,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let duration = Duration::try_from_secs_f64(number).map_err(|error| error.to_string())?;
    if duration < Duration::from_millis(1) {
        return Err("expected at least 0.001 seconds".to_owned());
    }
    Ok(duration)
}

impl Which {
    pub(super) fn thoroughness(&self) -> Thoroughness {
        if self.thorough { Thoroughness::Thorough } else { Thoroughness::Usual }
    }

    /// Reads the known answers that apply to every target.
    pub(super) fn answers(&self) -> Result<KnownAnswers, AnswersError> {
        let mut answers = KnownAnswers::builtin();
        let of_environment = std::env::var_os(ANSWERS_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        self.answers.iter().chain(&of_environment).try_for_each(|path| answers.add_files(path))?;
        Ok(answers)
    }

    /// Returns arguments for another command line of this program that has the same cases, except for the target.
    pub(super) fn to_command_line(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        for (option, files) in [("--plugin", &self.plugins), ("--answers", &self.answers), ("--cases", &self.cases)] {
            arguments.extend(files.iter().flat_map(|file| [option.into(), file.into()]));
        }
        arguments.extend(self.thorough.then(|| "--thorough".into()));
        let device =
            |name: &String| if name.is_empty() { "--device".into() } else { format!("--device={name}").into() };
        arguments.extend(self.device.as_ref().map(device));
        if self.seed != 0 {
            arguments.extend(["--seed".into(), self.seed.to_string().into()]);
        }
        arguments
    }
}
