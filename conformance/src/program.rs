//! The suite as a command: its arguments, and what it does with them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::report::{Human, Lines};
use crate::runner::serve;
use crate::{
    Answers, AnswersError, Batch, Context, Exit, Filter, Group, OpenError, Report, Runner, Targets, Thoroughness,
    Worker, list,
};

/// Environment variable with a directory of known answers, besides those of `--answers`.
const ANSWERS_VARIABLE: &str = "TILEWRIGHT_SHARED";

/// Finds the targets that there are, with the given plugin files in front of all others.
pub type OpenTargets = Box<dyn Fn(&[PathBuf]) -> Result<Box<dyn Targets>, OpenError>>;

/// A conformance command: where targets come from, and the groups of cases. The product's own is
/// one; a vendor's may have groups of its own.
pub struct Program {
    /// Where targets come from.
    pub targets: OpenTargets,
    /// Where cases come from.
    pub groups: Vec<Box<dyn Group>>,
    /// Arguments that come before all others when the program starts itself as a worker.
    pub prefix: Vec<OsString>,
}

/// Proves a target: its layouts, its data movement, its code.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
#[command(after_help = "Exit status: 0 all ran and none failed; 1 failures; 2 the command line is wrong; 3 the \
                        harness failed and cases were not run.")]
struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Cases to run: globs over their names, `*` matching `/` too; a leading part of a name
    /// chooses all below it.
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// List the cases instead of running them.
    #[arg(long)]
    list: bool,
    /// List the targets that are known.
    #[arg(long)]
    list_targets: bool,
    /// Worker processes at a time; as many as there are processors where not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Seconds that one case has.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: Duration,
    /// For people, or one JSON object a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    message_format: MessageFormat,
    #[command(subcommand)]
    internal: Option<Internal>,
}

#[derive(Debug, Args)]
struct Which {
    /// The target to test, as often as wanted; `all` for every known one.
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// A plugin library to use before those that are found, as often as wanted.
    #[arg(long = "plugin", value_name = "FILE")]
    plugins: Vec<PathBuf>,
    /// A file or directory of known answers besides those that the suite and the plugin bring, as often
    /// as wanted.
    #[arg(long = "answers", value_name = "PATH")]
    answers: Vec<PathBuf>,
    /// A folder of whole programs for the group `kernels`, in the place of those that the suite carries, as often as
    /// wanted.
    #[arg(long = "cases", value_name = "DIR")]
    cases: Vec<PathBuf>,
    /// Show everything on every tensor, not each pair of layouts on a few: hours where the default takes
    /// minutes.
    #[arg(long)]
    thorough: bool,
    /// Also run cases on a device of the target, the first one or the first that has this in its name; where this
    /// machine has none they are skipped.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    device: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Internal {
    /// Runs the cases named on standard input; for the program's own use.
    #[command(hide = true)]
    RunBatch {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MessageFormat {
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

/// Why the program ends early, with what it says.
struct Stop(Exit, String);

impl From<OpenError> for Stop {
    fn from(error: OpenError) -> Self {
        let exit = match error {
            OpenError::Unknown(_) => Exit::Usage,
            OpenError::Broken { .. } => Exit::Harness,
        };
        Self(exit, error.to_string())
    }
}

impl From<AnswersError> for Stop {
    fn from(error: AnswersError) -> Self {
        Self(Exit::Usage, error.to_string())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self(Exit::Harness, format!("cannot write the results: {error}"))
    }
}

impl Program {
    /// Runs the command with the process's arguments, or those given; the first is the program.
    pub fn run(&self, arguments: impl IntoIterator<Item = OsString>) -> Exit {
        let arguments = match Arguments::try_parse_from(arguments) {
            Ok(arguments) => arguments,
            Err(error) => {
                // Nobody can be told where even this cannot be written.
                let _ = error.print();
                return if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            }
        };
        self.obey(&arguments).unwrap_or_else(|Stop(exit, message)| {
            eprintln!("error: {message}");
            exit
        })
    }

    fn obey(&self, arguments: &Arguments) -> Result<Exit, Stop> {
        if let Some(Internal::RunBatch { which }) = &arguments.internal {
            return self.serve(which);
        }
        let targets = (self.targets)(&arguments.which.plugins)?;
        if arguments.list_targets {
            return list_targets(&*targets, arguments.message_format);
        }
        let names = chosen_targets(&*targets, &arguments.which.targets)?;
        let answers = arguments.which.answers()?;
        let cases = self.chosen_cases(&*targets, &names, &answers, arguments)?;
        if arguments.list {
            return list_cases(&cases, arguments.message_format);
        }
        let runner = self.runner(arguments)?;
        run(&runner, &cases, arguments)
    }

    /// The worker's side.
    fn serve(&self, which: &Which) -> Result<Exit, Stop> {
        let open = || -> Result<Context, String> {
            let targets = (self.targets)(&which.plugins).map_err(|error| error.to_string())?;
            let [name] = &which.targets[..] else { return Err("a worker has one target".to_owned()) };
            let answers = which.answers().map_err(|error| error.to_string())?;
            context(&*targets, name, &answers, which).map_err(|Stop(_, message)| message)
        };
        serve(&self.groups, open)?;
        Ok(Exit::Ok)
    }

    /// The names of the cases to run, target by target.
    fn chosen_cases(
        &self,
        targets: &dyn Targets,
        names: &[String],
        answers: &Answers,
        arguments: &Arguments,
    ) -> Result<BTreeMap<String, Vec<String>>, Stop> {
        let filter = Filter::new(&arguments.globs).map_err(|error| Stop(Exit::Usage, error.to_string()))?;
        let mut all = Vec::new();
        let mut chosen = BTreeMap::new();
        for target in names {
            let context = context(targets, target, answers, &arguments.which)?;
            let cases = list(&self.groups, &context).map_err(|error| Stop(Exit::Harness, error.to_string()))?;
            let cases: Vec<_> = cases.iter().map(|case| case.name().to_owned()).collect();
            chosen.insert(target.clone(), cases.iter().filter(|name| filter.chooses(name)).cloned().collect());
            all.extend(cases);
        }
        // A mistyped name would otherwise be a run in which nothing failed.
        if let Some(glob) = filter.idle(&all).next() {
            return Err(Stop(Exit::Usage, format!("no case matches `{glob}`; `--list` shows what there is")));
        }
        if chosen.values().all(Vec::is_empty) {
            return Err(Stop(Exit::Harness, "there is no case to run".to_owned()));
        }
        Ok(chosen)
    }

    fn runner(&self, arguments: &Arguments) -> Result<Runner, Stop> {
        let program = std::env::current_exe()
            .map_err(|error| Stop(Exit::Harness, format!("cannot find this program to start workers: {error}")))?;
        let mut worker = self.prefix.clone();
        worker.push("run-batch".into());
        for plugin in &arguments.which.plugins {
            worker.extend(["--plugin".into(), plugin.into()]);
        }
        for path in &arguments.which.answers {
            worker.extend(["--answers".into(), path.into()]);
        }
        for folder in &arguments.which.cases {
            worker.extend(["--cases".into(), folder.into()]);
        }
        if arguments.which.thorough {
            worker.push("--thorough".into());
        }
        if let Some(name) = &arguments.which.device {
            worker.push(device_option(name).into());
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = arguments.jobs.map_or(processors, usize::from);
        Ok(Runner { worker: Worker::new(program, worker), jobs, timeout: arguments.timeout })
    }
}

impl Which {
    fn thoroughness(&self) -> Thoroughness {
        if self.thorough { Thoroughness::Thorough } else { Thoroughness::Usual }
    }

    /// The known answers that every target is asked.
    fn answers(&self) -> Result<Answers, AnswersError> {
        let mut answers = Answers::carried();
        let of_environment = std::env::var_os(ANSWERS_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        self.answers.iter().chain(&of_environment).try_for_each(|path| answers.add(path))?;
        Ok(answers)
    }
}

/// The context of a target, with what its plugin brings.
fn context(targets: &dyn Targets, name: &str, answers: &Answers, which: &Which) -> Result<Context, Stop> {
    let target = targets.open(name)?;
    let mut answers = answers.clone();
    if let Some(file) = targets.answers(name) {
        answers.add(&file)?;
    }
    let context = Context::with_answers(target, Arc::new(answers)).with_thoroughness(which.thoroughness());
    let context = context.with_cases(&which.cases);
    Ok(match &which.device {
        Some(name) => context.with_device_named(name),
        None => context,
    })
}

fn chosen_targets(targets: &dyn Targets, asked: &[String]) -> Result<Vec<String>, Stop> {
    let known: Vec<_> = targets.list().iter().map(|target| target.name.clone()).collect();
    if asked.is_empty() {
        let message = format!("which target? `--target NAME`, one of {}, or `all`", known.join(", "));
        return Err(Stop(Exit::Usage, message));
    }
    if asked.iter().any(|name| name == "all") {
        return Ok(known);
    }
    match asked.iter().find(|name| !known.contains(name)) {
        None => Ok(asked.to_vec()),
        Some(name) => {
            let message = format!("unknown target `{name}`; known are {}", known.join(", "));
            Err(Stop(Exit::Usage, message))
        }
    }
}

fn list_targets(targets: &dyn Targets, format: MessageFormat) -> Result<Exit, Stop> {
    let list = targets.list();
    let mut out = io::stdout().lock();
    let width = |text: fn(&tilewright::target::TargetDescription) -> &str| {
        list.iter().map(|target| text(target).len()).max().unwrap_or(0)
    };
    let (names, architectures) = (width(|target| &target.name), width(|target| &target.architecture));
    for target in &list {
        let (name, architecture, product) = (&target.name, &target.architecture, &target.product);
        match format {
            MessageFormat::Human => writeln!(out, "{name:names$}  {architecture:architectures$}  {product}")?,
            MessageFormat::Json => {
                let line = serde_json::json!({"name": name, "architecture": architecture, "product": product});
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(Exit::Ok)
}

fn list_cases(cases: &BTreeMap<String, Vec<String>>, format: MessageFormat) -> Result<Exit, Stop> {
    let mut out = io::stdout().lock();
    for (target, name) in cases.iter().flat_map(|(target, names)| names.iter().map(move |name| (target, name))) {
        match format {
            MessageFormat::Human if cases.len() == 1 => writeln!(out, "{name}")?,
            MessageFormat::Human => writeln!(out, "{target} {name}")?,
            MessageFormat::Json => writeln!(out, "{}", serde_json::json!({"target": target, "name": name}))?,
        }
    }
    Ok(Exit::Ok)
}

/// Cases that share a worker at most: few enough that all jobs have work to the end, many enough
/// that starting workers costs little.
const BATCH: usize = 192;

fn run(runner: &Runner, cases: &BTreeMap<String, Vec<String>>, arguments: &Arguments) -> Result<Exit, Stop> {
    let count: usize = cases.values().map(Vec::len).sum();
    let size = count.div_ceil(runner.jobs * 4).clamp(1, BATCH);
    let batches: Vec<_> = cases.iter().flat_map(|(target, names)| Batch::split(target, names, size)).collect();
    let mut report = Report::new(cases.iter().map(|(target, names)| (target.clone(), names.len())));
    let mut output = Output::new(arguments.message_format, count);
    let mut written = Ok(());
    let errors = runner.run(batches, |result| {
        report.add(&result);
        let repro = repro(&result.target, &result.name, arguments);
        // The first error is the one to tell; the run goes on for the exit status.
        let now = output.case(&result, &repro);
        if written.is_ok() {
            written = now;
        }
    });
    report.add_errors(errors);
    written?;
    output.end(&report)?;
    Ok(report.exit())
}

/// The command that runs one case again.
fn repro(target: &str, name: &str, arguments: &Arguments) -> String {
    let of = |option: &str, files: &[PathBuf]| -> String {
        files.iter().map(|file| format!(" {option} {}", quoted(file))).collect()
    };
    let (plugins, answers) = (of("--plugin", &arguments.which.plugins), of("--answers", &arguments.which.answers));
    let cases = of("--cases", &arguments.which.cases);
    let thorough = if arguments.which.thorough { " --thorough" } else { "" };
    let device = arguments.which.device.as_deref().map(|name| format!(" {}", quoted(device_option(name).as_ref())));
    let device = device.unwrap_or_default();
    format!("conformance --target {target}{plugins}{answers}{cases}{thorough}{device} {name}")
}

/// The option that asks for a device of a name; of any where it is empty.
fn device_option(name: &str) -> String {
    if name.is_empty() { "--device".to_owned() } else { format!("--device={name}") }
}

fn quoted(file: &std::path::Path) -> String {
    let text = file.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

enum Output {
    Human(Human<io::Stdout>),
    Json(Lines<io::Stdout>),
}

impl Output {
    fn new(format: MessageFormat, cases: usize) -> Self {
        match format {
            MessageFormat::Json => Self::Json(Lines::new(io::stdout())),
            MessageFormat::Human => {
                let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
                Self::Human(Human::new(io::stdout(), colour, io::stderr().is_terminal(), cases))
            }
        }
    }

    fn case(&mut self, result: &crate::CaseResult, repro: &str) -> io::Result<()> {
        match self {
            Self::Human(human) => human.case(result, repro),
            Self::Json(lines) => lines.case(result, repro),
        }
    }

    fn end(&mut self, report: &Report) -> io::Result<()> {
        match self {
            Self::Human(human) => human.end(report),
            Self::Json(lines) => lines.end(report),
        }
    }
}
