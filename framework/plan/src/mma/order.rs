//! The common order along K of both operands of an MMA.
//!
//! Bits of K are numbered as the atom and its repetitions count them; the order maps each bit to its position in the
//! matrices.

/// A permutation of the bits of K: maps each bit in the atom's numbering to its position in the matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    positions: Vec<u32>,
    /// Log2 of the size along K of a chunk of the matrices; positions from there on are padding.
    size: u32,
}

impl Order {
    /// Creates an order of the `bits` bits of K that the atom and its repetitions cover. By ascending position in the
    /// matrices it has the first `width` entries of `in_registers`, the bits that are not in `in_registers`, and the
    /// other entries of `in_registers`. `size` is log2 of the size along K of a chunk of the matrices.
    pub(super) fn new(in_registers: &[u32], width: u32, bits: u32, size: u32) -> Self {
        let (first, last) = in_registers.split_at(in_registers.len().min(width as usize));
        let others = (0..bits).filter(|bit| !in_registers.contains(bit));
        let mut positions = vec![0; bits as usize];
        let listed = first.iter().copied().chain(others).chain(last.iter().copied());
        for (position, bit) in (0..).zip(listed) {
            positions[bit as usize] = position;
        }
        Self { positions, size }
    }

    /// Creates the atom's own order of K, the identity on `bits` bits; `size` is log2 of the size along K of a chunk of
    /// the matrices.
    pub(super) fn identity(bits: u32, size: u32) -> Self {
        Self { positions: (0..bits).collect(), size }
    }

    fn moved(&self, k: u64) -> u64 {
        (0..)
            .zip(&self.positions)
            .filter(|&(bit, _)| k >> bit & 1 == 1)
            .fold(0, |sum, (_, &position)| sum | 1 << position)
    }

    /// Returns the position along K in the matrices of the atom's element `k`; an element in the padding aliases
    /// another one.
    pub(super) fn position(&self, k: u64) -> u64 {
        self.moved(k) & ((1 << self.size) - 1)
    }

    /// Returns the position of the atom's element `k` divided by the chunk's size along K, rounded down: zero for
    /// elements of the matrices, another number for padding.
    pub(super) fn padding(&self, k: u64) -> u64 {
        self.moved(k) >> self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_bits_of_k_come_first_up_to_the_width() {
        // Bits 0 and 3 are in registers, 1 and 2 in lanes.
        let positions = |width| Order::new(&[0, 3], width, 4, 4).positions;
        assert_eq!(positions(0), [2, 0, 1, 3]);
        assert_eq!(positions(1), [0, 1, 2, 3], "the atom's own order");
        assert_eq!(positions(2), [0, 2, 3, 1]);
    }

    #[test]
    fn what_is_beyond_the_matrices_is_padding() {
        let order = Order::new(&[0, 3], 2, 4, 1);
        let all: Vec<_> = [0b0001, 0b1000, 0b0010, 0b0100].map(|k| (order.position(k), order.padding(k))).into();
        assert_eq!(all, [(1, 0), (0, 1), (0, 2), (0, 4)]);
    }
}
