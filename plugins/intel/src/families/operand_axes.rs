//! Which axes of an operand the sum of a product goes along.

/// Axes along and across the sum, for the left or the right operand of a product of this rank.
pub(super) fn operand_axes(is_left: bool, rank: usize) -> (usize, usize) {
    if is_left { (rank - 1, rank - 2) } else { (rank - 2, rank - 1) }
}
