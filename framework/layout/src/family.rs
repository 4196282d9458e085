//! Families: constructors of layouts from parameters and a shape, named the same way everywhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AttributeSyntax, FamilyError, FamilySpec, LinearLayout, MemoryLayout};

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

    /// Whether `name` is one of [`Families::names`].
    fn serves(&self, name: &str) -> bool {
        self.names().iter().any(|served| served == name)
    }

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
    fn spellings(&self) -> Vec<AttributeSyntax> {
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
        let of_parent = spec.parent.as_deref().and_then(|parent| self.owner(parent));
        match of_parent.filter(|provider| provider.serves(&spec.name)) {
            Some(provider) => Some(provider),
            None => self.providers.iter().copied().find(|provider| provider.serves(&spec.name)),
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

    fn serves(&self, name: &str) -> bool {
        self.providers.iter().any(|provider| provider.serves(name))
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

    fn spellings(&self) -> Vec<AttributeSyntax> {
        self.providers.iter().flat_map(|provider| provider.spellings()).collect()
    }
}
