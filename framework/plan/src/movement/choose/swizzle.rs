//! The swizzle for one writer and one reader: seed 000, sections 5.4 and 9.2, with the lanes of one
//! phase (see the seed's errata).
//!
//! An offset is made of vector, bank and segment bits. Two lanes of a phase conflict where they
//! differ in the segment but not in the bank; so the span of the segments should meet the span of
//! vector and phase lanes, of writer and of reader, in zero only. Lemma 9.5 says how large it can
//! be then.
//!
//! Vectors here are coordinates of a space that the caller chooses; its first `bits` bits are kept
//! in memory.

use smallvec::SmallVec;
use tilewright_layout::f2::Subspace;

/// A layout of scratch memory, by the element that each offset bit stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchLayout {
    /// For each offset bit, the packed coordinate of the tensor (the first axis listed by the source
    /// layout in the lowest bits): vector bits, then bank bits, then segment bits.
    pub columns: Vec<u64>,
    /// How many of them are vector bits.
    pub vector_bits: u32,
    /// How many of them are bank bits.
    pub bank_bits: u32,
}

/// The layout that keeps `vector` together, fills the banks beginning with `bank_first`, and keeps
/// segments clear of both accessors as far as the dimension allows. `writer` and `reader` are the
/// columns of the lanes that are served together; `bank_bits` counts what fills the banks beyond the
/// vector. The result's columns are coordinates of the same space.
pub(in crate::movement) fn choose(
    writer: &[u64],
    reader: &[u64],
    vector: &[u64],
    bank_first: &[u64],
    bits: u32,
    bank_bits: u32,
) -> ScratchLayout {
    let filled: SmallVec<[u64; 16]> = vector.iter().chain(bank_first).copied().collect();
    let reserved = |phase: &[u64]| -> Vec<u64> { filled.iter().chain(phase).copied().collect() };
    let segment_bits = (bits as usize).saturating_sub(vector.len() + bank_bits as usize);
    let segments = segments(&reserved(writer), &reserved(reader), &filled, bits, segment_bits);
    let taken = Subspace::span(filled.iter().chain(&segments).copied());
    let mut banks: Vec<u64> = bank_first.to_vec();
    banks.extend(taken.extend(bits, &[]));
    ScratchLayout {
        vector_bits: vector.len() as u32,
        bank_bits: banks.len() as u32,
        columns: vector.iter().chain(&banks).chain(&segments).copied().collect(),
    }
}

/// `count` independent vectors, independent of `filled` too, whose span meets the spans of `writer`
/// and of `reader` as little as can be: first what both leave free, then sums of one vector that
/// only the writer uses and one that only the reader uses, then what only one of them uses, last
/// what both use.
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

/// The vectors that extend `space`, in order, skipping those that depend on what came before.
fn extending(space: &Subspace, vectors: &[u64]) -> Vec<u64> {
    let mut space = space.clone();
    vectors.iter().copied().filter(|&vector| space.insert(vector)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lemma 9.5 on all pairs of small subspaces: the chosen segments meet neither space whenever
    /// their number is at most the dimension that the lemma gives.
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
