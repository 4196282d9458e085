//! Reads the lines of a batch, with a limit on each line's length.

use std::io::{self, BufRead, BufReader, Read};

/// Max length of a line in bytes; longer lines are skipped.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// A non-blank line of the batch, without its line end.
pub enum Line<'a> {
    /// The bytes of a line within the limit.
    Complete(&'a [u8]),
    /// The line is longer than [`MAX_LINE_BYTES`].
    TooLong,
}

/// A reader of the non-blank lines of `R`.
pub struct LineReader<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> LineReader<R> {
    /// Creates a reader of the lines of `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, reader), line: Vec::new() }
    }

    /// Reads the next line that is not blank; `None` at the end of the input.
    pub fn read_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            let most = MAX_LINE_BYTES as u64 + 1;
            let read = self.reader.by_ref().take(most).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(None);
            }
            let is_terminated = self.line.last() == Some(&b'\n');
            if !is_terminated && self.line.len() > MAX_LINE_BYTES {
                self.reader.skip_until(b'\n')?;
                self.line = Vec::new();
                return Ok(Some(Line::TooLong));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        Ok(Some(Line::Complete(self.line.trim_ascii())))
    }

    /// Whether the next line is already buffered, so that reading it does not block.
    pub fn is_next_buffered(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }
}
