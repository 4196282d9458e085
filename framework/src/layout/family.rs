//! Families: constructors of layouts from parameters and a shape, named the same way everywhere.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{LayoutError, LinearLayout, MemoryLayout, Spelling};

/// The value of one parameter of a family.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Attribute {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A word.
    Text(String),
    /// A list.
    List(Vec<Attribute>),
    /// Another family's layout.
    Spec(Box<FamilySpec>),
}

/// A layout by name: the family, its parameters, and for some the layout that it derives from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FamilySpec {
    /// Name of the family: `blocked`, `slice`, ...
    #[serde(rename = "kind")]
    pub name: String,
    /// The layout that this one derives from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<FamilySpec>>,
    /// Parameters by name, in `snake_case`.
    #[serde(flatten)]
    pub attributes: BTreeMap<String, Attribute>,
}

/// What a family builds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// From (register, lane, warp, block) to elements.
    Distributed(LinearLayout),
    /// From (offset, block) to elements.
    Memory(MemoryLayout),
    /// From (row, col) of tensor memory to elements.
    TensorMemory(LinearLayout),
}

impl Layout {
    /// The linear map, without padding.
    #[must_use]
    pub fn linear(&self) -> &LinearLayout {
        match self {
            Self::Distributed(linear) | Self::TensorMemory(linear) => linear,
            Self::Memory(memory) => &memory.linear,
        }
    }
}

/// Resolves family names. Implemented by the neutral families, by each vendor's plugin, and by
/// [`FamilySet`], which asks all of them.
pub trait Families: Send + Sync {
    /// The names that [`Families::resolve`] serves.
    fn names(&self) -> Vec<String>;

    /// The layout that `spec` names for a tensor of `shape`. `all` resolves whatever `spec` derives
    /// from; an implementation that owns the parent need not ask it.
    ///
    /// # Errors
    /// [`FamilyError`].
    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError>;

    /// Typical layouts of these families, which a conformance suite builds its cases from; a family
    /// that is in no sample is shown by nothing. Empty where no kernel has such a block.
    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        let _ = use_case;
        Vec::new()
    }

    /// How attribute text spells the layouts of these families; one without a spelling is written by
    /// rule, in its own words.
    fn spellings(&self) -> Vec<Spelling> {
        Vec::new()
    }
}

/// What samples are asked for: a block of so many warps and elements of so many bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SampleUse {
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Width of an element in bits.
    pub element_bits: u32,
}

/// A typical layout of a tensor of two axes, for [`Families::samples`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sample {
    /// A short name, unique among the samples of one use: lower-case letters, digits and `-`.
    pub name: String,
    /// The layout.
    pub spec: FamilySpec,
    /// The instruction operand whose tile the layout repeats, where there is one: for a block of
    /// one warp and a tensor of the tile's size, the layout is the operand's, up to the order of
    /// registers and, for the two factors of a contraction together, the order of K.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operand: Option<SampleOperand>,
}

/// An operand of an instruction, by name and role.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SampleOperand {
    /// Name of the instruction.
    pub instruction: String,
    /// Role of the operand: `a`, `b`, `c`, `d`.
    pub role: String,
}

impl Sample {
    /// A sample that belongs to no instruction.
    #[must_use]
    pub fn new(name: &str, spec: FamilySpec) -> Self {
        Self { name: name.to_owned(), spec, operand: None }
    }

    /// Says which operand's tile the layout repeats.
    #[must_use]
    pub fn feeding(mut self, instruction: &str, role: &str) -> Self {
        self.operand = Some(SampleOperand { instruction: instruction.to_owned(), role: role.to_owned() });
        self
    }
}

/// Why a family cannot build a layout.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FamilyError {
    /// Nobody serves this family; the caller's fault, or a plugin is missing.
    #[error("unknown layout family `{name}`{}", nearest(.known, .name))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A parameter is missing, unknown, of the wrong type or out of range; the caller's fault.
    #[error("family `{family}`, parameter `{parameter}`: {message}")]
    Parameter {
        /// The family.
        family: String,
        /// The parameter.
        parameter: String,
        /// What is wrong, what was expected.
        message: String,
    },
    /// The shape does not fit the family; the caller's fault.
    #[error("family `{family}`, shape {shape:?}: {message}")]
    Shape {
        /// The family.
        family: String,
        /// The shape.
        shape: Vec<u64>,
        /// What is wrong, what was expected.
        message: String,
    },
    /// The construction is not a layout.
    #[error("family `{family}`: {message}")]
    Layout {
        /// The family.
        family: String,
        /// What the algebra says.
        message: String,
    },
    /// The plugin that serves the family broke; its fault.
    #[error("plugin failure: {0}")]
    Plugin(String),
}

/// The end of a message about an unknown name: the nearest known one.
fn nearest(known: &[String], name: &str) -> String {
    let best = known.iter().map(|candidate| (edit_distance(candidate, name), candidate)).min();
    match best {
        Some((distance, candidate)) if distance <= 3 => format!("; did you mean `{candidate}`?"),
        _ if known.is_empty() => String::new(),
        _ => format!("; known are {}", known.join(", ")),
    }
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl FamilySpec {
    /// A spec without parameters.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), parent: None, attributes: BTreeMap::new() }
    }

    /// With one more parameter.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: impl Into<Attribute>) -> Self {
        self.attributes.insert(parameter.to_owned(), value.into());
        self
    }

    /// Derived from `parent`.
    #[must_use]
    pub fn of(mut self, parent: Self) -> Self {
        self.parent = Some(Box::new(parent));
        self
    }

    /// A reader of this spec's parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters<'_> {
        Parameters { spec: self, read: RefCell::new(Vec::new()) }
    }
}

impl From<i64> for Attribute {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Attribute {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl<T: Into<Attribute> + Clone, const N: usize> From<[T; N]> for Attribute {
    fn from(values: [T; N]) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Attribute> + Clone> From<&[T]> for Attribute {
    fn from(values: &[T]) -> Self {
        Self::List(values.iter().cloned().map(Into::into).collect())
    }
}

/// Reads the parameters of a spec, each under its name or one of its other spellings, and in the
/// end names those that nobody read.
#[derive(Debug)]
pub struct Parameters<'a> {
    spec: &'a FamilySpec,
    read: RefCell<Vec<String>>,
}

impl<'a> Parameters<'a> {
    /// The raw value of a parameter; `names` are its spellings, the proper one first.
    #[must_use]
    pub fn optional(&self, names: &[&str]) -> Option<&'a Attribute> {
        self.read.borrow_mut().extend(names.iter().map(|&name| name.to_owned()));
        names.iter().find_map(|&name| self.spec.attributes.get(name))
    }

    /// The value of a parameter that must be there.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] where it is not.
    pub fn required(&self, names: &[&str]) -> Result<&'a Attribute, FamilyError> {
        self.optional(names).ok_or_else(|| match self.misspelt(names) {
            Some(given) => self.wrong(names[0], &format!("is missing; `{given}` was given: is it misspelt?")),
            None => self.wrong(names[0], "is missing"),
        })
    }

    /// A parameter that was given, that nobody has read, and whose name is nearly one of `names`.
    fn misspelt(&self, names: &[&str]) -> Option<&'a str> {
        let read = self.read.borrow();
        let unread = self.spec.attributes.keys().filter(|given| !read.contains(given));
        let near = unread.filter_map(|given| {
            let distance = names.iter().map(|name| edit_distance(name, given)).min()?;
            (distance <= 2 && distance * 3 <= given.len()).then_some((distance, given.as_str()))
        });
        near.min().map(|(_, given)| given)
    }

    /// A whole number, not negative.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn number(&self, names: &[&str]) -> Result<u64, FamilyError> {
        self.as_number(names[0], self.required(names)?)
    }

    /// A whole number, not negative, or `default` where it is not given.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn number_or(&self, names: &[&str], default: u64) -> Result<u64, FamilyError> {
        self.optional(names).map_or(Ok(default), |value| self.as_number(names[0], value))
    }

    /// True or false, or `default` where it is not given.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn flag_or(&self, names: &[&str], default: bool) -> Result<bool, FamilyError> {
        match self.optional(names) {
            None => Ok(default),
            Some(Attribute::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(names[0], "must be true or false")),
        }
    }

    /// A list of whole numbers, not negative.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn numbers(&self, names: &[&str]) -> Result<Vec<u64>, FamilyError> {
        self.as_numbers(names[0], self.required(names)?)
    }

    /// A power of two.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn power(&self, names: &[&str]) -> Result<u64, FamilyError> {
        self.as_power(names[0], self.number(names)?)
    }

    /// A list of `count` powers of two.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn powers(&self, names: &[&str], count: usize) -> Result<Vec<u64>, FamilyError> {
        let list = self.numbers(names)?;
        if list.len() != count {
            return Err(self.wrong(names[0], &format!("has {} entries, expected {count}", list.len())));
        }
        list.into_iter().map(|number| self.as_power(names[0], number)).collect()
    }

    /// A list that names each of the axes 0 to `rank` - 1 once.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn order(&self, names: &[&str], rank: usize) -> Result<Vec<usize>, FamilyError> {
        let list = self.numbers(names)?;
        let axes: Vec<usize> = list.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect();
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if list.len() == rank && sorted.into_iter().eq(0..rank) {
            return Ok(axes);
        }
        Err(self.wrong(names[0], &format!("{list:?} must list each of the {rank} axes once, from 0 on")))
    }

    /// A list of lists of whole numbers, not negative: bases.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn bases(&self, names: &[&str]) -> Result<Vec<Vec<u64>>, FamilyError> {
        self.as_bases(names[0], self.required(names)?)
    }

    /// A list of lists of whole numbers, empty where it is not given.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`].
    pub fn bases_or_none(&self, names: &[&str]) -> Result<Vec<Vec<u64>>, FamilyError> {
        self.optional(names).map_or(Ok(Vec::new()), |value| self.as_bases(names[0], value))
    }

    /// The layout that this one derives from.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] where there is none.
    pub fn parent(&self) -> Result<&'a FamilySpec, FamilyError> {
        self.spec.parent.as_deref().ok_or_else(|| self.wrong("parent", "is missing"))
    }

    /// Checks that every parameter that was given has been read.
    ///
    /// # Errors
    /// [`FamilyError::Parameter`] that names the first one that has not.
    pub fn finish(&self) -> Result<(), FamilyError> {
        let read = self.read.borrow();
        match self.spec.attributes.keys().find(|name| !read.contains(name)) {
            None => Ok(()),
            Some(name) => Err(self.wrong(name, &format!("is not a parameter of this family{}", nearest(&read, name)))),
        }
    }

    /// The error that says what is wrong with a parameter.
    #[must_use]
    pub fn wrong(&self, parameter: &str, message: &str) -> FamilyError {
        FamilyError::Parameter {
            family: self.spec.name.clone(),
            parameter: parameter.to_owned(),
            message: message.to_owned(),
        }
    }

    fn as_number(&self, name: &str, value: &Attribute) -> Result<u64, FamilyError> {
        match value {
            Attribute::Int(number) => {
                u64::try_from(*number).map_err(|_| self.wrong(name, &format!("{number} is negative")))
            }
            _ => Err(self.wrong(name, "must be a whole number")),
        }
    }

    fn as_power(&self, name: &str, number: u64) -> Result<u64, FamilyError> {
        if number.is_power_of_two() {
            return Ok(number);
        }
        Err(self.wrong(name, &format!("{number} is no power of two")))
    }

    fn as_numbers(&self, name: &str, value: &Attribute) -> Result<Vec<u64>, FamilyError> {
        match value {
            Attribute::List(items) => items.iter().map(|item| self.as_number(name, item)).collect(),
            _ => Err(self.wrong(name, "must be a list of whole numbers")),
        }
    }

    fn as_bases(&self, name: &str, value: &Attribute) -> Result<Vec<Vec<u64>>, FamilyError> {
        match value {
            Attribute::List(items) => items.iter().map(|item| self.as_numbers(name, item)).collect(),
            _ => Err(self.wrong(name, "must be a list of lists of whole numbers")),
        }
    }
}

/// Several providers of families as one. A derived layout goes to the provider that serves its
/// parent, where that one serves the derived family too; otherwise to the first that serves it.
#[derive(Default)]
pub struct FamilySet<'a> {
    providers: Vec<&'a dyn Families>,
}

impl fmt::Debug for FamilySet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FamilySet").field(&self.names()).finish()
    }
}

impl<'a> FamilySet<'a> {
    /// The set of the given providers, asked in this order.
    #[must_use]
    pub fn new(providers: Vec<&'a dyn Families>) -> Self {
        Self { providers }
    }

    /// The layout that `spec` names for a tensor of `shape`.
    ///
    /// # Errors
    /// [`FamilyError`].
    pub fn layout(&self, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, FamilyError> {
        self.resolve(spec, shape, self)
    }

    fn owner(&self, spec: &FamilySpec) -> Option<&'a dyn Families> {
        let serves = |provider: &dyn Families| provider.names().contains(&spec.name);
        let of_parent = spec.parent.as_deref().and_then(|parent| self.owner(parent));
        match of_parent.filter(|&provider| serves(provider)) {
            Some(provider) => Some(provider),
            None => self.providers.iter().copied().find(|&provider| serves(provider)),
        }
    }
}

impl Families for FamilySet<'_> {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.providers.iter().flat_map(|provider| provider.names()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
        match self.owner(spec) {
            Some(provider) => provider.resolve(spec, shape, all),
            None => Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() }),
        }
    }

    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        self.providers.iter().flat_map(|provider| provider.samples(use_case)).collect()
    }

    fn spellings(&self) -> Vec<Spelling> {
        self.providers.iter().flat_map(|provider| provider.spellings()).collect()
    }
}

impl FamilyError {
    /// Reports what the algebra says of a family's construction.
    #[must_use]
    pub fn of_layout(family: &str, error: &LayoutError) -> Self {
        Self::Layout { family: family.to_owned(), message: error.to_string() }
    }
}
