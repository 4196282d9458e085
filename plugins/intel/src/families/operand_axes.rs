//! The axes of MMA operands along and across K.

/// Returns the axis along K and the axis across K, of operand A (`is_left`) or B with this number of axes.
pub(super) fn operand_axes(is_left: bool, rank: usize) -> (usize, usize) {
    if is_left { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) }
}
