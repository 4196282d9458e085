//! Rules of layout attributes and of types with layouts.

use tilewright_layout::{FamilyAttribute, FamilySpec};

use super::{Check, Checked, ensure};
use crate::{LayoutName, MemDescType, TileType};

/// The parameters of Triton's layout attributes: names as read, in `snake_case`, with those of this project.
const PARAMETERS: [(&str, &[&str]); 13] = [
    ("blocked", &["size_per_thread", "threads_per_warp", "warps_per_cta", "order", "cga_layout"]),
    ("slice", &["dim"]),
    ("dot_op", &["op_idx", "operand_index", "k_width"]),
    ("linear", &["register", "lane", "warp", "block", "reg_bases", "lane_bases", "warp_bases", "block_bases", "shape"]),
    ("nvidia_mma", &["version_major", "version_minor", "version", "warps_per_cta", "cga_layout", "instr_shape"]),
    (
        "amd_mfma",
        &[
            "version",
            "version_major",
            "version_minor",
            "warps_per_cta",
            "cga_layout",
            "instr_shape",
            "is_transposed",
            "transposed",
            "tiles_per_warp",
            "element_bit_width",
            "element_bitwidth",
        ],
    ),
    (
        "amd_wmma",
        &[
            "version",
            "is_transposed",
            "is_transpose",
            "transposed",
            "cta_layout",
            "reg_bases",
            "warp_bases",
            "cga_layout",
            "instr_shape",
            "rank",
        ],
    ),
    ("swizzled_shared", &["vec", "per_phase", "max_phase", "order", "cga_layout"]),
    (
        "nvmma_shared",
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
        ],
    ),
    (
        "padded_shared",
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
        ],
    ),
    ("shared_linear", &["offset", "block", "offset_bases", "block_bases", "alignment"]),
    (
        "tensor_memory_encoding",
        &["block_m", "block_n", "block", "col_stride", "cga_layout", "two_ctas", "fp4_padded", "fp4padded"],
    ),
    ("tensor_memory_scales_encoding", &["cga_layout", "block_rep_order"]),
];

/// Layouts of tensors in registers.
const DISTRIBUTED: [&str; 7] = ["blocked", "slice", "dot_op", "linear", "nvidia_mma", "amd_mfma", "amd_wmma"];

/// Layouts of tensors in memory.
const SHARED: [&str; 6] =
    ["swizzled_shared", "nvmma_shared", "padded_shared", "shared_linear", "amd_rotating_shared", "partitioned_shared"];

/// Layouts of tensors in tensor memory.
const TENSOR_MEMORY: [&str; 2] = ["tensor_memory_encoding", "tensor_memory_scales_encoding"];

/// Attributes of Triton's `ttg` dialect that are no layouts of the lists above.
const OTHER: [&str; 4] = ["shared_memory", "tensor_memory", "generic_linear", "auto_encoding"];

/// An integer parameter.
pub(super) fn number(spec: &FamilySpec, name: &str) -> Option<i64> {
    match spec.attributes.get(name) {
        Some(FamilyAttribute::Int(number)) => Some(*number),
        _ => None,
    }
}

/// A parameter that is a list of integers.
pub(super) fn numbers(spec: &FamilySpec, name: &str) -> Option<Vec<i64>> {
    integers(spec.attributes.get(name)?)
}

fn integers(attribute: &FamilyAttribute) -> Option<Vec<i64>> {
    let FamilyAttribute::List(items) = attribute else { return None };
    let number = |item: &FamilyAttribute| match item {
        FamilyAttribute::Int(number) => Some(*number),
        _ => None,
    };
    items.iter().map(number).collect()
}

/// A parameter that is a list of lists of integers.
pub(super) fn bases(spec: &FamilySpec, name: &str) -> Option<Vec<Vec<i64>>> {
    match spec.attributes.get(name)? {
        FamilyAttribute::List(items) => items.iter().map(integers).collect(),
        _ => None,
    }
}

/// A flag; `false` if absent.
pub(super) fn flag(spec: &FamilySpec, name: &str) -> bool {
    spec.attributes.get(name) == Some(&FamilyAttribute::Bool(true))
}

/// Bases of a linear layout under the name of the text, or of this project.
fn named_bases(spec: &FamilySpec, names: [&str; 2]) -> Option<Vec<Vec<i64>>> {
    names.into_iter().find_map(|name| bases(spec, name))
}

/// How a layout spreads a tensor: axes, lanes, warps and blocks.
struct Spread {
    rank: usize,
    lanes: Option<u64>,
    warps: Option<u64>,
    blocks: u64,
}

fn product(numbers: &[i64]) -> u64 {
    numbers.iter().fold(1, |all, number| all.saturating_mul(number.unsigned_abs()))
}

pub(super) fn power(count: usize) -> u64 {
    1u64.checked_shl(count as u32).unwrap_or(u64::MAX)
}

/// The spread of a distributed layout of Triton; `None` for others.
fn spread(spec: &FamilySpec) -> Option<Spread> {
    let blocks = power(bases(spec, "cga_layout").map_or(0, |bases| bases.len()));
    match spec.name.as_str() {
        "blocked" => Some(Spread {
            rank: numbers(spec, "order")?.len(),
            lanes: Some(product(&numbers(spec, "threads_per_warp")?)),
            warps: Some(product(&numbers(spec, "warps_per_cta")?)),
            blocks,
        }),
        "slice" => {
            let parent = spread(spec.parent.as_deref()?)?;
            Some(Spread { rank: parent.rank.checked_sub(1)?, ..parent })
        }
        "dot_op" => spread(spec.parent.as_deref()?),
        "linear" | "generic_linear" => {
            let [lanes, warps, blocks] = [["lane", "lane_bases"], ["warp", "warp_bases"], ["block", "block_bases"]]
                .map(|names| named_bases(spec, names));
            let registers = named_bases(spec, ["register", "reg_bases"]);
            let groups = [&registers, &lanes, &warps, &blocks];
            let rank = groups.into_iter().flatten().flatten().map(Vec::len).max()?;
            Some(Spread {
                rank,
                lanes: lanes.map(|bases| power(bases.len())),
                warps: warps.map(|bases| power(bases.len())),
                blocks: power(blocks.map_or(0, |bases| bases.len())),
            })
        }
        "amd_wmma" => {
            let warps = named_bases(spec, ["warp_bases", "warp"])?;
            let rank = number(spec, "rank").and_then(|rank| usize::try_from(rank).ok());
            let rank = warps.first().map(Vec::len).or(rank).unwrap_or(2);
            Some(Spread { rank, lanes: Some(32), warps: Some(power(warps.len())), blocks })
        }
        "nvidia_mma" | "amd_mfma" => {
            let warps = numbers(spec, "warps_per_cta")?;
            let lanes = if spec.name == "nvidia_mma" { 32 } else { 64 };
            Some(Spread { rank: warps.len(), lanes: Some(lanes), warps: Some(product(&warps)), blocks })
        }
        _ => None,
    }
}

/// Number of axes of a layout of Triton, in registers or shared memory.
pub(super) fn rank(spec: &FamilySpec) -> Option<usize> {
    match spec.name.as_str() {
        "swizzled_shared" | "padded_shared" if numbers(spec, "order").is_some() => Some(numbers(spec, "order")?.len()),
        "padded_shared" | "shared_linear" => named_bases(spec, ["offset", "offset_bases"])?.first().map(Vec::len),
        "nvmma_shared" => Some(match (bases(spec, "cga_layout"), number(spec, "rank")) {
            (Some(bases), _) if !bases.is_empty() => bases[0].len(),
            (_, Some(rank)) => usize::try_from(rank).ok()?,
            _ => 2,
        }),
        _ => spread(spec).map(|spread| spread.rank),
    }
}

/// Whether a family is one of Triton's.
fn is_of_triton(name: &str) -> bool {
    DISTRIBUTED.contains(&name) || is_other_than_distributed(name)
}

/// Whether a family is one of Triton's that are no layouts of registers.
fn is_other_than_distributed(name: &str) -> bool {
    let others = ["shared_memory", "tensor_memory"];
    SHARED.contains(&name) || TENSOR_MEMORY.contains(&name) || others.contains(&name)
}

fn is_permutation(order: &[i64]) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..order.len() as i64)
}

fn is_power(number: i64) -> bool {
    u64::try_from(number).is_ok_and(u64::is_power_of_two)
}

/// Whether bases other than zero move along one axis each, by different powers of two.
fn is_permutation_matrix<'a>(bases: impl IntoIterator<Item = &'a Vec<i64>>) -> bool {
    let mut seen = Vec::new();
    bases.into_iter().filter(|basis| basis.iter().any(|by| *by != 0)).all(|basis| {
        let mut moved = basis.iter().enumerate().filter(|(_, by)| **by != 0);
        let (Some((axis, by)), None) = (moved.next(), moved.next()) else { return false };
        let is_new = is_power(*by) && !seen.contains(&(axis, *by));
        seen.push((axis, *by));
        is_new
    })
}

/// Checks a layout attribute and its parents. Layouts of other dialects than Triton's are left to their families.
pub(super) fn check_attribute(layout: &LayoutName) -> Checked {
    let text = layout.text();
    if !(text.starts_with("#ttg.") || text.starts_with("#ttng.")) {
        return Ok(());
    }
    let name = layout.spec().name.as_str();
    let known = PARAMETERS.iter().map(|(name, _)| *name).chain(SHARED).chain(OTHER);
    let mut names: Vec<&str> = known.collect();
    if !names.contains(&name) {
        names.sort_unstable();
        names.dedup();
        return Err(format!("`{text}` is no layout of Triton: expected one of {}", names.join(", ")));
    }
    ensure(name != "shared_linear" || text.contains("}, alignment"), || {
        format!("the layout `{text}`: expected `alignment` behind the bases: `<{{offset = ...}}, alignment = 16>`")
    })?;
    check_spec(layout.spec()).map_err(|message| format!("the layout `{text}`: {message}"))
}

fn check_spec(spec: &FamilySpec) -> Checked {
    if let Some((_, known)) = PARAMETERS.iter().find(|(name, _)| *name == spec.name)
        && let Some(unknown) = spec.attributes.keys().find(|key| !known.contains(&key.as_str()))
    {
        return Err(format!("`{unknown}` is no parameter of `{}`", spec.name));
    }
    if let Some(parent) = spec.parent.as_deref() {
        check_spec(parent)?;
    }
    check_cluster(spec)?;
    match spec.name.as_str() {
        "blocked" => blocked(spec),
        "slice" => slice(spec),
        "dot_op" => dot_operand(spec),
        "linear" => linear(spec),
        "nvidia_mma" => nvidia_mma(spec),
        "amd_mfma" => mfma(spec),
        "amd_wmma" => wmma(spec),
        "swizzled_shared" => swizzled(spec),
        "nvmma_shared" => nvmma(spec),
        "padded_shared" => padded(spec),
        "shared_linear" => shared_linear(spec),
        "partitioned_shared" => partitioned(spec),
        "generic_linear" => generic_linear(spec),
        "tensor_memory_encoding" => tensor_memory(spec),
        _ => Ok(()),
    }
}

fn check_cluster(spec: &FamilySpec) -> Checked {
    let Some(bases) = bases(spec, "cga_layout") else { return Ok(()) };
    if let Some(rank) = rank(spec) {
        ensure(bases.iter().all(|basis| basis.len() == rank), || {
            format!("a basis of its `CGALayout` does not have {rank} coordinates, one for each axis")
        })?;
    }
    ensure(is_permutation_matrix(&bases), || {
        format!("`CGALayout = {bases:?}`: each basis but zero must move along one axis, by a power of two of its own")
    })
}

fn order_of(spec: &FamilySpec) -> Checked {
    let Some(order) = numbers(spec, "order") else { return Ok(()) };
    ensure(is_permutation(&order), || {
        format!("`order = {order:?}`: expected each axis from 0 to {} once", order.len().saturating_sub(1))
    })
}

fn blocked(spec: &FamilySpec) -> Checked {
    let mut ranks = Vec::new();
    for (name, word) in
        [("size_per_thread", "sizePerThread"), ("threads_per_warp", "threadsPerWarp"), ("warps_per_cta", "warpsPerCTA")]
    {
        let Some(sizes) = numbers(spec, name) else {
            return Err(format!("`{word}` must be a list of whole numbers"));
        };
        ensure(sizes.iter().all(|size| is_power(*size)), || format!("`{word} = {sizes:?}`: expected powers of two"))?;
        ranks.push(sizes.len());
    }
    let Some(order) = numbers(spec, "order") else { return Err("`order` must be a list of axes".to_owned()) };
    ensure(ranks.iter().all(|rank| *rank == order.len()), || {
        format!("`order` has {} axes, and the sizes have {ranks:?}: expected as many", order.len())
    })?;
    order_of(spec)
}

fn slice(spec: &FamilySpec) -> Checked {
    let Some(parent) = spec.parent.as_deref() else { return Err("`parent` is missing".to_owned()) };
    ensure(!is_other_than_distributed(&parent.name), || {
        format!("its parent `{}` is no layout of registers", parent.name)
    })?;
    let (Some(axis), Some(rank)) = (number(spec, "dim"), rank(parent)) else { return Ok(()) };
    ensure(rank >= 2, || format!("its parent has {rank} axis: expected two or more"))?;
    ensure(usize::try_from(axis).is_ok_and(|axis| axis < rank), || {
        format!("`dim = {axis}`: its parent has axes 0 to {}", rank - 1)
    })
}

fn dot_operand(spec: &FamilySpec) -> Checked {
    let index = number(spec, "op_idx").or_else(|| number(spec, "operand_index")).unwrap_or(0);
    ensure(index == 0 || index == 1, || format!("`opIdx = {index}`: expected 0 for operand A or 1 for B"))?;
    let Some(parent) = spec.parent.as_deref() else { return Err("`parent` is missing".to_owned()) };
    let width = number(spec, "k_width").unwrap_or(0);
    let given = || format!("`kWidth = {width}`");
    match parent.name.as_str() {
        "blocked" => ensure(width == 0, || format!("{}: operands of a blocked layout have none", given())),
        "nvidia_mma" => {
            let version = number(parent, "version_major").or_else(|| numbers(parent, "version")?.first().copied());
            let version = version.unwrap_or(2);
            ensure(version != 3 || index == 0, || {
                "`opIdx = 1`: `wgmma` (version 3) has operand B in shared memory".to_owned()
            })?;
            ensure(version < 2 || width > 0, || format!("`kWidth` is missing, which version {version} of MMA needs"))
        }
        "amd_mfma" => ensure(width > 0, || "`kWidth` is missing, which MFMA needs".to_owned()),
        "amd_wmma" => match number(parent, "version") {
            Some(1) => ensure([8, 16].contains(&width), || format!("{}: expected 8 or 16 for WMMA 1", given())),
            Some(2) => ensure([4, 8, 16].contains(&width), || format!("{}: expected 4, 8 or 16 for WMMA 2", given())),
            _ => ensure(width > 0, || "`kWidth` is missing, which WMMA 3 needs".to_owned()),
        },
        other if other != "blocked" && is_of_triton(other) => {
            Err(format!("its parent `{}` is no layout of a dot's result", parent.name))
        }
        _ => Ok(()),
    }
}

fn linear(spec: &FamilySpec) -> Checked {
    let groups = [["register", "reg_bases"], ["lane", "lane_bases"], ["warp", "warp_bases"], ["block", "block_bases"]];
    let mut all = Vec::new();
    for names in groups {
        if !names.into_iter().any(|name| spec.attributes.contains_key(name)) {
            return Err(format!("the bases of `{}` are missing", names[0]));
        }
        let Some(bases) = named_bases(spec, names) else {
            return Err(format!("the bases of `{}` must be a list of lists of whole numbers", names[0]));
        };
        all.extend(bases);
    }
    ensure(is_permutation_matrix(&all), || {
        "each basis but zero must move along one axis, by a power of two of its own".to_owned()
    })
}

fn generic_linear(spec: &FamilySpec) -> Checked {
    for names in [["register", "reg_bases"], ["lane", "lane_bases"], ["block", "block_bases"]] {
        let bases = named_bases(spec, names).unwrap_or_default();
        if let Some(skewed) = bases.iter().find(|basis| basis.iter().filter(|by| **by != 0).count() > 1) {
            return Err(format!("basis {skewed:?} of `{}` moves along several axes: only warps may", names[0]));
        }
    }
    Ok(())
}

fn nvidia_mma(spec: &FamilySpec) -> Checked {
    let Some(version) = number(spec, "version_major") else { return Ok(()) };
    ensure([2, 3].contains(&version), || format!("`versionMajor = {version}`: expected 2 or 3"))
}

fn swizzled(spec: &FamilySpec) -> Checked {
    for (name, word) in [("vec", "vec"), ("per_phase", "perPhase"), ("max_phase", "maxPhase")] {
        let value = number(spec, name).unwrap_or(0);
        ensure(value >= 0, || format!("`{word} = {value}`: expected a number that is not negative"))?;
    }
    order_of(spec)
}

fn mfma(spec: &FamilySpec) -> Checked {
    if let Some(version) = number(spec, "version") {
        ensure((0..=4).contains(&version), || format!("`version = {version}`: expected one from 0 to 4"))?;
    }
    if let Some(shape) = numbers(spec, "instr_shape").filter(|shape| shape.len() >= 2) {
        let known = [[32, 32], [16, 16], [64, 4], [4, 64]];
        ensure(known.contains(&[shape[0], shape[1]]), || {
            format!("`instrShape = {shape:?}`: expected 32x32, 16x16, 64x4 or 4x64 elements")
        })?;
    }
    let transposed = spec.attributes.get("is_transposed").or_else(|| spec.attributes.get("transposed"));
    ensure(transposed.is_none_or(|value| matches!(value, FamilyAttribute::Bool(_))), || {
        "`isTransposed` must be true or false".to_owned()
    })?;
    let width = number(spec, "element_bit_width").or_else(|| number(spec, "element_bitwidth")).unwrap_or(32);
    ensure(width == 32 || width == 64, || format!("`elementBitWidth = {width}`: expected 32 or 64"))
}

fn wmma(spec: &FamilySpec) -> Checked {
    let Some(version) = number(spec, "version") else { return Ok(()) };
    ensure((1..=3).contains(&version), || format!("`version = {version}`: expected one from 1 to 3"))?;
    let Some(shape) = numbers(spec, "instr_shape") else { return Ok(()) };
    let fits = match (version, &shape[..]) {
        (1, shape) => shape == [16, 16, 16],
        (2, [16, 16, k]) => [16, 32].contains(k),
        (3, [16, 16, k]) => [4, 32, 64, 128].contains(k),
        (3, [32, 16, k]) => *k == 128,
        _ => false,
    };
    ensure(fits, || format!("`instrShape = {shape:?}` is no shape of WMMA {version}"))
}

fn nvmma(spec: &FamilySpec) -> Checked {
    let swizzle = number(spec, "swizzling_byte_width").or_else(|| number(spec, "swizzle_byte_width"));
    if let Some(swizzle) = swizzle {
        ensure([0, 32, 64, 128].contains(&swizzle), || {
            format!("`swizzlingByteWidth = {swizzle}`: expected 0, 32, 64 or 128")
        })?;
    }
    let width = number(spec, "element_bit_width").or_else(|| number(spec, "element_bitwidth"));
    ensure(width != Some(0), || "`elementBitWidth = 0`: expected the width of an element in bits".to_owned())
}

/// The pairs of interval and padding of a padded layout.
pub(super) fn paddings(spec: &FamilySpec) -> Option<Vec<Vec<i64>>> {
    ["0", "interval_padding_pairs"].into_iter().find_map(|name| bases(spec, name))
}

fn padded(spec: &FamilySpec) -> Checked {
    if let Some(pairs) = paddings(spec) {
        ensure(!pairs.is_empty(), || "it has no pair of interval and padding: expected one at least".to_owned())?;
        let mut seen = Vec::new();
        for pair in pairs {
            let [interval, padding] = pair[..] else { continue };
            ensure(is_power(interval), || format!("the interval {interval} is no power of two"))?;
            ensure(is_power(padding), || format!("the padding {padding} is no power of two"))?;
            ensure(!seen.contains(&interval), || format!("the interval {interval} is given twice"))?;
            seen.push(interval);
        }
    }
    if let (Some(order), Some(shape)) = (numbers(spec, "order"), numbers(spec, "shape")) {
        ensure(order.len() == shape.len(), || {
            format!("`order` has {} axes, and `shape` {}: expected as many", order.len(), shape.len())
        })?;
    }
    order_of(spec)?;
    let Some(offsets) = named_bases(spec, ["offset", "offset_bases"]) else { return Ok(()) };
    ensure(offsets.iter().all(|basis| basis.iter().filter(|by| **by != 0).count() <= 1), || {
        "each basis of `offset` must move along one axis".to_owned()
    })?;
    let is_zero = |basis: &Vec<i64>| basis.iter().all(|by| *by == 0);
    ensure(!offsets.iter().any(is_zero) && is_permutation_matrix(&offsets), || {
        "two offsets are one element: expected different bases of `offset`, without zero".to_owned()
    })
}

fn shared_linear(spec: &FamilySpec) -> Checked {
    if let Some(alignment) = number(spec, "alignment") {
        ensure(is_power(alignment), || format!("`alignment = {alignment}`: expected a power of two"))?;
    }
    let offsets = named_bases(spec, ["offset", "offset_bases"]).unwrap_or_default();
    let blocks = named_bases(spec, ["block", "block_bases"]).unwrap_or_default();
    let all: Vec<&Vec<i64>> = offsets.iter().chain(&blocks).collect();
    let rank = all.iter().map(|basis| basis.len()).max().unwrap_or(0);
    let moving = all.iter().filter(|basis| basis.iter().any(|by| *by != 0));
    let bits: Vec<u32> = (0..rank)
        .map(|axis| {
            let reached = all.iter().fold(0, |reached, basis| reached | basis.get(axis).copied().unwrap_or(0));
            64 - reached.unsigned_abs().leading_zeros()
        })
        .collect();
    let count = moving.clone().count();
    let mut rows: Vec<u64> = moving
        .map(|basis| {
            basis.iter().zip(&bits).fold((0u64, 0u32), |(packed, shift), (by, bits)| {
                (packed | by.unsigned_abs().checked_shl(shift).unwrap_or(0), shift + bits)
            })
        })
        .map(|(packed, _)| packed)
        .collect();
    let total: u32 = bits.iter().sum();
    ensure(total <= 63 && count == total as usize && eliminated(&mut rows) == count, || {
        "its bases other than zero must reach each element once".to_owned()
    })
}

/// The rank of a matrix over F2, by elimination.
fn eliminated(rows: &mut [u64]) -> usize {
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

fn partitioned(spec: &FamilySpec) -> Checked {
    let Some(FamilyAttribute::Spec(inner)) = spec.attributes.get("partition_layout") else { return Ok(()) };
    ensure(!DISTRIBUTED.contains(&inner.name.as_str()), || {
        format!("`partitionLayout` is `{}`, a layout of registers: expected one of shared memory", inner.name)
    })
}

fn tensor_memory(spec: &FamilySpec) -> Checked {
    for (name, word) in [("block_m", "blockM"), ("block_n", "blockN"), ("col_stride", "colStride")] {
        ensure(spec.attributes.contains_key(name) || spec.attributes.contains_key("block"), || {
            format!("`{word}` is missing")
        })?;
    }
    let [rows, columns, stride] = ["block_m", "block_n", "col_stride"].map(|name| number(spec, name));
    ensure(rows.is_none_or(|rows| rows == 64 || rows == 128), || {
        format!("`blockM = {}`: expected 64 or 128 rows", rows.unwrap_or_default())
    })?;
    ensure(columns.is_none_or(|columns| is_power(columns) && columns <= 512), || {
        format!("`blockN = {}`: expected a power of two up to 512", columns.unwrap_or_default())
    })?;
    ensure(stride.is_none_or(|stride| [1, 2, 4].contains(&stride)), || {
        format!("`colStride = {}`: expected 1, 2 or 4", stride.unwrap_or_default())
    })?;
    let first = bases(spec, "cga_layout").and_then(|bases| bases.first().cloned());
    ensure(!flag(spec, "two_ctas") || first == Some(vec![1, 0]), || {
        "`twoCTAs`: the first basis of `CGALayout` must be [1, 0]".to_owned()
    })
}

impl Check<'_> {
    /// Checks the types of the operation's operands and results.
    pub(super) fn layouts(&self) -> Checked {
        let arguments = self.operation.regions.iter().flat_map(|region| self.body.blocks(*region).iter());
        let arguments = arguments.flat_map(|block| self.body.arguments(*block).iter());
        self.operation.results.iter().chain(arguments).try_for_each(|value| check_type(self.ty(*value)))?;
        self.operation.operands.iter().chain(&self.operation.results).try_for_each(|value| self.fits(self.ty(*value)))
    }

    /// Checks that a layout has the lanes, warps and blocks of the module or partition.
    fn fits(&self, ty: &TileType) -> Checked {
        // Operations of MLIR's and of the vendors' other dialects take any layout.
        if !["tt", "ttg", "ttng", "gluon"].contains(&self.operation.definition.dialect()) {
            return Ok(());
        }
        if let TileType::Memory(memory) = ty {
            return self.fits_cluster(memory);
        }
        let TileType::Tensor(tensor) = ty else { return Ok(()) };
        let Some(layout) = &tensor.layout else { return Ok(()) };
        ensure(!is_other_than_distributed(&layout.spec().name), || {
            format!("`{ty}` is in registers: expected a layout of registers")
        })?;
        ensure(self.takes_any_layout() || !has_skewed_warps(layout.spec()), || {
            format!("the warps of the layout of `{ty}` move along several axes, which this operation does not support")
        })?;
        let Some(spread) = spread(layout.spec()) else { return Ok(()) };
        ensure(spread.rank == tensor.shape.len(), || {
            format!("`{ty}` has {} axes, and its layout {}", tensor.shape.len(), spread.rank)
        })?;
        let sides = [
            ("lanes of a warp", spread.lanes, self.context.lanes),
            ("warps", spread.warps, self.context.warps_of(self.op)),
            ("blocks", Some(spread.blocks), Some(self.context.blocks).filter(|_| self.context.is_stated)),
        ];
        for (what, has, expected) in sides {
            let (Some(has), Some(expected)) = (has, expected) else { continue };
            ensure(has == expected, || format!("the layout of `{ty}` has {has} {what}: expected {expected}"))?;
        }
        Ok(())
    }
}

impl Check<'_> {
    /// Whether the operation takes layouts whose warps move along several axes.
    fn takes_any_layout(&self) -> bool {
        let definition = &self.operation.definition;
        let is_of_mlir = !["tt", "ttg", "ttng", "amdg", "gluon"].contains(&definition.dialect());
        definition.traits.elementwise || definition.traits.any_layout || is_of_mlir
    }

    /// Checks that a layout of memory has the blocks of the module's clusters.
    fn fits_cluster(&self, memory: &MemDescType) -> Checked {
        let Some(has) = blocks(memory.layout.spec()).filter(|_| self.context.is_stated) else { return Ok(()) };
        ensure(has == self.context.blocks, || {
            format!("the layout `{}` has {has} blocks: expected {}", memory.layout.text(), self.context.blocks)
        })
    }
}

/// Blocks of a layout of memory; `None` for layouts that are the same in any cluster.
fn blocks(spec: &FamilySpec) -> Option<u64> {
    let name = spec.name.as_str();
    let is_known = SHARED.contains(&name) || TENSOR_MEMORY.contains(&name);
    if !is_known || name == "partitioned_shared" {
        return None;
    }
    let bases = bases(spec, "cga_layout").or_else(|| named_bases(spec, ["block", "block_bases"]));
    Some(power(bases.map_or(0, |bases| bases.len())))
}

/// Whether a warp basis of a layout, or of a parent, moves along several axes.
fn has_skewed_warps(spec: &FamilySpec) -> bool {
    let warps = (spec.name == "generic_linear").then(|| named_bases(spec, ["warp", "warp_bases"])).flatten();
    let is_skewed = |basis: &Vec<i64>| basis.iter().filter(|by| **by != 0).count() > 1;
    warps.is_some_and(|warps| warps.iter().any(is_skewed)) || spec.parent.as_deref().is_some_and(has_skewed_warps)
}

/// Checks a type wherever it stands.
pub(super) fn check_type(ty: &TileType) -> Checked {
    match ty {
        TileType::Pointer(pointer) => {
            ensure(matches!(pointer.pointee, TileType::Integer(..) | TileType::Float(_)), || {
                format!("`{ty}`: expected a pointer to integers or floating-point numbers")
            })
        }
        TileType::Tensor(tensor) => {
            check_type(&tensor.element)?;
            let Some(layout) = &tensor.layout else { return Ok(()) };
            check_attribute(layout)
        }
        TileType::Memory(memory) => {
            check_attribute(&memory.layout)?;
            check_memory(memory).map_err(|message| format!("`{ty}`: {message}"))
        }
        TileType::Foreign(text) if text.starts_with("!ttng.tensordesc_im2col<") => {
            let rank = text
                .split_once('<')
                .map_or(0, |(_, block)| block.split(',').next().unwrap_or_default().matches('x').count());
            ensure(rank == 2, || format!("`{ty}` has blocks of {rank} axes: expected two"))
        }
        TileType::Descriptor(descriptor) => descriptor.layout.as_ref().map_or(Ok(()), check_attribute),
        _ => Ok(()),
    }
}

/// Checks the type of a tensor in memory.
fn check_memory(memory: &MemDescType) -> Checked {
    let name = memory.layout.spec().name.as_str();
    let space = memory.space.spec().name.as_str();
    ensure(matches!(space, "shared_memory" | "tensor_memory" | "smem"), || {
        format!("`{}` is no memory: expected `#ttg.shared_memory` or `#ttng.tensor_memory`", memory.space.text())
    })?;
    let rank = memory.shape.len();
    ensure(rank > 0, || "it has no axis: expected one at least".to_owned())?;
    ensure(memory.shape.iter().all(|size| *size > 0), || "an axis has no element".to_owned())?;
    let is_space = ["shared_memory", "tensor_memory"].contains(&name);
    ensure(!DISTRIBUTED.contains(&name) && !is_space, || format!("`{name}` is no layout of a tensor in memory"))?;
    if let Some(allocation) = &memory.allocation {
        ensure(allocation.len() >= rank, || {
            format!("its allocation of {allocation:?} has fewer axes than {:?}", memory.shape)
        })?;
        let inner = &allocation[allocation.len() - rank..];
        ensure(memory.shape.iter().zip(inner).all(|(size, all)| size <= all), || {
            format!("{:?} is larger than its allocation of {allocation:?}", memory.shape)
        })?;
    }
    let bits = memory.element.element_bits();
    if SHARED.contains(&name) {
        ensure(space != "tensor_memory", || format!("`{name}` is a layout of shared memory, not of tensor memory"))?;
        ensure(bits.is_none_or(|bits| bits.is_multiple_of(8)), || {
            format!("elements of {} bits: expected a multiple of 8", bits.unwrap_or_default())
        })?;
        if let Some(layout_rank) = self::rank(memory.layout.spec()) {
            ensure(rank == layout_rank || rank == layout_rank + 1, || {
                format!("it has {rank} axes, and its layout {layout_rank}: expected as many, or one more for buffers")
            })?;
            let last = &memory.shape[rank - layout_rank.min(rank)..];
            ensure(last.iter().all(|size| size.is_power_of_two()), || {
                format!("{:?}: expected powers of two", memory.shape)
            })?;
        }
        return check_shared_shape(memory);
    }
    if TENSOR_MEMORY.contains(&name) {
        return super::tensor_memory::check_type(memory);
    }
    Ok(())
}

/// Checks a shape against its layout of shared memory.
fn check_shared_shape(memory: &MemDescType) -> Checked {
    let spec = memory.layout.spec();
    match spec.name.as_str() {
        "nvmma_shared" => {
            let swizzle =
                number(spec, "swizzling_byte_width").or_else(|| number(spec, "swizzle_byte_width")).unwrap_or(0);
            let bits = number(spec, "element_bit_width").or_else(|| number(spec, "element_bitwidth")).unwrap_or(8);
            let rank = rank(spec).unwrap_or(2);
            if swizzle == 0 || rank < 2 || memory.shape.len() < 2 {
                return Ok(());
            }
            let blocks = bases(spec, "cga_layout").unwrap_or_default();
            let transposed = flag(spec, "transposed");
            let layout_axis = if transposed { rank - 2 } else { rank - 1 };
            let allocation = memory.allocation.as_deref().unwrap_or(&memory.shape);
            let split = blocks.iter().filter(|basis| basis.get(layout_axis).is_some_and(|by| *by != 0)).count();
            let axis = allocation.len() - rank + layout_axis;
            let size = allocation.get(axis).copied().unwrap_or(1) >> split.min(63);
            let padding = if flag(spec, "fp4_padded") || flag(spec, "fp4padded") { 2 } else { 1 };
            let least = (swizzle * 8 / bits.max(1)).unsigned_abs() / padding;
            ensure(size >= least, || {
                format!(
                    "its contiguous axis has {size} elements: expected at least {least} for a swizzle of {swizzle} bytes"
                )
            })
        }
        "padded_shared" | "shared_linear" => {
            let Some(own) = numbers(spec, "shape").or_else(|| reached(spec)) else { return Ok(()) };
            let allocation = memory.allocation.as_deref().unwrap_or(&memory.shape);
            let inner = &allocation[allocation.len() - own.len().min(allocation.len())..];
            let fits = inner.iter().zip(&own).all(|(size, own)| *size == own.unsigned_abs());
            ensure(fits, || format!("its layout has a shape of {own:?}, and the allocation {allocation:?}"))
        }
        _ => Ok(()),
    }
}

/// The shape that the bases of a layout reach.
fn reached(spec: &FamilySpec) -> Option<Vec<i64>> {
    let offsets = named_bases(spec, ["offset", "offset_bases"])?;
    let blocks = named_bases(spec, ["block", "block_bases"]).unwrap_or_default();
    let rank = offsets.first()?.len();
    let all = |axis: usize| {
        let moved = offsets.iter().chain(&blocks).map(|basis| basis.get(axis).copied().unwrap_or(0));
        moved.fold(0, |all, by| all | by)
    };
    (0..rank).map(|axis| all(axis).checked_add(1)).collect()
}
