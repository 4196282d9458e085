//! Defines the rules of tensors in shared memory: copies, and views of allocations.

use tilewright_layout::{Dim, FamilySpec, Layout};

use super::layout_parameters::{element_count_of_bases, read_layout_padding_parameter};
use super::layouts::rank;
use super::{CheckResult, OpContext, SHARED_MEMORY, VerifyRules, ensure};
use crate::{MemDescType, TileType};

impl MemDescType {
    /// Returns the shape of the allocation that contains the tensor.
    #[must_use]
    pub fn allocation_shape(&self) -> &[u64] {
        self.allocation.as_deref().unwrap_or(&self.shape)
    }

    /// The sizes of the allocation along the axes of this tensor: the last ones, without those that count buffers.
    pub(super) fn allocated_axes(&self) -> &[u64] {
        let allocated = self.allocation_shape();
        &allocated[allocated.len().saturating_sub(self.shape.len())..]
    }

    /// Whether the tensor is in shared memory.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        [SHARED_MEMORY, "smem"].contains(&self.space.spec().name.as_str())
    }
}

/// Checks rule `copy_of_memory(registers memory)`: a tensor in registers and one in memory have the same shape and
/// element type.
pub(super) fn copy(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [registers, memory] = groups else { return Ok(()) };
    let Some(TileType::Memory(memory)) = check.group_type(memory) else { return Ok(()) };
    let Some(registers) = check.group_type(registers) else { return Ok(()) };
    same_tensor(registers, memory, check.rules())
}

fn same_tensor(registers: &TileType, memory: &MemDescType, rules: &VerifyRules) -> CheckResult {
    let shape = registers.shape().unwrap_or_default();
    ensure(shape == memory.shape, || {
        format!("`{registers}` and the tensor in memory differ in shape: {shape:?} and {:?}", memory.shape)
    })?;
    ensure(*registers.element() == memory.element, || {
        format!("elements of `{}` and, in memory, of `{}`: expected one type", registers.element(), memory.element)
    })?;
    let Some(own) = rank(memory.layout.spec(), rules).filter(|_| memory.is_shared()) else { return Ok(()) };
    ensure(own == shape.len(), || {
        format!("`{registers}` has {} axes, and the layout in memory {own}: expected as many", shape.len())
    })
}

/// Checks `ttg.local_alloc`: the result is shared memory and a whole allocation.
///
/// With a source, the result has its shape and element type; without one, it is mutable.
pub(super) fn alloc(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(memory) = check.memory_type("result") else { return Ok(()) };
    ensure(memory.is_shared(), || format!("it allocates `{}`: expected shared memory", memory.space.text()))?;
    ensure(memory.allocation_shape() == memory.shape, || {
        format!("it allocates {:?}, a part of {:?}: expected the whole", memory.shape, memory.allocation_shape())
    })?;
    match check.group_type("src") {
        Some(source) => same_tensor(source, memory, check.rules()),
        None => ensure(memory.mutable, || "memory without initial contents must be `mutable`".to_owned()),
    }
}

/// Returns the types of the source and the result of a view operation; `None` if one of them is not in memory.
fn views<'c>(check: &'c OpContext<'_>) -> Option<(&'c MemDescType, &'c MemDescType)> {
    Some((check.memory_type("src")?, check.memory_type("result")?))
}

fn same_view(from: &MemDescType, to: &MemDescType) -> CheckResult {
    ensure(from.element == to.element, || {
        format!("elements of `{}` become `{}`, and must stay", from.element, to.element)
    })?;
    ensure(from.layout == to.layout, || {
        format!("the layout `{}` becomes `{}`, and must stay", from.layout.text(), to.layout.text())
    })?;
    ensure(from.space == to.space, || {
        format!("`{}` becomes `{}`: the memory must stay", from.space.text(), to.space.text())
    })
}

/// Checks `ttg.memdesc_index`: the result is one of several buffers, and the first axis of the source counts these.
pub(super) fn index(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = views(check) else { return Ok(()) };
    ensure(from.shape.len() == to.shape.len() + 1, || {
        format!("{:?} becomes {:?}: expected one axis less", from.shape, to.shape)
    })?;
    ensure(from.shape[1..] == to.shape, || {
        format!("{:?} becomes {:?}: expected {:?}", from.shape, to.shape, &from.shape[1..])
    })?;
    same_view(from, to)?;
    ensure(to.allocation_shape() == to.shape, || {
        format!("the result is a part of an allocation of {:?}: expected all of it", to.allocation_shape())
    })?;
    ensure(from.allocated_axes()[1..] == from.shape[1..], || {
        format!("the operand is a part of each buffer of {:?}: expected whole buffers", from.allocation_shape())
    })
}

/// Checks `ttg.memdesc_subslice`: the result is a part of the source, at constant offsets.
pub(super) fn subslice(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = views(check) else { return Ok(()) };
    ensure(from.is_shared() && to.is_shared(), || {
        "it takes a part of another memory: expected shared memory".to_owned()
    })?;
    ensure(from.shape.len() == to.shape.len(), || {
        format!("{:?} becomes {:?}: expected as many axes", from.shape, to.shape)
    })?;
    same_view(from, to)?;
    ensure(from.allocation_shape() == to.allocation_shape(), || {
        format!("the allocation of {:?} becomes {:?}, and must stay", from.allocation_shape(), to.allocation_shape())
    })?;
    let Some(offsets) = check.integer_list_attribute("offsets") else { return Ok(()) };
    ensure(offsets.len() == from.shape.len(), || format!("{} offsets for {} axes", offsets.len(), from.shape.len()))?;
    let is_padded = from.layout.spec().name == "padded_shared";
    let is_all = from.shape == to.shape;
    ensure(
        !is_padded || is_all || rank(from.layout.spec(), check.rules()).is_none_or(|own| own >= from.shape.len()),
        || format!("a part of several buffers with the padding of `{}`: expected one buffer", from.layout.text()),
    )?;
    let buffers =
        from.shape.len() - rank(from.layout.spec(), check.rules()).unwrap_or(from.shape.len()).min(from.shape.len());
    for (axis, offset) in offsets.iter().enumerate() {
        let (all, size) = (from.shape[axis], to.shape[axis]);
        let begins = u64::try_from(*offset).ok();
        if all == size {
            ensure(*offset == 0, || format!("offset {offset} along axis {axis}, which is taken whole: expected 0"))?;
            continue;
        }
        ensure(begins.and_then(|begins| begins.checked_add(size)).is_some_and(|end| end <= all), || {
            format!("{size} elements from {offset} on along axis {axis}, which has {all}")
        })?;
        // Axes before those of the layout count buffers, and a part may start at any of these.
        if axis < buffers {
            continue;
        }
        ensure(begins.is_some_and(|begins| size == 0 || begins.is_multiple_of(size)), || {
            format!("offset {offset} along axis {axis}: expected a multiple of the {size} elements that are taken")
        })?;
        ensure(!cuts_pattern(check, from.layout.spec(), &from.shape, axis, size), || {
            format!("{size} elements along axis {axis} are less than the swizzle pattern of `{}`", from.layout.text())
        })?;
    }
    Ok(())
}

/// Whether a part of `size` elements along an axis cuts the swizzle pattern of a layout.
///
/// It does if one of the coordinate bits that select the part changes several bits of the offset. A layout that no
/// family given to the verifier builds counts as not cut.
fn cuts_pattern(check: &OpContext<'_>, spec: &FamilySpec, shape: &[u64], axis: usize, size: u64) -> bool {
    let (from, all) = (size.max(1).ilog2(), shape[axis].max(1).ilog2());
    let family = check.rules().find_layout_rules(&spec.name);
    if let Some(cuts) = family.and_then(|family| family.cuts_swizzle(spec, shape.len(), axis, from..all)) {
        return cuts;
    }
    let Some(Layout::Memory(layout)) = check.layout(spec, shape) else { return false };
    let Ok(inverse) = layout.linear.invert() else { return false };
    let columns = inverse.columns_of(Dim::tensor(axis));
    (from..all).any(|bit| columns.get(bit as usize).is_some_and(|column| column.count_ones() != 1))
}

/// The addresses of a tensor in memory. A unit is a byte of shared memory, or a column of tensor memory.
struct Footprint {
    /// Number of units that all buffers occupy.
    all: u64,
    /// Number of units from the tensor's first one on that are adjacent and belong to the tensor.
    adjacent: u64,
    /// Rows of tensor memory that the allocation occupies; 0 in shared memory.
    rows: u64,
    /// For each bit of the row index in tensor memory, whether it distinguishes elements of the tensor.
    row_bits: Vec<bool>,
    /// For each bit of the row index in tensor memory, whether it distinguishes elements of the tensor's allocation.
    allocated_row_bits: Vec<bool>,
    leaves_blocks_empty: bool,
}

impl Footprint {
    fn of(check: &OpContext<'_>, memory: &MemDescType) -> Option<Self> {
        let part = check.allocation_layout(memory)?;
        let (input, unit) = match &part.layout {
            Layout::TensorMemory(_) => (Dim::COL, 32),
            _ => (Dim::OFFSET, 8),
        };
        let bits = u64::from(memory.element.element_bits()?);
        let units = |elements: u64| elements.saturating_mul(bits).div_ceil(unit);
        let offsets = part.bases_of(input);
        let is_zero = |basis: &Vec<u64>| basis.iter().all(|by| *by == 0);
        // An offset bit with a zero basis, which leads to no other element, counts as one within the tensor.
        let own = offsets.iter().take_while(|basis| is_zero(basis) || part.contains_basis(basis)).count();
        let buffers: u64 = memory.shape[..memory.shape.len() - part.shape.len()].iter().product();
        let all = units(element_count_of_bases(offsets.len())).saturating_mul(buffers);
        let adjacent = if own == offsets.len() { all } else { units(element_count_of_bases(own)) };
        let rows = part.bases_of(Dim::ROW);
        Some(Self {
            all,
            adjacent,
            // If the fifth row bit leads to no other row, the tensor has 16 rows for each warp, in every second block
            // of 16 rows.
            rows: if rows.is_empty() {
                0
            } else {
                element_count_of_bases(rows.len() - usize::from(rows.get(4).is_some_and(is_zero)))
            },
            row_bits: rows.iter().map(|basis| !is_zero(basis) && part.contains_basis(basis)).collect(),
            allocated_row_bits: rows.iter().map(|basis| !is_zero(basis)).collect(),
            leaves_blocks_empty: part.has_blocks_without_elements(),
        })
    }
}

/// Whether a tensor is a part of its allocation along the axes of its layout.
fn is_part(check: &OpContext<'_>, memory: &MemDescType) -> bool {
    let own = rank(memory.layout.spec(), check.rules()).unwrap_or(memory.shape.len()).min(memory.shape.len());
    let last = |sizes: &[u64]| sizes[sizes.len() - own..].to_vec();
    last(&memory.shape) != last(memory.allocation_shape())
}

/// Checks `ttg.memdesc_reinterpret`: the result takes no other addresses than the source has.
pub(super) fn reinterpret(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((from, to)) = views(check) else { return Ok(()) };
    ensure(from.space == to.space, || {
        format!("`{}` becomes `{}`: the memory must stay", from.space.text(), to.space.text())
    })?;
    ensure(from.mutable == to.mutable, || "the operand and the result must both be mutable, or neither".to_owned())?;
    let names = [&from.layout, &to.layout].map(|layout| layout.spec().name.as_str());
    ensure(!names.contains(&"partitioned_shared"), || "a partitioned layout has no other view".to_owned())?;
    check_paddings(check, from, to)?;
    ensure(!is_part(check, to), || {
        format!("the result is a part of an allocation of {:?}: expected all of it", to.allocation_shape())
    })?;
    let (Some(own), Some(given)) = (Footprint::of(check, from), Footprint::of(check, to)) else { return Ok(()) };
    ensure(!own.leaves_blocks_empty, || "the operand is cut out of its allocation across blocks".to_owned())?;
    ensure(given.rows <= own.rows, || format!("the result has {} rows, and the operand {}", given.rows, own.rows))?;
    let bits = own.allocated_row_bits.iter().zip(&own.row_bits).zip(&given.allocated_row_bits);
    ensure(bits.into_iter().all(|((allocated, kept), taken)| !(*taken && *allocated && !*kept)), || {
        "the result has rows of the allocation that are not the operand's".to_owned()
    })?;
    let unit = if from.is_shared() { "bytes" } else { "columns" };
    ensure(given.all <= own.all, || format!("the result takes {} {unit}, and the operand has {}", given.all, own.all))?;
    ensure(!is_part(check, from) || given.all <= own.adjacent, || {
        format!(
            "the result takes {} {unit}, and only {} of the operand, a part of its allocation, are adjacent",
            given.all, own.adjacent
        )
    })
}

/// Checks that both layouts of a view have gaps at the same bytes, or none.
fn check_paddings(check: &OpContext<'_>, from: &MemDescType, to: &MemDescType) -> CheckResult {
    let is_padded = [from, to].map(|memory| memory.layout.spec().name == "padded_shared");
    ensure(is_padded[0] == is_padded[1], || {
        format!("`{}` becomes `{}`: expected both with padding, or neither", from.layout.text(), to.layout.text())
    })?;
    ensure(!is_padded[0] || !is_part(check, from), || {
        "the operand is a part of an allocation with padding: expected all of it".to_owned()
    })?;
    let in_bytes = |memory: &MemDescType| {
        let bytes = i64::from(memory.element.element_bits().unwrap_or(8) / 8).max(1);
        let mut pairs = read_layout_padding_parameter(memory.layout.spec()).unwrap_or_default();
        pairs.iter_mut().flatten().for_each(|number| *number = number.saturating_mul(bytes));
        pairs.sort();
        pairs
    };
    ensure(!is_padded[0] || in_bytes(from) == in_bytes(to), || {
        format!("the paddings of `{}` and of `{}` are at different bytes", from.layout.text(), to.layout.text())
    })
}

/// Checks rule `gathered(memory indices values)`: values are elements of the memory at indices along one axis.
pub(super) fn gathered(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [memory, indices, values] = groups else { return Ok(()) };
    let Some(memory) = check.memory_type(memory) else { return Ok(()) };
    let (Some(indices), Some(values)) = (check.group_type(indices), check.group_type(values)) else { return Ok(()) };
    ensure(*values.element() == memory.element, || {
        format!("elements of `{}` and, in memory, of `{}`: expected one type", values.element(), memory.element)
    })?;
    let (shape, given) = (indices.shape().unwrap_or_default(), values.shape().unwrap_or_default());
    ensure(shape == given, || format!("indices of {shape:?} and values of {given:?}: expected one shape"))?;
    ensure(memory.shape.len() == shape.len(), || {
        format!("memory of {} axes and indices of {}: expected as many", memory.shape.len(), shape.len())
    })?;
    let axis = check.integer_attribute("axis").unwrap_or(-1);
    ensure(usize::try_from(axis).is_ok_and(|axis| axis < shape.len()), || {
        format!("there is no axis {axis}: expected one from 0 to {}", shape.len().saturating_sub(1))
    })?;
    ensure(indices.layout() == values.layout(), || "indices and values differ in layout".to_owned())
}
