//! Subspaces of F2^64 as reduced echelon bases, so that equal spaces are equal values.

use smallvec::SmallVec;

/// A subspace as its reduced basis: every pivot (lowest set bit) occurs in a single vector, and vectors are in
/// ascending order of pivots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Subspace {
    basis: SmallVec<[u64; 16]>,
    /// Mask of the pivots of all basis vectors.
    pivots: u64,
    /// Mask of the bits, other than pivots, that are set in some basis vector.
    tails: u64,
}

impl Subspace {
    /// The subspace that contains zero only.
    #[must_use]
    pub fn zero() -> Self {
        Self::default()
    }

    /// The span of the given vectors, which may be dependent or zero.
    #[must_use]
    pub fn span(vectors: impl IntoIterator<Item = u64>) -> Self {
        let mut space = Self::zero();
        for vector in vectors {
            space.insert(vector);
        }
        space
    }

    /// Adds a vector; returns whether the dimension grew.
    #[inline]
    pub fn insert(&mut self, vector: u64) -> bool {
        let rest = self.reduce(vector);
        if rest == 0 {
            return false;
        }
        let low = rest & rest.wrapping_neg();
        // Columns of most layouts are unit vectors or nearly so: then no other basis vector has the new pivot bit.
        let is_tail = self.tails & low != 0;
        if is_tail {
            self.basis.iter_mut().filter(|other| **other & low != 0).for_each(|other| *other ^= rest);
        }
        let at = self.pivots_below(low);
        if at == self.basis.len() {
            self.basis.push(rest);
        } else {
            self.basis.insert(at, rest);
        }
        self.pivots |= low;
        self.tails = match is_tail {
            true => self.basis.iter().fold(0, |bits, vector| bits | vector) & !self.pivots,
            false => self.tails | (rest ^ low),
        };
        true
    }

    /// Number of pivots below `pivot`: the index of its vector in the basis.
    #[inline]
    fn pivots_below(&self, pivot: u64) -> usize {
        (self.pivots & (pivot - 1)).count_ones() as usize
    }

    /// The remainder of `vector` with the pivots of this space cleared; zero iff it lies inside.
    #[inline]
    #[must_use]
    pub fn reduce(&self, vector: u64) -> u64 {
        let mut rest = vector;
        // Adding a basis vector changes no pivot but its own, so only the pivots that are set at the start must be
        // cleared.
        let mut hit = vector & self.pivots;
        while hit != 0 {
            rest ^= self.basis[self.pivots_below(hit & hit.wrapping_neg())];
            hit &= hit - 1;
        }
        rest
    }

    /// Whether `vector` lies in this space.
    #[must_use]
    pub fn contains(&self, vector: u64) -> bool {
        self.reduce(vector) == 0
    }

    /// The dimension of the space: the number of basis vectors.
    #[must_use]
    pub fn dimension(&self) -> u32 {
        self.basis.len() as u32
    }

    /// The reduced basis, in ascending order of lowest set bits.
    #[must_use]
    pub fn basis(&self) -> &[u64] {
        &self.basis
    }

    /// The smallest subspace that contains both.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        Self::span(self.basis.iter().chain(&other.basis).copied())
    }

    /// The subspace of the vectors in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        // Zassenhaus algorithm on pairs (u, u) and (v, 0): pairs whose first half vanishes hold the intersection in the
        // second half.
        let mut rows: SmallVec<[(u64, u64); 32]> = SmallVec::new();
        let mut result = Self::zero();
        let pairs = self.basis.iter().map(|&u| (u, u)).chain(other.basis.iter().map(|&v| (v, 0)));
        for (mut first, mut second) in pairs {
            for &(pivot, tail) in &rows {
                if first & (pivot & pivot.wrapping_neg()) != 0 {
                    first ^= pivot;
                    second ^= tail;
                }
            }
            if first == 0 {
                result.insert(second);
            } else {
                rows.push((first, second));
            }
        }
        result
    }

    /// Unit vectors, lowest first, that together with this space span F2^`bits`.
    #[must_use]
    pub fn complement(&self, bits: u32) -> SmallVec<[u64; 16]> {
        (0..bits).map(|bit| 1 << bit).filter(|unit| self.pivots & unit == 0).collect()
    }

    /// Returns vectors that extend this space to F2^`bits`: first those of `candidates`, in their order, that are
    /// independent of the space and of the vectors before them; then unit vectors, the lowest first.
    #[must_use]
    pub fn extend_basis(&self, bits: u32, candidates: &[u64]) -> SmallVec<[u64; 16]> {
        let mut space = self.clone();
        let mut added: SmallVec<[u64; 16]> = SmallVec::new();
        let units = (0..bits).map(|bit| 1u64 << bit);
        for vector in candidates.iter().copied().chain(units) {
            if space.insert(vector) {
                added.push(vector);
            }
        }
        added
    }
}
