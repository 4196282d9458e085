//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{Answers, AnswersError, Level, Shard, Thoroughness};

/// Environment variable with a directory of known answers, besides those of `--answers`.
const ANSWERS_VARIABLE: &str = "TILEWRIGHT_SHARED";

/// Proves a target: its layouts, its data movement, its code.
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
    /// Worker processes at a time; as many as there are processors where not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) jobs: Option<u16>,
    /// Seconds that one case has.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(super) timeout: Duration,
    /// Run a case that fails so many times more, alone; one that passes then is a flake.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) retries: u8,
    /// Also write results to this file, each as soon as it is final, as JSON lines.
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    /// Go on with the run whose results are in the file: what has an outcome there is not run again.
    #[arg(long, requires = "results")]
    pub(super) resume: bool,
    #[command(flatten)]
    pub(super) reporting: Reporting,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What is tested.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// The target to test, as often as wanted; `all` for every known one.
    #[arg(long = "target", value_name = "NAME")]
    pub(super) targets: Vec<String>,
    /// A plugin library to use before those that are found, as often as wanted.
    #[arg(long = "plugin", value_name = "FILE")]
    pub(super) plugins: Vec<PathBuf>,
    /// A file or directory of known answers besides those that the suite and the plugin bring, as often
    /// as wanted.
    #[arg(long = "answers", value_name = "PATH")]
    pub(super) answers: Vec<PathBuf>,
    /// A folder of whole programs for the group `kernels`, in the place of those that the suite carries, as often as
    /// wanted.
    #[arg(long = "cases", value_name = "DIR")]
    pub(super) cases: Vec<PathBuf>,
    /// Show everything on every tensor, not each pair of layouts on a few: hours where the default takes
    /// minutes.
    #[arg(long)]
    pub(super) thorough: bool,
    /// Also run cases on a device of the target, the first one or the first that has this in its name; where this
    /// machine has none they are skipped.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) device: Option<String>,
    /// Where random cases begin: another seed gives other ones, under other names.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u32,
}

/// Which of its cases.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Cases to run: globs over their names, `*` matching `/` too; a leading part of a name
    /// chooses all below it.
    #[arg(value_name = "GLOB")]
    pub(super) globs: Vec<String>,
    /// Cases not to run, of those that are chosen; a glob, as often as wanted.
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// A file of names of cases, one a line, as `--list` writes them, or `-` for standard input: only
    /// these are run, in so far as they are chosen.
    #[arg(long, value_name = "FILE")]
    pub(super) case_list: Option<PathBuf>,
    /// Part K of N of the chosen cases. A case is in the same part in every run of as many parts.
    #[arg(long, value_name = "K/N")]
    pub(super) shard: Option<Shard>,
    /// A sample of each group, every instruction and family once at least, the same in every run: a minute on two
    /// processors.
    #[arg(long, conflicts_with = "thorough")]
    pub(super) smoke: bool,
}

/// What is made of the results.
#[derive(Debug, Args)]
pub(super) struct Reporting {
    /// For people, or one JSON object a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    pub(super) message_format: MessageFormat,
    /// Lists of what is unsupported, expected to fail, or known to pass only sometimes, each with its reason. What
    /// is on no list then fails the run, and so does what passes and is on one.
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the lists as this run would have them, instead of failing.
    #[arg(long, requires = "baseline")]
    pub(super) bless: bool,
    /// Also write a JUnit report.
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Also write a page for people to look at: one file, with pictures of the layouts of what failed.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Also write tables of targets by groups, for each level, in Markdown.
    #[arg(long, value_name = "FILE")]
    pub(super) table: Option<PathBuf>,
    /// How many of the slowest cases to name.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(super) slowest: usize,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Puts the results of several runs (shards, targets) together, as if they were one.
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
    /// Says whether results show a target to a level: every mandatory case passed there.
    Claim {
        /// Files that `--results` wrote.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The level to claim; those before it are claimed with it.
        #[arg(long, value_enum)]
        level: Level,
        #[command(flatten)]
        which: Which,
        /// For people, or one JSON object.
        #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
        message_format: MessageFormat,
    },
    /// Writes compiled cases of a target with all that it takes to run them into a folder, for a machine that has a GPU.
    Pack {
        /// The folder, which is to be empty or not there.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        choice: Choice,
        /// When it is made, as it is to stand in the pack.
        #[arg(long, value_name = "TEXT")]
        date: Option<String>,
    },
    /// Runs such a folder on a device of this machine. `conformance-run` does the same without code generators.
    Run {
        #[command(flatten)]
        command: conformance_pack::PlayCommand,
        /// A plugin library to use before those that are found, as often as wanted.
        #[arg(long = "plugin", value_name = "FILE")]
        plugins: Vec<PathBuf>,
    },
    /// Runs the cases named on standard input; for the program's own use.
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
        return Err("a case needs some time: at least 0.001".to_owned());
    }
    Ok(duration)
}

impl Which {
    pub(super) fn thoroughness(&self) -> Thoroughness {
        if self.thorough { Thoroughness::Thorough } else { Thoroughness::Usual }
    }

    /// The known answers that every target is asked.
    pub(super) fn answers(&self) -> Result<Answers, AnswersError> {
        let mut answers = Answers::carried();
        let of_environment = std::env::var_os(ANSWERS_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        self.answers.iter().chain(&of_environment).try_for_each(|path| answers.add(path))?;
        Ok(answers)
    }

    /// What it takes on another command line of this program to have the same cases, the target left out.
    pub(super) fn again(&self) -> Vec<OsString> {
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
