//! Parses the templates of text formats.

use tilewright_layout::text::{Cursor, Parsed};

use super::{FormatTemplatePiece, OpDefinition, OpSpecificFormatPiece};

/// Names of the special forms without arguments.
const SPECIALS: [(&str, OpSpecificFormatPiece); 12] = [
    ("constant", OpSpecificFormatPiece::Constant),
    ("choice", OpSpecificFormatPiece::Choice),
    ("for", OpSpecificFormatPiece::For),
    ("if", OpSpecificFormatPiece::If),
    ("while", OpSpecificFormatPiece::While),
    ("switch", OpSpecificFormatPiece::Switch),
    ("execute", OpSpecificFormatPiece::Execute),
    ("branch", OpSpecificFormatPiece::Branch),
    ("conditional_branch", OpSpecificFormatPiece::ConditionalBranch),
    ("switch_branch", OpSpecificFormatPiece::SwitchBranch),
    ("warp_specialize", OpSpecificFormatPiece::WarpSpecialize),
    ("warp_group", OpSpecificFormatPiece::WarpGroup),
];

impl FormatTemplatePiece {
    /// Parses a template, whose names are those of `definition`.
    ///
    /// # Errors
    /// [`TextError`](tilewright_layout::text::TextError) at the first syntax error, or at a name that the definition
    /// does not have.
    pub fn parse_template(template: &str, definition: &OpDefinition) -> Parsed<Vec<Self>> {
        let mut reader = Reader { cursor: Cursor::new(template), definition };
        let pieces = reader.pieces()?;
        reader.cursor.expect_end("the end of the template")?;
        Ok(pieces)
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    definition: &'a OpDefinition,
}

impl<'a> Reader<'a> {
    /// Parses the pieces of a template up to its end, or to the `)` of an optional part.
    fn pieces(&mut self) -> Parsed<Vec<FormatTemplatePiece>> {
        let mut pieces = Vec::new();
        let mut open = 0usize;
        while let Some(first) = self.cursor.peek() {
            // Brackets in literals close before the bracket of the optional part.
            match first {
                ')' if open == 0 => break,
                ')' => open -= 1,
                '(' if !self.cursor.is_next("(?") => open += 1,
                _ => {}
            }
            pieces.push(self.piece(first)?);
        }
        Ok(pieces)
    }

    fn piece(&mut self, first: char) -> Parsed<FormatTemplatePiece> {
        if self.cursor.skip_if_next("(?") {
            let pieces = self.pieces()?;
            self.cursor.expect(")")?;
            return Ok(FormatTemplatePiece::Optional(pieces));
        }
        for (token, piece) in [("{}", FormatTemplatePiece::Attributes), ("#*", FormatTemplatePiece::AllOperandTypes)] {
            if self.cursor.skip_if_next(token) {
                return Ok(piece);
            }
        }
        if self.cursor.skip_if_next("->") {
            return Ok(FormatTemplatePiece::Literal("->".to_owned()));
        }
        if is_word(first) {
            let word = self.word();
            return Ok(if word == "fn" {
                FormatTemplatePiece::FunctionType
            } else {
                FormatTemplatePiece::Literal(word.to_owned())
            });
        }
        let start = self.cursor.at;
        self.cursor.at += first.len_utf8();
        let piece = match first {
            '$' => self.parse_placeholder(),
            '#' | '~' => self.types(first == '~'),
            '@' => self.special()?,
            mark => Some(FormatTemplatePiece::Literal(mark.to_string())),
        };
        let expected = match first {
            '$' => "an operand or an attribute",
            '@' => "a form of these groups",
            _ => "an operand or a result",
        };
        let found = &self.cursor.text()[start..self.cursor.at];
        piece.ok_or_else(|| self.cursor.error_at(start, format!("expected {expected}, found `{found}`")))
    }

    fn word(&mut self) -> &'a str {
        self.cursor.take_while(is_word)
    }

    fn parse_placeholder(&mut self) -> Option<FormatTemplatePiece> {
        let name = self.word();
        let attribute = self.definition.attributes.iter().position(|row| row.name == name);
        self.definition
            .operand_group_index(name)
            .map(FormatTemplatePiece::Operands)
            .or(attribute.map(FormatTemplatePiece::Attribute))
    }

    fn types(&mut self, short: bool) -> Option<FormatTemplatePiece> {
        let name = self.word();
        let operands =
            self.definition.operand_group_index(name).map(|group| FormatTemplatePiece::OperandTypes { group, short });
        operands.or_else(|| {
            self.definition.result_group_index(name).map(|group| FormatTemplatePiece::ResultTypes { group, short })
        })
    }

    fn special(&mut self) -> Parsed<Option<FormatTemplatePiece>> {
        let name = self.word();
        if let Some((_, special)) = SPECIALS.iter().find(|(known, _)| *known == name) {
            return Ok(Some(FormatTemplatePiece::Special(*special)));
        }
        self.cursor.expect("(")?;
        if name == "bundles" {
            let group = self.cursor.expect_word("a group")?;
            self.cursor.expect(")")?;
            return Ok(self
                .definition
                .operand_group_index(group)
                .map(|group| FormatTemplatePiece::Special(OpSpecificFormatPiece::Bundles(group))));
        }
        let [first, second] = [self.cursor.expect_word("a group")?, self.cursor.expect_word("a group")?];
        self.cursor.expect(")")?;
        let first = self.definition.operand_group_index(first);
        Ok(match name {
            "token" => {
                first.zip(self.definition.result_group_index(second)).map(|(a, b)| OpSpecificFormatPiece::Token(a, b))
            }
            "barriers" => first
                .zip(self.definition.operand_group_index(second))
                .map(|(a, b)| OpSpecificFormatPiece::Barriers(a, b)),
            _ => None,
        }
        .map(FormatTemplatePiece::Special))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}
