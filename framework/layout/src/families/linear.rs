//! `linear` and `generic_linear`: distributed layouts given by their bases, resized if the tensor has another shape.
//!
//! In `linear` each basis is zero or moves along one axis by a power of two, and no two nonzero bases are equal (Linear
//! Layouts paper, Definition 4.10). In `generic_linear` the bases only have to reach every element.

use smallvec::SmallVec;

use crate::f2::Columns;
use crate::{BasesParameter, Dim, FamilyError, FamilySpec, IntVec, LayoutError, LinearLayout, Space};

use super::cluster::{ensure_layout_not_larger_than, ensure_layout_not_smaller_than, tensor_dims_of_rank};
use super::tile::tensor_space;

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let bases = [
        (Dim::REGISTER, read.borrow_bases(&["reg_bases", "register"])?),
        (Dim::LANE, read.borrow_bases(&["lane_bases", "lane"])?),
        (Dim::WARP, read.borrow_bases(&["warp_bases", "warp"])?),
        (Dim::BLOCK, read.borrow_bases(&["block_bases", "block"])?),
    ];
    let own_shape = read.optional(&["shape"]).map(|_| read.powers_of_two(&["shape"], shape.len())).transpose()?;
    // Older versions of Triton print an order, which the bases determine.
    let _ = read.optional(&["order"]);
    read.check_all_read()?;
    let failed = |error: LayoutError| FamilyError::from_layout_error(&spec.name, &error);
    let own_shape = own_shape.unwrap_or_else(|| min_shape(&bases, shape.len()));
    let layout = from_given(&bases, &own_shape).and_then(LinearLayout::require_surjective).map_err(failed)?;
    if spec.name == "linear" && !layout.is_distributed() {
        let message = "the bases that are not zero must be powers of two along one axis, each once; \
                       `generic_linear` takes others";
        return Err(FamilyError::Layout { family: spec.name.clone(), message: message.to_owned() });
    }
    if own_shape[..] == *shape {
        return Ok(layout);
    }
    resized(&layout, shape).map_err(failed)
}

/// Builds the layout with exactly the given bases and the out space of a tensor of `shape`, which must contain them.
pub(super) fn from_given(bases: &[(Dim, BasesParameter<'_>)], shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    LinearLayout::from_lists(bases.iter().map(|&(dim, given)| (dim, given.iter())), tensor_space(shape)?)
}

/// The smallest shape that contains all coordinates of the bases.
fn min_shape(bases: &[(Dim, BasesParameter<'_>)], rank: usize) -> IntVec {
    let mut highest = IntVec::from_elem(0, rank);
    for basis in bases.iter().flat_map(|(_, given)| given.iter()) {
        for (all, coordinate) in highest.iter_mut().zip(basis) {
            *all |= coordinate;
        }
    }
    highest.iter().map(|all| all.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(1 << 63)).collect()
}

/// Resizes a layout to a shape: repeats it along the axes (first those along which the lowest registers move), then
/// cuts it.
fn resized(layout: &LinearLayout, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let dims = tensor_dims_of_rank(shape.len());
    let mut order = SmallVec::<[Dim; 8]>::new();
    let moved = layout.columns_of(Dim::REGISTER).iter().flat_map(|&column| layout.outs().unpack(column));
    let moved = moved.filter(|&(_, by)| by != 0).map(|(dim, _)| dim);
    for dim in moved.chain(dims.iter().rev().copied()) {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    let repeated = ensure_layout_not_smaller_than(&layout.transpose_outs(&order)?, shape, Dim::REGISTER)?;
    let cut = ensure_layout_not_larger_than(&repeated, shape)?;
    if cut == repeated {
        return cut.transpose_outs(&dims);
    }
    without_cut_registers(&repeated, &cut)?.transpose_outs(&dims)
}

/// `cut` without its zero register bases that are nonzero in `uncut`, the layout before cutting; register bases that
/// were zero in `uncut` stay.
fn without_cut_registers(uncut: &LinearLayout, cut: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut ins = Space::default();
    let mut columns = Columns::new();
    for dim in cut.ins().dims() {
        let pairs = uncut.columns_of(dim).iter().zip(cut.columns_of(dim));
        let kept = pairs.filter(|&(&before, &after)| dim != Dim::REGISTER || before == 0 || after != 0);
        let before = columns.len();
        columns.extend(kept.map(|(_, &after)| after));
        ins.push(dim, (columns.len() - before) as u32)?;
    }
    LinearLayout::from_columns(ins, cut.outs().clone(), &columns)
}
