//! Texts that leave sizes of tiles open.

use super::expression::Expression;
use super::expression::SizeError;
use crate::text::TextError;

/// A size, and the numbers that it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeParameter {
    /// Its name.
    pub name: String,
    /// The numbers, in the order in which they are tried.
    pub sizes: Vec<u64>,
}

/// A program with places for sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct SizedText {
    parameters: Vec<SizeParameter>,
    blocks: Option<Expression>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Number(Expression),
}

impl SizedText {
    /// Reads a text; none of one that names no sizes.
    ///
    /// # Errors
    /// [`TextError`]: a line that names a size otherwise than above, a name that is there twice, an expression that is none or
    /// has a name that no line gives, `${` without its end.
    pub fn read(text: &str) -> Result<Option<Self>, TextError> {
        let mut read = Self { parameters: Vec::new(), blocks: None, pieces: Vec::new() };
        let (mut launch, mut program, mut at) = (None, String::with_capacity(text.len()), 0);
        for line in text.split_inclusive('\n') {
            let (begin, words) = (at + line.len() - line.trim_start().len(), line.trim());
            at += line.len();
            if let Some(said) = words.strip_prefix("tw.size ") {
                read.parameter(text, begin, said)?;
            } else if let Some(said) = words.strip_prefix("tw.blocks ") {
                launch = Some((begin + "tw.blocks ".len(), said));
            } else {
                program.push_str(line);
                continue;
            }
            // Blanks keep the places of all that follows.
            program.extend(line.chars().map(|c| if c == '\n' { c } else { ' ' }));
        }
        if read.parameters.is_empty() {
            return match launch {
                Some((at, _)) => Err(TextError::new(text, at, "`tw.blocks` is for programs with `tw.size`")),
                None => Ok(None),
            };
        }
        read.blocks = launch.map(|(at, said)| Expression::read(text, at, said, &read.parameters)).transpose()?;
        read.pieces(text, &program)?;
        Ok(Some(read))
    }

    /// `m = 64, 128`
    fn parameter(&mut self, text: &str, at: usize, said: &str) -> Result<(), TextError> {
        let wrong = |message: &str| TextError::new(text, at, message);
        let form = "expected `tw.size NAME = NUMBER, NUMBER, ...`";
        let (name, numbers) = said.split_once('=').ok_or_else(|| wrong(form))?;
        let name = name.trim().to_owned();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let sizes: Option<Vec<u64>> =
            numbers.split(',').map(|number| number.trim().parse().ok().filter(|n| *n > 0)).collect();
        let sizes = sizes.filter(|_| is_name).ok_or_else(|| wrong(form))?;
        if self.parameters.iter().any(|known| known.name == name) {
            return Err(wrong("a size of this name is there already"));
        }
        self.parameters.push(SizeParameter { name, sizes });
        Ok(())
    }

    fn pieces(&mut self, text: &str, program: &str) -> Result<(), TextError> {
        let mut at = 0;
        while let Some(place) = program[at..].find("${") {
            let begin = at + place + 2;
            let end = program[begin..].find('}').map(|length| begin + length);
            let end = end.ok_or_else(|| TextError::new(text, begin, "`${` has no `}`"))?;
            self.pieces.push(Piece::Text(program[at..begin - 2].to_owned()));
            self.pieces.push(Piece::Number(Expression::read(text, begin, &program[begin..end], &self.parameters)?));
            at = end + 1;
        }
        self.pieces.push(Piece::Text(program[at..].to_owned()));
        Ok(())
    }

    /// The sizes that are to be chosen.
    #[must_use]
    pub fn parameters(&self) -> &[SizeParameter] {
        &self.parameters
    }

    /// The same with one number alone for a size, which need be none of those that the text lists; none where it names no such
    /// size.
    #[must_use]
    pub fn pinned(mut self, name: &str, size: u64) -> Option<Self> {
        self.parameters.iter_mut().find(|known| known.name == name)?.sizes = vec![size];
        Some(self)
    }

    /// The program with a number for each size, in their order.
    ///
    /// # Errors
    /// [`SizeError`]: a number that is less than nothing, or too large, or divided by nothing.
    pub fn with(&self, sizes: &[u64]) -> Result<String, SizeError> {
        let mut program = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => program.push_str(text),
                Piece::Number(number) => program.push_str(&number.of(sizes)?.to_string()),
            }
        }
        Ok(program)
    }

    /// The blocks of a launch with these sizes, where the text says so.
    ///
    /// # Errors
    /// As [`SizedText::with`].
    pub fn blocks(&self, sizes: &[u64]) -> Result<Option<u64>, SizeError> {
        self.blocks.as_ref().map(|blocks| blocks.of(sizes)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;

    const TEXT: &str =
        "tw.size m = 64, 128\n  tw.size k = 32\ntw.blocks 4096 / m * (k + 32)\na ${m}x${k}xf16\n\"(${m},${k / 2})\"\n";

    #[test]
    fn sizes_are_put_where_they_stand() {
        let sized = SizedText::read(TEXT).expect("a text").expect("sizes");
        let names: Vec<_> = sized.parameters().iter().map(|own| (&*own.name, &own.sizes[..])).collect();
        assert_eq!(names, [("m", &[64, 128][..]), ("k", &[32][..])]);
        let program = sized.with(&[128, 32]).expect("a program");
        assert_eq!(program.lines().map(str::trim).collect::<Vec<_>>(), ["", "", "", "a 128x32xf16", "\"(128,16)\""]);
        assert_eq!(program.len() - program.trim_start().len(), TEXT.find("a $").expect("a place"), "places stay");
        assert_eq!(sized.blocks(&[128, 32]), Ok(Some(4096 / 128 * 64)));
        let pinned = sized.clone().pinned("m", 256).expect("a size");
        assert_eq!(pinned.parameters()[0].sizes, [256]);
        assert!(sized.pinned("n", 1).is_none());
        assert_eq!(SizedText::read("module {}\n"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        for (text, line, column, message) in [
            ("tw.size m 64\n", 1, 1, "expected `tw.size NAME"),
            ("tw.size m = 64, 0\n", 1, 1, "expected `tw.size NAME"),
            ("tw.size m = 1\n tw.size m = 2\n", 2, 2, "already"),
            ("tw.size m = 1\n${n}", 2, 3, "no size `n`"),
            ("tw.size m = 1\nab ${m +}", 2, 9, "expected a number"),
            ("tw.size m = 1\n${(m}", 2, 5, "expected `)`"),
            ("tw.size m = 1\n${m m}", 2, 5, "expected the end"),
            ("tw.size m = 1\n${m", 2, 3, "no `}`"),
            ("tw.blocks 3\n", 1, 11, "`tw.size`"),
        ] {
            let error = SizedText::read(text).expect_err(text);
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_told() {
        let of = |said: &str, m: u64| {
            let text = format!("tw.size m = 4\n${{{said}}}");
            SizedText::read(&text).expect("a text").expect("sizes").with(&[m]).map(|text| text.trim().to_owned())
        };
        assert_eq!(of("(m + 1) * 3 % 4 - 2", 4), Ok("1".to_owned()));
        assert_eq!(of("16 - m", 20), Err(SizeError::Negative("16 - m".to_owned())));
        assert_eq!(of("16 / (m - 4)", 4), Err(SizeError::Zero("16 / (m - 4)".to_owned())));
        assert_eq!(of("m * m", u64::MAX), Err(SizeError::Large("m * m".to_owned())));
    }
}
