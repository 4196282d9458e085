//! Matrices over F2 as lists of columns, and the solution of linear systems.

use smallvec::SmallVec;

/// The columns of a matrix: column `i` is the image of the `i`-th unit vector.
///
/// Twenty-four columns are held without heap allocation; few layouts of real tiles have more.
pub type Columns = SmallVec<[u64; 24]>;

/// The product of the matrix with the given columns and the vector `x`; bits of `x` above the number of columns are
/// ignored.
#[inline]
#[must_use]
pub fn multiply_vector(columns: &[u64], x: u64) -> u64 {
    let mut image = 0;
    let mut rest = x;
    while rest != 0 {
        let bit = rest.trailing_zeros() as usize;
        if let Some(column) = columns.get(bit) {
            image ^= column;
        }
        rest &= rest - 1;
    }
    image
}

/// The rank of the matrix with the given columns (at most 64).
#[must_use]
pub fn rank(columns: &[u64]) -> u32 {
    // Most layouts have unit vectors as columns, which need no elimination.
    if columns.iter().all(|column| column & column.wrapping_sub(1) == 0) {
        return columns.iter().fold(0, |all, column| all | column).count_ones();
    }
    Solver::new(columns).rank()
}

/// A matrix that is reduced once to solve for many right-hand sides.
///
/// Columns are taken in order; a column that depends on earlier ones is *free*: every solution
/// leaves its unknown zero.
#[derive(Debug, Clone)]
pub struct Solver {
    /// Reduced pivot vectors, each with the mask of the columns whose xor it is. The lowest set bit of a vector, its
    /// pivot bit, is clear in all others.
    pivots: SmallVec<[(u64, u64); 32]>,
    /// For each pivot bit, the index of its vector in `pivots`.
    pivot_of_bit: [u8; 64],
    pivot_bits: u64,
    /// Mask of the bits, other than pivot bits, that are set in some pivot vector.
    tail_bits: u64,
    free: u64,
}

impl Solver {
    /// Reduces the matrix with the given columns (at most 64).
    #[must_use]
    pub fn new(columns: &[u64]) -> Self {
        debug_assert!(columns.len() <= 64);
        let mut solver = Self { pivots: SmallVec::new(), pivot_of_bit: [0; 64], pivot_bits: 0, tail_bits: 0, free: 0 };
        for (index, &column) in columns.iter().enumerate() {
            let (rest, combination) = solver.reduce(column);
            let combination = combination ^ (1 << index);
            if rest == 0 {
                solver.free |= 1 << index;
            } else {
                solver.add_pivot(rest, combination);
            }
        }
        solver
    }

    /// Adds a pivot vector, the xor of the columns in the mask `combination`, that has no pivot bit of the others;
    /// clears its lowest set bit in the others.
    #[inline]
    fn add_pivot(&mut self, vector: u64, combination: u64) {
        let low = vector & vector.wrapping_neg();
        // Columns of most layouts are unit vectors or nearly so: then no other pivot vector has the new pivot bit.
        if self.tail_bits & low != 0 {
            for (other, pivot_combination) in &mut self.pivots {
                if *other & low != 0 {
                    *other ^= vector;
                    *pivot_combination ^= combination;
                }
            }
        }
        self.pivot_of_bit[low.trailing_zeros() as usize] = self.pivots.len() as u8;
        self.pivot_bits |= low;
        self.tail_bits = (self.tail_bits | vector) & !low;
        self.pivots.push((vector, combination));
    }

    /// Clears the pivot bits of `vector`; returns the remainder, and the mask of the columns that were added to it.
    #[inline]
    fn reduce(&self, vector: u64) -> (u64, u64) {
        let (mut rest, mut combination) = (vector, 0);
        // Adding a pivot vector changes no pivot bit but its own, so only the pivot bits that are set at the start must
        // be cleared.
        let mut hit = vector & self.pivot_bits;
        while hit != 0 {
            let (pivot, pivot_combination) =
                self.pivots[usize::from(self.pivot_of_bit[hit.trailing_zeros() as usize & 63])];
            rest ^= pivot;
            combination ^= pivot_combination;
            hit &= hit - 1;
        }
        (rest, combination)
    }

    /// The rank of the matrix that was reduced.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.pivots.len() as u32
    }

    /// Mask of the columns that depend on earlier columns.
    #[must_use]
    pub fn free_columns(&self) -> u64 {
        self.free
    }

    /// The `x` with `A x = b` whose free unknowns are zero, or `None` if `b` is not in the image.
    #[inline]
    #[must_use]
    pub fn solve(&self, b: u64) -> Option<u64> {
        let (rest, combination) = self.reduce(b);
        (rest == 0).then_some(combination)
    }
}
