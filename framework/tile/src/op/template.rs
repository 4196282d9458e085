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

impl Piece {
    /// Whether the piece writes the attribute of this number.
    pub(crate) fn writes_attribute(&self, number: usize) -> bool {
        match self {
            Self::Attribute(written) => *written == number,
            Self::Optional(pieces) => pieces.iter().any(|piece| piece.writes_attribute(number)),
            _ => false,
        }
    }
}
