//! Parses the command line of the suite and runs its subcommand.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser;

use crate::runner::serve;
use crate::{Context, ExitStatus, TestableTargets};

use super::arguments::{Arguments, Command, MessageFormat, Which};
use super::choose::{Chosen, chosen_targets, context};
use super::merge;
use super::stop::Stop;
use super::suite::{OUTSIDE_OF_CASES, PluginIsolation, Suite};

impl Suite {
    /// Runs the command with `arguments`; the first argument is the program's name.
    pub fn run(&self, arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
        let args: Vec<_> = arguments.into_iter().collect();
        let arguments = match Arguments::try_parse_from(&args) {
            Ok(arguments) => arguments,
            Err(error) => {
                // If the message cannot be written either, no channel is left for an error.
                let _ = error.print();
                return if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Ok };
            }
        };
        self.run_subcommand(&arguments, args.get(1..).unwrap_or_default()).unwrap_or_else(|Stop(exit, message)| {
            eprintln!("error: {message}");
            exit
        })
    }

    /// Runs the subcommand in `arguments`, which were parsed from `args`.
    fn run_subcommand(&self, arguments: &Arguments, args: &[OsString]) -> Result<ExitStatus, Stop> {
        match &arguments.command {
            Some(Command::RunBatch { which }) => return self.serve(which),
            Some(Command::Merge { files, results, reporting }) => {
                return merge::merge(files, results.as_deref(), reporting);
            }
            Some(Command::Claim { files, level, which, message_format }) => {
                return self.claim(files, *level, which, *message_format);
            }
            Some(Command::Pack { folder, which, choice, date }) => {
                return self.pack(folder, which, choice, date.as_deref());
            }
            Some(Command::Run { command, plugins }) => return Ok(self.play(command, plugins)),
            None => {}
        }
        let targets = (self.targets)(&arguments.which.plugins, OUTSIDE_OF_CASES)?;
        if arguments.list_targets {
            return list_targets(&*targets, arguments.reporting.message_format);
        }
        let names = chosen_targets(&*targets, &arguments.which.targets)?;
        let answers = arguments.which.answers()?;
        let (cases, total) = self.chosen_cases(&*targets, &names, &answers, arguments)?;
        if arguments.list {
            return list_cases(&cases, arguments.reporting.message_format);
        }
        self.execute(&*targets, &cases, total, arguments, args)
    }

    /// Runs as a worker process: executes the cases named on standard input and reports their outcomes.
    fn serve(&self, which: &Which) -> Result<ExitStatus, Stop> {
        let open = || -> Result<Context, String> {
            let targets = (self.targets)(&which.plugins, PluginIsolation::Worker).map_err(|error| error.to_string())?;
            let [name] = &which.targets[..] else { return Err("a worker has one target".to_owned()) };
            let answers = which.answers().map_err(|error| error.to_string())?;
            context(&*targets, name, &answers, which).map_err(|Stop(_, message)| message)
        };
        serve(&self.groups, open)?;
        Ok(ExitStatus::Ok)
    }
}

fn list_targets(targets: &dyn TestableTargets, format: MessageFormat) -> Result<ExitStatus, Stop> {
    let list = targets.list();
    let mut out = io::stdout().lock();
    let width = |text: fn(&tilewright_target::TargetDescription) -> &str| {
        list.iter().map(|target| text(target).len()).max().unwrap_or(0)
    };
    let (names, architectures) = (width(|target| &target.name), width(|target| &target.architecture));
    for target in &list {
        let (name, architecture, gpu_model) = (&target.name, &target.architecture, &target.gpu_model);
        match format {
            MessageFormat::Human => writeln!(out, "{name:names$}  {architecture:architectures$}  {gpu_model}")?,
            MessageFormat::Json => {
                let line = serde_json::json!({"name": name, "architecture": architecture, "product": gpu_model});
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(ExitStatus::Ok)
}

fn list_cases(cases: &Chosen, format: MessageFormat) -> Result<ExitStatus, Stop> {
    let mut out = io::stdout().lock();
    for (target, name) in cases.iter().flat_map(|(target, names)| names.iter().map(move |name| (target, name))) {
        match format {
            MessageFormat::Human if cases.len() == 1 => writeln!(out, "{name}")?,
            MessageFormat::Human => writeln!(out, "{target} {name}")?,
            MessageFormat::Json => writeln!(out, "{}", serde_json::json!({"target": target, "name": name}))?,
        }
    }
    Ok(ExitStatus::Ok)
}
