//! Tests of accesses of global memory: vectors across dims, counted transactions, replicas stored once.

use proptest::prelude::*;

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::movement::{AxisStride, GlobalTensor, MovementError, find_coalesced_layout, plan_global_access};
use tilewright_target::{Direction, TargetDescription};
use tilewright_verify::{build_global_copy_case, check_emulated};

/// Returns the small test target with warps of 32 lanes.
fn test_target() -> TargetDescription {
    let text = tilewright_testkit::test_targets::SMALL.replace("default = 8", "default = 32");
    let text =
        text.replace("choices = [8]", "choices = [32]").replace("lanes_per_block = 64", "lanes_per_block = 1024");
    TargetDescription::from_toml("small.toml", &text).expect("the machine is sound")
}

/// Plans, executes and checks a copy; returns the bits of one access, the accesses of a warp, and the transactions.
fn access(registers: &LinearLayout, memory: &GlobalTensor, bits: u32) -> (u64, u64, u64) {
    let target = test_target();
    let plan =
        |direction| plan_global_access(registers, memory, bits, direction, &target).expect("the question is sound");
    let (load, store) = (plan(Direction::Load), plan(Direction::Store));
    build_global_copy_case(registers, bits, &load, &store)
        .and_then(|case| check_emulated(&case, &target))
        .unwrap_or_else(|wrong| panic!("{wrong}\n{registers}"));
    (load.vector_elements * u64::from(bits), load.accesses, load.transactions)
}

#[test]
fn seed_table_3_widths_cross_dims() {
    // Tensors of 512 rows, 4 warps. 1024 bytes over 128 lanes are 8 bytes each. The table has 128 bits for [512, 2] x
    // f8, which would leave half of the lanes idle for the same transactions and accesses.
    let rows = [
        (1, 8, 32),
        (2, 8, 64),
        (4, 8, 128),
        (8, 8, 128),
        (16, 8, 128),
        (1, 16, 64),
        (2, 16, 128),
        (4, 16, 128),
        (8, 16, 128),
        (16, 16, 128),
    ];
    for (columns, bits, width) in rows {
        let memory = GlobalTensor::row_major(&[512, columns], 16);
        let layout = find_coalesced_layout(&memory, bits, 32, 4, &test_target()).expect("a layout");
        let (found, accesses, units) = access(&layout, &memory, bits);
        let bytes = 512 * columns * u64::from(bits) / 8;
        assert_eq!(found, width, "[512, {columns}] x {bits} bits");
        assert_eq!((accesses, units), (bytes.div_ceil(128 * 16), bytes / 32), "[512, {columns}] x {bits} bits");
    }
}

/// Checks an axis of two segments (coordinate bits with different strides): the other axis lies between them in memory.
#[test]
fn runs_go_through_segments_of_an_axis() {
    let (first, second) = (Dim::tensor(0), Dim::tensor(1));
    let axes = vec![
        (first, 2, AxisStride::Elements(1)),
        (first, 4, AxisStride::Elements(8)),
        (second, 4, AxisStride::Elements(2)),
    ];
    let memory = GlobalTensor::new(axes, 16);
    assert_eq!(memory.axis_sizes(), [(first, 8), (second, 4)]);
    let layout = find_coalesced_layout(&memory, 32, 8, 1, &test_target()).expect("a layout");
    // The run has 32 words: each of 8 lanes has four of them, which are 16 bytes.
    let plan = plan_global_access(&layout, &memory, 32, Direction::Load, &test_target()).expect("a plan");
    assert_eq!((plan.vector_elements, plan.accesses, plan.transactions), (4, 1, 4));
    // Register bit 0 is the low bit of the first axis, register bit 1 the low bit of the second.
    assert_eq!(layout.bases_of(Dim::REGISTER), [[1, 0], [0, 1]]);
}

#[test]
fn warps_do_not_share_sectors_if_one_warp_can_have_them() {
    // A transaction has 32 bytes: eight lanes of a warp with one byte each would take a quarter of one.
    let text = tilewright_testkit::test_targets::SMALL;
    let target = TargetDescription::from_toml("small.toml", text).expect("the machine is sound");
    let memory = GlobalTensor::row_major(&[1, 32], 16);
    let layout = find_coalesced_layout(&memory, 8, 8, 4, &target).expect("a layout");
    let store = plan_global_access(&layout, &memory, 8, Direction::Store, &target).expect("a plan");
    assert_eq!((store.vector_elements, store.transactions), (4, 1));
}

fn tensor_2d(rows: u64, columns: u64) -> Space {
    Space::from_sizes(&[(Dim::tensor(0), rows), (Dim::tensor(1), columns)]).expect("sizes")
}

/// Returns a layout of 8 rows and 4 columns: the columns in registers, the rows in lanes.
fn rows_in_lanes() -> LinearLayout {
    let mut ins = Space::default();
    for (dim, bits) in [(Dim::REGISTER, 2), (Dim::LANE, 5)] {
        ins.push(dim, bits).expect("another dim");
    }
    LinearLayout::from_columns(ins, tensor_2d(8, 4), &[8, 16, 1, 2, 4, 0, 0]).expect("columns fit")
}

#[test]
fn what_is_not_known_is_not_assumed() {
    let layout = rows_in_lanes();
    let width = |axes: [(u64, AxisStride); 2], alignment| {
        let axes = (0..).zip(axes).map(|(axis, (size, stride))| (Dim::tensor(axis), size, stride)).collect();
        let memory = GlobalTensor::new(axes, alignment);
        let plan = plan_global_access(&layout, &memory, 32, Direction::Load, &test_target()).expect("a plan");
        (plan.vector_elements, plan.limited_by)
    };
    let unit = (4, AxisStride::Elements(1));
    assert_eq!(width([(8, AxisStride::Elements(4)), unit], 16).0, 4);
    assert_eq!(width([(8, AxisStride::MultipleOf(4)), unit], 16).0, 4);
    // A row pitch of 6 words keeps pairs of words aligned; an unknown pitch keeps nothing aligned.
    assert_eq!(width([(8, AxisStride::Elements(6)), unit], 16).0, 2);
    let (one, why) = width([(8, AxisStride::MultipleOf(1)), unit], 16);
    assert_eq!((one, why.as_str()), (1, "wider vectors are not known to be aligned"));
    assert_eq!(width([(8, AxisStride::Elements(4)), unit], 8).0, 2);
    let (one, why) = width([(8, AxisStride::Elements(1)), (4, AxisStride::Elements(8))], 16);
    assert_eq!((one, why.as_str()), (1, "a lane has no more elements that are contiguous in memory"));
}

/// Checks a target whose accesses need at most the alignment of a dword: unknown pitches of dwords do not narrow them,
/// masks and elements that are aligned less do.
#[test]
fn accesses_are_as_wide_as_the_sufficient_alignment_allows() {
    let mut target = test_target();
    target.global.alignment_bytes = Some(4);
    let width = |bits: u32, pitch, alignment, max_access_bytes| {
        let axes =
            vec![(Dim::tensor(0), 8, AxisStride::MultipleOf(pitch)), (Dim::tensor(1), 4, AxisStride::Elements(1))];
        let memory = GlobalTensor { max_access_bytes, ..GlobalTensor::new(axes, alignment) };
        let plan = plan_global_access(&rows_in_lanes(), &memory, bits, Direction::Load, &target).expect("a plan");
        plan.vector_elements
    };
    assert_eq!(width(32, 1, 4, u64::MAX), 4);
    assert_eq!(width(32, 1, 4, 8), 2, "a mask may differ in the second half of a vector");
    assert_eq!(width(16, 2, 4, u64::MAX), 4);
    assert_eq!(width(16, 1, 4, u64::MAX), 1, "every second row begins in the middle of a dword");
    assert_eq!(width(16, 2, 2, u64::MAX), 1);
}

/// Checks the cycles of a unit that takes 16 lanes in a cycle if they touch one transaction, and else 4 lanes: ROCm
/// Compute Profiler's documentation of the vL1D address processing.
#[test]
fn address_cycles_depend_on_the_transactions_of_groups_of_lanes() {
    let unit = "[global.address_unit]\ngroup_lanes = 16\nscattered_lanes = 4\n\
                evidence = \"assumed\"\nsource = \"made up\"\n";
    let text = format!("{}\n{unit}", tilewright_testkit::test_targets::SMALL);
    let target = TargetDescription::from_toml("small.toml", &text).expect("the machine is sound");
    let (rows, columns) = (Dim::tensor(0), Dim::tensor(1));
    let memory = GlobalTensor::row_major(&[16, 16], 32);
    let cycles = |[registers, lanes]: [Dim; 2], bits| {
        let [registers, lanes] = [(Dim::REGISTER, registers), (Dim::LANE, lanes)]
            .map(|(from, to)| LinearLayout::identity(16, from, to).expect("a layout"));
        let layout = registers.direct_sum(&lanes).expect("a layout");
        plan_global_access(&layout, &memory, bits, Direction::Load, &target).expect("an access").address_cycles
    };
    // The lanes of one of 16 accesses touch 32 bytes, which are a transaction, or 64 or 128 bytes.
    assert_eq!([16, 32, 64].map(|bits| cycles([rows, columns], bits)), [16, 16 * 2, 16 * 4]);
    // The lanes of an access of 16 bytes touch a transaction each.
    assert_eq!([16, 32].map(|bits| cycles([columns, rows], bits)), [2 * 4, 4 * 4]);
}

#[test]
fn copies_are_stored_once_and_loaded_by_all() {
    let (layout, memory) = (rows_in_lanes(), GlobalTensor::row_major(&[8, 4], 16));
    let plan = |direction| plan_global_access(&layout, &memory, 32, direction, &test_target()).expect("a plan");
    assert!(plan(Direction::Store).omits_replicas());
    assert!(!plan(Direction::Load).omits_replicas());
    let plan = plan_global_access(&layout, &memory, 32, Direction::Load, &test_target()).expect("a plan");
    assert_eq!((plan.vector_elements, plan.accesses, plan.transactions), (4, 1, 4));
}

#[test]
fn invalid_inputs_are_errors() {
    let layout = rows_in_lanes();
    let ask = |shape: &[u64], bits| {
        plan_global_access(&layout, &GlobalTensor::row_major(shape, 16), bits, Direction::Load, &test_target())
            .expect_err("wrong")
    };
    assert!(matches!(ask(&[8], 32), MovementError::Layout(_)));
    assert!(matches!(ask(&[8, 8], 32), MovementError::Layout(_)));
    assert!(matches!(ask(&[8, 4], 7), MovementError::ElementBits(7)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Checks any layout: the copy is correct, the transactions equal those of the emulator, and vectors are as wide as
    /// the contiguous elements of every lane.
    #[test]
    fn copies_of_any_layout_are_correct(
        (order, spare) in (0usize..4).prop_flat_map(|spare| (Just((0..10 + spare).collect::<Vec<_>>()).prop_shuffle(), Just(spare))),
        bits in prop::sample::select(vec![8u32, 16, 32, 64]),
    ) {
        let mut columns = vec![0u64; 10 + spare];
        order.iter().take(10).enumerate().for_each(|(bit, &input_bit)| columns[input_bit] = 1 << bit);
        let mut ins = Space::default();
        for (dim, bits) in [(Dim::REGISTER, 3 + spare as u32), (Dim::LANE, 5), (Dim::WARP, 2)] {
            ins.push(dim, bits).expect("another dim");
        }
        let layout = LinearLayout::from_columns(ins, tensor_2d(16, 64), &columns).expect("columns fit");
        let memory = GlobalTensor::row_major(&[16, 64], 16);
        let (width, _, _) = access(&layout, &memory, bits);
        let contiguous = layout.columns_of(Dim::REGISTER);
        // Columns of dim1 are packed above those of dim0: 16, 32, 64, ... are neighbours in memory.
        let run = (4..10).take_while(|bit| contiguous.contains(&(1 << bit))).count() as u32;
        prop_assert_eq!(width, (u64::from(bits) << run).min(128));
    }
}
