//! Handles runs that the user interrupts by a signal: saves the results and prints how to resume.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::repro::quoted;
use crate::results::{Event, Lines};
use crate::{CaseResult, ExitStatus, RunMetadata};

/// Registers and returns a flag that the first terminating signal sets, so that the run ends orderly. A second signal
/// ends the process immediately.
pub(super) fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in registration order: the first ends the process if an earlier signal has already set the flag.
        flag::register_conditional_shutdown(signal, ExitStatus::Interrupted as i32, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Returns the command line that resumes a run: the words `args` of the run's own command line and, if `kept` names a
/// file with the run's results, that file.
pub(super) fn resume_command(args: &[OsString], kept: Option<&OsStr>) -> String {
    let mut all: Vec<Cow<'_, str>> = vec!["conformance".into()];
    if let Some(file) = kept {
        all.extend(["--results".into(), file.to_string_lossy()]);
    }
    if !args.iter().any(|arg| arg == "--resume") {
        all.push("--resume".into());
    }
    all.extend(args.iter().map(|arg| arg.to_string_lossy()));
    all.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ")
}

/// Saves the results of a run without `--results` in a new temporary file, so that it can be resumed.
pub(super) fn save(
    environment: &RunMetadata,
    chosen: &BTreeMap<String, usize>,
    results: &[CaseResult],
) -> io::Result<PathBuf> {
    let file = std::env::temp_dir().join(format!("conformance-{}-{}.jsonl", environment.started, std::process::id()));
    let mut lines = Lines::new(io::BufWriter::new(std::fs::File::create_new(&file)?));
    lines.write(&Event::Begin { environment: Cow::Borrowed(environment), chosen: Cow::Borrowed(chosen) })?;
    for result in results {
        lines.write(&Event::Case { result: Cow::Borrowed(result), repro: None })?;
    }
    Ok(file)
}
