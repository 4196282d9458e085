//! How operations are written, as a text with places in it.
//!
//! `$ptr(?, $mask) {} : #ptr` is an operand, another after a comma where there is one, the other attributes in braces,
//! and a type:
//!
//! | piece | is |
//! |---|---|
//! | `$name` | operands, or the attribute, of that name |
//! | `#name` | the types of operands or results |
//! | `~name` | the same without the word before `<`, which the class gives |
//! | `#*` | the types of all operands |
//! | `fn` | the types of all operands, an arrow, those of all results |
//! | `{}` | the attributes that stand nowhere else |
//! | `(?...)` | what is there when what its first place names is there |
//! | `@name(a b)` | a form of its own: [`Special`] |
//! | anything else | itself |

use super::Definition;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A word or mark.
    Literal(String),
    /// The operands of the group of this number.
    Operands(usize),
    /// The attribute of this number.
    Attribute(usize),
    /// The types of the operands of the group of this number; without their constructor where `short`.
    OperandTypes {
        /// The group's number.
        group: usize,
        /// Whether the constructor is left out.
        short: bool,
    },
    /// The types of the results of the group of this number.
    ResultTypes {
        /// The group's number.
        group: usize,
        /// Whether the constructor is left out.
        short: bool,
    },
    /// The types of all operands.
    AllOperandTypes,
    /// The types of all operands and of all results.
    FunctionType,
    /// All attributes that no other piece writes.
    Attributes,
    /// Pieces that are there together.
    Optional(Vec<Piece>),
    /// A form of its own.
    Special(Special),
}

/// Forms that no pieces tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `[%dependency]`, or `[]` where a token is a result without one; the numbers of both groups.
    Token(usize, usize),
    /// `, %barrier[%predicate]`, any number of times; the numbers of both groups.
    Barriers(usize, usize),
    /// A value with its type, which is the result's.
    Constant,
    /// The type of a choice, before it that of its condition where it is a tensor.
    Choice,
    /// A counted loop.
    For,
    /// A choice between two regions.
    If,
    /// A loop with a condition.
    While,
    /// A choice between regions by number.
    Switch,
    /// A region that runs once.
    Execute,
    /// A jump, and what it takes along.
    Branch,
    /// A jump to one of two blocks.
    ConditionalBranch,
    /// A jump by number.
    SwitchBranch,
    /// Regions of groups of warps.
    WarpSpecialize,
}

/// The names of forms without arguments.
const SPECIALS: [(&str, Special); 11] = [
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
];

impl Piece {
    /// The pieces of a template, whose names are those of a definition.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn list(template: &str, definition: &Definition) -> Result<Vec<Self>, String> {
        let mut reader = Reader { rest: template, definition };
        let pieces = reader.pieces()?;
        match reader.rest {
            "" => Ok(pieces),
            rest => Err(format!("`{rest}` closes nothing")),
        }
    }

    /// Whether the piece writes the attribute of this number.
    pub(crate) fn writes_attribute(&self, number: usize) -> bool {
        match self {
            Self::Attribute(written) => *written == number,
            Self::Optional(pieces) => pieces.iter().any(|piece| piece.writes_attribute(number)),
            _ => false,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    definition: &'a Definition,
}

impl<'a> Reader<'a> {
    /// Up to the end, or to the mark that closes an optional part.
    fn pieces(&mut self) -> Result<Vec<Piece>, String> {
        let mut pieces = Vec::new();
        let mut open = 0usize;
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else { return Ok(pieces) };
            // Brackets of the text itself close before the optional part's.
            match first {
                ')' if open == 0 => return Ok(pieces),
                ')' => open -= 1,
                '(' if !self.rest.starts_with("(?") => open += 1,
                _ => {}
            }
            pieces.push(self.piece(first)?);
        }
    }

    fn piece(&mut self, first: char) -> Result<Piece, String> {
        if self.takes("(?") {
            let pieces = self.pieces()?;
            return match self.takes(")") {
                true => Ok(Piece::Optional(pieces)),
                false => Err("an optional part is never closed".to_owned()),
            };
        }
        if self.takes("{}") {
            return Ok(Piece::Attributes);
        }
        if self.takes("#*") {
            return Ok(Piece::AllOperandTypes);
        }
        if self.takes("->") {
            return Ok(Piece::Literal("->".to_owned()));
        }
        match first {
            '$' => self.place(),
            '#' | '~' => self.types(first == '~'),
            '@' => self.special(),
            c if is_word(c) => {
                let word = self.word();
                Ok(if word == "fn" { Piece::FunctionType } else { Piece::Literal(word.to_owned()) })
            }
            mark => {
                self.rest = &self.rest[mark.len_utf8()..];
                Ok(Piece::Literal(mark.to_string()))
            }
        }
    }

    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn place(&mut self) -> Result<Piece, String> {
        self.rest = &self.rest[1..];
        let name = self.word();
        let attribute = self.definition.attributes.iter().position(|row| row.name == name);
        let operands = self.definition.operand_group(name).map(Piece::Operands);
        operands.or(attribute.map(Piece::Attribute)).ok_or_else(|| format!("`${name}` is no operand and no attribute"))
    }

    fn types(&mut self, short: bool) -> Result<Piece, String> {
        self.rest = &self.rest[1..];
        let name = self.word();
        let of = |group: usize| Piece::OperandTypes { group, short };
        let operands = self.definition.operand_group(name).map(of);
        let results = self.definition.result_group(name).map(|group| Piece::ResultTypes { group, short });
        operands.or(results).ok_or_else(|| format!("`#{name}` is no operand and no result"))
    }

    fn special(&mut self) -> Result<Piece, String> {
        self.rest = &self.rest[1..];
        let name = self.word();
        if let Some((_, special)) = SPECIALS.iter().find(|(known, _)| *known == name) {
            return Ok(Piece::Special(*special));
        }
        let arguments = self.rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let (arguments, rest) = arguments.ok_or_else(|| format!("`@{name}` is no form"))?;
        self.rest = rest;
        let operand = |name: &str| self.definition.operand_group(name);
        let groups = arguments.split_once(' ');
        let special = groups.and_then(|(first, second)| match name {
            "token" => Some(Special::Token(operand(first)?, self.definition.result_group(second)?)),
            "barriers" => Some(Special::Barriers(operand(first)?, operand(second)?)),
            _ => None,
        });
        special.map(Piece::Special).ok_or_else(|| format!("`@{name}({arguments})` is no form of these groups"))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}
