//! Defines the rules of operations on tensor memory.

use tilewright_layout::Dim;
use tilewright_tile::rules::{
    CheckResult, DistributedBases, OpContext, VerifyRule, ensure, find_layout_integer, find_layout_integer_by_names,
    read_layout_bool_parameter,
};
use tilewright_tile::{Attribute, FloatType, MemDescType, TensorType, TileType};

use super::shared_layouts::{SWIZZLE, is_fp4_padded};
use super::tensor_memory_layouts::{MATRIX, SCALES, SPACE};

/// The rules of `ttng`'s operations on tensor memory.
pub(super) const RULES: [VerifyRule; 6] = [
    VerifyRule::new("tmem_alloc", alloc),
    VerifyRule::new("tmem_load", load),
    VerifyRule::new("tmem_store", store),
    VerifyRule::new("tmem_copy", copy),
    VerifyRule::new("tmem_subslice", subslice),
    VerifyRule::new("tensor_memory_target", target),
];

fn is_tensor_memory(memory: &MemDescType) -> bool {
    [MATRIX, SCALES].contains(&memory.layout.spec().name.as_str())
}

/// Checks that each warp holds only elements in rows of tensor memory that the warp can access. Only tiles of 128 rows
/// in tensors of two axes are checked.
fn check_rows(check: &OpContext<'_>, registers: &TensorType, memory: &MemDescType) -> CheckResult {
    let Some(layout) = &registers.layout else { return Ok(()) };
    if memory.layout.spec().name != MATRIX || registers.shape.len() != 2 {
        return Ok(());
    }
    let rows = find_layout_integer(memory.layout.spec(), "block_m").unwrap_or(128);
    let Some(DistributedBases { lanes, warps, .. }) = check.distributed_bases(layout, &registers.shape) else {
        return Ok(());
    };
    // A warp can access 32 of the 128 rows; the lowest two bits of its index select them.
    let selects = |at: usize| warps.get(at).is_none_or(|basis| basis[0] == 32 << at);
    let fits = rows != 128 || (selects(0) && selects(1) && lanes.iter().all(|basis| basis[0] < 32 || basis[0] >= 128));
    ensure(fits, || {
        format!("`{}`: each warp reaches 32 rows of tensor memory, and this layout has other ones", layout.text())
    })
}

/// Checks that a tensor in registers and a tensor in tensor memory have the same shape and element type.
fn check_same(registers: &TileType, memory: &MemDescType) -> CheckResult {
    ensure(registers.shape() == Some(&memory.shape[..]), || {
        format!("`{registers}` and tensor memory of {:?} differ in shape", memory.shape)
    })?;
    ensure(*registers.element() == memory.element, || {
        format!("elements of `{}` and, in memory, of `{}`: expected one type", registers.element(), memory.element)
    })
}

fn check_layout(memory: &MemDescType) -> CheckResult {
    ensure(is_tensor_memory(memory), || format!("`{}` is no layout of tensor memory", memory.layout.text()))
}

/// Rule `tmem_alloc` of `ttng.tmem_alloc`: checks that the layout is one of tensor memory, and that initial contents,
/// if any, have the same shape and element type. Memory without initial contents must be mutable.
fn alloc(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(memory) = check.memory_type("result") else { return Ok(()) };
    check_layout(memory)?;
    match check.group_type("src") {
        Some(source) => {
            check_same(source, memory)?;
            source.as_tensor().map_or(Ok(()), |tensor| check_rows(check, tensor, memory))
        }
        None => ensure(memory.mutable, || "memory without initial contents must be `mutable`".to_owned()),
    }
}

/// Rule `tmem_load` of `ttng.tmem_load`: checks that the result has the shape and element type of the tensor in tensor
/// memory, and that each warp loads only rows that it can access. With a reduction of each row (`redOp`), each lane
/// must load whole rows.
fn load(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(memory), Some(result)) = (check.memory_type("src"), check.group_type("result")) else { return Ok(()) };
    check_layout(memory)?;
    check_same(result, memory)?;
    let has_reduction = check.operation().attributes.get("redOp").is_some();
    for name in ["abs", "NaN"] {
        let given = check.operation().attributes.get(name);
        ensure(has_reduction || !matches!(given, Some(Attribute::Bool(true))), || {
            format!("`{name}` is of a reduction: expected `redOp`")
        })?;
    }
    let is_single = memory.element == TileType::Float(FloatType::F32);
    for name in ["abs", "NaN"] {
        ensure(is_single || !check.is_attribute_set(name), || {
            format!("`{name}` of `{}`: expected f32", memory.element)
        })?;
    }
    if has_reduction && let Some(tensor) = result.as_tensor() {
        check_reduced_rows(check, tensor)?;
    }
    ensure(has_reduction != check.group_types("red").is_empty(), || {
        "`redOp` and a result `red` belong together: expected both, or neither".to_owned()
    })?;
    result.as_tensor().map_or(Ok(()), |tensor| check_rows(check, tensor, memory))
}

/// Checks that each lane holds all columns of its rows, which a load with a reduction of each row requires.
fn check_reduced_rows(check: &OpContext<'_>, registers: &TensorType) -> CheckResult {
    let Some(layout) = &registers.layout else { return Ok(()) };
    let Some(bases) = check.distributed_bases(layout, &registers.shape) else { return Ok(()) };
    let columns = bases.registers.iter().filter(|basis| basis.get(1).is_some_and(|by| *by != 0)).count();
    ensure(registers.shape.get(1).is_none_or(|size| 1u64 << columns == *size), || {
        format!("a reduction of rows that the lanes of `{}` share: expected whole rows in each lane", layout.text())
    })
}

/// Rule `tmem_store` of `ttng.tmem_store`: checks that the source has the shape and element type of the tensor in
/// tensor memory, and that each warp stores only rows that it can access.
fn store(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(memory), Some(source)) = (check.memory_type("dst"), check.group_type("src")) else { return Ok(()) };
    check_layout(memory)?;
    check_same(source, memory)?;
    source.as_tensor().map_or(Ok(()), |tensor| check_rows(check, tensor, memory))
}

/// Rule `tmem_copy` of `ttng.tmem_copy`: checks that `tcgen05.cp` can copy from the source's layout in shared memory to
/// the destination's layout in tensor memory.
fn copy(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(from), Some(to)) = (check.memory_type("src"), check.memory_type("dst")) else { return Ok(()) };
    ensure(from.space.spec().name != SPACE, || "the source must be in shared memory".to_owned())?;
    check_layout(to)?;
    ensure(from.shape == to.shape, || format!("{:?} is copied to {:?}: expected one shape", from.shape, to.shape))?;
    let spec = from.layout.spec();
    let swizzle = find_layout_integer_by_names(spec, SWIZZLE);
    ensure(
        spec.name != "nvmma_shared" || !(read_layout_bool_parameter(spec, "transposed") || is_fp4_padded(spec)),
        || format!("the source's layout `{}` is transposed or padded", from.layout.text()),
    )?;
    if to.layout.spec().name == SCALES {
        return ensure(swizzle.is_none_or(|bytes| bytes == 0), || {
            format!("scales are swizzled by `{}`: expected no swizzle", from.layout.text())
        });
    }
    let rows = find_layout_integer(to.layout.spec(), "block_m").unwrap_or(128);
    ensure(rows == 128, || format!("it is copied to blocks of {rows} rows: expected `blockM = 128`"))?;
    ensure(from.element.element_bits() == Some(32), || format!("elements of `{}`: expected 32 bits", from.element))?;
    ensure(swizzle != Some(0), || format!("the source's layout `{}` is not swizzled", from.layout.text()))?;
    let Some(part) = check.allocation_layout(to) else { return Ok(()) };
    let columns = part.bases_of(Dim::COL);
    let own = columns.iter().take_while(|basis| part.contains_basis(basis) && basis.iter().any(|by| *by != 0)).count();
    ensure(own >= 2, || format!("each row has {} adjacent elements of the destination: expected 4", 1 << own))
}

/// Rule `tmem_subslice` of `ttng.tmem_subslice`: checks that the result is a range of the source along the axis `dim`,
/// with the source's element type, layout and allocation.
fn subslice(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(from), Some(to)) = (check.memory_type("src"), check.memory_type("result")) else { return Ok(()) };
    check_layout(from)?;
    ensure(from.element == to.element, || {
        format!("elements of `{}` become `{}`, and must stay", from.element, to.element)
    })?;
    ensure(from.layout == to.layout, || {
        format!("the layout `{}` becomes `{}`, and must stay", from.layout.text(), to.layout.text())
    })?;
    ensure(from.allocation_shape() == to.allocation_shape(), || {
        format!("the allocation of {:?} becomes {:?}, and must stay", from.allocation_shape(), to.allocation_shape())
    })?;
    let (rank, given) = (from.shape.len(), check.integer_attribute("dim").unwrap_or(1));
    ensure(rank == to.shape.len() && (rank == 2 || rank == 3), || {
        format!("{:?} becomes {:?}: expected two axes each, or three", from.shape, to.shape)
    })?;
    let Some(axis) = usize::try_from(given).ok().filter(|axis| *axis < rank) else {
        return Err(format!("there is no axis {given}: expected one from 0 to {}", rank - 1));
    };
    ensure((0..rank).all(|other| other == axis || from.shape[other] == to.shape[other]), || {
        format!("{:?} becomes {:?}: expected another size along axis {axis} alone", from.shape, to.shape)
    })?;
    let (all, size) = (from.shape[axis], to.shape[axis]);
    let offset = check.integer_attribute("offset").and_then(|offset| u64::try_from(offset).ok());
    let offset = offset.filter(|offset| offset.checked_add(size).is_some_and(|end| end <= all));
    let Some(offset) = offset else { return Err(format!("{size} elements beyond the {all} along axis {axis}")) };
    if rank == 3 && axis == 0 {
        return Ok(());
    }
    check_slice(check, from, Slice { axis: axis + 2 - rank, offset, size })
}

/// A range of indices along one axis of a tensor in tensor memory.
struct Slice {
    axis: usize,
    offset: u64,
    size: u64,
}

/// Checks that the elements of a slice are in adjacent rows or columns, that it starts at a multiple of 32 bits, and
/// that each block of the cluster holds a part of it.
fn check_slice(check: &OpContext<'_>, from: &MemDescType, Slice { axis, offset, size }: Slice) -> CheckResult {
    let Some(part) = check.allocation_layout(from) else { return Ok(()) };
    let rows = part.bases_of(Dim::ROW);
    let columns = part.bases_of(Dim::COL);
    if offset & (size - 1) != 0 {
        let first = offset.trailing_zeros();
        let last = (offset ^ (offset + size - 1)).ilog2();
        let steps: Vec<u64> = (first..=last).map(|bit| 1 << bit).collect();
        let moves = |basis: &Vec<u64>, by: u64| basis[axis] == by && basis[1 - axis] == 0;
        let is_adjacent = |bases: &[Vec<u64>]| {
            bases.windows(steps.len()).any(|run| run.iter().zip(&steps).all(|(basis, by)| moves(basis, *by)))
        };
        ensure(is_adjacent(&rows) || is_adjacent(&columns), || {
            format!("{size} elements from {offset} on are not at adjacent addresses: expected a multiple of {size}")
        })?;
    }
    let is_cut = part.bases_of(Dim::BLOCK).iter().any(|basis| basis[axis] >= size);
    ensure(!is_cut, || "the slice is cut across the blocks of a cluster".to_owned())?;
    let column: u64 = columns
        .iter()
        .enumerate()
        .filter(|(_, basis)| basis[axis] != 0 && offset & basis[axis] != 0)
        .map(|(bit, _)| 1 << bit)
        .sum();
    let bits = u64::from(from.element.element_bits().unwrap_or(32));
    ensure((column * bits).is_multiple_of(32), || {
        format!("the slice begins at element {offset}, within 32 bits of tensor memory: expected a multiple")
    })
}

/// Rule `tensor_memory_target`: checks that the program's target, if known, has tensor memory.
fn target(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(target) = check.target_attribute() else { return Ok(()) };
    let capability = target.strip_prefix("cuda:").and_then(|number| number.parse::<u32>().ok());
    ensure(capability.is_some_and(|capability| (100..120).contains(&capability)), || {
        format!("the target `{target}` has no tensor memory: expected one from `cuda:100` to `cuda:119`")
    })
}
