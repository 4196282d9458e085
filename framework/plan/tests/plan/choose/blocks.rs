//! Tests of choosing a shared-memory layout if each block of a cluster holds a part of the tensor: each block's memory
//! holds its own part, and the layout is chosen as if the tensor had one block's elements only.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{SharedLayoutSearchOptions, SharedMemoryAccessor, choose_shared_layout};

use tilewright_testkit::test_targets::test_target;

/// Returns the layout of 8x8 words for each of two blocks, one below the other.
fn in_blocks(registers: usize, lanes: usize) -> LinearLayout {
    let bases = |axis: usize| (0..3).map(|bit| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] }).collect();
    let bases = [
        (Dim::REGISTER, bases(registers)),
        (Dim::LANE, bases(lanes)),
        (Dim::WARP, vec![]),
        (Dim::BLOCK, vec![vec![8, 0]]),
    ];
    LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 16), (Dim::tensor(1), 8)]).expect("sizes fit")
}

#[test]
fn each_block_keeps_its_own_slice() {
    let accessors = [SharedMemoryAccessor::store(in_blocks(0, 1)), SharedMemoryAccessor::load(in_blocks(1, 0))];
    let choice =
        choose_shared_layout(&accessors, 32, &SharedLayoutSearchOptions::default(), &test_target()).expect("a choice");
    let chosen = choice.chosen();
    assert_eq!(
        (chosen.weighted_wavefronts(), chosen.conflict_wavefronts(), choice.wavefronts_above_bound()),
        (16, 0, 0)
    );
    let linear = &chosen.memory.linear;
    assert_eq!((linear.bases_of(Dim::BLOCK), linear.in_bits(Dim::OFFSET)), (vec![vec![8, 0]], 6));
    assert!(linear.is_invertible() && linear.bases_of(Dim::OFFSET).iter().all(|basis| basis[0] < 8));
}

#[test]
fn accessors_of_other_tensors_or_blocks_are_refused() {
    let refused = |accessors: &[SharedMemoryAccessor]| {
        choose_shared_layout(accessors, 32, &SharedLayoutSearchOptions::default(), &test_target())
            .expect_err("a refusal")
            .to_string()
    };
    assert!(refused(&[]).contains("there is no accessor: name at least one"));
    let alone = LinearLayout::from_bases(
        &[(Dim::LANE, vec![vec![1, 0], vec![2, 0], vec![4, 0]])],
        &[(Dim::tensor(0), 8), (Dim::tensor(1), 1)],
    );
    let alone = alone.expect("sizes fit");
    assert!(
        refused(&[SharedMemoryAccessor::store(in_blocks(0, 1)), SharedMemoryAccessor::load(alone.clone())])
            .contains("along block")
    );
    let other = choose_shared_layout(
        &[SharedMemoryAccessor::store(alone)],
        4,
        &SharedLayoutSearchOptions::default(),
        &test_target(),
    );
    assert!(other.expect_err("half bytes").to_string().contains("4 bits"));
}
