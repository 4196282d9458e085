//! Families: constructors of layouts from parameters and a shape, under the same names in every notation.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    AttributeSyntax, AttributeSyntaxes, Dim, FamilyError, FamilyParameterValue, FamilySpec, LinearLayout, MemoryLayout,
};

/// A layout that a family (a named constructor of layouts such as `blocked`) builds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// A distributed layout, from (register, lane, warp, block) to elements.
    Distributed(LinearLayout),
    /// A memory layout, from (offset, block) to elements.
    Memory(MemoryLayout),
    /// A layout of tensor memory, from its (row, col) to elements.
    TensorMemory(LinearLayout),
}

impl From<LinearLayout> for Layout {
    /// Determines the kind of a layout by its input dims: a memory layout has offset, and tensor memory has row or col.
    fn from(linear: LinearLayout) -> Self {
        let has = |dim| linear.ins().contains(dim);
        if has(Dim::OFFSET) {
            Self::Memory(MemoryLayout::from_linear(linear))
        } else if has(Dim::ROW) || has(Dim::COL) {
            Self::TensorMemory(linear)
        } else {
            Self::Distributed(linear)
        }
    }
}

impl Layout {
    /// The linear map of the layout, without padding.
    #[must_use]
    pub fn linear(&self) -> &LinearLayout {
        match self {
            Self::Distributed(linear) | Self::TensorMemory(linear) => linear,
            Self::Memory(memory) => &memory.linear,
        }
    }
}

/// A provider of families: builds the layouts that specs name. Implemented by the neutral families, by each vendor's
/// plugin, and by [`FamilyProviders`], which combines several providers.
pub trait Families: Send + Sync {
    /// The names of the families that [`Families::resolve`] builds.
    fn names(&self) -> Vec<String>;

    /// Whether `name` is one of [`Families::names`].
    fn serves(&self, name: &str) -> bool {
        self.names().iter().any(|served| served == name)
    }

    /// Builds the layout that `spec` names for a tensor of `shape`. `all` builds the parent layout of `spec`; an
    /// implementation that has the parent's family itself need not use `all`.
    ///
    /// # Errors
    /// [`FamilyError`] if the family is unknown, or if it cannot build a layout with these parameters for this shape.
    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError>;

    /// Typical layouts of these families, from which the conformance suite builds cases; a family without a sample is
    /// not tested. Empty if no kernel uses these families in a thread block with the properties `use_case`.
    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        let _ = use_case;
        Vec::new()
    }

    /// The attribute syntax of these families; a family without one is printed by the general rule, under its own name.
    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        Vec::new()
    }
}

/// Properties of the thread block for which [`Families::samples`] returns layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SampleLayoutRequest {
    /// Number of lanes in a warp.
    pub lanes: u32,
    /// Number of warps in the block.
    pub warps: u32,
    /// Width of an element in bits.
    pub element_bits: u32,
}

/// A typical layout of a tensor of two axes, for [`Families::samples`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SampleLayout {
    /// A short name, unique among the samples of one use: lower-case letters, digits and `-`.
    pub name: String,
    /// The layout as a family with parameters.
    pub spec: FamilySpec,
    /// The instruction operand whose tile the layout repeats, if any. For a block of one warp and a tensor of the
    /// tile's size, the layout is the operand's, up to the order of registers and, for operands A and B together, the
    /// order of K.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operand: Option<InstructionOperandReference>,
}

/// An operand of an instruction, by name and role.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InstructionOperandReference {
    /// Name of the instruction, as in the target's instruction table.
    pub instruction: String,
    /// Role of the operand in the instruction: `a`, `b`, `c` or `d`.
    pub role: String,
}

impl SampleLayout {
    /// A sample that belongs to no instruction.
    #[must_use]
    pub fn new(name: &str, spec: FamilySpec) -> Self {
        Self { name: name.to_owned(), spec, operand: None }
    }

    /// Sets the operand whose tile the layout repeats.
    #[must_use]
    pub fn for_operand(mut self, instruction: &str, role: &str) -> Self {
        self.operand = Some(InstructionOperandReference { instruction: instruction.to_owned(), role: role.to_owned() });
        self
    }
}

/// Several providers of families as one. A layout with a parent layout is built by the provider of the parent's family
/// if that provider has the derived family too; otherwise by the first provider that has it.
#[derive(Default)]
pub struct FamilyProviders<'a> {
    providers: Vec<&'a dyn Families>,
}

impl fmt::Debug for FamilyProviders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FamilySet").field(&self.names()).finish()
    }
}

impl<'a> FamilyProviders<'a> {
    /// The set of the given providers, in order of precedence.
    #[must_use]
    pub fn new(providers: Vec<&'a dyn Families>) -> Self {
        Self { providers }
    }

    /// Builds the layout that `spec` names for a tensor of `shape`.
    ///
    /// # Errors
    /// [`FamilyError`] if no provider has the family, or if it cannot build a layout with these parameters for this
    /// shape.
    pub fn layout(&self, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, FamilyError> {
        self.resolve(spec, shape, self)
    }

    fn find_provider(&self, spec: &FamilySpec) -> Option<&'a dyn Families> {
        let of_parent = spec.parent.as_deref().and_then(|parent| self.find_provider(parent));
        match of_parent.filter(|provider| provider.serves(&spec.name)) {
            Some(provider) => Some(provider),
            None => self.providers.iter().copied().find(|provider| provider.serves(&spec.name)),
        }
    }
}

impl Families for FamilyProviders<'_> {
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
        if let Some(provider) = self.find_provider(spec).filter(|_| !has_call(spec)) {
            return provider.resolve(spec, shape, all);
        }
        let syntaxes = AttributeSyntaxes::from_families(self);
        let named = syntaxes.replace_constructor_calls(spec)?;
        match self.find_provider(&named) {
            Some(provider) => provider.resolve(&named, shape, all),
            None if is_class(&named.name) => {
                Err(FamilyError::Unknown { name: named.name, known: syntaxes.constructor_names() })
            }
            None => Err(FamilyError::Unknown { name: named.name, known: self.names() }),
        }
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        self.providers.iter().flat_map(|provider| provider.samples(use_case)).collect()
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        self.providers.iter().flat_map(|provider| provider.attribute_syntaxes()).collect()
    }
}

/// Whether a spec, or one that it contains, is a call of a class, which begins with a capital.
fn has_call(spec: &FamilySpec) -> bool {
    let within = |value: &FamilyParameterValue| matches!(value, FamilyParameterValue::Spec(nested) if has_call(nested));
    is_class(&spec.name) || spec.parent.as_deref().is_some_and(has_call) || spec.attributes.values().any(within)
}

fn is_class(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}
