//! Program texts with tile sizes as parameters, and their instances.

use super::expression::Expression;
use super::expression::SizeExpressionError;
use tilewright_layout::text::{Cursor, Parsed};

/// A tile size of a program and its candidate values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileSizeCandidates {
    /// Name of the size.
    pub name: String,
    /// The candidate values, in the order of the search.
    pub sizes: Vec<u64>,
}

/// A program text with placeholders for tile sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct TileSizeTemplate {
    parameters: Vec<TileSizeCandidates>,
    blocks: Option<Expression>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Number(Expression),
}

impl TileSizeTemplate {
    /// Parses a text; `None` if it has no `tw.size`.
    ///
    /// # Errors
    /// [`TextError`](tilewright_layout::text::TextError): a syntax error, a size defined twice, an unknown name in an
    /// expression, or `${` without its end.
    pub fn parse(text: &str) -> Parsed<Option<Self>> {
        let mut read = Self { parameters: Vec::new(), blocks: None, pieces: Vec::new() };
        let (mut launch, mut program, mut at) = (None, String::with_capacity(text.len()), 0);
        for line in text.split_inclusive('\n') {
            let mut cursor = Cursor::new(&text[..at + line.trim_end().len()]);
            cursor.at = at;
            at += line.len();
            if cursor.skip_if_next("tw.size") {
                read.parameter(&mut cursor)?;
            } else if cursor.skip_if_next("tw.blocks") {
                launch = Some(cursor);
            } else {
                program.push_str(line);
                continue;
            }
            // Blanks keep the positions of the text that follows.
            program.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        }
        if read.parameters.is_empty() {
            return match launch {
                Some(cursor) => Err(cursor.error_at(cursor.at, "`tw.blocks` is for programs with `tw.size`")),
                None => Ok(None),
            };
        }
        let names: Vec<&str> = read.parameters.iter().map(|known| &*known.name).collect();
        if let Some(mut cursor) = launch {
            read.blocks = Some(Expression::read(&mut cursor, &names)?);
            cursor.expect_end("the end of the line")?;
        }
        read.pieces = pieces(&program, &names)?;
        Ok(Some(read))
    }

    /// Parses the rest of a `tw.size` line: ` m = 64, 128`.
    fn parameter(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        let name = cursor.read_identifier("`tw.size NAME = NUMBER, NUMBER, ...`")?;
        if self.parameters.iter().any(|known| known.name == name) {
            return Err(cursor.error_at(cursor.at - name.len(), "a size of this name is there already"));
        }
        cursor.expect("=")?;
        let mut sizes = Vec::new();
        while sizes.is_empty() || cursor.skip_if_next(",") {
            cursor.skip_blanks();
            let start = cursor.at;
            match cursor.read_decimal("a size")? {
                0 => return Err(cursor.error_at(start, "expected a size above zero")),
                size => sizes.push(size),
            }
        }
        self.parameters.push(TileSizeCandidates { name: name.to_owned(), sizes });
        cursor.expect_end("`,` or the end of the line")
    }

    /// The tile sizes, in the order of the text.
    #[must_use]
    pub fn parameters(&self) -> &[TileSizeCandidates] {
        &self.parameters
    }

    /// The same text with one fixed value for a size, which need not be a candidate; `None` if there is no size of this
    /// name.
    #[must_use]
    pub fn with_fixed_size(mut self, name: &str, size: u64) -> Option<Self> {
        self.parameters.iter_mut().find(|known| known.name == name)?.sizes = vec![size];
        Some(self)
    }

    /// The program text for these sizes, in the order of the parameters.
    ///
    /// # Errors
    /// [`SizeExpressionError`]: a negative value, an overflow, or a division by zero.
    pub fn substitute_sizes(&self, sizes: &[u64]) -> Result<String, SizeExpressionError> {
        let mut program = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => program.push_str(text),
                Piece::Number(number) => program.push_str(&number.of(sizes)?.to_string()),
            }
        }
        Ok(program)
    }

    /// The number of blocks of a launch with these sizes; `None` if the text has no `tw.blocks`.
    ///
    /// # Errors
    /// As [`TileSizeTemplate::substitute_sizes`].
    pub fn launch_blocks(&self, sizes: &[u64]) -> Result<Option<u64>, SizeExpressionError> {
        self.blocks.as_ref().map(|blocks| blocks.of(sizes)).transpose()
    }
}

fn pieces(program: &str, names: &[&str]) -> Parsed<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut cursor = Cursor::new(program);
    while let Some(length) = cursor.rest().find("${") {
        pieces.push(Piece::Text(cursor.rest()[..length].to_owned()));
        cursor.at += length + "${".len();
        pieces.push(Piece::Number(Expression::read(&mut cursor, names)?));
        cursor.expect("}")?;
    }
    pieces.push(Piece::Text(cursor.rest().to_owned()));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::super::*;

    const TEXT: &str =
        "tw.size m = 64, 128\n  tw.size k = 32\ntw.blocks 4096 / m * (k + 32)\na ${m}x${k}xf16\n\"(${m},${k / 2})\"\n";

    #[test]
    fn sizes_are_put_where_they_stand() {
        let sized = TileSizeTemplate::parse(TEXT).expect("a text").expect("sizes");
        let names: Vec<_> = sized
            .parameters()
            .iter()
            .map(|size_parameter| (&*size_parameter.name, &size_parameter.sizes[..]))
            .collect();
        assert_eq!(names, [("m", &[64, 128][..]), ("k", &[32][..])]);
        let program = sized.substitute_sizes(&[128, 32]).expect("a program");
        assert_eq!(program.lines().map(str::trim).collect::<Vec<_>>(), ["", "", "", "a 128x32xf16", "\"(128,16)\""]);
        assert_eq!(program.len() - program.trim_start().len(), TEXT.find("a $").expect("a place"), "places stay");
        assert_eq!(sized.launch_blocks(&[128, 32]), Ok(Some(4096 / 128 * 64)));
        let pinned = sized.clone().with_fixed_size("m", 256).expect("a size");
        assert_eq!(pinned.parameters()[0].sizes, [256]);
        assert!(sized.with_fixed_size("n", 1).is_none());
        assert_eq!(TileSizeTemplate::parse("module {}\n"), Ok(None));
    }

    #[test]
    fn errors_name_their_line_and_column() {
        for (text, line, column, message) in [
            ("tw.size 64\n", 1, 9, "expected `tw.size NAME"),
            ("tw.size m 64\n", 1, 11, "expected `=`"),
            ("tw.size m = 64, 0\n", 1, 17, "above zero"),
            ("tw.size m = 64, x\n", 1, 17, "expected a size"),
            ("tw.size m = 64 32\n", 1, 16, "expected `,`"),
            ("tw.size m = 1\n tw.size m = 2\n", 2, 10, "already"),
            ("tw.size m = 1\n${n}", 2, 3, "no size `n`"),
            ("tw.size m = 1\nab ${m +}", 2, 9, "expected a number"),
            ("tw.size m = 1\n${(m}", 2, 5, "expected `)`"),
            ("tw.size m = 1\n${m m}", 2, 5, "expected `}`"),
            ("tw.size m = 1\n${m", 2, 4, "expected `}`"),
            ("tw.size m = 1\ntw.blocks m m\n", 2, 13, "the end of the line"),
            ("tw.blocks 3\n", 1, 10, "`tw.size`"),
        ] {
            let error = TileSizeTemplate::parse(text).expect_err(text);
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn invalid_numbers_are_errors() {
        let of = |expression: &str, m: u64| {
            let text = format!("tw.size m = 4\n${{{expression}}}");
            TileSizeTemplate::parse(&text)
                .expect("a text")
                .expect("sizes")
                .substitute_sizes(&[m])
                .map(|text| text.trim().to_owned())
        };
        assert_eq!(of("(m + 1) * 3 % 4 - 2", 4), Ok("1".to_owned()));
        assert_eq!(of("16 - m", 20), Err(SizeExpressionError::Negative("16 - m".to_owned())));
        assert_eq!(of("16 / (m - 4)", 4), Err(SizeExpressionError::Zero("16 / (m - 4)".to_owned())));
        assert_eq!(of("m * m", u64::MAX), Err(SizeExpressionError::Large("m * m".to_owned())));
    }
}
