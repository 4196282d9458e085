//! XOR swizzle for one writer and one reader: Linear Layouts paper, sections 5.4 and 9.2, applied to the lanes of one
//! phase instead of all lanes of a warp.
//!
//! An offset consists of vector bits (elements of one access), bank bits and segment bits. Two lanes of a phase
//! conflict if they differ in the segment but not in the bank. So the span of the segments should intersect the span of
//! vector and phase lanes trivially, for the writer and for the reader. Lemma 9.5 gives the largest dimension of such a
//! span.
//!
//! All vectors are coordinates of a space that the caller chooses; its first `bits` bits select an element in the
//! scratch memory.

use smallvec::SmallVec;
use tilewright_layout::f2::Subspace;

/// A layout of scratch memory, given by the element of each offset bit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchLayout {
    /// The packed tensor coordinate of each offset bit (the source layout's first axis in the lowest bits): vector
    /// bits, then bank bits, then segment bits.
    pub columns: Vec<u64>,
    /// Number of vector bits: offset bits that number the elements of one access.
    pub vector_bits: u32,
    /// Number of bank bits: offset bits above the vector that select a bank.
    pub bank_bits: u32,
}

/// The lanes that one wavefront of an accessor serves, and the banks that it uses.
#[derive(Debug, Clone, Copy)]
pub(in crate::movement) struct Phase<'a> {
    /// The bases of the phase's lanes: for each of their lane bits, the element that it adds (over F2).
    pub(in crate::movement) lanes: &'a [u64],
    /// Number of offset bits beyond the vector that select a bank.
    pub(in crate::movement) bank_bits: u32,
}

/// Chooses the layout that keeps `vector` contiguous, fills the banks beginning with `bank_first`, and whose segments
/// conflict for neither accessor if the dimension allows. All columns are coordinates of the same space.
///
/// If one accessor uses fewer banks than the other, the highest bank bits of the other are segments for it.
pub(in crate::movement) fn choose(
    writer: Phase<'_>,
    reader: Phase<'_>,
    vector: &[u64],
    bank_first: &[u64],
    bits: u32,
) -> ScratchLayout {
    let filled: SmallVec<[u64; 16]> = vector.iter().chain(bank_first).copied().collect();
    let reserved = |phase: Phase<'_>| -> Vec<u64> { filled.iter().chain(phase.lanes).copied().collect() };
    let (narrow, wide) = if writer.bank_bits < reader.bank_bits { (writer, reader) } else { (reader, writer) };
    let segment_bits = (bits as usize).saturating_sub(vector.len() + wide.bank_bits as usize);
    let segments = segments(&reserved(writer), &reserved(reader), &filled, bits, segment_bits);
    let seen = Subspace::span(reserved(narrow).into_iter().chain(segments.iter().copied()));
    let only_wide: Vec<u64> =
        seen.complement(bits).into_iter().take((wide.bank_bits - narrow.bank_bits) as usize).collect();
    let taken = Subspace::span(filled.iter().chain(&only_wide).chain(&segments).copied());
    let mut banks: Vec<u64> = bank_first.to_vec();
    banks.extend(taken.extend_basis(bits, &[]));
    banks.extend(only_wide);
    ScratchLayout {
        vector_bits: vector.len() as u32,
        bank_bits: banks.len() as u32,
        columns: vector.iter().chain(&banks).chain(&segments).copied().collect(),
    }
}

/// Returns `count` independent vectors, also independent of `filled`, whose span intersects the spans of `writer` and
/// `reader` as little as possible. Order: vectors outside of both spans; the xor of a vector of the writer only and one
/// of the reader only; vectors of one span only; vectors of both.
pub(super) fn segments(writer: &[u64], reader: &[u64], filled: &[u64], bits: u32, count: usize) -> Vec<u64> {
    let (u, w) = (Subspace::span(writer.iter().copied()), Subspace::span(reader.iter().copied()));
    let both = u.intersection(&w);
    let only_writer = extending(&both, writer);
    let only_reader = extending(&both, reader);
    let free = u.sum(&w).complement(bits);
    let pairs = only_writer.iter().zip(&only_reader).map(|(e, f)| e ^ f);
    let paired = only_writer.len().min(only_reader.len());
    let unpaired = only_writer[paired..].iter().chain(&only_reader[paired..]).copied();
    let shared = both.basis().iter().copied();
    let order = free.iter().copied().chain(pairs).chain(unpaired).chain(only_writer.iter().copied()).chain(shared);
    let mut space = Subspace::span(filled.iter().copied());
    let mut chosen = Vec::new();
    for vector in order.chain((0..bits).map(|bit| 1 << bit)) {
        if chosen.len() < count && space.insert(vector) {
            chosen.push(vector);
        }
    }
    chosen
}

/// Returns the vectors that extend `space`, in order, without those that depend on `space` and earlier vectors.
fn extending(space: &Subspace, vectors: &[u64]) -> Vec<u64> {
    let mut space = space.clone();
    vectors.iter().copied().filter(|&vector| space.insert(vector)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks Lemma 9.5 on all pairs of small subspaces: the chosen segments intersect neither space if their number is
    /// at most the dimension that the lemma gives.
    #[test]
    fn segments_avoid_both_spaces_whenever_the_lemma_allows() {
        const BITS: u32 = 4;
        let spaces: Vec<Vec<u64>> = (0u64..1 << 12)
            .map(|code| vec![code & 15, code >> 4 & 15, code >> 8 & 15])
            .filter(|vectors| vectors.windows(2).all(|pair| pair[0] < pair[1] || pair[1] == 0))
            .collect();
        for writer in &spaces {
            for reader in &spaces {
                let (u, w) = (Subspace::span(writer.clone()), Subspace::span(reader.clone()));
                let room = BITS - u.dimension().max(w.dimension());
                for count in 0..=room {
                    let chosen = segments(writer, reader, &[], BITS, count as usize);
                    let span = Subspace::span(chosen.iter().copied());
                    assert_eq!(span.dimension(), count);
                    assert_eq!(span.intersection(&u).dimension(), 0, "{writer:?} {reader:?} {count}");
                    assert_eq!(span.intersection(&w).dimension(), 0, "{writer:?} {reader:?} {count}");
                }
            }
        }
    }
}
