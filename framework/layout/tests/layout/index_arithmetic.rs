//! The arithmetic that applies a layout to index values: executed by a builder whose values are numbers, it gives the
//! layout's coordinates.

use proptest::prelude::*;
use tilewright_layout::{Dim, IndexBuilder, IndexOperand, LayoutError, LinearLayout, apply_layout};

/// Computes each operation at once, and counts them.
#[derive(Default)]
struct Numbers {
    operations: usize,
}

impl Numbers {
    fn counted(&mut self, value: u64) -> u64 {
        self.operations += 1;
        value
    }
}

impl IndexBuilder for Numbers {
    type Value = u64;

    fn constant(&mut self, value: u64) -> u64 {
        value
    }

    fn and(&mut self, value: u64, mask: u64) -> u64 {
        self.counted(value & mask)
    }

    fn xor(&mut self, a: u64, b: u64) -> u64 {
        self.counted(a ^ b)
    }

    fn shift_left(&mut self, value: u64, bits: u32) -> u64 {
        self.counted(value << bits)
    }

    fn shift_right(&mut self, value: u64, bits: u32) -> u64 {
        self.counted(value >> bits)
    }
}

proptest! {
    #[test]
    fn values_are_the_coordinates(
        lanes in prop::collection::vec((0u64..16, 0u64..64), 0..6),
        warps in prop::collection::vec((0u64..16, 0u64..64), 0..4),
        lane in any::<u64>(),
        warp in any::<u64>(),
        known in any::<[bool; 2]>(),
    ) {
        let bases = |list: &[(u64, u64)]| list.iter().map(|&(a, b)| vec![a, b]).collect::<Vec<_>>();
        let outs = [(Dim::tensor(0), 16), (Dim::tensor(1), 64)];
        let (lane, warp) = (lane & ((1 << lanes.len()) - 1), warp & ((1 << warps.len()) - 1));
        let layout = LinearLayout::from_bases(&[(Dim::LANE, bases(&lanes)), (Dim::WARP, bases(&warps))], &outs).expect("bases");
        let index = |value, is_known| if is_known { IndexOperand::Constant(value) } else { IndexOperand::Value(value) };
        let inputs = [(Dim::LANE, index(lane, known[0])), (Dim::WARP, index(warp, known[1]))];
        let mut numbers = Numbers::default();
        let found = apply_layout(&mut numbers, &layout, &inputs).expect("in range");
        prop_assert_eq!(&found[..], &layout.apply(&[(Dim::LANE, lane), (Dim::WARP, warp)]).expect("in range")[..]);
        if known == [true; 2] {
            prop_assert_eq!(numbers.operations, 0, "constants are folded");
        }
    }
}

/// Bits that move together cost one mask and one shift.
#[test]
fn groups_of_bits_cost_one_operation_each() {
    let cases = [
        (vec![vec![1], vec![2], vec![4]], 1),
        (vec![vec![8], vec![16], vec![32]], 2),
        (vec![vec![1 | 8], vec![2 | 16], vec![4 | 32]], 4),
        (vec![vec![0], vec![0], vec![0]], 0),
    ];
    for (bases, operations) in cases {
        let layout = LinearLayout::from_bases(&[(Dim::LANE, bases.clone())], &[(Dim::OFFSET, 64)]).expect("bases");
        let mut numbers = Numbers::default();
        let found = apply_layout(&mut numbers, &layout, &[(Dim::LANE, IndexOperand::Value(5))]).expect("in range");
        assert_eq!(found[..], layout.apply(&[(Dim::LANE, 5)]).expect("in range")[..]);
        assert_eq!(numbers.operations, operations, "{bases:?}");
    }
}

#[test]
fn wrong_inputs_are_errors() {
    let layout = LinearLayout::identity(8, Dim::LANE, Dim::OFFSET).expect("a size");
    let cases = [
        (vec![(Dim::WARP, IndexOperand::Value(0))], LayoutError::NoSuchDim { dim: Dim::WARP }),
        (vec![(Dim::LANE, IndexOperand::Value(0)); 2], LayoutError::DuplicateDim { dim: Dim::LANE }),
        (
            vec![(Dim::LANE, IndexOperand::Constant(8))],
            LayoutError::CoordinateTooLarge { dim: Dim::LANE, value: 8, bits: 3 },
        ),
    ];
    for (inputs, error) in cases {
        assert_eq!(apply_layout(&mut Numbers::default(), &layout, &inputs), Err(error));
    }
    assert_eq!(apply_layout(&mut Numbers::default(), &layout, &[]), Ok(vec![(Dim::OFFSET, 0)]));
}
