//! Tests of properties of synthesis on random layouts: solutions satisfy their definition, failures agree with brute
//! force, predictions are monotonic.

use proptest::prelude::*;
use tilewright_assign::synthesis::coalesce::{CopyThreadCounts, coalesce_layout};
use tilewright_assign::synthesis::model::{ModelError, ModelLaunch, ModelStep, Pipelining, StepWork, predict_time};
use tilewright_layout::cute::ComposedLayout;
use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout, Space};
use tilewright_plan::constraint::{InstructionOperandLayouts, check_mma, solve_mma_operands};
use tilewright_plan::memory_synthesis::{MemorySynthesisError, SharedTensor, TensorAccess, solve_shared_layout};
use tilewright_plan::movement::{AxisStride, GlobalTensor, PlanContext, plan_shared_access};
use tilewright_target::{Direction, TargetDescription, count_access_wavefronts};

fn a100() -> TargetDescription {
    let text = include_str!("../../../../targets/a100.toml");
    TargetDescription::from_toml("a100.toml", text).expect("the target's file is sound")
}

/// Returns a distributed layout of a tile of 2^`rows` rows over 2^`warps` warps of 32 lanes; `order` has, for each
/// input bit (registers, lanes, warps), its coordinate bit.
fn distributed(order: &[u32], rows: u32, warps: u32) -> LinearLayout {
    let bits = order.len() as u32;
    let registers = bits - 5 - warps;
    let mut ins = Space::default();
    for (dim, size) in [(Dim::REGISTER, registers), (Dim::LANE, 5), (Dim::WARP, warps)] {
        ins.push(dim, size).expect("small");
    }
    let outs = Space::from_sizes(&[(Dim::tensor(0), 1 << rows), (Dim::tensor(1), 1 << (bits - rows))]).expect("small");
    let columns: Vec<u64> = order.iter().map(|bit| 1 << bit).collect();
    LinearLayout::from_columns(ins, outs, &columns).expect("small")
}

fn order(bits: u32) -> impl Strategy<Value = Vec<u32>> {
    Just((0..bits).collect::<Vec<_>>()).prop_shuffle()
}

/// Returns the mask of the coordinate bits that the registers of a lane hold.
fn register_bits(layout: &LinearLayout) -> u64 {
    layout.columns_of(Dim::REGISTER).iter().fold(0, |all, column| all | column)
}

/// Counts the wavefronts of one plain access per lane by enumerating addresses.
fn listed(
    layout: &LinearLayout,
    memory: &MemoryLayout,
    bytes: u64,
    bits: u32,
    direction: Direction,
    target: &TargetDescription,
) -> u64 {
    let inverse = memory.linear.invert().expect("a memory");
    let row = target.find_bank_row(direction, 8 * bytes as u32).expect("a width of the target");
    let offset = |register: u64, lane: u64| {
        let element = layout.apply_packed(register | lane << layout.in_bits(Dim::REGISTER));
        inverse.apply_packed(element) * u64::from(bits / 8)
    };
    // Registers at the start of a vector.
    let firsts = (0..1u64 << layout.in_bits(Dim::REGISTER)).filter(|&register| offset(register, 0) % bytes == 0);
    firsts
        .map(|register| {
            let addresses: Vec<Option<u64>> = (0..32).map(|lane| Some(offset(register, lane))).collect();
            count_access_wavefronts(row, &addresses, bytes as u32)
        })
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn solved_shared_layouts_are_bijections(stored in order(10), loaded in order(10), warps in 0..2u32, bits in prop::sample::select(vec![8u32, 16, 32])) {
        let target = a100();
        let context = PlanContext::new(&target);
        let layouts = [distributed(&stored, 4, warps), distributed(&loaded, 4, warps)];
        let accesses = [TensorAccess::store("store", layouts[0].clone(), &context), TensorAccess::load("load", layouts[1].clone(), &context)];
        let found = solve_shared_layout(&SharedTensor::new(&[16, 64], bits), &accesses, &context).expect("narrow accesses always do");
        // offset = S(m(coordinate)), and offsets are a bijection.
        prop_assert!(found.memory.linear.is_invertible());
        let composed: ComposedLayout = found.composed_layout().expect("a layout");
        for index in 0..1024u64 {
            let offset = composed.at(index).expect("inside");
            prop_assert_eq!(found.memory.linear.apply_packed(offset), index);
        }
        for ((served, layout), direction) in found.served.iter().zip(&layouts).zip([Direction::Store, Direction::Load]) {
            prop_assert!(served.wavefronts >= served.lower_bound);
            prop_assert_eq!(served.wavefronts, listed(layout, &found.memory, served.bytes, bits, direction, &target), "{}", found);
            // Elements of a vector are in one lane's registers.
            let together = (served.bytes * 8 / u64::from(bits)).ilog2() as usize;
            let own = Subspace::span(layout.columns_of(Dim::REGISTER).iter().copied());
            prop_assert!(found.memory.linear.columns()[..together].iter().all(|&column| own.contains(column)));
        }
        // At most the cost of the row-major layout, for any accesses.
        let rows: Vec<u64> = (4..10).chain(0..4).map(|bit| 1u64 << bit).collect();
        let mut ins = Space::default();
        ins.push(Dim::OFFSET, 10).expect("small");
        ins.push(Dim::BLOCK, 0).expect("small");
        let rows = MemoryLayout::from_linear(LinearLayout::from_columns(ins, layouts[0].outs().clone(), &rows).expect("small"));
        let store = plan_shared_access(&layouts[0], &rows, bits, Direction::Store, context).expect("sound");
        let load = plan_shared_access(&layouts[1], &rows, bits, Direction::Load, context).expect("sound");
        let plain = (store.stats.counts.wavefronts_stored + load.stats.counts.wavefronts_loaded) as f64
            + 0.25 * (store.stats.counts.shared_stores + load.stats.counts.shared_loads) as f64;
        prop_assert!(found.price <= plain, "{} and {plain}", found);
    }

    #[test]
    fn wide_accesses_agree_if_lanes_share_enough_elements(stored in order(11), loaded in order(11), bytes in prop::sample::select(vec![4u64, 8, 16])) {
        let target = a100();
        let context = PlanContext::new(&target);
        let layouts = [distributed(&stored, 5, 1), distributed(&loaded, 5, 1)];
        let accesses = [
            TensorAccess::store("store", layouts[0].clone(), &context).with_retained_alternatives(|alternative| alternative.bytes() == bytes),
            TensorAccess::load("load", layouts[1].clone(), &context).with_retained_alternatives(|alternative| alternative.bytes() == bytes),
        ];
        let required = (bytes / 2).ilog2();
        let common = (register_bits(&layouts[0]) & register_bits(&layouts[1])).count_ones();
        match solve_shared_layout(&SharedTensor::new(&[32, 64], 16), &accesses, &context) {
            Ok(found) => {
                prop_assert!(common >= required);
                prop_assert!(found.served.iter().all(|one| one.bytes == bytes));
            }
            Err(MemorySynthesisError::Disagree { first, second, bit, .. }) => {
                prop_assert!(common < required);
                prop_assert_eq!((first.access.as_str(), second.access.as_str(), bit as u32), ("store", "load", common));
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    /// Checks four-bit elements: a byte has two elements that every lane must have in common.
    #[test]
    fn narrow_elements_are_packed_if_every_lane_has_whole_bytes(stored in order(11), loaded in order(11)) {
        let target = a100();
        let context = PlanContext::new(&target);
        let layouts = [distributed(&stored, 5, 1), distributed(&loaded, 5, 1)];
        let accesses = [TensorAccess::store("store", layouts[0].clone(), &context), TensorAccess::load("load", layouts[1].clone(), &context)];
        let common = register_bits(&layouts[0]) & register_bits(&layouts[1]);
        match solve_shared_layout(&SharedTensor::new(&[32, 64], 4), &accesses, &context) {
            Ok(found) => {
                prop_assert!(found.memory.linear.is_invertible());
                prop_assert!(common & found.memory.linear.columns()[0] != 0);
            }
            Err(MemorySynthesisError::Disagree { .. }) => prop_assert_eq!(common, 0),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

/// Checks that lanes that move within a vector, or replicate parts of it, prevent the vector.
#[test]
fn lanes_within_a_vector_keep_it_narrow() {
    let target = a100();
    let context = PlanContext::new(&target);
    let straight = distributed(&(0..10).collect::<Vec<_>>(), 4, 0);
    let mut columns = straight.columns().to_vec();
    // The first lane bit also adds (over F2) the element of the second register bit, which is within the vector.
    columns[5] ^= 2;
    let layout = LinearLayout::from_columns(straight.ins().clone(), straight.outs().clone(), &columns).expect("small");
    let of = |layout: &LinearLayout, bytes: u64| {
        let access = TensorAccess::load("load", layout.clone(), &context)
            .with_retained_alternatives(|alternative| alternative.bytes() == bytes);
        solve_shared_layout(&SharedTensor::new(&[16, 64], 16), &[access], &context)
    };
    assert!(of(&straight, 16).is_ok() && of(&layout, 16).is_ok(), "there are three other registers");
    columns[6] ^= 1;
    columns[7] ^= 4;
    let layout = LinearLayout::from_columns(straight.ins().clone(), straight.outs().clone(), &columns).expect("small");
    let error = of(&layout, 16).expect_err("two registers are left");
    assert!(matches!(&error, MemorySynthesisError::NoAlternative { access, .. } if access == "load"), "{error}");
    assert_eq!(of(&layout, 4).map(|found| found.served[0].bytes), Ok(4));
}

fn operand(registers: &[[u64; 2]], lanes: &[[u64; 2]], sizes: [u64; 2]) -> LinearLayout {
    let of = |all: &[[u64; 2]]| all.iter().map(|basis| basis.to_vec()).collect::<Vec<_>>();
    let bases = [(Dim::REGISTER, of(registers)), (Dim::LANE, of(lanes))];
    LinearLayout::from_bases(&bases, &[(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])]).expect("small")
}

fn m16n8k16() -> InstructionOperandLayouts {
    let rows = |first: [u64; 2], second: [u64; 2]| [first, second, [1, 0], [2, 0], [4, 0]];
    InstructionOperandLayouts {
        a: Some(operand(&[[0, 1], [8, 0], [0, 8]], &rows([0, 2], [0, 4]), [16, 16])),
        b: Some(operand(&[[1, 0], [8, 0]], &[[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], [16, 8])),
        c: operand(&[[0, 1], [8, 0]], &rows([0, 2], [0, 4]), [16, 8]),
    }
}

/// Generates an accumulator of 2^m x 2^n by an instruction whose tile bits map anywhere along their axis; registers and
/// warps have the rest.
fn accumulator() -> impl Strategy<Value = LinearLayout> {
    (5..7u32, 4..6u32, 0..3usize).prop_flat_map(|(m, n, warps)| {
        let rest = (m - 4 + n - 3) as usize;
        (order(m), order(n), Just((0..rest).collect::<Vec<_>>()).prop_shuffle()).prop_map(
            move |(rows, columns, rest)| {
                let along = |axis: usize, bit: usize| {
                    let bits = if axis == 0 { &rows } else { &columns };
                    let mut at = vec![0, 0];
                    at[axis] = 1u64 << bits[bit];
                    at
                };
                let tile = m16n8k16().c;
                let carried = |dim: Dim| -> Vec<Vec<u64>> {
                    let of = |basis: &Vec<u64>| {
                        let axis = usize::from(basis[0] == 0);
                        along(axis, basis[axis].ilog2() as usize)
                    };
                    tile.bases_of(dim).iter().map(of).collect()
                };
                let more: Vec<Vec<u64>> = rest
                    .iter()
                    .map(
                        |&at| {
                            if at < (m - 4) as usize { along(0, 4 + at) } else { along(1, 3 + at - (m - 4) as usize) }
                        },
                    )
                    .collect();
                let (of_warps, of_registers) = more.split_at(warps.min(more.len()));
                let registers = [carried(Dim::REGISTER), of_registers.to_vec()].concat();
                let bases =
                    [(Dim::REGISTER, registers), (Dim::LANE, carried(Dim::LANE)), (Dim::WARP, of_warps.to_vec())];
                LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 1 << m), (Dim::tensor(1), 1 << n)]).expect("small")
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn operand_layouts_derived_from_the_accumulator_multiply(c in accumulator(), depth in 4..7u32, broken in 0..5usize, by in 1..16u64) {
        let operands = m16n8k16();
        let solved = solve_mma_operands(&c, &operands, 1 << depth).expect("tiled");
        let (a, b) = (solved.a.expect("in registers"), solved.b.expect("in registers"));
        let tiling = check_mma(Some(&a), Some(&b), &c, &operands);
        prop_assert!(tiling.is_ok(), "{:?}", tiling);
        // For every accumulator element and k, the thread has both operand elements.
        let (ra, rb) = (a.columns_of(Dim::REGISTER), b.columns_of(Dim::REGISTER));
        let in_warp = |layout: &LinearLayout, warp: u64| {
            let own = layout.columns_of(Dim::WARP).iter().enumerate().filter(|(bit, _)| warp >> bit & 1 == 1);
            own.fold(0, |all, (_, column)| all ^ column)
        };
        for warp in 0..1u64 << c.in_bits(Dim::WARP) {
            let rows = |packed: u64, layout: &LinearLayout, axis| layout.outs().coordinate(packed, Dim::tensor(axis));
            prop_assert_eq!(rows(in_warp(&a, warp), &a, 0), rows(in_warp(&c, warp), &c, 0));
            prop_assert_eq!(rows(in_warp(&b, warp), &b, 1), rows(in_warp(&c, warp), &c, 1));
        }
        prop_assert_eq!(Subspace::span(ra.iter().copied()).dimension() as usize, ra.len());
        prop_assert_eq!(Subspace::span(rb.iter().copied()).dimension() as usize, rb.len());
        // A moved lane of operand B is detected.
        let at = b.in_bits(Dim::REGISTER) as usize + broken;
        let mut columns = b.columns().to_vec();
        columns[at] ^= by;
        let wrong = LinearLayout::from_columns(b.ins().clone(), b.outs().clone(), &columns).expect("small");
        prop_assert!(check_mma(Some(&a), Some(&wrong), &c, &operands).is_err());
    }
}

/// Generates a tensor with strides that ascend in any order of the axes; some axes have gaps between their elements, a
/// stride known only as a multiple, or stride zero.
fn global() -> impl Strategy<Value = GlobalTensor> {
    let axis = (1..64u64, 0..4u32).prop_map(|(size, kind)| (size.next_power_of_two(), kind));
    (prop::collection::vec(axis, 1..4), any::<prop::sample::Index>(), 0..5u32).prop_map(|(axes, first, alignment)| {
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.rotate_left(first.index(axes.len()));
        let mut strides = vec![AxisStride::Elements(0); axes.len()];
        let mut next = 1u64;
        for axis in order {
            let (size, kind) = axes[axis];
            strides[axis] = match kind {
                0 => AxisStride::Elements(0),
                1 => AxisStride::MultipleOf(next),
                2 => AxisStride::Elements(next + 8),
                _ => AxisStride::Elements(next),
            };
            next *= size * if kind == 2 { 16 } else { 1 };
        }
        let axes = axes.iter().zip(strides).enumerate();
        let axes = axes.map(|(axis, (&(size, _), stride))| (Dim::tensor(axis), size, stride)).collect();
        GlobalTensor::new(axes, 1 << alignment)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn coalesced_copies_cover_all_elements_with_contiguous_vectors(global in global(), warps in 0..3u32, bits in prop::sample::select(vec![4u32, 8, 16, 32])) {
        let target = a100();
        let threads = CopyThreadCounts { lanes: 32, warps: 1 << warps };
        let found = match coalesce_layout(&global, bits, threads, None, &target) {
            Ok(found) => found,
            Err(error) => {
                prop_assert!(bits < 8, "{}", error);
                return Ok(());
            }
        };
        prop_assert!(found.layout.is_surjective(), "{:?}", found);
        prop_assert_eq!((found.layout.in_bits(Dim::LANE), found.layout.in_bits(Dim::WARP)), (5, warps));
        // A vector is contiguous in memory, at a multiple of its length.
        let stride = |dim: Dim| global.axes.iter().find(|(own, ..)| *own == dim).map(|(_, _, stride)| *stride);
        let offset = |packed: u64| {
            found.layout.outs().unpack(packed).map(|(dim, at)| match stride(dim) {
                Some(AxisStride::Elements(stride)) => at * stride,
                Some(AxisStride::MultipleOf(stride)) => at * stride * 3,
                None => 0,
            }).sum::<u64>()
        };
        for element in 0..found.vector_elements {
            prop_assert_eq!(offset(found.layout.apply_packed(element)), element, "{:?}", found);
        }
        let others = found.layout.columns().iter().skip(found.vector_elements.ilog2() as usize);
        prop_assert!(others.clone().all(|&column| offset(column) % found.vector_elements == 0), "{:?}", found);
        prop_assert!(global.alignment * 8 >= found.vector_elements * u64::from(bits).min(8 * global.alignment));
        // No thread replicates elements while others remain in registers.
        let of = |dim: Dim| found.layout.columns_of(dim);
        let copies = of(Dim::LANE).iter().chain(of(Dim::WARP)).filter(|&&column| offset(column) == 0).count();
        let left = of(Dim::REGISTER).iter().skip(found.vector_elements.ilog2() as usize).filter(|&&column| offset(column) != 0).count();
        prop_assert!(copies == 0 || left == 0, "{:?}", found);
    }
}

fn work() -> impl Strategy<Value = StepWork> {
    let alternative = (any::<bool>(), any::<bool>());
    let counts = (0..4096u64, 0..64u64, alternative, (0..64u64, 0..16u64), (0..64u64, 0..8u64), 0..64u64);
    (counts, 0..64u64, (0..64u64, any::<bool>()), 1..32u32, 0..256u64, 0..4u64).prop_map(
        |(
            (
                global_bytes,
                global_accesses,
                (asynchronous, produced),
                (stored, global_lines),
                (loaded, spilled_registers),
                shared_accesses,
            ),
            shuffles,
            (matrix, pending),
            cycles,
            arithmetic,
            barriers,
        )| StepWork {
            global_bytes,
            global_lines,
            spilled_registers,
            global_accesses,
            address_cycles: 16 * global_accesses,
            asynchronous,
            produced: asynchronous && produced,
            wavefronts_stored: stored,
            wavefronts_loaded: loaded,
            shared_accesses,
            shuffles,
            matrix_instructions: matrix,
            matrix_cycles: f64::from(cycles),
            pending,
            arithmetic,
            barriers,
            ..StepWork::default()
        },
    )
}

fn pipelined(stages: u64) -> Pipelining {
    Pipelining { stages, is_filled: false, groups: 1, tile_groups: 1 }
}

fn block() -> impl Strategy<Value = ModelLaunch> {
    let sizes = (1..5000u64, (1..5u64, 0..2u64), 16..128u64, 0..100_000u64, prop::option::of(0..1u64 << 30));
    (sizes, prop::collection::vec(work(), 1..3), work(), 0..40u64, 1..5u64).prop_map(
        |(
            (blocks, (warps, producers), registers, shared_bytes, distinct_bytes),
            body,
            last,
            iteration_count,
            stages,
        )| {
            let body = body.into_iter().map(ModelStep::Work).collect();
            let steps =
                vec![ModelStep::Loop { iteration_count, pipelining: pipelined(stages), body }, ModelStep::Work(last)];
            ModelLaunch { blocks, warps, producers, lanes: 32, registers, shared_bytes, distinct_bytes, steps }
        },
    )
}

/// Increases the field number `what` of the work of an iteration by `by`, or makes its copies synchronous.
fn more(work: &mut StepWork, what: usize, by: u64) {
    match what {
        0 => work.global_bytes += by,
        1 => work.global_accesses += by,
        2 => work.wavefronts_stored += by,
        3 => work.wavefronts_loaded += by,
        4 => work.shared_accesses += by,
        5 => work.shuffles += by,
        6 => work.matrix_instructions += by,
        7 => work.matrix_cycles += by as f64,
        8 => work.arithmetic += by,
        9 => work.barriers += by,
        10 => work.spilled_registers += by,
        11 => work.global_lines += by,
        // Asynchronous copies become synchronous, issued by the same warps.
        _ => (work.asynchronous, work.produced) = (false, false),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn more_of_anything_never_takes_less(block in block(), what in 0..21usize, by in 1..100u64) {
        let target = a100();
        let before = predict_time(&block, &target).expect("it fits").cycles;
        prop_assert_eq!(predict_time(&block, &target).expect("it fits").cycles, before, "deterministic");
        let mut after = block.clone();
        match (what, &mut after.steps[..]) {
            (13, _) => after.blocks += by,
            (14, _) => after.registers += by.min(255 - after.registers),
            (15, _) => after.shared_bytes += (640 * by).min(166_000 - after.shared_bytes),
            (16, [ModelStep::Loop { iteration_count, .. }, ..]) => *iteration_count += by,
            (17, [ModelStep::Loop { pipelining, .. }, ..]) => pipelining.stages = (pipelining.stages - 1).max(1),
            (18, _) => after.warps += by % 4,
            (19, _) => after.producers += by % 4,
            (20, _) => after.distinct_bytes = after.distinct_bytes.map(|bytes| bytes + (by << 20)),
            (_, [ModelStep::Loop { body, .. }, ..]) => {
                if let Some(ModelStep::Work(work)) = body.first_mut() {
                    more(work, what, by);
                }
            }
            _ => {}
        }
        let after = predict_time(&after, &target).expect("it fits").cycles;
        // Summation order changes the last bits.
        prop_assert!(after >= before * (1.0 - 1e-12), "{} after {}", after, before);
    }

    #[test]
    fn slower_targets_predict_no_fewer_cycles(block in block(), what in 0..5usize) {
        let mut target = a100();
        let before = predict_time(&block, &target).expect("it fits").cycles;
        let stats = target.throughput.as_mut().expect("it has figures");
        match what {
            0 => stats.memory_latency *= 2.0,
            1 => stats.memory_bandwidth_gbps /= 2.0,
            2 => stats.issues_per_cycle /= 2.0,
            3 => stats.blocks_per_unit = 1,
            _ => target.costs.shared_load_wavefront.cycles *= 2.0,
        }
        prop_assert!(predict_time(&block, &target).expect("it fits").cycles >= before * (1.0 - 1e-12));
    }
}

/// Checks that for a single block, asynchronous MMAs add nothing to an iteration, and no iteration is shorter than they
/// are.
#[test]
fn asynchronous_mma_overlaps_with_an_iteration() {
    let target = a100();
    let latency = |instructions: u64, pending: bool| {
        let load = StepWork { wavefronts_loaded: 64, shared_accesses: 16, barriers: 1, ..StepWork::default() };
        let matrix = StepWork { matrix_instructions: instructions, matrix_cycles: 8.0, pending, ..StepWork::default() };
        let body = [load, matrix].map(ModelStep::Work).to_vec();
        let steps = vec![ModelStep::Loop { iteration_count: 32, pipelining: pipelined(2), body }];
        let block = ModelLaunch {
            blocks: 1,
            warps: 4,
            producers: 0,
            lanes: 32,
            registers: 128,
            shared_bytes: 16384,
            distinct_bytes: None,
            steps,
        };
        predict_time(&block, &target).expect("it fits").latency
    };
    // Four pipes for four warps: one instruction each takes its own cycles.
    for instructions in [16, 128, 1024] {
        let (waited, overlapped) = (latency(instructions, false), latency(instructions, true));
        let mma_cycles = 32.0 * 8.0 * instructions as f64;
        assert!(
            overlapped < waited && overlapped >= mma_cycles,
            "{instructions}: {overlapped} of {waited}, {mma_cycles} alone"
        );
    }
}

/// Checks that an asynchronous copy takes no longer than a synchronous one, also if MMAs take several times its latency:
/// the time in queues is hidden by the same MMAs.
#[test]
fn asynchronous_copies_are_not_slower_during_long_mmas() {
    let target = a100();
    let latency = |instructions: u64, asynchronous: bool| {
        let copy = StepWork { global_accesses: 1, address_cycles: 16, asynchronous, ..StepWork::default() };
        let work = StepWork { matrix_instructions: instructions, matrix_cycles: 30.0, pending: true, ..copy };
        let body = vec![ModelStep::Work(work)];
        let steps = vec![ModelStep::Loop { iteration_count: 2, pipelining: pipelined(2), body }];
        let block = ModelLaunch {
            blocks: 1,
            warps: 1,
            producers: 0,
            lanes: 32,
            registers: 128,
            shared_bytes: 16384,
            distinct_bytes: None,
            steps,
        };
        predict_time(&block, &target).expect("it fits").latency
    };
    for instructions in [1, 16, 43, 64, 256] {
        let [copied, waited] = [true, false].map(|asynchronous| latency(instructions, asynchronous));
        assert!(copied <= waited, "{instructions} MMAs: {copied} of {waited}");
    }
}

/// Checks that a producer warp saves a block barrier per iteration; if its registers reduce the number of resident
/// blocks, that effect dominates.
#[test]
fn producers_gain_where_there_is_room_for_them() {
    let target = a100();
    let cycles = |producers: u64, registers: u64| {
        let copy = StepWork { global_bytes: 8192, global_accesses: 1, asynchronous: true, ..StepWork::default() };
        let copy = StepWork { produced: producers > 0, ..copy };
        let matrix = StepWork { matrix_instructions: 32, matrix_cycles: 8.0, ..StepWork::default() };
        let barrier = StepWork { barriers: u64::from(producers == 0), ..StepWork::default() };
        let body = [barrier, copy, matrix].map(ModelStep::Work).to_vec();
        let steps = vec![ModelStep::Loop { iteration_count: 64, pipelining: pipelined(4), body }];
        let block = ModelLaunch {
            blocks: 1080,
            warps: 4,
            producers,
            lanes: 32,
            registers,
            shared_bytes: 32768,
            distinct_bytes: None,
            steps,
        };
        let found = predict_time(&block, &target).expect("it fits");
        (found.cycles, found.resident.blocks)
    };
    let [(with, room), (without, as_much)] = [cycles(1, 64), cycles(0, 64)];
    assert!(with < without && room == as_much, "{with} of {without}, {room} of {as_much} blocks");
    // Four warps of 250 registers allow two resident blocks, five warps for one.
    let [(with, fewer), (without, more)] = [cycles(1, 250), cycles(0, 250)];
    assert!(with > without && fewer < more, "{with} of {without}, {fewer} of {more} blocks");
}

/// Checks the bottleneck of a GEMM: a block of four warps computes a tile of 128x128 in 32 iterations, each of 32
/// elements of K, with the data of `stages` iterations in shared memory.
#[test]
fn a_gemm_is_bound_by_its_slowest_resource() {
    let target = a100();
    let predict_gemm = |wavefronts: u64, stages: u64| {
        let copy = StepWork {
            global_bytes: 4096,
            global_accesses: 8,
            asynchronous: true,
            wavefronts_stored: 32,
            ..StepWork::default()
        };
        let load = StepWork { wavefronts_loaded: wavefronts, shared_accesses: 16, barriers: 1, ..StepWork::default() };
        let matrix = StepWork { matrix_instructions: 128, matrix_cycles: 8.0, ..StepWork::default() };
        let body = [copy, load, matrix].map(ModelStep::Work).to_vec();
        let steps = vec![ModelStep::Loop { iteration_count: 32, pipelining: pipelined(stages), body }];
        let block = ModelLaunch {
            blocks: 1080,
            warps: 4,
            producers: 0,
            lanes: 32,
            registers: 128,
            shared_bytes: 16384 * stages,
            distinct_bytes: None,
            steps,
        };
        predict_time(&block, &target).expect("it fits")
    };
    assert_eq!(predict_gemm(64, 3).bound_by, "matrix units");
    assert!(predict_gemm(64, 3).cycles < predict_gemm(512, 3).cycles, "conflicts cost");
    assert!(predict_gemm(64, 3).latency < predict_gemm(64, 1).latency, "copies that run ahead are hidden");
    assert_eq!(predict_gemm(1024, 3).bound_by, "shared memory");
}

#[test]
fn unpredictable_blocks_give_a_reason() {
    let mut target = a100();
    let block = ModelLaunch {
        blocks: 1,
        warps: 4,
        producers: 0,
        lanes: 32,
        registers: 64,
        shared_bytes: 1 << 20,
        distinct_bytes: None,
        steps: vec![],
    };
    let error = predict_time(&block, &target).expect_err("too much memory");
    assert!(error.to_string().contains("1048576 bytes of shared memory, a compute unit of a100 has 167936"), "{error}");
    target.throughput = None;
    assert_eq!(predict_time(&block, &target), Err(ModelError::NoThroughput { target: "a100".to_owned() }));
}

/// Warp groups that alternate between tiles hide the work around their inner loops behind the inner loops of the others:
/// the loop takes no less than all inner loops, or than its share of the tiles of one group, and no more than all tiles
/// in sequence.
#[test]
fn alternating_warp_groups_hide_the_work_around_inner_loops() {
    let latency = |tile_groups: u64, tiles: u64, iterations: u64, arithmetic: u64| {
        let mma = StepWork { matrix_instructions: 64, matrix_cycles: 32.0, ..StepWork::default() };
        let around = ModelStep::Work(StepWork { arithmetic, ..StepWork::default() });
        let inner =
            ModelStep::Loop { iteration_count: iterations, pipelining: pipelined(3), body: vec![ModelStep::Work(mma)] };
        let pipelining = Pipelining { tile_groups, ..pipelined(1) };
        let steps = vec![ModelStep::Loop { iteration_count: tiles, pipelining, body: vec![inner, around] }];
        let launch = ModelLaunch {
            blocks: 132,
            warps: 4,
            producers: 8,
            lanes: 32,
            registers: 128,
            shared_bytes: 0,
            distinct_bytes: None,
            steps,
        };
        predict_time(&launch, &a100()).expect("it fits").latency
    };
    for tiles in 1..8 {
        for arithmetic in [0, 512, 8192, 65536] {
            let (one, alternating) = (latency(1, tiles, 16, arithmetic), latency(2, tiles, 16, arithmetic));
            let (inner, own) = (latency(1, tiles, 16, 0), latency(1, tiles.div_ceil(2), 16, arithmetic));
            assert!(inner.max(own) <= alternating && alternating <= one, "{tiles} {arithmetic}: {alternating} {one}");
            let gains = tiles > 1 && arithmetic > 0;
            assert_eq!(alternating < one, gains, "{tiles} {arithmetic}: {alternating} {one}");
        }
    }
}

/// Ping-pong hides work beside MMAs, but never more than it could: the iteration takes at least its MMAs and its work
/// within an exclusive section, and ping-pong never makes it slower.
#[test]
fn ping_pong_hides_a_part_of_the_other_work() {
    let mma = StepWork { matrix_instructions: 64, matrix_cycles: 32.0, is_exclusive: true, ..StepWork::default() };
    let latency = |groups: u64, arithmetic: u64| {
        let other = StepWork { arithmetic, ..StepWork::default() };
        let body = vec![ModelStep::Work(mma), ModelStep::Work(other)];
        let steps =
            vec![ModelStep::Loop { iteration_count: 64, pipelining: Pipelining { groups, ..pipelined(3) }, body }];
        let launch = ModelLaunch {
            blocks: 132,
            warps: 8,
            producers: 1,
            lanes: 32,
            registers: 168,
            shared_bytes: 0,
            distinct_bytes: None,
            steps,
        };
        predict_time(&launch, &a100()).expect("it fits").latency
    };
    let alone = latency(1, 0);
    assert_eq!(latency(2, 0), alone, "without other work there is nothing to hide");
    for arithmetic in [64, 512, 2048, 8192] {
        let [without, with] = [1, 2].map(|groups| latency(groups, arithmetic));
        assert!(alone <= with && with < without, "{arithmetic}: {alone} {with} {without}");
    }
}
