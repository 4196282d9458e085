//! Layout transfers (functions from the layout of one value to the layout of another) of the shape operations that keep
//! all elements.

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_tile::op::name::tt;
use tilewright_tile::{Attribute, FunctionBody, Op};

use super::LayoutTransfer;

/// Returns the two layout transfers of `tt.trans`, `tt.reshape` or `tt.expand_dims`: from the result to the operand,
/// and from the operand to the result. `None` for other operations.
pub(crate) fn shape_transfers(body: &FunctionBody, op: Op) -> Option<[LayoutTransfer; 2]> {
    let operation = body.op(op);
    let shape = |value| body.value_type(value).shape().map(<[u64]>::to_vec);
    Some(match operation.name() {
        tt::EXPAND_DIMS => {
            let axis = operation.attributes.get("axis").and_then(Attribute::as_integer)?;
            let axis = usize::try_from(axis).ok()?;
            [LayoutTransfer::RemoveAxis(axis), LayoutTransfer::InsertAxis(axis)]
        }
        tt::RESHAPE => {
            let (from, to) = (shape(*operation.operands.first()?)?, shape(*operation.results.first()?)?);
            [LayoutTransfer::Reshaped(from), LayoutTransfer::Reshaped(to)]
        }
        tt::TRANS => {
            let Some(Attribute::Array(_, order)) = operation.attributes.get("order") else { return None };
            let order: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
            let mut inverse = vec![0; order.len()];
            for (index, &axis) in order.iter().enumerate() {
                *inverse.get_mut(axis)? = index;
            }
            [LayoutTransfer::Permuted(inverse), LayoutTransfer::Permuted(order)]
        }
        _ => return None,
    })
}

/// Returns the axis along which elements are adjacent after layout transfers, if they are adjacent along `axis` of a
/// tensor of this shape before. `None` if they are not adjacent along any axis after the transfers.
pub(crate) fn transferred_axis(shape: &[u64], axis: usize, transfers: &[LayoutTransfer]) -> Option<usize> {
    let sizes: Vec<(Dim, u64)> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    let outs = Space::from_sizes(&sizes).ok()?;
    let next = outs.pack(&[(Dim::tensor(axis), 1)]).ok()?;
    let step = LinearLayout::from_columns(Space::from_sizes(&[(Dim::OFFSET, 2)]).ok()?, outs, &[next]).ok()?;
    let step = transfers.iter().try_fold(step, |step, transfer| transfer.apply(&step).ok())?;
    let &column = step.columns().first()?;
    let mut moved = step.outs().iter().filter(|&(dim, _)| step.outs().coordinate(column, dim) != 0);
    let (dim, _) = moved.next()?;
    let is_adjacent = moved.next().is_none() && step.outs().coordinate(column, dim) == 1;
    dim.as_tensor_axis().filter(|_| is_adjacent)
}
