//! In which order both factors of a contraction are read along K.
//!
//! Bits of K are numbered as the unit and its repetitions count them; the order gives each bit its place
//! in the matrices.

/// The place in the matrices of each bit of K.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    places: Vec<u32>,
    /// Log2 of the elements of K that the matrices have; places from there on are padding.
    size: u32,
}

impl Order {
    /// The first `width` of the `held` bits, then those that are not held, then the other held ones.
    /// `bits` is how many there are, `size` log2 of the matrices' K.
    pub(super) fn new(held: &[u32], width: u32, bits: u32, size: u32) -> Self {
        let (first, last) = held.split_at(held.len().min(width as usize));
        let others = (0..bits).filter(|bit| !held.contains(bit));
        let mut places = vec![0; bits as usize];
        let listed = first.iter().copied().chain(others).chain(last.iter().copied());
        for (place, bit) in (0..).zip(listed) {
            places[bit as usize] = place;
        }
        Self { places, size }
    }

    /// As the unit counts.
    pub(super) fn identity(bits: u32, size: u32) -> Self {
        Self { places: (0..bits).collect(), size }
    }

    fn moved(&self, k: u64) -> u64 {
        (0..).zip(&self.places).filter(|&(bit, _)| k >> bit & 1 == 1).fold(0, |sum, (_, &place)| sum | 1 << place)
    }

    /// Where in the matrices an element of the unit lies; padding falls on other elements.
    pub(super) fn place(&self, k: u64) -> u64 {
        self.moved(k) & ((1 << self.size) - 1)
    }

    /// Which part of the padding it lies in; zero for elements of the matrices.
    pub(super) fn padding(&self, k: u64) -> u64 {
        self.moved(k) >> self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_bits_come_first_as_far_as_they_are_wanted() {
        // Bits 0 and 3 are in registers, 1 and 2 in lanes.
        let places = |width| Order::new(&[0, 3], width, 4, 4).places;
        assert_eq!(places(0), [2, 0, 1, 3]);
        assert_eq!(places(1), [0, 1, 2, 3], "as the unit counts");
        assert_eq!(places(2), [0, 2, 3, 1]);
    }

    #[test]
    fn what_is_beyond_the_matrices_is_padding() {
        let order = Order::new(&[0, 3], 2, 4, 1);
        let all: Vec<_> = [0b0001, 0b1000, 0b0010, 0b0100].map(|k| (order.place(k), order.padding(k))).into();
        assert_eq!(all, [(1, 0), (0, 1), (0, 2), (0, 4)]);
    }
}
