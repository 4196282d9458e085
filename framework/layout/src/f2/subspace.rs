//! Subspaces of F2^64, each held by its reduced echelon basis, so that equal spaces are equal values.

use smallvec::SmallVec;

/// A subspace, held by the one basis in which every pivot (lowest set bit) occurs in a single
/// vector; the vectors are in ascending order of pivots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Subspace {
    basis: SmallVec<[u64; 16]>,
    /// The pivots of all basis vectors.
    pivots: u64,
    /// The other bits that basis vectors have.
    tails: u64,
}

impl Subspace {
    /// The space of zero alone.
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

    /// Adds a vector; says whether the dimension grew.
    #[inline]
    pub fn insert(&mut self, vector: u64) -> bool {
        let rest = self.reduce(vector);
        if rest == 0 {
            return false;
        }
        let low = rest & rest.wrapping_neg();
        // Columns of most layouts are unit vectors or nearly so: then nobody has the bit.
        if self.tails & low != 0 {
            self.basis.iter_mut().filter(|other| **other & low != 0).for_each(|other| *other ^= rest);
        }
        let at = self.pivots_below(low);
        if at == self.basis.len() {
            self.basis.push(rest);
        } else {
            self.basis.insert(at, rest);
        }
        self.pivots |= low;
        self.tails = self.basis.iter().fold(0, |bits, vector| bits | vector) & !self.pivots;
        true
    }

    /// The place of a pivot among all.
    #[inline]
    fn pivots_below(&self, pivot: u64) -> usize {
        (self.pivots & (pivot - 1)).count_ones() as usize
    }

    /// What is left of `vector` after the pivots of this space are cleared; zero iff it is inside.
    #[inline]
    #[must_use]
    pub fn reduce(&self, vector: u64) -> u64 {
        let mut rest = vector;
        // A basis vector changes no other's pivot, so those set at first are all there will be.
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

    /// The number of basis vectors.
    #[must_use]
    pub fn dimension(&self) -> u32 {
        self.basis.len() as u32
    }

    /// The reduced basis, in ascending order of lowest set bits.
    #[must_use]
    pub fn basis(&self) -> &[u64] {
        &self.basis
    }

    /// The smallest space that holds both.
    #[must_use]
    pub fn sum(&self, other: &Self) -> Self {
        Self::span(self.basis.iter().chain(&other.basis).copied())
    }

    /// The vectors in both spaces.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        // Zassenhaus on pairs (u, u) and (v, 0): pairs whose first half vanishes hold the
        // intersection in the second half.
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

    /// Unit vectors that extend this space to F2^`bits`, as [`Subspace::complement`], but taking
    /// the candidates first, in their order, wherever they are independent of what there is.
    #[must_use]
    pub fn extend(&self, bits: u32, candidates: &[u64]) -> SmallVec<[u64; 16]> {
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
