//! Resolves the layout name in a type to the layout.

use std::cell::RefCell;
use std::collections::HashMap;

use thiserror::Error;

use tilewright_layout::{Families, FamilyError, FamilyParameterValue, FamilySpec, Layout, LinearLayout};
use tilewright_tile::{LayoutAttribute, MemDescType, TileType};

/// The reason why a type gives no layout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutResolveError {
    /// The type is not a tensor of the requested kind; the caller's fault.
    #[error("`{ty}` is not a {expected}")]
    Kind {
        /// The rejected type.
        ty: String,
        /// The kind of type that the caller expected.
        expected: &'static str,
    },
    /// The type names no layout: layout assignment has not run.
    #[error("`{ty}` names no layout: assign layouts first")]
    Unassigned {
        /// The type that names no layout.
        ty: String,
    },
    /// The name resolves to a layout of another kind, such as a shared-memory layout for a tensor in registers.
    #[error("`{ty}`: `{layout}` is not a layout of {expected}")]
    Wrong {
        /// The type that names the layout.
        ty: String,
        /// The name of the layout.
        layout: String,
        /// The kind of layout that the type requires.
        expected: &'static str,
    },
    /// The layout family (the constructor of layouts that the name refers to) rejects the name or the shape.
    #[error("`{ty}`: {error}")]
    Family {
        /// The type that names the layout.
        ty: String,
        /// The error of the layout family.
        error: FamilyError,
    },
}

/// The layout of a tensor in shared or tensor memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemDescLayout {
    /// The layout of one tensor of the allocation: [`Layout::Memory`] or [`Layout::TensorMemory`].
    pub layout: Layout,
    /// The shape of the tensor that the layout covers: the shape of the allocation if the type is a subview.
    pub shape: Vec<u64>,
    /// For each leading axis that the layout does not cover, the number of such tensors in the allocation along it.
    pub copies: Vec<u64>,
}

/// Resolved layouts, or the errors, by name and shape.
type Known = HashMap<(LayoutAttribute, Vec<u64>), Result<Layout, FamilyError>>;

/// A cache that resolves the layouts of types, each name and shape once.
pub struct LayoutCache<'a> {
    families: &'a dyn Families,
    known: RefCell<Known>,
}

/// Returns the layout of a tensor in registers, without a cache.
///
/// # Errors
/// As [`LayoutCache::resolve_distributed`].
pub fn resolve_distributed_layout(ty: &TileType, families: &dyn Families) -> Result<LinearLayout, LayoutResolveError> {
    LayoutCache::new(families).resolve_distributed(ty)
}

impl<'a> LayoutCache<'a> {
    /// Creates a cache for the layout names that these families (named constructors of layouts) resolve.
    #[must_use]
    pub fn new(families: &'a dyn Families) -> Self {
        Self { families, known: RefCell::default() }
    }

    /// Returns the distributed layout of a tensor in registers: from register, lane, warp and block to coordinates.
    ///
    /// # Errors
    /// [`LayoutResolveError`] if the type is not a tensor in registers or names no layout, if no family resolves the
    /// name, if the name resolves to a memory layout, or if the family rejects the shape.
    pub fn resolve_distributed(&self, ty: &TileType) -> Result<LinearLayout, LayoutResolveError> {
        let Some(tensor) = ty.as_tensor() else {
            return Err(LayoutResolveError::Kind { ty: ty.to_string(), expected: "tensor in registers" });
        };
        let Some(name) = &tensor.layout else { return Err(LayoutResolveError::Unassigned { ty: ty.to_string() }) };
        match self.named(name, &tensor.shape, ty)? {
            Layout::Distributed(linear) => Ok(linear),
            Layout::Memory(_) | Layout::TensorMemory(_) => Err(wrong(ty, name, "registers")),
        }
    }

    /// Returns the layout of a tensor in memory. Leading axes beyond those of the layout count consecutive tensors,
    /// such as the buffers of a pipelined loop.
    ///
    /// # Errors
    /// [`LayoutResolveError`] if the type is not a tensor in memory, if no family resolves the name, if the name
    /// resolves to a distributed layout, or if the family rejects the shape.
    pub fn resolve_memory(&self, ty: &TileType) -> Result<MemDescLayout, LayoutResolveError> {
        let Some(memory) = ty.as_memory() else {
            return Err(LayoutResolveError::Kind { ty: ty.to_string(), expected: "tensor in memory of the block" });
        };
        let (copies, shape) = split(memory);
        let (copies, shape) = (copies.to_vec(), shape.to_vec());
        match self.named(&memory.layout, &shape, ty)? {
            Layout::Distributed(_) => Err(wrong(ty, &memory.layout, "memory")),
            layout => Ok(MemDescLayout { layout, shape, copies }),
        }
    }

    /// Resolves a layout name for a tensor of `shape`; `ty` is the type for error messages.
    fn named(&self, name: &LayoutAttribute, shape: &[u64], ty: &TileType) -> Result<Layout, LayoutResolveError> {
        let key = (name.clone(), shape.to_vec());
        let failed = |error: FamilyError| LayoutResolveError::Family { ty: ty.to_string(), error };
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

fn wrong(ty: &TileType, name: &LayoutAttribute, expected: &'static str) -> LayoutResolveError {
    LayoutResolveError::Wrong { ty: ty.to_string(), layout: name.text().to_owned(), expected }
}

/// Splits the allocation's shape into the leading axes and the axes that the layout covers.
fn split(memory: &MemDescType) -> (&[u64], &[u64]) {
    let allocation_shape = memory.allocation.as_deref().unwrap_or(&memory.shape);
    let own = rank(memory.layout.spec()).unwrap_or(USUAL_RANK).min(allocation_shape.len());
    allocation_shape.split_at(allocation_shape.len() - own)
}

/// The rank that is assumed for a layout whose parameters do not determine it: Triton omits parameters for rank two.
const USUAL_RANK: usize = 2;

/// Returns the rank of a layout as its parameters determine it: an explicit `rank`, the length of `order` or `shape`,
/// or the length of a basis. `None` if no parameter determines it.
fn rank(spec: &FamilySpec) -> Option<usize> {
    if let Some(FamilyParameterValue::Int(rank)) = spec.attributes.get("rank") {
        return usize::try_from(*rank).ok();
    }
    if let Some(FamilyParameterValue::List(axes)) =
        spec.attributes.get("order").or_else(|| spec.attributes.get("shape"))
    {
        return Some(axes.len());
    }
    let bases = spec.attributes.values().filter_map(|value| match value {
        FamilyParameterValue::List(items) => items.first(),
        _ => None,
    });
    let lengths = bases.filter_map(|basis| match basis {
        FamilyParameterValue::List(coordinates) => Some(coordinates.len()),
        _ => None,
    });
    lengths.max()
}
