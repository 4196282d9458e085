//! The lines of a batch: one at a time, none longer than memory should hold.

use std::io::{self, BufRead, BufReader, Read};

/// Lines of more bytes are passed over.
pub const LONGEST: usize = 16 << 20;

/// A line that is not blank, without its end.
pub enum Line<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// It is longer than [`LONGEST`].
    TooLong,
}

/// Reads lines.
pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// The lines of a reader.
    pub fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, reader), line: Vec::new() }
    }

    /// The next line that is not blank; none at the end.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            let most = LONGEST as u64 + 1;
            let read = self.reader.by_ref().take(most).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(None);
            }
            let ended = self.line.last() == Some(&b'\n');
            if !ended && self.line.len() > LONGEST {
                self.reader.skip_until(b'\n')?;
                self.line = Vec::new();
                return Ok(Some(Line::TooLong));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        Ok(Some(Line::Whole(self.line.trim_ascii())))
    }

    /// Whether the next line has been read already, so that asking for it does not wait.
    pub fn is_next_at_hand(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }
}
