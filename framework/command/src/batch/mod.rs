//! `tilewright batch`: JSON lines in, JSON lines out.
//!
//! Every line is an object with `id` and `op`; every answer is `{"id": ..., "result": ...}` or `{"id": ..., "error":
//! {"code": ..., "message": ...}}`, in the order of the lines. A bad line gets an error; the next lines are still
//! answered. Unknown fields are listed in the answer, as `ignored`.

mod conflicts;
mod fields;
mod lines;
mod memory;
mod movement;
mod operations;
mod refusal;
mod request;

use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::Session;

use crate::failure::CommandError;
use crate::limits::{check_id, shorten};
use crate::{GlobalOptions, input};

use lines::{Line, LineReader};
use refusal::BatchError;
use request::Request;

/// Options of `tilewright batch`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The file to read. Default, or `-`: standard input.
    file: Option<PathBuf>,
}

/// Runs `tilewright batch`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let reader: Box<dyn Read> = match &options.file {
        Some(path) if path.as_os_str() != "-" => Box::new(
            std::fs::File::open(path)
                .map_err(|error| CommandError::Input(format!("cannot read {}: {error}", path.display())))?,
        ),
        _ => Box::new(std::io::stdin().lock()),
    };
    let mut lines = LineReader::new(reader);
    let mut out = BufWriter::new(std::io::stdout().lock());
    while let Some(line) = lines.read_line()? {
        writeln!(out, "{}", answer(&session, line))?;
        // If no further line has arrived, the client may be waiting for this answer.
        if !lines.is_next_buffered() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Answers one request, as a line of `tilewright batch`.
///
/// # Examples
/// ```
/// let session = tilewright::Session::new(tilewright_targets::read_default_catalogue()?, tilewright::plugin::Registry::new());
/// let request = br#"{"id": 1, "op": "cute.composition", "inputs": ["(4,8):(8,1)", "8:2"]}"#;
/// let answer = tilewright_command::answer_request(&session, request);
/// assert_eq!(answer["result"], "(2,4):(16,1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn answer_request(session: &Session, request: &[u8]) -> Json {
    answer(session, if request.len() > lines::MAX_LINE_BYTES { Line::TooLong } else { Line::Complete(request) })
}

fn answer(session: &Session, line: Line<'_>) -> Json {
    let request = match parsed(line) {
        Ok(request) => request,
        Err(refusal) => return json!({ "id": null, "error": refusal.to_json() }),
    };
    let id = request.get("id").cloned().unwrap_or(Json::Null);
    if let Err(message) = check_id(&id) {
        return json!({ "id": null, "error": BatchError::invalid_field(message).to_json() });
    }
    if let Some((given, written)) = fields::find_camel_case_field(&request) {
        let error = BatchError::invalid_field(format_args!("`{given}` must be written `{written}`"));
        return json!({ "id": id, "error": error.to_json() });
    }
    let mut answer = match operations::dispatch_request(Request { session, fields: &request }) {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(refusal) => json!({ "id": id, "error": refusal.to_json() }),
    };
    let ignored = fields::ignored_fields(&request);
    if !ignored.is_empty() {
        answer["ignored"] = ignored.into_iter().map(shorten).collect();
    }
    answer
}

fn parsed(line: Line<'_>) -> Result<Json, BatchError> {
    match line {
        Line::Complete(bytes) => serde_json::from_slice(bytes).map_err(|error| BatchError::new("bad_json", error)),
        Line::TooLong => {
            let message = format_args!("a line of more than {} bytes, the most that is read", lines::MAX_LINE_BYTES);
            Err(BatchError::new("bad_json", message))
        }
    }
}
