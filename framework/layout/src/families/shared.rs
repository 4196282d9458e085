//! Memory layouts: `swizzled_shared`, `padded_shared`, `shared_linear`, `partitioned_shared`, as in Triton.

use crate::{
    BasesParameter, Dim, Families, FamilyError, FamilyParameterValue, FamilySpec, IntVec, Layout, LayoutError,
    LinearLayout, MemoryLayout, Padding,
};

use super::cluster::{
    block_share_shape, cluster_layout, ensure_layout_not_larger_than, ensure_layout_not_smaller_than, extend_to_blocks,
};
use super::linear::from_given;
use super::tile::tensor_space;

/// Builds `swizzled_shared`: rows along the fastest axis, with the offsets in row `r` xor-swizzled by `vec * ((r /
/// per_phase) % max_phase)`. The parameters need not be powers of two: the formula is evaluated at the rows that are
/// powers of two, and these images are the bases.
pub(super) fn swizzled(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameter_reader();
    let vec = read.number(&["vec"])?;
    let per_phase = read.number(&["per_phase"])?;
    let max_phase = read.number(&["max_phase"])?;
    let order = read.axis_order(&["order"], shape.len())?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    read.check_all_read()?;
    let block = |share: &[u64]| {
        let has_rows = order.get(1).is_some_and(|&axis| share[axis] > 1);
        if let Some((name, _)) = [("per_phase", per_phase), ("max_phase", max_phase)].iter().find(|(_, n)| *n == 0)
            && has_rows
        {
            return Err(read.invalid_value_error(name, "must be positive: it divides the row's number"));
        }
        swizzled_block(share, &order, vec, per_phase, max_phase)
            .map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
    };
    Ok(MemoryLayout {
        linear: extend_to_blocks(spec, &cluster, shape, block)?,
        padding: Vec::new(),
        alignment: Some(16),
    })
}

fn swizzled_block(
    share: &[u64],
    order: &[usize],
    vec: u64,
    per_phase: u64,
    max_phase: u64,
) -> Result<LinearLayout, LayoutError> {
    let mut layout = LinearLayout { outs: tensor_space(share)?, ..LinearLayout::empty() };
    let LinearLayout { ins, outs, columns } = &mut layout;
    ins.push_new(Dim::OFFSET, outs.total_bits())?;
    let shift = |axis: usize| outs.shift_and_bits(axis).0;
    let phase = |row: u64| row.checked_div(per_phase).and_then(|row| row.checked_rem(max_phase)).unwrap_or(0);
    for (index, &axis) in order.iter().enumerate() {
        for bit in 0..share[axis].trailing_zeros() {
            let row = 1u64 << bit;
            let moved = if index == 1 { vec.wrapping_mul(phase(row)) % share[order[0]] } else { 0 };
            // A row's swizzle moves elements along the fastest axis only, so it moves nothing if that axis has one
            // position.
            columns.push(row << shift(axis) | moved.checked_shl(shift(order[0])).unwrap_or(0));
        }
    }
    Ok(layout)
}

/// Builds `padded_shared`: a linear layout with padding inserted after each interval of a given number of elements.
pub(super) fn padded(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameter_reader();
    let pairs = read.bases(&["interval_padding_pairs", "0"])?;
    let cluster = read.bases_or_none(&["cga_layout"])?;
    let offsets = read.optional(&["offset_bases", "offset"]).is_some();
    let linear = if offsets {
        let offsets = read.borrow_bases(&["offset_bases", "offset"])?;
        let blocks = read.borrow_bases(&["block_bases", "block"])?;
        let share_shape = read.optional(&["shape"]).map(|_| read.powers_of_two(&["shape"], shape.len())).transpose()?;
        read.check_all_read()?;
        let share_shape = share_shape.as_deref().unwrap_or(shape);
        if cluster.is_empty() {
            explicit(spec, &[(Dim::OFFSET, offsets), (Dim::BLOCK, blocks)], share_shape, shape)?
        } else if blocks.is_empty() {
            over_cluster(spec, offsets, &cluster, share_shape, shape)?
        } else {
            return Err(read.invalid_value_error("cga_layout", "repeats `block_bases`: give one of them"));
        }
    } else {
        let order = read.axis_order(&["order"], shape.len())?;
        let _ = read.optional(&["shape"]);
        read.check_all_read()?;
        extend_to_blocks(spec, &cluster, shape, |share| {
            swizzled_block(share, &order, 1, 1, 1).map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
        })?
    };
    let mut padding =
        padding_of(&pairs).map_err(|message| read.invalid_value_error("interval_padding_pairs", &message))?;
    padding.sort_by_key(|p| p.interval);
    if !is_addressable(&linear, &padding) {
        return Err(read.invalid_value_error("interval_padding_pairs", "physical offsets exceed 62 bits"));
    }
    if let Some(message) = padded_bases_error(&linear) {
        return Err(read.invalid_value_error("offset_bases", message));
    }
    Ok(MemoryLayout { linear, padding, alignment: None })
}

/// Reads the padding from pairs `[interval, padding]`, in elements; an error message for values that Triton's attribute
/// does not allow.
fn padding_of(pairs: &[Vec<u64>]) -> Result<Vec<Padding>, String> {
    let mut padding: Vec<Padding> = Vec::new();
    for pair in pairs {
        let [interval, gap] = pair[..] else { return Err("each entry must be [interval, padding]".to_owned()) };
        for (what, value) in [("interval", interval), ("padding", gap)] {
            if !value.is_power_of_two() {
                return Err(format!("{what} {value} is not a power of two"));
            }
        }
        if padding.iter().any(|p| p.interval == interval) {
            return Err(format!("interval {interval} is named twice; add its paddings"));
        }
        padding.push(Padding { interval, padding: gap });
    }
    if padding.is_empty() {
        return Err("is empty; expected an interval and its padding".to_owned());
    }
    Ok(padding)
}

/// Returns the reason why bases cannot be those of a padded layout: each basis must move along one axis by a power of
/// two, and no two offsets may be the same element. `None` if they can.
fn padded_bases_error(linear: &LinearLayout) -> Option<&'static str> {
    let mut seen = 0;
    for &column in linear.columns_of(Dim::OFFSET) {
        if column.count_ones() > 1 {
            return Some("each basis must move along one axis, by a power of two");
        }
        if column == 0 || seen & column != 0 {
            return Some("two offsets are the same element; remove one of them");
        }
        seen |= column;
    }
    None
}

/// Whether every physical offset stays below 2^62.
fn is_addressable(linear: &LinearLayout, padding: &[Padding]) -> bool {
    let last = 1u128.checked_shl(linear.in_bits(Dim::OFFSET)).map_or(u128::MAX, |size| size - 1);
    let gap = |p: &Padding| (last / u128::from(p.interval)).checked_mul(u128::from(p.padding));
    padding.iter().try_fold(last, |sum, p| sum.checked_add(gap(p)?)).is_some_and(|physical| physical < 1 << 62)
}

/// Extends one block's offset bases over the blocks of a cluster. The blocks together cover a tensor of `share_shape`;
/// the result is repeated or cut to a tensor of `shape`.
fn over_cluster(
    spec: &FamilySpec,
    offsets: BasesParameter<'_>,
    cluster: &[Vec<u64>],
    share_shape: &[u64],
    shape: &[u64],
) -> Result<LinearLayout, FamilyError> {
    let cluster = cluster_layout(spec, cluster, shape.len())?;
    let build = || -> Result<LinearLayout, LayoutError> {
        let cluster = ensure_layout_not_larger_than(&cluster, share_shape)?;
        let block = from_given(&[(Dim::OFFSET, offsets)], &block_share_shape(share_shape, &cluster))?;
        let combined = block.direct_sum(&cluster)?.require_surjective()?;
        ensure_layout_not_larger_than(&ensure_layout_not_smaller_than(&combined, shape, Dim::OFFSET)?, shape)
    };
    build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}

/// Builds `shared_linear`: a layout whose bases are listed explicitly.
pub(super) fn linear(spec: &FamilySpec, shape: &[u64]) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameter_reader();
    let _ = read.required(&["offset_bases", "offset"])?;
    let bases = [
        (Dim::OFFSET, read.borrow_bases(&["offset_bases", "offset"])?),
        (Dim::BLOCK, read.borrow_bases(&["block_bases", "block"])?),
    ];
    let alignment = read.optional(&["alignment"]).map(|_| read.power_of_two(&["alignment"])).transpose()?;
    read.check_all_read()?;
    let narrow = |bytes| u32::try_from(bytes).map_err(|_| read.invalid_value_error("alignment", "is more than 2 GiB"));
    let alignment = alignment.map(narrow).transpose()?;
    let linear = explicit(spec, &bases, shape, shape)?;
    let moved = linear.columns().iter().filter(|&&column| column != 0).count();
    if moved != linear.outs().total_bits() as usize {
        return Err(read
            .invalid_value_error("offset_bases", "two positions are the same element; give one of them a zero basis"));
    }
    Ok(MemoryLayout { alignment, ..MemoryLayout::from_linear(linear) })
}

/// Builds `partitioned_shared`: the tensor is cut along one axis into `num_partitions * num_groups` pieces, each in the
/// layout `partition_layout`. Piece `i` is in partition `i % num_partitions`; the pieces of a partition are adjacent in
/// memory, and the partitions follow one another.
pub(super) fn partitioned(spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<MemoryLayout, FamilyError> {
    let read = spec.parameter_reader();
    let partitions = read.power_of_two(&["num_partitions"])?;
    let groups = read.power_of_two(&["num_groups"])?;
    let axis = read.number(&["partition_dim"])?;
    let FamilyParameterValue::Spec(inner) = read.required(&["partition_layout"])? else {
        return Err(read.invalid_value_error("partition_layout", "must be a layout"));
    };
    read.check_all_read()?;
    let axis = usize::try_from(axis).ok().filter(|&axis| axis < shape.len());
    let axis =
        axis.ok_or_else(|| read.invalid_value_error("partition_dim", &format!("is not an axis of {shape:?}")))?;
    let pieces = partitions.checked_mul(groups).filter(|pieces| shape[axis].is_multiple_of(*pieces));
    let pieces = pieces.ok_or_else(|| {
        let message = format!("{partitions} partitions of {groups} groups do not divide {} elements", shape[axis]);
        read.invalid_value_error("num_partitions", &message)
    })?;
    let mut piece = IntVec::from_slice(shape);
    piece[axis] /= pieces;
    let Layout::Memory(mut memory) = all.resolve(inner, &piece, all)? else {
        return Err(read.invalid_value_error("partition_layout", "is not a layout of shared memory"));
    };
    memory.linear = repeated(&memory.linear, shape, axis, piece[axis] * partitions, partitions)
        .map_err(|error| FamilyError::from_layout_error(&spec.name, &error))?;
    Ok(memory)
}

/// Extends the layout of a piece to all pieces of a tensor of `shape` along `axis`. Offset bits above those of the
/// piece select the group (`stride` elements apart along the axis), and the bits above these select one of `partitions`
/// partitions.
fn repeated(
    piece: &LinearLayout,
    shape: &[u64],
    axis: usize,
    stride: u64,
    partitions: u64,
) -> Result<LinearLayout, LayoutError> {
    let along = |by: u64| (0..shape.len()).map(|other| if other == axis { by } else { 0 }).collect();
    let groups = std::iter::successors(Some(stride), |by| by.checked_mul(2)).take_while(|by| *by < shape[axis]);
    let within = std::iter::successors(Some(stride / partitions), |by| by.checked_mul(2));
    let within = within.take_while(|by| *by < stride.min(shape[axis]));
    let mut offsets = piece.bases_of(Dim::OFFSET);
    offsets.extend(groups.chain(within).map(along));
    let bases = [(Dim::OFFSET, offsets), (Dim::BLOCK, piece.bases_of(Dim::BLOCK))];
    let lists = bases.iter().map(|(dim, bases)| (*dim, bases.iter().map(|basis| basis.iter().copied())));
    LinearLayout::from_lists(lists, tensor_space(shape)?)?.require_surjective()
}

fn explicit(
    spec: &FamilySpec,
    bases: &[(Dim, BasesParameter<'_>)],
    share_shape: &[u64],
    shape: &[u64],
) -> Result<LinearLayout, FamilyError> {
    let build = || -> Result<LinearLayout, LayoutError> {
        from_given(bases, share_shape)?.require_surjective()?.fitted(tensor_space(shape)?, Dim::OFFSET)
    };
    build().map_err(|error| FamilyError::from_layout_error(&spec.name, &error))
}
