//! Checks the result shapes of operations on tensors.

use tilewright_layout::MAX_TENSOR_BITS;

use super::{CheckResult, OpContext, ensure};
use crate::op::name::{arith, tt, ttg};
use crate::{Attribute, TileType};

/// Maximum number of elements of a tensor.
const MAX_ELEMENTS: u64 = 1 << MAX_TENSOR_BITS;

impl OpContext<'_> {
    pub(super) fn shapes(&self) -> CheckResult {
        self.sizes()?;
        let name = self.operation.name();
        let (Some(result), operand) =
            (self.result_type(), self.operation.operands.first().map(|value| self.value_type(*value)))
        else {
            return Ok(());
        };
        let shapes = (operand.and_then(TileType::shape), result.shape());
        match (name, shapes) {
            (tt::EXPAND_DIMS, (Some(from), Some(to))) => self.expanded(from, to),
            (tt::BROADCAST, (Some(from), Some(to))) => broadcast(from, to),
            (tt::RESHAPE | ttg::MEMDESC_RESHAPE, (Some(from), Some(to))) => same_count(from, to),
            (tt::TRANS | ttg::MEMDESC_TRANS, (Some(from), Some(to))) => self.transposed(from, to),
            (tt::CAT, (Some(from), Some(to))) => concatenated(from, to),
            (arith::SELECT, (Some(_), _)) => self.chosen(operand, result),
            (tt::JOIN, (Some(from), Some(to))) => ensure(to.split_last() == Some((&2, from)), || {
                format!("two tensors of {from:?} are joined to {to:?}: expected {from:?} with a last axis of 2")
            }),
            (tt::SPLIT, (Some(from), Some(to))) => ensure(from.split_last() == Some((&2, to)), || {
                format!("{from:?} is split into {to:?}: expected an axis of 2 at the end, and what is before it")
            }),
            (tt::MAKE_RANGE, (_, Some(to))) => self.range(to),
            (tt::UNSPLAT, (Some(from), _)) => {
                ensure(from.iter().all(|size| *size == 1), || format!("a tensor of {from:?} is not a single element"))
            }
            (ttg::CONVERT_LAYOUT, (Some(from), Some(to))) => {
                ensure(from == to, || format!("the shape changes from {from:?} to {to:?}, and only the layout may"))
            }
            (tt::GATHER, (Some(from), Some(to))) => self.gathered(from, to),
            (ttg::FP4_TO_FP, (Some(from), Some(to))) => self.unpacked(from, to),
            (tt::SPLAT, (Some(from), _)) => {
                ensure(from.is_empty(), || format!("a tensor of {from:?} is not a scalar, nor a tensor of rank 0"))
            }
            (tt::SPLAT | tt::HISTOGRAM, _) => Ok(()),
            _ => Ok(()),
        }?;
        self.elements(name, operand, result)
    }

    /// Checks that an operation that only moves elements keeps the element type.
    fn elements(&self, name: &str, operand: Option<&TileType>, result: &TileType) -> CheckResult {
        const KEPT: [&str; 12] = [
            tt::EXPAND_DIMS,
            tt::BROADCAST,
            tt::RESHAPE,
            tt::TRANS,
            tt::CAT,
            tt::JOIN,
            tt::SPLIT,
            tt::SPLAT,
            tt::GATHER,
            ttg::CONVERT_LAYOUT,
            ttg::MEMDESC_TRANS,
            ttg::MEMDESC_RESHAPE,
        ];
        let Some(operand) = operand.filter(|_| KEPT.contains(&name)) else { return Ok(()) };
        ensure(operand.element() == result.element(), || {
            format!("elements of `{}` become `{}`, but must not change", operand.element(), result.element())
        })
    }

    /// Checks `arith.select` with a tensor condition, which has one condition per element.
    fn chosen(&self, condition: Option<&TileType>, result: &TileType) -> CheckResult {
        let Some(condition) = condition else { return Ok(()) };
        ensure(condition.shape() == result.shape() && condition.layout() == result.layout(), || {
            format!("`{condition}` chooses a `{result}`: expected one condition, or one for each element in its layout")
        })
    }

    /// Checks that operands and results have sizes that are powers of two, and not too many elements.
    fn sizes(&self) -> CheckResult {
        self.operation
            .operands
            .iter()
            .chain(&self.operation.results)
            .try_for_each(|value| sized(self.value_type(*value)))
    }

    fn axis(&self, rank: usize) -> Result<usize, String> {
        let axis = self.integer_attribute("axis").unwrap_or(-1);
        usize::try_from(axis)
            .ok()
            .filter(|axis| *axis < rank)
            .ok_or_else(|| format!("there is no axis {axis}: expected one from 0 to {}", rank.saturating_sub(1)))
    }

    fn expanded(&self, from: &[u64], to: &[u64]) -> CheckResult {
        let axis = self.axis(to.len())?;
        let mut expected = from.to_vec();
        expected.insert(axis.min(from.len()), 1);
        ensure(expected == to, || format!("{from:?} becomes {to:?}: expected {expected:?}"))
    }

    fn transposed(&self, from: &[u64], to: &[u64]) -> CheckResult {
        let Some(Attribute::Array(_, order)) = self.operation.attributes.get("order") else {
            return Err("`order` is missing: expected `array<i32: ...>`".to_owned());
        };
        let mut seen = order.clone();
        seen.sort_unstable();
        ensure(seen.iter().copied().eq(0..from.len() as u64), || {
            format!("`order` is {order:?}: expected each of the {} axes once", from.len())
        })?;
        let expected: Vec<u64> = order.iter().map(|axis| from[*axis as usize]).collect();
        ensure(expected == to, || format!("{from:?} becomes {to:?}: expected {expected:?}"))
    }

    fn range(&self, to: &[u64]) -> CheckResult {
        let (start, end) = (self.integer_attribute("start").unwrap_or(0), self.integer_attribute("end").unwrap_or(0));
        let count = u64::try_from(end.saturating_sub(start)).ok();
        ensure(to.len() == 1 && Some(to[0]) == count, || {
            format!("the numbers from {start} up to {end} do not form a tensor of {to:?}")
        })
    }

    fn gathered(&self, from: &[u64], to: &[u64]) -> CheckResult {
        let axis = self.axis(from.len())?;
        let indices = self.operand_type("indices").and_then(TileType::shape).unwrap_or_default();
        ensure(indices == to, || {
            format!("indices of {indices:?} have the result {to:?}: expected the shape of the indices")
        })?;
        let rest = |shape: &[u64]| {
            let mut shape = shape.to_vec();
            shape.remove(axis);
            shape
        };
        ensure(from.len() == to.len() && rest(from) == rest(to), || {
            format!("{from:?} and {to:?} differ in an axis other than {axis}")
        })
    }

    fn unpacked(&self, from: &[u64], to: &[u64]) -> CheckResult {
        let axis = self.axis(from.len())?;
        let mut expected = from.to_vec();
        expected[axis] = expected[axis].saturating_mul(2);
        ensure(expected == to, || format!("pairs of {from:?} become {to:?}: expected {expected:?}"))
    }
}

/// Checks that the sizes of a tensor are powers of two, and that it has not too many elements.
fn sized(ty: &TileType) -> CheckResult {
    let TileType::Tensor(tensor) = ty else { return Ok(()) };
    if let Some(size) = tensor.shape.iter().find(|size| !size.is_power_of_two()) {
        return Err(format!("the size {size} of `{ty}` is not a power of two"));
    }
    limited(ty)
}

/// Checks that a tensor has at most [`MAX_ELEMENTS`] elements.
pub(super) fn limited(ty: &TileType) -> CheckResult {
    let TileType::Tensor(tensor) = ty else { return Ok(()) };
    let count = tensor.shape.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
    ensure(count.is_some_and(|count| count <= MAX_ELEMENTS), || format!("`{ty}` has more than {MAX_ELEMENTS} elements"))
}

fn broadcast(from: &[u64], to: &[u64]) -> CheckResult {
    let fits = from.len() == to.len() && from.iter().zip(to).all(|(from, to)| from == to || *from == 1);
    ensure(fits, || format!("{from:?} becomes {to:?}: only axes of size 1 may grow"))
}

fn same_count(from: &[u64], to: &[u64]) -> CheckResult {
    let count = |shape: &[u64]| shape.iter().fold(1u64, |count, size| count.saturating_mul(*size));
    ensure(count(from) == count(to), || format!("{from:?} has {} elements, and {to:?} has {}", count(from), count(to)))
}

fn concatenated(from: &[u64], to: &[u64]) -> CheckResult {
    let count = |shape: &[u64]| shape.iter().fold(1u64, |count, size| count.saturating_mul(*size));
    ensure(count(from).saturating_mul(2) == count(to), || {
        format!("two tensors of {from:?} become {to:?}: expected twice as many elements")
    })
}
