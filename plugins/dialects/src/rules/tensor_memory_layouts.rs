//! Defines the rules of the layouts of tensor memory.

use tilewright_layout::FamilySpec;
use tilewright_tile::MemDescType;
use tilewright_tile::rules::{
    CheckResult, LayoutFamilyRules, LayoutStorage, VerifyRules, ensure, find_layout_bases, find_layout_integer,
    is_power_of_two, read_layout_bool_parameter,
};

/// Name of the layout family of accumulators and operands in tensor memory.
pub(super) const MATRIX: &str = "tensor_memory_encoding";

/// Name of the layout family of scales in tensor memory.
pub(super) const SCALES: &str = "tensor_memory_scales_encoding";

/// Name of the memory space of tensor memory in types, `#ttng.tensor_memory`.
pub(super) const SPACE: &str = "tensor_memory";

/// Rules of the family `tensor_memory_encoding`: accumulators and operands, in tiles of `blockM` x `blockN`.
#[derive(Debug)]
pub(super) struct Matrix;

impl LayoutFamilyRules for Matrix {
    fn family(&self) -> &'static str {
        MATRIX
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SPACE)
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["block_m", "block_n", "block", "col_stride", "cga_layout", "two_ctas", "fp4_padded", "fp4padded"]
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        for (name, word) in [("block_m", "blockM"), ("block_n", "blockN"), ("col_stride", "colStride")] {
            ensure(spec.attributes.contains_key(name) || spec.attributes.contains_key("block"), || {
                format!("`{word}` is missing")
            })?;
        }
        let [rows, columns, stride] = ["block_m", "block_n", "col_stride"].map(|name| find_layout_integer(spec, name));
        ensure(rows.is_none_or(|rows| rows == 64 || rows == 128), || {
            format!("`blockM = {}`: expected 64 or 128 rows", rows.unwrap_or_default())
        })?;
        ensure(columns.is_none_or(|columns| is_power_of_two(columns) && columns <= 512), || {
            format!("`blockN = {}`: expected a power of two up to 512", columns.unwrap_or_default())
        })?;
        ensure(stride.is_none_or(|stride| [1, 2, 4].contains(&stride)), || {
            format!("`colStride = {}`: expected 1, 2 or 4", stride.unwrap_or_default())
        })?;
        ensure(
            !(read_layout_bool_parameter(spec, "fp4_padded") || read_layout_bool_parameter(spec, "fp4padded"))
                || stride.is_none_or(|stride| stride == 1),
            || format!("`fp4Padded` with `colStride = {}`: expected 1", stride.unwrap_or_default()),
        )?;
        let first = find_layout_bases(spec, "cga_layout").and_then(|bases| bases.first().cloned());
        ensure(!read_layout_bool_parameter(spec, "two_ctas") || first == Some(vec![1, 0]), || {
            "`twoCTAs`: the first basis of `CGALayout` must be [1, 0]".to_owned()
        })
    }

    fn rank(&self, _: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        Some(2)
    }

    fn check_memory(&self, memory: &MemDescType, _: &VerifyRules) -> CheckResult {
        let bits = element_bits(memory)?;
        let rank = memory.shape.len();
        ensure(rank == 2 || rank == 3, || format!("a tensor of {rank} axes: expected two, or three for buffers"))?;
        let spec = memory.layout.spec();
        let stride = find_layout_integer(spec, "col_stride").unwrap_or(1).unsigned_abs();
        ensure(u64::from(bits) * stride <= 32, || {
            format!("elements of {bits} bits with `colStride = {stride}`: expected at most 32 bits for both")
        })?;
        let (Some(rows), Some(columns)) = (find_layout_integer(spec, "block_m"), find_layout_integer(spec, "block_n"))
        else {
            return Ok(());
        };
        let blocks = find_layout_bases(spec, "cga_layout").unwrap_or_default();
        let split = |axis: usize| blocks.iter().filter(|basis| basis.get(axis).is_some_and(|by| *by != 0)).count();
        let own = &memory.shape[rank - 2..];
        // A tensor may have fewer columns than a tile (`blockN`), but not fewer rows (`blockM`).
        let least = [rows.unsigned_abs() << split(0), columns.unsigned_abs().min(own[1]) << split(1)];
        ensure(own[0] >= least[0] && own[1] >= least[1], || {
            format!("{own:?} is less than one block of its layout, {least:?}")
        })
    }
}

/// Rules of the family `tensor_memory_scales_encoding`: layouts in tensor memory of the scales of a dot's operand.
#[derive(Debug)]
pub(super) struct Scales;

impl LayoutFamilyRules for Scales {
    fn family(&self) -> &'static str {
        SCALES
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SPACE)
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["cga_layout", "block_rep_order"]
    }

    fn rank(&self, _: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        Some(2)
    }

    fn check_memory(&self, memory: &MemDescType, _: &VerifyRules) -> CheckResult {
        let bits = element_bits(memory)?;
        ensure(memory.shape.len() == 2 && memory.allocation_shape().len() == 2, || {
            format!("scales of {} axes: expected two", memory.shape.len())
        })?;
        ensure(bits == 8, || format!("scales of {bits} bits: expected 8"))
    }
}

/// Returns the width of the memory's elements in bits; an error message if it is below 8.
fn element_bits(memory: &MemDescType) -> Result<u32, String> {
    let bits = memory.element.element_bits().unwrap_or(32);
    if bits < 8 { Err(format!("elements of {bits} bits: expected 8 at least")) } else { Ok(bits) }
}
