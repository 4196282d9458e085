//! The records that a worker process sends to the runner, one a line on its standard output.
//!
//! A record's line begins with the record separator of RFC 7464, to distinguish it from any text that a case or a
//! library prints.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// One record from a worker process, about the progress of its cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub(super) enum Record {
    /// The target is open, and all requested cases exist.
    Ready,
    /// The worker starts the case with this name.
    Start { name: String },
    /// The case with this name has ended with an outcome.
    End { name: String, outcome: Outcome },
    /// All requested cases have ended. Only this record completes a batch; an exit status never does.
    Done,
    /// The batch cannot be run, for the reason in `message`.
    Unable { message: String },
}

const SEPARATOR: char = '\u{1e}';
/// Max number of bytes of a record's line, to limit memory; longer lines are not records.
const MAX_LINE: u64 = 1 << 24;

impl Record {
    /// Writes the record by a single call, on a line of its own even if the output so far ends within a line.
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let json = serde_json::to_string(self)?;
        to.write_all(format!("\n{SEPARATOR}{json}\n").as_bytes())?;
        to.flush()
    }

    /// Reads the next record of a worker's output and skips other lines; `None` at the end of the output.
    pub(super) fn next(output: &mut impl BufRead) -> Option<Self> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            if let Some(record) = Self::read(&line) {
                return Some(record);
            }
        }
    }

    /// Parses the record of a line; `None` for other lines.
    fn read(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.strip_prefix(SEPARATOR)?;
        serde_json::from_str(text).ok()
    }
}
