//! Format templates: the text format of an operation, as text with placeholders.
//!
//! `$ptr(?, $mask) {} : #ptr` is an operand, optionally a comma and a second operand, the other attributes in braces,
//! and a type:
//!
//! | piece | stands for |
//! |---|---|
//! | `$name` | the operands, or the attribute, with this name |
//! | `#name` | the types of operands or results |
//! | `~name` | the same without the type constructor (the word before `<`) of the class |
//! | `#*` | the types of all operands |
//! | `fn` | the types of all operands, an arrow, the types of all results |
//! | `{}` | all attributes that no other piece writes |
//! | `(?...)` | an optional part, present if its first placeholder is |
//! | `@name(a b)` | a special form: [`OpSpecificFormatPiece`] |
//! | anything else | itself |

/// A part of a format template: a literal or a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatTemplatePiece {
    /// A keyword or punctuation.
    Literal(String),
    /// The operands of the group with this index.
    Operands(usize),
    /// The definition's attribute with this index.
    Attribute(usize),
    /// The types of the operands of a group.
    OperandTypes {
        /// Index of the operand group.
        group: usize,
        /// Whether the type constructor (the word before `<`) is omitted.
        short: bool,
    },
    /// The types of the results of a group.
    ResultTypes {
        /// Index of the result group.
        group: usize,
        /// Whether the type constructor (the word before `<`) is omitted.
        short: bool,
    },
    /// The types of all operands.
    AllOperandTypes,
    /// The types of all operands, an arrow, and the types of all results.
    FunctionType,
    /// All attributes that no other piece writes.
    Attributes,
    /// Pieces that are present or absent together.
    Optional(Vec<FormatTemplatePiece>),
    /// A special form that the other pieces cannot express.
    Special(OpSpecificFormatPiece),
}

/// Forms that only some operations have and the other pieces cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpSpecificFormatPiece {
    /// An async token: `[%dependency]`, or `[]` if the operation has a token as a result but as no operand.
    ///
    /// The fields are the indices of the operand group and of the result group.
    Token(usize, usize),
    /// mbarriers with predicates: `, %barrier[%predicate]`, any number of times.
    ///
    /// The fields are the indices of the operand groups of barriers and of predicates.
    Barriers(usize, usize),
    /// Bundles of operands: `["tag"(%a : i32), ...]`, or nothing. The field is the index of the operand group.
    Bundles(usize),
    /// A constant: the value with its type, which is the type of the result.
    Constant,
    /// The types of a select: first the condition's type, if that is a tensor, then the type of the values.
    Choice,
    /// `scf.for`.
    For,
    /// `scf.if`.
    If,
    /// `scf.while`.
    While,
    /// `scf.index_switch`.
    Switch,
    /// `scf.execute_region`.
    Execute,
    /// A branch with its successor and block arguments (`cf.br`).
    Branch,
    /// A conditional branch with two successors (`cf.cond_br`).
    ConditionalBranch,
    /// A switch: a branch to one of several successors, selected by an integer (`cf.switch`).
    SwitchBranch,
    /// The regions of warp partitions (`ttg.warp_specialize`).
    WarpSpecialize,
    /// Regions of warps without captures (`warp_group`).
    WarpGroup,
}

impl FormatTemplatePiece {
    /// Whether the piece writes the attribute with this index in the definition.
    pub(crate) fn writes_attribute(&self, index: usize) -> bool {
        match self {
            Self::Attribute(written) => *written == index,
            Self::Optional(pieces) => pieces.iter().any(|piece| piece.writes_attribute(index)),
            _ => false,
        }
    }
}
