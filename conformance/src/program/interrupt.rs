//! Runs that the user ends: by a signal, and how to go on with what is left.

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
use crate::{CaseResult, Environment, Exit};

/// A flag that the first signal to end sets. The second one ends the process at once.
pub(super) fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in the order in which they came: this one finds what an earlier signal has set.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// The command line that goes on with a run: the words that began it, and where its results are.
pub(super) fn resumption(words: &[OsString], kept: Option<&OsStr>) -> String {
    let mut all: Vec<Cow<'_, str>> = vec!["conformance".into()];
    if let Some(file) = kept {
        all.extend(["--results".into(), file.to_string_lossy()]);
    }
    if !words.iter().any(|word| word == "--resume") {
        all.push("--resume".into());
    }
    all.extend(words.iter().map(|word| word.to_string_lossy()));
    all.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Keeps the results of a run that was to keep none, in a new file for temporary ones.
pub(super) fn save(
    environment: &Environment,
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
