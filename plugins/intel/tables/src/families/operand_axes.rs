//! Numbers of the axes of an MMA operand.

/// Returns the axis along K, and the axis along M or N, of operand A (`is_left`) or B with `rank` axes.
pub(super) fn operand_axes(is_left: bool, rank: usize) -> (usize, usize) {
    if is_left { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) }
}
