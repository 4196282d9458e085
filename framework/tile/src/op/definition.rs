//! One operation that there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::{Class, Piece, Rule};
use crate::attribute::Attribute;

/// An operation: what it has, and how it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name with its dialect: `arith.addf`.
    pub name: Arc<str>,
    /// Its operands, in order.
    pub operands: Vec<OperandGroup>,
    /// Its results, in order.
    pub results: Vec<OperandGroup>,
    /// The attributes that it knows; it may have others.
    pub attributes: Vec<AttributeRow>,
    /// How it is written after its name; in the generic form where there is nothing.
    pub format: Option<Vec<Piece>>,
    /// How types follow from each other.
    pub types: Vec<Rule>,
    /// How many regions it has.
    pub regions: Count,
    /// What else holds of it.
    pub traits: Traits,
}

/// Values that go by one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperandGroup {
    /// The name.
    pub name: String,
    /// How many there are.
    pub count: Count,
    /// What types they may have.
    pub class: Class,
}

/// How many there may be of something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Count {
    /// None.
    #[default]
    Zero,
    /// One.
    One,
    /// Two.
    Two,
    /// One or none.
    Optional,
    /// Any number.
    Many,
}

impl Count {
    /// Whether so many are right.
    #[must_use]
    pub fn holds(self, count: usize) -> bool {
        match self {
            Self::Zero => count == 0,
            Self::One => count == 1,
            Self::Two => count == 2,
            Self::Optional => count <= 1,
            Self::Many => true,
        }
    }
}

/// An attribute that an operation knows.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeRow {
    /// Its name.
    pub name: String,
    /// Whether it must be there.
    pub required: bool,
    /// What it may be.
    pub kind: AttributeKind,
    /// What it is where it is not there.
    pub default: Option<Attribute>,
}

/// What an attribute may be, which says how it is written where a format has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeKind {
    /// Anything, with its type.
    Any,
    /// Said by being there.
    Unit,
    /// True or false.
    Bool,
    /// An integer of so many bits, written without its type.
    Integer(u32),
    /// Integers of 32 bits, written with commas between.
    Integers,
    /// A text.
    Text,
    /// The name of a function.
    Symbol,
    /// Words, bars between.
    Words,
    /// One of some words; in the generic form its number.
    Word(Arc<BTreeMap<String, u32>>),
    /// `<...>` after a word; in the generic form after the name.
    Flags(Arc<Flags>),
}

/// Words in angle brackets, any number of which may hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flags {
    /// What stands before the brackets where no word does: `#dialect.name`.
    pub name: String,
    /// What stands between two words.
    pub separator: String,
}

impl Flags {
    /// The attribute of some flags, `<...>`, with what is to stand between them.
    pub(crate) fn attribute(&self, flags: &str) -> Attribute {
        let words: String = flags.split_whitespace().collect();
        Attribute::Foreign(format!("{}{}", self.name, words.replace(',', &self.separator)).into())
    }
}

/// What holds of an operation besides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// It gives the same for the same operands, and does nothing else: unused, it may go.
    pub pure: bool,
    /// Each element of the result comes from the elements at the same place: all tensors have one shape and layout.
    pub elementwise: bool,
    /// It gives the same whichever of its operands is first.
    pub commutative: bool,
    /// It ends a block.
    pub terminator: bool,
}

impl OperandGroup {
    /// How many of `count` values belong to each group, where nothing else says it: one to each that has one, and what
    /// is left to the first that may have more. `None` where they are too few or too many.
    #[must_use]
    pub fn divide(groups: &[Self], count: usize) -> Option<Vec<usize>> {
        let single = groups.iter().filter(|group| group.count == Count::One).count();
        let mut spare = count.checked_sub(single)?;
        let mut sizes = Vec::with_capacity(groups.len());
        for group in groups {
            let size = match group.count {
                Count::One => 1,
                Count::Optional => spare.min(1),
                Count::Many => spare,
                Count::Zero | Count::Two => 0,
            };
            if group.count != Count::One {
                spare -= size;
            }
            sizes.push(size);
        }
        (spare == 0).then_some(sizes)
    }
}

impl Definition {
    /// The attribute of a name that it knows.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&AttributeRow> {
        self.attributes.iter().find(|row| row.name == name)
    }

    /// Where the operands of a group are in [`Definition::operands`].
    #[must_use]
    pub fn operand_group(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|group| group.name == name)
    }

    /// Where the results of a group are in [`Definition::results`].
    #[must_use]
    pub fn result_group(&self, name: &str) -> Option<usize> {
        self.results.iter().position(|group| group.name == name)
    }

    /// The dialect.
    #[must_use]
    pub fn dialect(&self) -> &str {
        self.name.split_once('.').map_or("", |(dialect, _)| dialect)
    }
}
