//! Defines the rules of layouts of MMA results.

use tilewright_layout::{FamilyParameterValue, FamilySpec};
use tilewright_tile::rules::{
    CheckResult, DotOperandParameters, LayoutFamilyRules, LayoutStorage, LayoutThreadCounts, VerifyRules,
    bases_parameter_of_either_name, element_count_of_bases, ensure, find_layout_bases, find_layout_integer,
    find_layout_integer_by_names, find_layout_integer_list, saturating_product,
};
use tilewright_tile::{FloatType, TileType};

/// Returns the number of blocks of a cluster that a layout distributes a tensor over; 1 if it lacks the parameter
/// `cga_layout`.
fn cluster_blocks(spec: &FamilySpec) -> u64 {
    element_count_of_bases(find_layout_bases(spec, "cga_layout").map_or(0, |bases| bases.len()))
}

/// Returns the numbers of lanes, warps and blocks that a layout distributes a tensor over. `warps_per_cta` has the
/// warps along each axis; `None` without this parameter. `lanes` is the number of lanes of a warp.
fn distribution_of_warps(spec: &FamilySpec, lanes: u64) -> Option<LayoutThreadCounts> {
    let warps = find_layout_integer_list(spec, "warps_per_cta")?;
    Some(LayoutThreadCounts {
        rank: warps.len(),
        lanes: Some(lanes),
        warps: Some(saturating_product(&warps)),
        blocks: cluster_blocks(spec),
    })
}

/// Rules of the family `nvidia_mma`: layouts of results of `mma.sync` (version 2) and `wgmma` (version 3).
#[derive(Debug)]
pub(super) struct NvidiaMma;

impl LayoutFamilyRules for NvidiaMma {
    fn family(&self) -> &'static str {
        "nvidia_mma"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        let Some(version) = find_layout_integer(spec, "version_major") else { return Ok(()) };
        ensure([2, 3].contains(&version), || format!("`versionMajor = {version}`: expected 2 or 3"))
    }

    fn distribution(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<LayoutThreadCounts> {
        distribution_of_warps(spec, 32)
    }

    fn check_dot_operand(&self, operand: &DotOperandParameters<'_>) -> CheckResult {
        let parent = operand.parent;
        let first = || find_layout_integer_list(parent, "version")?.first().copied();
        let version = find_layout_integer(parent, "version_major").or_else(first).unwrap_or(2);
        ensure(version != 3 || operand.index == 0, || {
            "`opIdx = 1`: `wgmma` (version 3) has operand B in shared memory".to_owned()
        })?;
        ensure(version < 2 || operand.k_width > 0, || {
            format!("`kWidth` is missing, which version {version} of MMA needs")
        })
    }

    /// Checks `f32` operands of `mma.sync`: they are rejected unless the precision is `tf32`, the only 32-bit type that
    /// it multiplies.
    fn check_dot_elements(&self, spec: &FamilySpec, element: &TileType, precision: &str) -> CheckResult {
        let is_sync = find_layout_integer(spec, "version_major") == Some(2);
        ensure(!is_sync || *element != TileType::Float(FloatType::F32) || precision == "tf32", || {
            format!("`mma` does not multiply f32 with `inputPrecision = {precision}`: expected tf32")
        })
    }

    /// Returns the number of elements along K of one `mma.sync`: four lanes hold `kWidth` adjacent elements each.
    /// Returns 0 for layouts of other instructions.
    fn least_k(&self, operand: &DotOperandParameters<'_>) -> u64 {
        let is_sync = find_layout_integer(operand.parent, "version_major").is_none_or(|version| version == 2);
        if is_sync { 4 * operand.k_width.unsigned_abs() } else { 0 }
    }
}

/// Rules of the family `amd_mfma`: layouts of results of CDNA's matrix instructions.
#[derive(Debug)]
pub(super) struct Mfma;

impl LayoutFamilyRules for Mfma {
    fn family(&self) -> &'static str {
        "amd_mfma"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        if let Some(version) = find_layout_integer(spec, "version") {
            ensure((0..=4).contains(&version), || format!("`version = {version}`: expected one from 0 to 4"))?;
        }
        if let Some(shape) = find_layout_integer_list(spec, "instr_shape").filter(|shape| shape.len() >= 2) {
            let known = [[32, 32], [16, 16], [64, 4], [4, 64]];
            ensure(known.contains(&[shape[0], shape[1]]), || {
                format!("`instrShape = {shape:?}`: expected 32x32, 16x16, 64x4 or 4x64 elements")
            })?;
        }
        let transposed = spec.attributes.get("is_transposed").or_else(|| spec.attributes.get("transposed"));
        ensure(transposed.is_none_or(|value| matches!(value, FamilyParameterValue::Bool(_))), || {
            "`isTransposed` must be true or false".to_owned()
        })?;
        let width = find_layout_integer_by_names(spec, ["element_bit_width", "element_bitwidth"]).unwrap_or(32);
        ensure(width == 32 || width == 64, || format!("`elementBitWidth = {width}`: expected 32 or 64"))
    }

    fn distribution(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<LayoutThreadCounts> {
        distribution_of_warps(spec, 64)
    }

    fn check_dot_operand(&self, operand: &DotOperandParameters<'_>) -> CheckResult {
        ensure(operand.k_width > 0, || "`kWidth` is missing, which MFMA needs".to_owned())
    }
}

/// Rules of the family `amd_wmma`: layouts of results of the matrix instructions of RDNA and gfx1250.
#[derive(Debug)]
pub(super) struct Wmma;

impl LayoutFamilyRules for Wmma {
    fn family(&self) -> &'static str {
        "amd_wmma"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        let Some(version) = find_layout_integer(spec, "version") else { return Ok(()) };
        ensure((1..=3).contains(&version), || format!("`version = {version}`: expected one from 1 to 3"))?;
        // A text may omit the default shape, 16x16x16, and the parser drops a parameter with the default value. Version
        // 3 has no instruction of this shape, so a text of version 3 must give another one.
        let shape = match spec.attributes.get("instr_shape") {
            None => vec![16, 16, 16],
            Some(_) => {
                let Some(shape) = find_layout_integer_list(spec, "instr_shape") else { return Ok(()) };
                shape
            }
        };
        let fits = match (version, &shape[..]) {
            (1, shape) => shape == [16, 16, 16],
            (2, [16, 16, k]) => [16, 32].contains(k),
            (3, [16, 16, k]) => [4, 32, 64, 128].contains(k),
            (3, [32, 16, k]) => [64, 128].contains(k),
            _ => false,
        };
        ensure(fits, || format!("`instrShape = {shape:?}` is no shape of WMMA {version}"))
    }

    fn distribution(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<LayoutThreadCounts> {
        let warps = bases_parameter_of_either_name(spec, ["warp_bases", "warp"])?;
        let rank = find_layout_integer(spec, "rank").and_then(|rank| usize::try_from(rank).ok());
        Some(LayoutThreadCounts {
            rank: warps.first().map(Vec::len).or(rank).unwrap_or(2),
            lanes: Some(32),
            warps: Some(element_count_of_bases(warps.len())),
            blocks: cluster_blocks(spec),
        })
    }

    fn check_dot_operand(&self, operand: &DotOperandParameters<'_>) -> CheckResult {
        let width = operand.k_width;
        match find_layout_integer(operand.parent, "version") {
            Some(1) => ensure([8, 16].contains(&width), || format!("`kWidth = {width}`: expected 8 or 16 for WMMA 1")),
            Some(2) => {
                ensure([4, 8, 16].contains(&width), || format!("`kWidth = {width}`: expected 4, 8 or 16 for WMMA 2"))
            }
            _ => ensure(width > 0, || "`kWidth` is missing, which WMMA 3 needs".to_owned()),
        }
    }
}
