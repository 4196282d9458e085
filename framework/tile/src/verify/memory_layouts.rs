//! Defines the rules of the neutral layouts of memory: swizzled, padded, linear, partitioned.

use tilewright_layout::{FamilyParameterValue, FamilySpec};

use super::distributed_layouts::check_order;
use super::layout_parameters::{
    bases_parameter_of_either_name, find_layout_integer, find_layout_integer_list, is_permutation_matrix,
    is_power_of_two, read_layout_padding_parameter,
};
use super::{CheckResult, LayoutFamilyRules, LayoutStorage, SHARED_MEMORY, VerifyRules, ensure};
use crate::MemDescType;

/// The rules about the layouts of memory, one entry for each family, and about the names of memories.
pub(super) const LAYOUTS: &[&dyn LayoutFamilyRules] =
    &[&Swizzled, &Padded, &SharedLinear, &Partitioned, &Space(SHARED_MEMORY), &Space("tensor_memory")];

/// The rules of an attribute that names a memory, not a layout.
#[derive(Debug)]
struct Space(&'static str);

impl LayoutFamilyRules for Space {
    fn family(&self) -> &'static str {
        self.0
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Space
    }
}

/// The rules of `swizzled_shared`: an XOR with bits of the row's number permutes the vectors of a row.
#[derive(Debug)]
struct Swizzled;

impl LayoutFamilyRules for Swizzled {
    fn family(&self) -> &'static str {
        "swizzled_shared"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SHARED_MEMORY)
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["vec", "per_phase", "max_phase", "order", "cga_layout"]
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        for (name, word) in [("vec", "vec"), ("per_phase", "perPhase"), ("max_phase", "maxPhase")] {
            let value = find_layout_integer(spec, name).unwrap_or(0);
            ensure(value >= 0, || format!("`{word} = {value}`: expected a number that is not negative"))?;
        }
        check_order(spec)
    }

    fn rank(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        Some(find_layout_integer_list(spec, "order")?.len())
    }

    fn is_transposition(&self, from: &FamilySpec, to: &FamilySpec, order: &[usize]) -> Option<bool> {
        let (axes, result) = (find_layout_integer_list(from, "order")?, find_layout_integer_list(to, "order")?);
        if axes.len() != order.len() {
            return None;
        }
        let position = |axis: i64| order.iter().position(|at| *at as i64 == axis).map(|at| at as i64);
        let inferred: Option<Vec<i64>> = axes.iter().map(|axis| position(*axis)).collect();
        let is_same = ["vec", "per_phase", "max_phase"]
            .iter()
            .all(|name| find_layout_integer(from, name) == find_layout_integer(to, name));
        Some(is_same && inferred == Some(result))
    }
}

/// The rules of `padded_shared`: gaps at regular intervals of offsets.
#[derive(Debug)]
struct Padded;

impl LayoutFamilyRules for Padded {
    fn family(&self) -> &'static str {
        "padded_shared"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SHARED_MEMORY)
    }

    fn parameters(&self) -> &'static [&'static str] {
        &[
            "interval_padding_pairs",
            "0",
            "order",
            "shape",
            "offset",
            "block",
            "offset_bases",
            "block_bases",
            "cga_layout",
        ]
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        check_paddings(spec)?;
        if let (Some(order), Some(shape)) =
            (find_layout_integer_list(spec, "order"), find_layout_integer_list(spec, "shape"))
        {
            ensure(order.len() == shape.len(), || {
                format!("`order` has {} axes, and `shape` {}: expected as many", order.len(), shape.len())
            })?;
        }
        check_order(spec)?;
        let has_bases = ["offset", "block"].map(|name| spec.attributes.contains_key(name));
        ensure(has_bases[0] == has_bases[1], || "the bases of `offset` and of `block` belong together".to_owned())?;
        let Some(offsets) = bases_parameter_of_either_name(spec, ["offset", "offset_bases"]) else { return Ok(()) };
        ensure(offsets.iter().flatten().all(|by| *by == 0 || is_power_of_two(*by)), || {
            "each basis of `offset` must be zero or a power of two".to_owned()
        })?;
        ensure(offsets.iter().all(|basis| basis.iter().filter(|by| **by != 0).count() <= 1), || {
            "each basis of `offset` must move along one axis".to_owned()
        })?;
        let is_zero = |basis: &Vec<i64>| basis.iter().all(|by| *by == 0);
        ensure(!offsets.iter().any(is_zero) && is_permutation_matrix(&offsets), || {
            "two offsets are one element: expected different bases of `offset`, without zero".to_owned()
        })
    }

    fn rank(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        find_layout_integer_list(spec, "order").map(|order| order.len()).or_else(|| rank_of_offsets(spec))
    }

    fn check_memory(&self, memory: &MemDescType, _: &VerifyRules) -> CheckResult {
        check_shape(memory)
    }
}

fn check_paddings(spec: &FamilySpec) -> CheckResult {
    let Some(pairs) = read_layout_padding_parameter(spec) else { return Ok(()) };
    ensure(!pairs.is_empty(), || "it has no pair of interval and padding: expected one at least".to_owned())?;
    let mut seen = Vec::new();
    for pair in pairs {
        let [interval, padding] = pair[..] else { continue };
        ensure(is_power_of_two(interval), || format!("the interval {interval} is no power of two"))?;
        ensure(is_power_of_two(padding), || format!("the padding {padding} is no power of two"))?;
        ensure(!seen.contains(&interval), || format!("the interval {interval} is given twice"))?;
        seen.push(interval);
    }
    Ok(())
}

fn rank_of_offsets(spec: &FamilySpec) -> Option<usize> {
    bases_parameter_of_either_name(spec, ["offset", "offset_bases"])?.first().map(Vec::len)
}

/// Checks that the allocation has the shape that its layout states in `shape`, or else the one that the layout's bases
/// span.
fn check_shape(memory: &MemDescType) -> CheckResult {
    let spec = memory.layout.spec();
    let Some(own) = find_layout_integer_list(spec, "shape").or_else(|| reached_shape(spec)) else { return Ok(()) };
    let allocation = memory.allocation_shape();
    let inner = &allocation[allocation.len() - own.len().min(allocation.len())..];
    let fits = inner.iter().zip(&own).all(|(size, own)| *size == own.unsigned_abs());
    ensure(fits, || format!("its layout has a shape of {own:?}, and the allocation {allocation:?}"))
}

/// The shape that the offset and block bases of a layout span; `None` without offset bases.
fn reached_shape(spec: &FamilySpec) -> Option<Vec<i64>> {
    let offsets = bases_parameter_of_either_name(spec, ["offset", "offset_bases"])?;
    let blocks = bases_parameter_of_either_name(spec, ["block", "block_bases"]).unwrap_or_default();
    let rank = offsets.first()?.len();
    let all = |axis: usize| {
        let moved = offsets.iter().chain(&blocks).map(|basis| basis.get(axis).copied().unwrap_or(0));
        moved.fold(0, |all, by| all | by)
    };
    (0..rank).map(|axis| all(axis).checked_add(1)).collect()
}

/// The rules of `shared_linear`: the bases of offsets and blocks.
#[derive(Debug)]
struct SharedLinear;

impl LayoutFamilyRules for SharedLinear {
    fn family(&self) -> &'static str {
        "shared_linear"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SHARED_MEMORY)
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["offset", "block", "offset_bases", "block_bases", "alignment"]
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        if let Some(alignment) = find_layout_integer(spec, "alignment") {
            ensure(is_power_of_two(alignment), || format!("`alignment = {alignment}`: expected a power of two"))?;
        }
        let offsets = bases_parameter_of_either_name(spec, ["offset", "offset_bases"]).unwrap_or_default();
        let blocks = bases_parameter_of_either_name(spec, ["block", "block_bases"]).unwrap_or_default();
        let all: Vec<Vec<i64>> = offsets.into_iter().chain(blocks).collect();
        ensure(reaches_each_once(&all), || "its bases other than zero must reach each element once".to_owned())
    }

    fn rank(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        rank_of_offsets(spec)
    }

    fn check_memory(&self, memory: &MemDescType, _: &VerifyRules) -> CheckResult {
        check_shape(memory)
    }
}

/// Whether the nonzero bases reach each element exactly once: as a matrix over F2, they are invertible.
fn reaches_each_once(bases: &[Vec<i64>]) -> bool {
    let rank = bases.iter().map(Vec::len).max().unwrap_or(0);
    let bits: Vec<u32> = (0..rank)
        .map(|axis| {
            let reached = bases.iter().fold(0, |reached, basis| reached | basis.get(axis).copied().unwrap_or(0));
            64 - reached.unsigned_abs().leading_zeros()
        })
        .collect();
    let pack = |basis: &Vec<i64>| {
        let packed = basis.iter().zip(&bits).fold((0u64, 0u32), |(packed, shift), (by, bits)| {
            (packed | by.unsigned_abs().checked_shl(shift).unwrap_or(0), shift + bits)
        });
        packed.0
    };
    let mut rows: Vec<u64> = bases.iter().filter(|basis| basis.iter().any(|by| *by != 0)).map(pack).collect();
    let count = rows.len();
    let total: u32 = bits.iter().sum();
    total <= 63 && count == total as usize && eliminate(&mut rows) == count
}

/// Reduces a matrix over F2, whose rows are bit masks, to row echelon form, and returns its rank.
fn eliminate(rows: &mut [u64]) -> usize {
    let mut rank = 0;
    for bit in (0..64).rev() {
        let Some(pivot) = (rank..rows.len()).find(|row| rows[*row] >> bit & 1 == 1) else { continue };
        rows.swap(rank, pivot);
        let by = rows[rank];
        for (number, row) in rows.iter_mut().enumerate() {
            if number != rank && *row >> bit & 1 == 1 {
                *row ^= by;
            }
        }
        rank += 1;
    }
    rank
}

/// The rules of `partitioned_shared`: parts of a tensor, each in a separate allocation.
#[derive(Debug)]
struct Partitioned;

impl LayoutFamilyRules for Partitioned {
    fn family(&self) -> &'static str {
        "partitioned_shared"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SHARED_MEMORY)
    }

    fn check(&self, spec: &FamilySpec, rules: &VerifyRules) -> CheckResult {
        let Some(FamilyParameterValue::Spec(inner)) = spec.attributes.get("partition_layout") else { return Ok(()) };
        let storage = rules.find_layout_rules(&inner.name).map(|family| family.storage());
        ensure(storage != Some(LayoutStorage::Registers), || {
            format!("`partitionLayout` is `{}`, a layout of registers: expected one of shared memory", inner.name)
        })
    }

    fn rank(&self, spec: &FamilySpec, rules: &VerifyRules) -> Option<usize> {
        let Some(FamilyParameterValue::Spec(inner)) = spec.attributes.get("partition_layout") else { return None };
        rules.find_layout_rules(&inner.name)?.rank(inner, rules)
    }

    fn memory_blocks(&self, _: &FamilySpec) -> Option<u64> {
        None
    }
}
