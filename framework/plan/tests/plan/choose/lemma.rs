//! Test of Lemma 9.5: one writer and one reader of elements at least as wide as a bank. Segments have dimension `d - b`
//! for banks of `b` bits, and lanes of a phase with their vectors span at most `b`, so by the lemma the segments can
//! avoid both. Then neither side has conflicts, counted by enumerating every address.

use tilewright_plan::movement::{
    SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor, choose_shared_layout,
};
use tilewright_target::Direction;

use super::brute::Accesses;
use super::exhaustive::small;
use tilewright_testkit::seeded_rng::SeededRng;

use super::layouts::random;

#[test]
fn words_and_wider_elements_never_conflict() {
    let mut source = SeededRng::new(11);
    let sizes =
        [(3, 3, 0, 7, 32), (3, 3, 2, 8, 32), (3, 3, 1, 7, 64), (2, 2, 2, 8, 32), (2, 3, 1, 8, 64), (4, 4, 1, 9, 32)];
    for (lane_bits, bank_bits, warp_bits, bits, element_bits) in sizes {
        for mixes in [0, 0, 3, 6, 12] {
            let target = small(lane_bits, bank_bits);
            let mut layout = || random(&mut source, lane_bits as usize, warp_bits, bits, 0, mixes);
            let (writer, reader) = (layout(), layout());
            let accessors = [SharedMemoryAccessor::store(writer.clone()), SharedMemoryAccessor::load(reader.clone())];
            let choice = choose_shared_layout(
                &accessors,
                element_bits,
                &SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Swizzle),
                &target,
            );
            let choice = choice.expect("a choice");
            let chosen = choice.chosen();
            assert_eq!((chosen.conflict_wavefronts(), choice.wavefronts_above_bound()), (0, 0), "{writer}\n{reader}");
            let mut offsets = vec![0; 1 << bits];
            (0..1u64 << bits).for_each(|offset| offsets[chosen.memory.linear.apply_packed(offset) as usize] = offset);
            // The lanes of a phase have elements for all banks, so every wavefront moves the bytes of all banks.
            let full = ((1u64 << bits) * u64::from(element_bits / 32)) >> (bank_bits as usize + warp_bits);
            for (layout, direction) in [(&writer, Direction::Store), (&reader, Direction::Load)] {
                assert_eq!(Accesses::of(layout, direction).wavefronts(&offsets, element_bits, &target), full);
            }
        }
    }
}
