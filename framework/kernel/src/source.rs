//! Source locations of statements: they are read from the notation of MLIR, `"kernel.py":3:8`.

use std::fmt;

use serde::Serialize;

/// Max depth of nested locations, so that no text exhausts the stack; a deeper text gives no location.
const MAX_NESTING: usize = 128;

/// A line of a source file, and the calls through which the kernel reaches it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct SourceLocation {
    /// Name of the source file, as the location's text states it.
    pub file: String,
    /// Number of the line, counted from 1; 0 if it is not known.
    pub line: u32,
    /// Number of the column, counted from 1; 0 if it is not known.
    pub column: u32,
    /// The location of the call through which this line was inlined; `None` if the line is in the kernel itself.
    pub caller: Option<Box<SourceLocation>>,
}

impl SourceLocation {
    /// Reads a location in the notation of MLIR, with or without parentheses around it. Of a named location, the
    /// location behind the name is read; of a fused location, the first one that names a file. `None` if no location
    /// names a file.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
        Reader { rest: text, depth: 0 }.instance()?
    }

    /// Returns the location and the calls around it, innermost first.
    pub fn inlined_frames(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |frame| frame.caller.as_deref())
    }

    /// Returns the location with `caller` appended to its calls, as the outermost call; `None` appends nothing.
    fn called_from(mut self, caller: Option<Self>) -> Self {
        let mut last = &mut self.caller;
        while let Some(frame) = last {
            last = &mut frame.caller;
        }
        *last = caller.map(Box::new);
        self
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Self { file, line, column, .. }) in self.inlined_frames().enumerate() {
            let called = if number == 0 { "" } else { ", called from " };
            write!(f, "{called}{file}:{line}:{column}")?;
        }
        Ok(())
    }
}

/// A reader of the notation. Its methods return `None` for text that breaks the grammar.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

/// The location that a text states; `None` if the text is a location without a file.
type Known = Option<SourceLocation>;

impl<'a> Reader<'a> {
    fn takes(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        self.takes(token).then_some(())
    }

    fn number(&mut self) -> Option<u32> {
        self.rest = self.rest.trim_start();
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn instance(&mut self) -> Option<Known> {
        self.depth += 1;
        let read = if self.depth > MAX_NESTING { None } else { self.nested() };
        self.depth -= 1;
        read
    }

    fn nested(&mut self) -> Option<Known> {
        if self.takes("callsite(") {
            let callee = self.instance()?;
            self.expect("at")?;
            let caller = self.instance()?;
            self.expect(")")?;
            return Some(match callee {
                Some(callee) => Some(callee.called_from(caller)),
                None => caller,
            });
        }
        if self.takes("fused") {
            return self.fused();
        }
        if self.takes("unknown") {
            return Some(None);
        }
        let file = self.quoted()?;
        if self.takes("(") {
            let named = self.instance()?;
            return self.expect(")").map(|()| named);
        }
        if !self.takes(":") {
            return Some(None);
        }
        let line = self.number()?;
        self.expect(":")?;
        let column = self.number()?;
        if self.takes("to") {
            // Skips the line and the column at which a range of locations ends.
            self.number();
            self.expect(":")?;
            self.number()?;
        }
        Some(Some(SourceLocation { file, line, column, caller: None }))
    }

    fn fused(&mut self) -> Option<Known> {
        if self.takes("<") {
            self.skip_metadata()?;
        }
        self.expect("[")?;
        let mut first = None;
        while !self.takes("]") {
            let one = self.instance()?;
            first = first.or(one);
            self.takes(",");
        }
        Some(first)
    }

    /// Skips metadata up to the `>` that ends it; `None` if the text ends before.
    fn skip_metadata(&mut self) -> Option<()> {
        let mut open = 1;
        while open > 0 {
            let next = self.rest.find(['<', '>', '"'])?;
            let character = self.rest.as_bytes()[next];
            self.rest = &self.rest[next..];
            if character == b'"' {
                self.quoted()?;
                continue;
            }
            self.rest = &self.rest[1..];
            open = if character == b'<' { open + 1 } else { open - 1 };
        }
        Some(())
    }

    /// Reads a string in quotation marks; `None` if the text has none here. `\` stands before a mark, a `\`, `n`, `t`,
    /// or two hexadecimal digits of a byte.
    fn quoted(&mut self) -> Option<String> {
        self.expect("\"")?;
        let (mut bytes, mut rest) = (Vec::new(), self.rest.bytes());
        loop {
            match rest.next()? {
                b'"' => break,
                b'\\' => match rest.next()? {
                    b'n' => bytes.push(b'\n'),
                    b't' => bytes.push(b'\t'),
                    byte @ (b'"' | b'\\') => bytes.push(byte),
                    high => {
                        let digits = [high, rest.next()?];
                        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                    }
                },
                byte => bytes.push(byte),
            }
        }
        self.rest = &self.rest[self.rest.len() - rest.len()..];
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
