//! Defines the rules of vendors' shared-memory layouts.

use std::ops::Range;

use tilewright_layout::FamilySpec;
use tilewright_tile::MemDescType;
use tilewright_tile::rules::{
    CheckResult, LayoutFamilyRules, LayoutStorage, SHARED_MEMORY, VerifyRules, ensure, find_layout_bases,
    find_layout_integer, find_layout_integer_by_names, find_layout_integer_list, read_layout_bool_parameter,
};

/// Names of the parameter that gives the width of a swizzled row in bytes: Triton's name and the project's.
pub(super) const SWIZZLE: [&str; 2] = ["swizzling_byte_width", "swizzle_byte_width"];

/// Names of the parameter that gives the width of an element in bits.
pub(super) const ELEMENT_BITS: [&str; 2] = ["element_bit_width", "element_bitwidth"];

/// Whether a layout is of padded fp4, as bulk tensor copies write it: eight bytes of packed elements, then eight unused
/// bytes.
pub(super) fn is_fp4_padded(spec: &FamilySpec) -> bool {
    read_layout_bool_parameter(spec, "fp4_padded") || read_layout_bool_parameter(spec, "fp4padded")
}

/// Rules of the family `nvmma_shared`: layouts of shared memory that matrix descriptors and bulk tensor copies support.
#[derive(Debug)]
pub(super) struct Nvmma;

impl LayoutFamilyRules for Nvmma {
    fn family(&self) -> &'static str {
        "nvmma_shared"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SHARED_MEMORY)
    }

    fn parameters(&self) -> &'static [&'static str] {
        &[
            "swizzling_byte_width",
            "swizzle_byte_width",
            "transposed",
            "element_bit_width",
            "element_bitwidth",
            "fp4_padded",
            "fp4padded",
            "cga_layout",
            "rank",
        ]
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        if let Some(swizzle) = find_layout_integer_by_names(spec, SWIZZLE) {
            ensure([0, 32, 64, 128].contains(&swizzle), || {
                format!("`swizzlingByteWidth = {swizzle}`: expected 0, 32, 64 or 128")
            })?;
        }
        ensure(find_layout_integer_by_names(spec, ELEMENT_BITS) != Some(0), || {
            "`elementBitWidth = 0`: expected the width of an element in bits".to_owned()
        })
    }

    fn rank(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        match (find_layout_bases(spec, "cga_layout"), find_layout_integer(spec, "rank")) {
            (Some(bases), _) if !bases.is_empty() => Some(bases[0].len()),
            (_, Some(rank)) => usize::try_from(rank).ok(),
            _ => Some(2),
        }
    }

    fn check_memory(&self, memory: &MemDescType, rules: &VerifyRules) -> CheckResult {
        let spec = memory.layout.spec();
        let swizzle = find_layout_integer_by_names(spec, SWIZZLE).unwrap_or(0);
        let bits = find_layout_integer_by_names(spec, ELEMENT_BITS).unwrap_or(8);
        let rank = self.rank(spec, rules).unwrap_or(2);
        if swizzle == 0 || rank < 2 || memory.shape.len() < 2 {
            return Ok(());
        }
        let blocks = find_layout_bases(spec, "cga_layout").unwrap_or_default();
        let layout_axis = if read_layout_bool_parameter(spec, "transposed") { rank - 2 } else { rank - 1 };
        let allocation = memory.allocation_shape();
        let split = blocks.iter().filter(|basis| basis.get(layout_axis).is_some_and(|by| *by != 0)).count();
        let axis = allocation.len() - rank + layout_axis;
        let size = allocation.get(axis).copied().unwrap_or(1) >> split.min(63);
        let padding = if is_fp4_padded(spec) { 2 } else { 1 };
        let least = (swizzle * 8 / bits.max(1)).unsigned_abs() / padding;
        ensure(size >= least, || {
            format!(
                "its contiguous axis has {size} elements: expected at least {least} for a swizzle of {swizzle} bytes"
            )
        })
    }

    fn is_transposition(&self, from: &FamilySpec, to: &FamilySpec, order: &[usize]) -> Option<bool> {
        (order == [1, 0])
            .then(|| read_layout_bool_parameter(from, "transposed") != read_layout_bool_parameter(to, "transposed"))
    }

    fn cuts_swizzle(&self, spec: &FamilySpec, rank: usize, axis: usize, bits: Range<u32>) -> Option<bool> {
        // The swizzle xors the index of a 16-byte chunk within its row with these bits of the row index.
        let mut swizzled = match find_layout_integer_by_names(spec, SWIZZLE) {
            Some(128) => 0..3,
            Some(64) => 1..3,
            Some(32) => 2..3,
            _ => return Some(false),
        };
        let rows = if read_layout_bool_parameter(spec, "transposed") {
            rank.saturating_sub(1)
        } else {
            rank.saturating_sub(2)
        };
        Some(rank >= 2 && axis == rows && swizzled.any(|bit| bits.contains(&bit)))
    }
}

/// Rules of the family `amd_rotating_shared`: shared-memory layouts whose swizzle starts at a different phase in each
/// block of rows.
#[derive(Debug)]
pub(super) struct Rotating;

impl LayoutFamilyRules for Rotating {
    fn family(&self) -> &'static str {
        "amd_rotating_shared"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Memory(SHARED_MEMORY)
    }

    fn rank(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<usize> {
        Some(find_layout_integer_list(spec, "order")?.len())
    }
}
