//! Rules of tensor memory.

use super::layouts::{bases, flag, number};
use super::{Check, Checked, ensure};
use crate::{Attribute, MemDescType, TensorType, TileType};

const MATRIX: &str = "tensor_memory_encoding";
const SCALES: &str = "tensor_memory_scales_encoding";

fn is_tensor_memory(memory: &MemDescType) -> bool {
    [MATRIX, SCALES].contains(&memory.layout.spec().name.as_str())
}

fn allocated(memory: &MemDescType) -> &[u64] {
    memory.allocation.as_deref().unwrap_or(&memory.shape)
}

/// Checks the type of a tensor in tensor memory.
pub(super) fn check_type(memory: &MemDescType) -> Checked {
    let spec = memory.layout.spec();
    ensure(memory.space.spec().name == "tensor_memory", || {
        format!("`{}` is a layout of tensor memory: expected `#ttng.tensor_memory`", memory.layout.text())
    })?;
    let bits = memory.element.element_bits().unwrap_or(32);
    ensure(bits >= 8, || format!("elements of {bits} bits: expected 8 at least"))?;
    if spec.name == SCALES {
        ensure(memory.shape.len() == 2, || format!("scales of {} axes: expected two", memory.shape.len()))?;
        return ensure(bits == 8, || format!("scales of {bits} bits: expected 8"));
    }
    let rank = memory.shape.len();
    ensure(rank == 2 || rank == 3, || format!("a tensor of {rank} axes: expected two, or three for buffers"))?;
    let stride = number(spec, "col_stride").unwrap_or(1).unsigned_abs();
    ensure(u64::from(bits) * stride <= 32, || {
        format!("elements of {bits} bits with `colStride = {stride}`: expected at most 32 bits for both")
    })?;
    let (Some(rows), Some(columns)) = (number(spec, "block_m"), number(spec, "block_n")) else { return Ok(()) };
    let blocks = bases(spec, "cga_layout").unwrap_or_default();
    let split = |axis: usize| blocks.iter().filter(|basis| basis.get(axis).is_some_and(|by| *by != 0)).count() as u32;
    let full = allocated(memory);
    let full = &full[full.len().saturating_sub(2)..];
    let least = [rows.unsigned_abs() << split(0), columns.unsigned_abs() << split(1)];
    // A tensor may have fewer columns than a block, and not fewer rows.
    ensure(full.len() == 2 && full[0] >= least[0], || {
        format!("{full:?} is less than one block of its layout, {least:?}")
    })
}

/// The layout of a tensor in registers lets the warps of a warpgroup reach their rows.
fn accessible(check: &Check<'_>, registers: &TensorType, memory: &MemDescType) -> Checked {
    let Some(layout) = &registers.layout else { return Ok(()) };
    if memory.layout.spec().name != MATRIX || registers.shape.len() != 2 {
        return Ok(());
    }
    let rows = number(memory.layout.spec(), "block_m").unwrap_or(128);
    let Some((lanes, _)) = check.lanes_and_registers(layout, &registers.shape) else { return Ok(()) };
    let Some((warps, _)) = check.warps_and_blocks(layout, &registers.shape) else { return Ok(()) };
    // Each warp of a warpgroup reaches 32 rows of 128: the first two bits of warps select them.
    let selects = |at: usize| warps.get(at).is_none_or(|basis| basis[0] == 32 << at);
    let fits = rows != 128 || (selects(0) && selects(1) && lanes.iter().all(|basis| basis[0] < 32 || basis[0] >= 128));
    ensure(fits, || {
        format!("`{}`: each warp reaches 32 rows of tensor memory, and this layout has other ones", layout.text())
    })
}

fn same(registers: &TileType, memory: &MemDescType) -> Checked {
    ensure(registers.shape() == Some(&memory.shape[..]), || {
        format!("`{registers}` and tensor memory of {:?} differ in shape", memory.shape)
    })?;
    ensure(*registers.element() == memory.element, || {
        format!("elements of `{}` and, in memory, of `{}`: expected one type", registers.element(), memory.element)
    })
}

fn of_tensor_memory(memory: &MemDescType) -> Checked {
    ensure(is_tensor_memory(memory), || format!("`{}` is no layout of tensor memory", memory.layout.text()))
}

/// `ttng.tmem_alloc`.
pub(super) fn alloc(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(memory) = check.memory_type("result") else { return Ok(()) };
    of_tensor_memory(memory)?;
    match check.group_type("src") {
        Some(source) => {
            same(source, memory)?;
            source.as_tensor().map_or(Ok(()), |tensor| accessible(check, tensor, memory))
        }
        None => ensure(memory.mutable, || "memory without initial contents must be `mutable`".to_owned()),
    }
}

/// `ttng.tmem_load`.
pub(super) fn load(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(memory), Some(result)) = (check.memory_type("src"), check.group_type("result")) else { return Ok(()) };
    of_tensor_memory(memory)?;
    same(result, memory)?;
    let has_reduction = check.operation.attributes.get("redOp").is_some();
    for name in ["abs", "NaN"] {
        let given = check.operation.attributes.get(name);
        ensure(has_reduction || !matches!(given, Some(Attribute::Bool(true))), || {
            format!("`{name}` is of a reduction: expected `redOp`")
        })?;
    }
    ensure(has_reduction != check.group_types("red").is_empty(), || {
        "`redOp` and a result `red` belong together: expected both, or neither".to_owned()
    })?;
    result.as_tensor().map_or(Ok(()), |tensor| accessible(check, tensor, memory))
}

/// `ttng.tmem_store`.
pub(super) fn store(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(memory), Some(source)) = (check.memory_type("dst"), check.group_type("src")) else { return Ok(()) };
    of_tensor_memory(memory)?;
    same(source, memory)?;
    source.as_tensor().map_or(Ok(()), |tensor| accessible(check, tensor, memory))
}

/// `ttng.tmem_copy`: from shared memory to tensor memory.
pub(super) fn copy(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(from), Some(to)) = (check.memory_type("src"), check.memory_type("dst")) else { return Ok(()) };
    ensure(from.space.spec().name != "tensor_memory", || "the source must be in shared memory".to_owned())?;
    of_tensor_memory(to)?;
    let spec = from.layout.spec();
    let swizzle = number(spec, "swizzling_byte_width").or_else(|| number(spec, "swizzle_byte_width"));
    ensure(
        spec.name != "nvmma_shared"
            || !(flag(spec, "transposed") || flag(spec, "fp4_padded") || flag(spec, "fp4padded")),
        || format!("the source's layout `{}` is transposed or padded", from.layout.text()),
    )?;
    if to.layout.spec().name == SCALES {
        ensure(from.shape.len() != 2 || from.shape == to.shape, || {
            format!("{:?} is copied to {:?}: expected one shape", from.shape, to.shape)
        })?;
        return ensure(swizzle.is_none_or(|bytes| bytes == 0), || {
            format!("scales are swizzled by `{}`: expected no swizzle", from.layout.text())
        });
    }
    let rows = number(to.layout.spec(), "block_m").unwrap_or(128);
    ensure(rows == 128, || format!("it is copied to blocks of {rows} rows: expected `blockM = 128`"))?;
    ensure(from.shape == to.shape, || format!("{:?} is copied to {:?}: expected one shape", from.shape, to.shape))?;
    ensure(from.element.element_bits() == Some(32), || format!("elements of `{}`: expected 32 bits", from.element))?;
    ensure(swizzle != Some(0), || format!("the source's layout `{}` is not swizzled", from.layout.text()))
}

/// `ttng.tmem_subslice`: columns of a tensor.
pub(super) fn subslice(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(from), Some(to)) = (check.memory_type("src"), check.memory_type("result")) else { return Ok(()) };
    of_tensor_memory(from)?;
    ensure(from.element == to.element, || {
        format!("elements of `{}` become `{}`, and must stay", from.element, to.element)
    })?;
    ensure(from.layout == to.layout, || {
        format!("the layout `{}` becomes `{}`, and must stay", from.layout.text(), to.layout.text())
    })?;
    ensure(allocated(from) == allocated(to), || {
        format!("the allocation of {:?} becomes {:?}, and must stay", allocated(from), allocated(to))
    })?;
    let axis = check.integer("dim").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(1);
    let offset = check.integer("offset").and_then(|offset| u64::try_from(offset).ok());
    let (Some(all), Some(size)) = (from.shape.get(axis), to.shape.get(axis)) else { return Ok(()) };
    ensure(offset.and_then(|offset| offset.checked_add(*size)).is_some_and(|end| end <= *all), || {
        format!(
            "{size} columns from {} on: there are {all}",
            offset.map_or_else(|| "below 0".to_owned(), |at| at.to_string())
        )
    })
}

/// `ttng.packed_arith`: pairs of elements in registers.
pub(super) fn packed_arith(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(TileType::Tensor(result)) = check.group_type("result") else { return Ok(()) };
    let kind = check.operation.attributes.get("op_kind").and_then(Attribute::as_text).unwrap_or_default();
    let kinds = ["add", "sub", "mul", "fma", "min", "max"];
    ensure(kinds.contains(&kind), || format!("`{kind}` is no packed operation: expected one of {}", kinds.join(", ")))?;
    let expected = if kind == "fma" { 3 } else { 2 };
    let count = check.operation.operands.len();
    ensure(count == expected, || format!("`{kind}` of {count} operands: expected {expected}"))?;
    let Some(layout) = &result.layout else { return Err("the result has no layout: expected one".to_owned()) };
    for operand in check.group_types("operands") {
        ensure(operand.shape() == Some(&result.shape[..]), || {
            format!("`{operand}`: expected the shape of the result, {:?}", result.shape)
        })?;
        ensure(*operand.element() == result.element, || {
            format!("`{operand}`: expected the elements of the result, `{}`", result.element)
        })?;
        ensure(operand.layout().is_some_and(|own| check.may_be_equal(own, layout, &result.shape)), || {
            format!("`{operand}`: expected the layout of the result, `{}`", layout.text())
        })?;
    }
    let name = result.element.to_string();
    let known = match kind {
        "min" | "max" => ["f16", "bf16"].contains(&name.as_str()),
        _ => ["f16", "bf16", "f32"].contains(&name.as_str()),
    };
    ensure(known, || format!("`{kind}` of pairs of `{name}` is no packed operation"))?;
    ensure(check.registers(layout, &result.shape).is_none_or(|bits| bits >= 1), || {
        format!("`{}` has one element in each lane: expected pairs", layout.text())
    })
}

/// The target has tensor memory.
pub(super) fn target(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(target) = &check.context.target else { return Ok(()) };
    let capability = target.strip_prefix("cuda:").and_then(|number| number.parse::<u32>().ok());
    ensure(capability.is_none_or(|capability| (100..120).contains(&capability)), || {
        format!("the target `{target}` has no tensor memory: expected one from `cuda:100` to `cuda:119`")
    })
}
