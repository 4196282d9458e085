//! Parses the templates of text formats.

use tilewright_layout::text::{Cursor, Parsed};

use super::{Definition, FormatPiece, Special};

/// Names of the special forms without arguments.
const SPECIALS: [(&str, Special); 12] = [
    ("constant", Special::Constant),
    ("choice", Special::Choice),
    ("for", Special::For),
    ("if", Special::If),
    ("while", Special::While),
    ("switch", Special::Switch),
    ("execute", Special::Execute),
    ("branch", Special::Branch),
    ("conditional_branch", Special::ConditionalBranch),
    ("switch_branch", Special::SwitchBranch),
    ("warp_specialize", Special::WarpSpecialize),
    ("warp_group", Special::WarpGroup),
];

impl FormatPiece {
    /// Parses a template, whose names are those of `definition`.
    ///
    /// # Errors
    /// [`TextError`](tilewright_layout::text::TextError) at the first syntax error, or at a name that the definition
    /// does not have.
    pub fn list(template: &str, definition: &Definition) -> Parsed<Vec<Self>> {
        let mut reader = Reader { cursor: Cursor::new(template), definition };
        let pieces = reader.pieces()?;
        reader.cursor.end("the end of the template")?;
        Ok(pieces)
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    definition: &'a Definition,
}

impl<'a> Reader<'a> {
    /// Parses the pieces of a template up to its end, or to the `)` of an optional part.
    fn pieces(&mut self) -> Parsed<Vec<FormatPiece>> {
        let mut pieces = Vec::new();
        let mut open = 0usize;
        while let Some(first) = self.cursor.peek() {
            // Brackets in literals close before the bracket of the optional part.
            match first {
                ')' if open == 0 => break,
                ')' => open -= 1,
                '(' if !self.cursor.sees("(?") => open += 1,
                _ => {}
            }
            pieces.push(self.piece(first)?);
        }
        Ok(pieces)
    }

    fn piece(&mut self, first: char) -> Parsed<FormatPiece> {
        if self.cursor.takes("(?") {
            let pieces = self.pieces()?;
            self.cursor.expect(")")?;
            return Ok(FormatPiece::Optional(pieces));
        }
        for (token, piece) in [("{}", FormatPiece::Attributes), ("#*", FormatPiece::AllOperandTypes)] {
            if self.cursor.takes(token) {
                return Ok(piece);
            }
        }
        if self.cursor.takes("->") {
            return Ok(FormatPiece::Literal("->".to_owned()));
        }
        if is_word(first) {
            let word = self.word();
            return Ok(if word == "fn" { FormatPiece::FunctionType } else { FormatPiece::Literal(word.to_owned()) });
        }
        let start = self.cursor.at;
        self.cursor.at += first.len_utf8();
        let piece = match first {
            '$' => self.parse_placeholder(),
            '#' | '~' => self.types(first == '~'),
            '@' => self.special()?,
            mark => Some(FormatPiece::Literal(mark.to_string())),
        };
        let expected = match first {
            '$' => "an operand or an attribute",
            '@' => "a form of these groups",
            _ => "an operand or a result",
        };
        let found = &self.cursor.text()[start..self.cursor.at];
        piece.ok_or_else(|| self.cursor.error(start, format!("expected {expected}, found `{found}`")))
    }

    fn word(&mut self) -> &'a str {
        self.cursor.take_while(is_word)
    }

    fn parse_placeholder(&mut self) -> Option<FormatPiece> {
        let name = self.word();
        let attribute = self.definition.attributes.iter().position(|row| row.name == name);
        self.definition.operand_group(name).map(FormatPiece::Operands).or(attribute.map(FormatPiece::Attribute))
    }

    fn types(&mut self, short: bool) -> Option<FormatPiece> {
        let name = self.word();
        let operands = self.definition.operand_group(name).map(|group| FormatPiece::OperandTypes { group, short });
        operands.or_else(|| self.definition.result_group(name).map(|group| FormatPiece::ResultTypes { group, short }))
    }

    fn special(&mut self) -> Parsed<Option<FormatPiece>> {
        let name = self.word();
        if let Some((_, special)) = SPECIALS.iter().find(|(known, _)| *known == name) {
            return Ok(Some(FormatPiece::Special(*special)));
        }
        self.cursor.expect("(")?;
        if name == "bundles" {
            let group = self.cursor.word("a group")?;
            self.cursor.expect(")")?;
            return Ok(self.definition.operand_group(group).map(|group| FormatPiece::Special(Special::Bundles(group))));
        }
        let [first, second] = [self.cursor.word("a group")?, self.cursor.word("a group")?];
        self.cursor.expect(")")?;
        let first = self.definition.operand_group(first);
        Ok(match name {
            "token" => first.zip(self.definition.result_group(second)).map(|(a, b)| Special::Token(a, b)),
            "barriers" => first.zip(self.definition.operand_group(second)).map(|(a, b)| Special::Barriers(a, b)),
            _ => None,
        }
        .map(FormatPiece::Special))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}
