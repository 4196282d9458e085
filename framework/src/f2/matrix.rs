//! Matrices over F2 as lists of columns, and the solution of linear systems.

use smallvec::SmallVec;

/// The columns of a matrix: column `i` is the image of the `i`-th unit vector.
///
/// Thirty-two columns are held without heap allocation; no layout of a real tile has more.
pub type Columns = SmallVec<[u64; 32]>;

/// The product of the matrix with the given columns and the vector `x` (bits of `x` above the
/// number of columns must be zero and are ignored).
#[inline]
#[must_use]
pub fn multiply(columns: &[u64], x: u64) -> u64 {
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

/// The columns of `outer * inner`: `inner` is applied first.
#[must_use]
pub fn multiply_columns(outer: &[u64], inner: &[u64]) -> Columns {
    inner.iter().map(|&column| multiply(outer, column)).collect()
}

/// A matrix reduced once so that many right-hand sides can be solved for.
///
/// Columns are taken in order; a column that depends on earlier ones is *free*: every solution
/// leaves its unknown zero.
#[derive(Debug, Clone)]
pub struct Solver {
    /// Reduced pivot vectors, each with the combination of columns that makes it.
    pivots: SmallVec<[(u64, u64); 32]>,
    free: u64,
}

impl Solver {
    /// Reduces the matrix with the given columns (at most 64).
    #[must_use]
    pub fn new(columns: &[u64]) -> Self {
        debug_assert!(columns.len() <= 64);
        let mut solver = Self { pivots: SmallVec::new(), free: 0 };
        for (index, &column) in columns.iter().enumerate() {
            let (rest, combination) = solver.reduce(column);
            let combination = combination ^ (1 << index);
            if rest == 0 {
                solver.free |= 1 << index;
                continue;
            }
            let low = rest & rest.wrapping_neg();
            for (vector, made_of) in &mut solver.pivots {
                if *vector & low != 0 {
                    *vector ^= rest;
                    *made_of ^= combination;
                }
            }
            solver.pivots.push((rest, combination));
        }
        solver
    }

    fn reduce(&self, vector: u64) -> (u64, u64) {
        let mut rest = vector;
        let mut combination = 0;
        for &(pivot, made_of) in &self.pivots {
            if rest & (pivot & pivot.wrapping_neg()) != 0 {
                rest ^= pivot;
                combination ^= made_of;
            }
        }
        (rest, combination)
    }

    /// The rank of the matrix.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.pivots.len() as u32
    }

    /// Mask of the columns that depend on earlier columns.
    #[must_use]
    pub fn free_columns(&self) -> u64 {
        self.free
    }

    /// The `x` with `A x = b` whose free unknowns are zero, or `None` where `b` is not in the image.
    #[must_use]
    pub fn solve(&self, b: u64) -> Option<u64> {
        let (rest, combination) = self.reduce(b);
        (rest == 0).then_some(combination)
    }
}
