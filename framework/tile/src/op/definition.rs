//! The definition of one operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::{FormatTemplatePiece, OperandTypeConstraint, TypeInferenceRule, VerifyCondition};
use crate::attribute::Attribute;
use crate::types::TileType;

/// The definition of an operation: its operands, results, attributes and regions, and its text format.
#[derive(Debug, Clone, PartialEq)]
pub struct OpDefinition {
    /// Name of the operation including the dialect: `arith.addf`.
    pub name: Arc<str>,
    /// The operand groups, in order.
    pub operands: Vec<ValueGroup>,
    /// The result groups, in order.
    pub results: Vec<ValueGroup>,
    /// The attributes that the definition lists; operations may have others too.
    pub attributes: Vec<AttributeDefinition>,
    /// The element types that scalars and tensors of the dialect may have; empty for any.
    pub elements: Arc<[TileType]>,
    /// The text format that follows the operation's name; `None` if the operation has only MLIR's generic form.
    pub format: Option<Vec<FormatTemplatePiece>>,
    /// The rules by which the types of groups are inferred from the types of other groups.
    pub types: Vec<TypeInferenceRule>,
    /// The number of regions.
    pub regions: CountRule,
    /// Properties of the operation on which transformations and the verifier depend.
    pub traits: OpTraits,
    /// The conditions that the verifier checks.
    pub verify: Vec<VerifyCondition>,
    /// Whether layouts of the operands and results must have the lanes, warps and blocks that the module states.
    pub layouts_fit_module: bool,
}

/// A group of operands or results that share one name in the definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueGroup {
    /// Name of the group.
    pub name: String,
    /// The number of values that the group may have.
    pub count: CountRule,
    /// The types that the values of the group may have.
    pub class: OperandTypeConstraint,
}

/// The allowed number of values in a group, or of regions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CountRule {
    /// No values or regions.
    #[default]
    Zero,
    /// Exactly one.
    One,
    /// Exactly two.
    Two,
    /// Zero or one.
    Optional,
    /// Any number.
    Many,
}

impl CountRule {
    /// Whether exactly `count` values or regions are allowed.
    #[must_use]
    pub fn allows(self, count: usize) -> bool {
        match self {
            Self::Zero => count == 0,
            Self::One => count == 1,
            Self::Two => count == 2,
            Self::Optional => count <= 1,
            Self::Many => true,
        }
    }
}

/// An attribute that the definition of an operation lists.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeDefinition {
    /// Name of the attribute.
    pub name: String,
    /// Whether an operation must have the attribute.
    pub required: bool,
    /// The kind of the attribute's values.
    pub kind: AttributeKind,
    /// Value of the attribute in operations that lack it; `None` if it has no default.
    pub default: Option<Attribute>,
}

/// The kind of an attribute's values, which also determines how a text format writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeKind {
    /// Any attribute, with its type.
    Any,
    /// A unit attribute: its presence is its value.
    Unit,
    /// A bool.
    Bool,
    /// An integer of this width, written without its type.
    Integer(u32),
    /// Integers of this width, comma-separated.
    Integers(u32),
    /// A string.
    Text,
    /// A symbol: the name of a function.
    Symbol,
    /// A set of keywords, separated by `|`. If the dialect file lists their numbers, the generic form has the sum of
    /// these.
    Words(Arc<BTreeMap<String, u32>>),
    /// One of several keywords, each with its number; the generic form has the number.
    Keyword(Arc<BTreeMap<String, u32>>),
    /// A set of keywords in brackets, `<...>`; in the generic form, the attribute's name stands before the brackets.
    Flags(Arc<FlagSetSyntax>),
}

/// A set of keywords that is written in angle brackets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlagSetSyntax {
    /// The attribute's name `#dialect.name`, written before the brackets in the generic form.
    pub name: String,
    /// The separator between the keywords of the set.
    pub separator: String,
    /// The keywords that the set may contain.
    pub words: Vec<String>,
}

impl FlagSetSyntax {
    /// Returns the first keyword in `flags`, a text `<...>`, that this set does not allow; `None` if it allows all.
    pub(crate) fn unknown<'f>(&self, flags: &'f str) -> Option<&'f str> {
        let words = flags.trim().trim_start_matches('<').trim_end_matches('>').split([',', '|']).map(str::trim);
        words.into_iter().find(|word| !self.words.iter().any(|known| known == word))
    }

    /// The attribute for `flags`, a text `<...>` with keywords separated by commas.
    ///
    /// In the attribute, the set's own separator replaces the commas.
    pub(crate) fn attribute(&self, flags: &str) -> Attribute {
        let words: String = flags.split_whitespace().collect();
        Attribute::Foreign(format!("{}{}", self.name, words.replace(',', &self.separator)).into())
    }
}

/// Traits of an operation, as in MLIR.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpTraits {
    /// Whether the operation has no side effects, and its results depend only on the operands. It can be removed if
    /// unused.
    pub pure: bool,
    /// Whether each element of the result depends only on the operands' elements at the same index: all tensors have
    /// one shape and layout.
    pub elementwise: bool,
    /// Whether the two operands of the operation may be swapped.
    pub commutative: bool,
    /// Whether tensors may have layouts whose warps move along several axes at once (`generic_linear`); elementwise
    /// operations and those of MLIR's dialects always may.
    pub any_layout: bool,
    /// Whether the operation terminates a block.
    pub terminator: bool,
}

impl ValueGroup {
    /// Returns the number of values of each group if `count` values are divided among groups whose sizes the text does
    /// not state. `None` for too few or too many values.
    ///
    /// Each group that must have one value gets one. In order, an optional group takes one of the rest, and a group of
    /// any number takes all of it, or an equal share if there are several such groups.
    #[must_use]
    pub fn divide(groups: &[Self], count: usize) -> Option<Vec<usize>> {
        let single = groups.iter().filter(|group| group.count == CountRule::One).count();
        let mut spare = count.checked_sub(single)?;
        let many = groups.iter().filter(|group| group.count == CountRule::Many).count();
        let share = if many > 1 { spare / many } else { spare };
        let mut sizes = Vec::with_capacity(groups.len());
        for group in groups {
            let size = match group.count {
                CountRule::One => 1,
                CountRule::Optional => spare.min(1),
                CountRule::Many => share.min(spare),
                CountRule::Zero | CountRule::Two => 0,
            };
            if group.count != CountRule::One {
                spare -= size;
            }
            sizes.push(size);
        }
        (spare == 0).then_some(sizes)
    }
}

impl OpDefinition {
    /// The definition of the attribute with this name; `None` if the operation does not define it.
    #[must_use]
    pub fn find_attribute(&self, name: &str) -> Option<&AttributeDefinition> {
        self.attributes.iter().find(|row| row.name == name)
    }

    /// Index of the operand group with this name in [`OpDefinition::operands`]; `None` if there is none.
    #[must_use]
    pub fn operand_group_index(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|group| group.name == name)
    }

    /// Index of the result group with this name in [`OpDefinition::results`]; `None` if there is none.
    #[must_use]
    pub fn result_group_index(&self, name: &str) -> Option<usize> {
        self.results.iter().position(|group| group.name == name)
    }

    /// Returns the name of the operation's dialect, such as `arith`.
    #[must_use]
    pub fn dialect(&self) -> &str {
        self.name.split_once('.').map_or("", |(dialect, _)| dialect)
    }
}
