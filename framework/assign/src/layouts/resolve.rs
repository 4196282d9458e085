//! From the name in a type to the layout.

use std::cell::RefCell;
use std::collections::HashMap;

use thiserror::Error;

use tilewright_layout::{Families, FamilyAttribute, FamilyError, FamilySpec, Layout, LinearLayout};
use tilewright_tile::{LayoutName, MemDescType, TileType};

/// Why a type gives no layout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoLayout {
    /// The type is no tensor of the kind that was asked for; the caller's fault.
    #[error("`{ty}` is no {expected}")]
    Kind {
        /// The type.
        ty: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The tensor has no layout: the program has not been through the engine.
    #[error("`{ty}` names no layout: assign layouts first")]
    Unassigned {
        /// The type.
        ty: String,
    },
    /// The name stands for something else: the layout of a memory in a tensor, or the other way round.
    #[error("`{ty}`: `{layout}` is no layout of {expected}")]
    Wrong {
        /// The type.
        ty: String,
        /// The layout.
        layout: String,
        /// Of what it would have to be.
        expected: &'static str,
    },
    /// The family does not know the name, or takes no tensor of this shape.
    #[error("`{ty}`: {error}")]
    Family {
        /// The type.
        ty: String,
        /// What it says.
        error: FamilyError,
    },
}

/// Where the elements of a tensor in memory lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryAddressing {
    /// The layout of one tensor of the allocation: [`Layout::Memory`] or [`Layout::TensorMemory`].
    pub layout: Layout,
    /// The shape that the layout is of, which is the allocation's where the type is a part of one.
    pub shape: Vec<u64>,
    /// How many of these tensors the allocation has, along each axis that stands before those of the layout.
    pub copies: Vec<u64>,
}

/// What the families said of names and shapes.
type Known = HashMap<(LayoutName, Vec<u64>), Result<Layout, FamilyError>>;

/// The layouts of types, each asked for once.
pub struct LayoutCache<'a> {
    families: &'a dyn Families,
    known: RefCell<Known>,
}

/// The layout of a tensor in registers, without a cache.
///
/// # Errors
/// As [`LayoutCache::distributed`].
pub fn distributed(ty: &TileType, families: &dyn Families) -> Result<LinearLayout, NoLayout> {
    LayoutCache::new(families).distributed(ty)
}

impl<'a> LayoutCache<'a> {
    /// Of the names that these families resolve.
    #[must_use]
    pub fn new(families: &'a dyn Families) -> Self {
        Self { families, known: RefCell::default() }
    }

    /// The layout of a tensor in registers: from register, lane, warp and block to elements.
    ///
    /// # Errors
    /// [`NoLayout`]: no tensor, a tensor without a layout, a name that no family knows or that is no layout of
    /// registers, a shape that the family does not take.
    pub fn distributed(&self, ty: &TileType) -> Result<LinearLayout, NoLayout> {
        let Some(tensor) = ty.as_tensor() else {
            return Err(NoLayout::Kind { ty: ty.to_string(), expected: "tensor in registers" });
        };
        let Some(name) = &tensor.layout else { return Err(NoLayout::Unassigned { ty: ty.to_string() }) };
        match self.named(name, &tensor.shape, ty)? {
            Layout::Distributed(linear) => Ok(linear),
            Layout::Memory(_) | Layout::TensorMemory(_) => Err(wrong(ty, name, "registers")),
        }
    }

    /// Where a tensor in memory of the block lies. A type with more axes than its layout is several tensors, one after
    /// the other, as it is with buffers of a loop.
    ///
    /// # Errors
    /// [`NoLayout`]: no tensor in memory, or what is said of [`LayoutCache::distributed`].
    pub fn memory(&self, ty: &TileType) -> Result<MemoryAddressing, NoLayout> {
        let Some(memory) = ty.as_memory() else {
            return Err(NoLayout::Kind { ty: ty.to_string(), expected: "tensor in memory of the block" });
        };
        let (copies, shape) = split(memory);
        let (copies, shape) = (copies.to_vec(), shape.to_vec());
        match self.named(&memory.layout, &shape, ty)? {
            Layout::Distributed(_) => Err(wrong(ty, &memory.layout, "memory")),
            layout => Ok(MemoryAddressing { layout, shape, copies }),
        }
    }

    /// What a name stands for, for a tensor of `shape`; `ty` is for messages.
    fn named(&self, name: &LayoutName, shape: &[u64], ty: &TileType) -> Result<Layout, NoLayout> {
        let key = (name.clone(), shape.to_vec());
        let failed = |error: FamilyError| NoLayout::Family { ty: ty.to_string(), error };
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone().map_err(failed);
        }
        let found = self.families.resolve(name.spec(), shape, self.families);
        self.known.borrow_mut().insert(key, found.clone());
        found.map_err(failed)
    }
}

impl std::fmt::Debug for LayoutCache<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layouts").field("known", &self.known.borrow().len()).finish_non_exhaustive()
    }
}

fn wrong(ty: &TileType, name: &LayoutName, expected: &'static str) -> NoLayout {
    NoLayout::Wrong { ty: ty.to_string(), layout: name.text().to_owned(), expected }
}

/// The sizes of the axes before those of the layout, and of those that the layout is of.
fn split(memory: &MemDescType) -> (&[u64], &[u64]) {
    let whole = memory.allocation.as_deref().unwrap_or(&memory.shape);
    let own = rank(memory.layout.spec()).unwrap_or(USUAL_RANK).min(whole.len());
    whole.split_at(whole.len() - own)
}

/// Of how many axes a layout is whose parameters do not show it: Triton leaves the number out where it is two.
const USUAL_RANK: usize = 2;

/// Of how many axes a layout is, as its parameters show: a number said as such, an order of the axes, bases.
fn rank(spec: &FamilySpec) -> Option<usize> {
    if let Some(FamilyAttribute::Int(rank)) = spec.attributes.get("rank") {
        return usize::try_from(*rank).ok();
    }
    if let Some(FamilyAttribute::List(axes)) = spec.attributes.get("order").or_else(|| spec.attributes.get("shape")) {
        return Some(axes.len());
    }
    let bases = spec.attributes.values().filter_map(|value| match value {
        FamilyAttribute::List(items) => items.first(),
        _ => None,
    });
    let lengths = bases.filter_map(|basis| match basis {
        FamilyAttribute::List(coordinates) => Some(coordinates.len()),
        _ => None,
    });
    lengths.max()
}
