//! What a worker tells the runner, one record a line on its standard output.
//!
//! A record's line begins with the record separator of RFC 7464, so that whatever a case or a
//! library prints in between is told apart.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// One thing that a worker says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub(super) enum Record {
    /// The target is open, and all cases asked for are there.
    Ready,
    /// A case begins.
    Start { name: String },
    /// A case has ended.
    End { name: String, outcome: Outcome },
    /// All cases asked for have ended. Only this makes a batch complete; an exit status never does.
    Done,
    /// The batch cannot be run.
    Unable { message: String },
}

const SEPARATOR: char = '\u{1e}';
/// Longer lines than this are no records.
const MAX_LINE: u64 = 1 << 24;

impl Record {
    /// Writes the record in one piece, on a line of its own.
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let json = serde_json::to_string(self)?;
        to.write_all(format!("\n{SEPARATOR}{json}\n").as_bytes())?;
        to.flush()
    }

    /// The next record of a worker's output, past all lines that are none; `None` at its end.
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

    /// The record of a line; `None` for what is none.
    fn read(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.strip_prefix(SEPARATOR)?;
        serde_json::from_str(text).ok()
    }
}
