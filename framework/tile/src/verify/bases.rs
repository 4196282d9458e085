//! Builds the bases of layouts, so that rules can compare these.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, FamilySpec, Layout, MAX_TENSOR_BITS};

use super::OpContext;
use super::layouts::rank;
use crate::{LayoutAttribute, MemDescType};

/// The bases of a distributed layout: for each bit of an input (register, lane, warp, block), the coordinates that it
/// adds.
///
/// Register bits that add nothing, because they number replicas, are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistributedBases {
    /// Bases of the registers of a lane.
    pub registers: Vec<Vec<u64>>,
    /// Bases of the lanes of a warp.
    pub lanes: Vec<Vec<u64>>,
    /// Bases of the warps of a block.
    pub warps: Vec<Vec<u64>>,
    /// Bases of the blocks of a cluster.
    pub blocks: Vec<Vec<u64>>,
}

/// The layout of the allocation that contains a tensor in memory, and the tensor's shape in it.
#[derive(Debug, Clone)]
pub struct AllocationLayout {
    /// The layout of the allocation, without the axes that count buffers.
    pub layout: Layout,
    /// The tensor's shape along these axes.
    pub shape: Vec<u64>,
}

impl AllocationLayout {
    /// Returns the bases of one input dim of the allocation's layout, such as `offset`; each has a coordinate for each
    /// axis.
    #[must_use]
    pub fn bases_of(&self, input: Dim) -> Vec<Vec<u64>> {
        self.layout.linear().bases_of(input)
    }

    /// Whether a basis leads to an element of the tensor: its coordinates are below the tensor's sizes.
    #[must_use]
    pub fn contains_basis(&self, basis: &[u64]) -> bool {
        basis.iter().zip(&self.shape).all(|(by, size)| by < size)
    }

    /// Whether a bit of the block's index leads out of the tensor, so that only some blocks of the cluster hold a part
    /// of it.
    #[must_use]
    pub fn has_blocks_without_elements(&self) -> bool {
        !self.bases_of(Dim::BLOCK).iter().all(|basis| self.contains_basis(basis))
    }
}

/// For each input of a layout, by name, the row-major index of the element that each bit of the input leads to.
pub(super) type Columns = BTreeMap<&'static str, Vec<u64>>;

/// Row-major strides of a shape.
fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1].max(1);
    }
    strides
}

/// A layout as bases: for each input (such as `lane`), by name, the coordinates that each bit of the input adds.
///
/// Register bits that add nothing, because they number replicas, are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bases(pub(super) BTreeMap<&'static str, Vec<Vec<u64>>>);

const INPUTS: [(&str, Dim); 4] =
    [("register", Dim::REGISTER), ("lane", Dim::LANE), ("warp", Dim::WARP), ("block", Dim::BLOCK)];

impl Bases {
    fn of_registers(layout: &Layout) -> Option<Self> {
        let Layout::Distributed(layout) = layout else { return None };
        let mut inputs = BTreeMap::new();
        for (name, dim) in INPUTS {
            let mut bases = layout.bases_of(dim);
            if dim == Dim::REGISTER {
                bases.retain(|basis| basis.iter().any(|by| *by != 0));
            }
            inputs.insert(name, bases);
        }
        Some(Self(inputs))
    }

    fn of_memory(layout: &Layout) -> Option<Self> {
        let Layout::Memory(layout) = layout else { return None };
        let linear = &layout.linear;
        let inputs = [("offset", Dim::OFFSET), ("block", Dim::BLOCK)];
        Some(Self(inputs.into_iter().map(|(name, dim)| (name, linear.bases_of(dim))).collect()))
    }

    pub(super) fn map(&self, change: impl Fn(&[u64]) -> Vec<u64>) -> Self {
        Self(self.0.iter().map(|(name, bases)| (*name, bases.iter().map(|basis| change(basis)).collect())).collect())
    }

    /// Returns the same layout with row-major indices in a tensor of this shape in place of coordinates.
    pub(super) fn flat(&self, shape: &[u64]) -> Columns {
        let strides = strides(shape);
        let index = |basis: &Vec<u64>| basis.iter().zip(&strides).map(|(by, stride)| by * stride).sum::<u64>();
        self.0.iter().map(|(name, bases)| (*name, bases.iter().map(index).collect())).collect()
    }

    /// Returns the bases without those of register bits that only number replicas.
    pub(super) fn without_copies(mut self) -> Self {
        if let Some(registers) = self.0.get_mut("register") {
            registers.retain(|basis| basis.iter().any(|by| *by != 0));
        }
        self
    }
}

impl OpContext<'_> {
    /// Returns the layout of a tensor of this shape; `None` if no family given to the verifier builds it, or if the
    /// tensor is too large.
    pub(super) fn layout(&self, spec: &FamilySpec, shape: &[u64]) -> Option<Layout> {
        let bits: u32 = shape.iter().map(|size| size.checked_ilog2().unwrap_or(0)).sum();
        if bits > MAX_TENSOR_BITS {
            return None;
        }
        self.context.families.resolve(spec, shape, self.context.families).ok()
    }

    /// Returns the bases of a distributed layout for a tensor of this shape; `None` if no family given to the verifier
    /// builds it.
    pub(super) fn distributed(&self, spec: &FamilySpec, shape: &[u64]) -> Option<Bases> {
        Bases::of_registers(&self.layout(spec, shape)?)
    }

    /// Returns the bases of a shared-memory layout for a tensor of this shape; `None` if no family given to the
    /// verifier builds it.
    pub(super) fn memory(&self, spec: &FamilySpec, shape: &[u64]) -> Option<Bases> {
        Bases::of_memory(&self.layout(spec, shape)?)
    }

    /// Whether two distributed layouts place the elements of a tensor of this shape equally; `None` if no family given
    /// to the verifier builds one of them.
    fn equivalent(&self, left: &FamilySpec, right: &FamilySpec, shape: &[u64]) -> Option<bool> {
        if left == right {
            return Some(true);
        }
        match [self.distributed(left, shape), self.distributed(right, shape)] {
            [Some(left), Some(right)] => Some(left == right),
            _ => None,
        }
    }

    /// Whether two distributed layouts may place the elements of a tensor of this shape equally.
    ///
    /// They may if no family given to the verifier builds one of them.
    #[must_use]
    pub fn may_be_equal_layouts(&self, left: &LayoutAttribute, right: &LayoutAttribute, shape: &[u64]) -> bool {
        self.equivalent(left.spec(), right.spec(), shape) != Some(false)
    }

    /// Returns the layout of the allocation of a tensor in memory; `None` if no family given to the verifier builds it.
    ///
    /// Axes of the allocation that count buffers are left out.
    #[must_use]
    pub fn allocation_layout(&self, memory: &MemDescType) -> Option<AllocationLayout> {
        let spec = memory.layout.spec();
        let rank = rank(spec, &self.module.rules).unwrap_or(memory.shape.len()).min(memory.shape.len());
        let allocation = memory.allocation_shape();
        let layout = self.layout(spec, &allocation[allocation.len() - rank..])?;
        Some(AllocationLayout { layout, shape: memory.shape[memory.shape.len() - rank..].to_vec() })
    }

    /// Returns the bases of a distributed layout for a tensor of this shape; `None` if no family given to the verifier
    /// builds it.
    #[must_use]
    pub fn distributed_bases(&self, layout: &LayoutAttribute, shape: &[u64]) -> Option<DistributedBases> {
        let Bases(mut inputs) = self.distributed(layout.spec(), shape)?;
        let [registers, lanes, warps, blocks] = INPUTS.map(|(name, _)| inputs.remove(name).unwrap_or_default());
        Some(DistributedBases { registers, lanes, warps, blocks })
    }
}
