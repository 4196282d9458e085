//! Defines the interface of rules about the layouts of one family, which the verifier finds by the family's name.

use std::fmt;
use std::ops::Range;

use tilewright_layout::FamilySpec;

use super::{CheckResult, VerifyRules, layout_parameters as parameters};
use crate::{MemDescType, TileType};

/// The name of shared memory, `#ttg.shared_memory`.
pub const SHARED_MEMORY: &str = "shared_memory";

/// The storage of tensors that have a layout of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutStorage {
    /// The registers of the lanes.
    Registers,
    /// The memory of this name, for types `ttg.memdesc`.
    Memory(&'static str),
    /// The attribute names a memory, and is no layout.
    Space,
    /// Any storage: the verifier does not restrict it.
    Any,
}

/// The axes of a distributed layout, and the numbers of lanes, warps and blocks over which it distributes elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutThreadCounts {
    /// Number of axes.
    pub rank: usize,
    /// Lanes of a warp; `None` if the layout does not determine them.
    pub lanes: Option<u64>,
    /// Warps of a block; `None` if the layout does not determine them.
    pub warps: Option<u64>,
    /// Blocks of a cluster.
    pub blocks: u64,
}

/// The parameters of a layout of a dot's operand, `#ttg.dot_op`.
#[derive(Debug, Clone, Copy)]
pub struct DotOperandParameters<'a> {
    /// The layout of the dot's result.
    pub parent: &'a FamilySpec,
    /// 0 for operand A, 1 for operand B.
    pub index: i64,
    /// Number of adjacent elements along K that a lane holds; 0 if the layout does not state it.
    pub k_width: i64,
}

/// The rules about the layouts of one family. Methods with a default need no implementation for a family without such
/// rules.
pub trait LayoutFamilyRules: fmt::Debug + Send + Sync {
    /// The family's name: `blocked` for `#ttg.blocked<...>`.
    fn family(&self) -> &'static str;

    /// The memory that stores tensors with layouts of the family, or registers.
    fn storage(&self) -> LayoutStorage;

    /// The parameters that a text may give, in `snake_case`; empty if the verifier does not check their names.
    fn parameters(&self) -> &'static [&'static str] {
        &[]
    }

    /// Checks the parameters of a layout attribute.
    ///
    /// # Errors
    /// A message about the first violated rule.
    fn check(&self, _spec: &FamilySpec, _rules: &VerifyRules) -> CheckResult {
        Ok(())
    }

    /// Returns the axes, lanes, warps and blocks of a distributed layout; `None` if the parameters do not determine
    /// them.
    fn distribution(&self, _spec: &FamilySpec, _rules: &VerifyRules) -> Option<LayoutThreadCounts> {
        None
    }

    /// Number of axes of a layout; `None` if the parameters do not determine it.
    fn rank(&self, spec: &FamilySpec, rules: &VerifyRules) -> Option<usize> {
        self.distribution(spec, rules).map(|distribution| distribution.rank)
    }

    /// Returns the number of blocks among which a memory layout divides a tensor (1 if it does not divide it); `None`
    /// if the family has no memory layouts or the parameters do not determine the number.
    fn memory_blocks(&self, spec: &FamilySpec) -> Option<u64> {
        let LayoutStorage::Memory(_) = self.storage() else { return None };
        let bases = parameters::find_layout_bases(spec, "cga_layout")
            .or_else(|| parameters::bases_parameter_of_either_name(spec, ["block", "block_bases"]));
        Some(parameters::element_count_of_bases(bases.map_or(0, |bases| bases.len())))
    }

    /// Checks the type of a tensor in memory with a layout of the family.
    ///
    /// # Errors
    /// A message about the first violated rule.
    fn check_memory(&self, _memory: &MemDescType, _rules: &VerifyRules) -> CheckResult {
        Ok(())
    }

    /// Checks the layout of an operand of a dot whose result has a layout of the family.
    ///
    /// # Errors
    /// A message about the first violated rule; by default, that dots have no such results.
    fn check_dot_operand(&self, operand: &DotOperandParameters<'_>) -> CheckResult {
        match self.storage() {
            LayoutStorage::Any => Ok(()),
            _ => Err(format!("its parent `{}` is no layout of a dot's result", operand.parent.name)),
        }
    }

    /// Checks that a dot with a result in the layout `spec`, of this family, may multiply elements of this type with
    /// this precision.
    ///
    /// # Errors
    /// A message about the first violated rule.
    fn check_dot_elements(&self, _spec: &FamilySpec, _element: &TileType, _precision: &str) -> CheckResult {
        Ok(())
    }

    /// Returns the min number of elements along K that an operand of a dot must have if the dot's result has a layout
    /// of the family.
    fn least_k(&self, _operand: &DotOperandParameters<'_>) -> u64 {
        0
    }

    /// Whether a memory layout has the parameters of another one with its axes in the new order; `None` if the
    /// parameters do not decide it. Layouts with other parameters may still be the same linear layout.
    fn is_transposition(&self, _from: &FamilySpec, _to: &FamilySpec, _order: &[usize]) -> Option<bool> {
        None
    }

    /// Whether a part of a tensor cuts the swizzle pattern of the tensor's layout; `None` if the layout's bases decide
    /// it.
    ///
    /// The tensor has `rank` axes, and the coordinate bits `bits` of `axis` select the part.
    fn cuts_swizzle(&self, _spec: &FamilySpec, _rank: usize, _axis: usize, _bits: Range<u32>) -> Option<bool> {
        None
    }
}
