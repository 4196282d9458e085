//! `tilewright batch`: JSON lines in, JSON lines out.
//!
//! Every line is an object with `id` and `op`; every answer is `{"id": ..., "result": ...}` or
//! `{"id": ..., "error": {"code": ..., "message": ...}}`, in the order of the lines. A bad line gets
//! an error and stops nothing.

mod algebra;
mod conflicts;
mod cute;
mod operations;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::pipeline::Session;

use crate::failure::Failure;
use crate::{Global, input};

pub use operations::layout_answer;

/// Where the questions are.
#[derive(Debug, Args)]
pub struct Options {
    /// The file to read; standard input where it is absent or `-`.
    file: Option<PathBuf>,
}

/// Lines longer than this are refused, so that one line cannot take all memory.
const LONGEST: usize = 16 << 20;

/// Why a line has no result.
pub struct Refusal {
    /// One of a fixed list: `bad_json`, `bad_request`, `unknown_op`, `unknown_target`, `bad_layout`,
    /// `undefined`, `unsupported`, `failed`.
    code: &'static str,
    message: String,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let reader: Box<dyn BufRead> = match &options.file {
        Some(path) if path.as_os_str() != "-" => {
            let file = std::fs::File::open(path)
                .map_err(|error| Failure::Input(format!("cannot read {}: {error}", path.display())))?;
            Box::new(BufReader::new(file))
        }
        _ => Box::new(std::io::stdin().lock()),
    };
    let mut out = std::io::stdout().lock();
    for line in reader.split(b'\n') {
        let line = line?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        writeln!(out, "{}", answer(&session, &line))?;
        out.flush()?;
    }
    Ok(())
}

fn answer(session: &Session, line: &[u8]) -> Json {
    let (id, result) = match parsed(line) {
        Ok(request) => {
            let id = request.get("id").cloned().unwrap_or(Json::Null);
            (id, operations::perform(session, &request))
        }
        Err(refusal) => (Json::Null, Err(refusal)),
    };
    match result {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(refusal) => json!({ "id": id, "error": { "code": refusal.code, "message": refusal.message } }),
    }
}

fn parsed(line: &[u8]) -> Result<Json, Refusal> {
    if line.len() > LONGEST {
        return Err(Refusal::new("bad_json", format!("a line of {} bytes; {LONGEST} are read at most", line.len())));
    }
    serde_json::from_slice(line).map_err(|error| Refusal::new("bad_json", error.to_string()))
}

impl Refusal {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message }
    }
}
