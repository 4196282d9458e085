//! Tests of dots of whole tiles on the small test target, whose matrix instruction has lanes that move along two axes
//! at once. Every plan's kernel is executed and every element compared.

use crate::possible_dots;
use tilewright_testkit::test_targets;

use possible_dots::planned_if_possible;
use proptest::prelude::*;
use test_targets::test_target;
use tilewright_layout::{Dim, DimBases, LinearLayout};
use tilewright_plan::mma;
use tilewright_plan::mma::{CandidateSpace, MmaPlan, MmaProblem, WarpPartition};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{Completion, ElementType, Instruction, InstructionKind, InstructionOperand, Semantics};
use tilewright_verify::{build_mma_plan_cases, check_all_emulated};

fn element_type(name: &str) -> ElementType {
    ElementType::from_name(name).unwrap_or_else(|| panic!("{name} is a type"))
}

fn operand(role: &str, element: &str, registers: DimBases, lanes: DimBases) -> InstructionOperand {
    let outs = [(Dim::tensor(0), 4), (Dim::tensor(1), 4)];
    let layout = LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &outs);
    let layout = layout.expect("bases fit");
    InstructionOperand::Register {
        role: role.to_owned(),
        element: element.to_owned(),
        bits: element_type(element).bits(),
        layout,
    }
}

/// Returns a matrix instruction of M = N = K = 4 for eight lanes with two registers each. The upper bit of K is in
/// registers of both operands, the lower one in lanes; some lanes move along M or N too.
fn row(name: &str, cycles: f64, [d, a, b]: [&str; 3]) -> Instruction {
    let accumulator = |role| operand(role, d, vec![vec![0, 2]], vec![vec![1, 0], vec![2, 1], vec![0, 1]]);
    let operands = vec![
        accumulator("d"),
        accumulator("c"),
        operand("b", b, vec![vec![2, 0]], vec![vec![1, 1], vec![0, 2], vec![1, 0]]),
        operand("a", a, vec![vec![0, 2]], vec![vec![1, 0], vec![2, 1], vec![0, 1]]),
    ];
    let (kind, semantics, source) = (InstructionKind::Matrix, Semantics::Contract, "invented".to_owned());
    Instruction {
        name: name.to_owned(),
        kind,
        operands,
        cycles: Some(cycles),
        semantics,
        completion: Completion::Immediate,
        numerics: None,
        source,
    }
}

fn rows() -> Vec<Instruction> {
    let types = [["f32", "f16", "f16"], ["s32", "s8", "u8"], ["f32", "e4m3", "e5m2"], ["f64", "f64", "f64"]];
    types.map(|types| row(&format!("multiply.{}", types.join(".")), 1.0, types)).into()
}

fn problem(shape: [u64; 3], types: [&str; 3], warps: u32) -> MmaProblem {
    MmaProblem::new(shape, types.map(element_type), 8, warps)
}

pub fn planned(problem: &MmaProblem, rows: &[Instruction]) -> MmaPlan {
    let test_target = test_target();
    mma::plan_mma(problem, PlanContext::new(&test_target).with_instructions(rows))
        .unwrap_or_else(|error| panic!("{error}"))
}

pub fn proven(plan: &MmaPlan, rows: &[Instruction]) {
    let test_target = test_target();
    let context = PlanContext::new(&test_target).with_instructions(rows);
    build_mma_plan_cases(plan, context)
        .and_then(|cases| check_all_emulated(&cases, context))
        .unwrap_or_else(|error| panic!("{:?}: {error}", plan.problem));
}

/// The tested types of `a`, `b` and the accumulator: those of an instruction, types convertible to those by a cast, and
/// types without an instruction.
const TYPES: [[&str; 3]; 14] = [
    ["f16", "f16", "f32"],
    ["s8", "u8", "s32"],
    ["u8", "s8", "s32"],
    ["e4m3", "e5m2", "f32"],
    ["f64", "f64", "f64"],
    ["s8", "f16", "f32"],
    ["e5m2", "s8", "f32"],
    ["f16", "fp8_fnuz", "f32"],
    ["bf8_fnuz", "f16", "f32"],
    ["s32", "f16", "f64"],
    ["bf16", "s16", "f32"],
    ["f16", "f16", "f16"],
    ["s64", "e4m3", "f64"],
    ["u16", "s8", "s32"],
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_planned_dot_is_correct(
        bits in [0u32..6, 0u32..6, 0u32..7],
        types in 0..TYPES.len(),
        warp_bits in 0u32..3,
        chained: bool,
        width in proptest::option::of(0u32..3),
    ) {
        let mut problem = problem(bits.map(|bits| 1 << bits), TYPES[types], 1 << warp_bits);
        problem.chained = chained;
        let (test_target, rows) = (test_target(), rows());
        let context = PlanContext::new(&test_target).with_instructions(&rows);
        problem.k_width = width.map(|width| 1 << width);
        let Some(plan) = planned_if_possible(&problem, context)? else { return Ok(()) };
        let required = problem.k_width.unwrap_or(plan.k_width());
        prop_assert_eq!(plan.k_width(), required);
        prop_assert!(!chained || plan.warp_partition()[1] == 1);
        build_mma_plan_cases(&plan, context).and_then(|cases| check_all_emulated(&cases, context)).map_err(|error| TestCaseError::fail(format!("{problem:?}: {error}")))?;
    }
}

#[test]
fn one_element_is_a_dot() {
    for types in TYPES {
        let plan = planned(&problem([1, 1, 1], types, 1), &rows());
        proven(&plan, &rows());
    }
}

#[test]
fn both_operands_are_read_in_one_k_permutation() {
    let mut problem = problem([4, 4, 8], ["f16", "f16", "f32"], 1);
    let rows = rows();
    // K in the order of the MMA atom: bit 1 of K is in a register of the atom, the repetition follows.
    problem.k_width = Some(1);
    let plain = planned(&problem, &rows);
    let registers = |plan: &MmaPlan| [plan.a.bases_of(Dim::REGISTER), plan.b.bases_of(Dim::REGISTER)];
    assert_eq!(registers(&plain), [vec![vec![0, 2], vec![0, 4]], vec![vec![2, 0], vec![4, 0]]]);
    // Four consecutive elements of K in a lane: both register bits come first, then the lane bit; lanes that moved
    // along K still do.
    problem.k_width = Some(4);
    let wide = planned(&problem, &rows);
    assert_eq!(registers(&wide), [vec![vec![0, 1], vec![0, 2]], vec![vec![1, 0], vec![2, 0]]]);
    assert_eq!(wide.a.bases_of(Dim::LANE), [[1, 0], [2, 4], [0, 4]]);
    assert_eq!(wide.b.bases_of(Dim::LANE), [[4, 1], [0, 2], [4, 0]]);
    proven(&plain, &rows);
    proven(&wide, &rows);
}

#[test]
fn a_tile_larger_than_the_matrices_holds_copies_and_zeros() {
    let rows = rows();
    let plan = planned(&problem([2, 4, 2], ["f16", "f16", "f32"], 1).with_k_width(2), &rows);
    assert_eq!(plan.instruction(), Some("multiply.f32.f16.f16"));
    // Rows 2 and 3 replicate 0 and 1. The atom has K = 4, so the lanes' bit of K is beyond the matrices.
    assert_eq!(plan.a.bases_of(Dim::REGISTER), [[0, 1]]);
    assert_eq!(plan.a.bases_of(Dim::LANE), [[1, 0], [0, 0], [0, 0]]);
    proven(&plan, &rows);
}

#[test]
fn a_and_b_are_swapped_if_only_that_fits() {
    let plan = planned(&problem([4, 4, 4], ["u8", "s8", "s32"], 1), &rows());
    assert_eq!((plan.instruction(), plan.is_transposed()), (Some("multiply.s32.s8.u8"), true));
    proven(&plan, &rows());
}

#[test]
fn a_and_b_are_swapped_if_that_saves_a_conversion() {
    let straight = planned(&problem([8, 8, 8], ["f16", "f16", "f32"], 1), &rows());
    assert!(!straight.is_transposed(), "as cheap, and not transposed");
    let turned = straight.c.rename_out(Dim::tensor(0), Dim::named("x")).and_then(|layout| {
        layout.rename_out(Dim::tensor(1), Dim::tensor(0))?.rename_out(Dim::named("x"), Dim::tensor(1))
    });
    let required =
        turned.and_then(|layout| layout.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])).expect("it turns");
    let wish = straight.problem.clone().with_result_layout(required);
    let plan = planned(&wish, &rows());
    assert!(plan.is_transposed());
    assert_eq!(plan.cost.conversion_cycles, 0.0, "registers are renamed at most");
    proven(&plan, &rows());
}

#[test]
fn the_cheapest_atom_wins() {
    let rows = [row("slow", 1000.0, ["f32", "f16", "f16"]), row("fast", 1.0, ["f32", "f16", "f16"])];
    let requested = problem([16, 16, 16], ["f16", "f16", "f32"], 1);
    assert_eq!(planned(&requested, &rows).instruction(), Some("fast"));
    assert_eq!(planned(&requested, &rows[..1]).instruction(), None, "multiply-adds are cheaper than the slow one");
    let test_target = test_target();
    let context = PlanContext::new(&test_target).with_instructions(&rows);
    let (candidates, refused) = mma::mma_candidates(&requested, context).expect("it can be weighed");
    assert!(candidates.windows(2).all(|pair| pair[0].cost.cycles() <= pair[1].cost.cycles()));
    assert!(candidates.iter().any(|candidate| candidate.atom == "slow"));
    assert!(refused.is_empty(), "{refused:?}");
}

/// Checks that the problem of an alternative is planned as that alternative, and that every alternative is correct.
#[test]
fn each_candidate_is_planned_alike_and_multiplies() {
    let (test_target, rows) = (test_target(), rows());
    let context = PlanContext::new(&test_target).with_instructions(&rows);
    for types in [["f16", "f16", "f32"], ["f32", "f32", "f32"]] {
        for shape in [[8, 8, 8], [16, 8, 4]] {
            let problem = problem(shape, types, 4);
            let best = planned(&problem, &rows);
            let space = CandidateSpace::RegisterLayouts { best: &best, most: 8 };
            let (candidates, _) = mma::dot_candidates(&problem, &space, context).expect("sizes are of layouts");
            assert!(candidates.len() > 1, "there are several warp partitions");
            for alternative in candidates.into_iter().map(|candidate| candidate.problem) {
                let plan = planned(&alternative, &rows);
                assert_eq!(plan.to_explicit_problem(), alternative);
                let shared = alternative.warp_partition.expect("an alternative has a warp partition");
                assert_eq!((plan.warp_partition(), plan.is_transposed()), (shared.warps, shared.swap_ab));
                proven(&plan, &rows);
            }
        }
    }
}

/// Checks that an instruction has one candidate of each partition of four warps and each orientation that it has, and
/// that each is planned as stated and multiplies.
#[test]
fn instructions_have_a_candidate_of_each_warp_partition() {
    let (test_target, rows) = (test_target(), rows());
    let context = PlanContext::new(&test_target).with_instructions(&rows);
    let problem = problem([16, 8, 8], ["f16", "f16", "f32"], 4);
    let space = CandidateSpace::Instructions {
        k_widths: Vec::new(),
        any_k_width: true,
        n_widths: vec![None],
        keeps_rows: false,
        partitions: true,
    };
    let (candidates, _) = mma::dot_candidates(&problem, &space, context).expect("sizes are of layouts");
    let atom = candidates[0].problem.atom.clone();
    let of_first: Vec<_> = candidates.into_iter().filter(|candidate| candidate.problem.atom == atom).collect();
    for warps in [[4, 1], [2, 2], [1, 4]] {
        let alike: Vec<_> = of_first.iter().filter(|found| found.warp_partition.warps == warps).collect();
        let orientations: Vec<bool> = alike.iter().map(|found| found.warp_partition.swap_ab).collect();
        assert!(matches!(orientations[..], [_] | [true, false] | [false, true]), "{warps:?}: {orientations:?}");
        for candidate in alike {
            let plan = planned(&candidate.problem, &rows);
            let stated = candidate.warp_partition;
            assert_eq!((plan.warp_partition(), plan.is_transposed()), (stated.warps, stated.swap_ab));
            proven(&plan, &rows);
        }
    }
}

/// Checks that the columns of each warp are consecutive if that is requested, that the plan multiplies, and that it is
/// rejected if a warp has one tile of columns.
#[test]
fn the_columns_of_a_warp_may_be_consecutive() {
    let rows = rows();
    let partition = WarpPartition { swap_ab: false, warps: [2, 2], lanes: None };
    let solve = |columns: u64| {
        let problem = problem([16, columns, 8], ["f16", "f16", "f32"], 4).with_warp_partition(Some(partition));
        let problem = problem.with_atom(Some(rows[0].name.clone())).with_contiguous_warp_columns(true);
        mma::plan_mma(&problem, PlanContext::new(&test_target()).with_instructions(&rows))
    };
    let plan = solve(16).expect("two tiles of columns for each warp");
    let columns_of = |dim| plan.c.bases_of(dim).iter().map(|basis| basis[1]).filter(|&column| column != 0).collect();
    let (within, between): (Vec<u64>, Vec<u64>) = (columns_of(Dim::REGISTER), columns_of(Dim::WARP));
    assert_eq!((between, within.iter().max()), (vec![8], Some(&4)), "{:?}", plan.c);
    assert!(plan.to_explicit_problem().contiguous_warp_columns);
    proven(&plan, &rows);
    assert!(solve(8).expect_err("one tile of columns").to_string().contains("along N"));
}

#[test]
fn impossible_warp_partitions_are_rejected() {
    let rows = rows();
    let requested = |warps, swap_ab, lanes| {
        let warp_partition = Some(WarpPartition { swap_ab, warps, lanes });
        let problem = problem([8, 8, 8], ["f32", "f32", "f32"], 4).with_warp_partition(warp_partition);
        mma::plan_mma(&problem, PlanContext::new(&test_target()).with_instructions(&rows))
            .expect_err("no block has it")
            .to_string()
    };
    assert!(requested([2, 1], false, None).contains("2 warps along M and 1 along N"));
    assert!(requested([u64::MAX, 4], false, None).contains("the block has 4"));
    assert!(requested([4, 1], false, Some(3)).contains("3 lanes along M"));
    assert!(requested([4, 1], true, Some(4)).contains("cannot swap A and B"));
}

/// Checks a dot whose accumulators exceed the registers of a lane: it has a plan only if it may spill. The plan counts
/// the registers that the lane lacks, and multiplies right.
#[test]
fn dots_beyond_a_lanes_registers_may_spill() {
    let (test_target, rows) = (test_target(), rows());
    let limit = u64::from(test_target.limits.registers_per_lane);
    let context = PlanContext::new(&test_target).with_instructions(&rows);
    // The fewest powers of two of 4 x 4 tiles whose accumulators of two registers a lane cannot hold.
    let columns = (limit.next_power_of_two() * 2 * 8 / 4 / 2).max(4);
    for types in [["f16", "f16", "f32"], ["f64", "f64", "f64"]] {
        let wide = problem([4, columns, 8], types, 1);
        assert!(mma::plan_mma(&wide, context).is_err(), "{types:?}");
        let plan = planned(&wide.with_may_spill(true), &rows);
        let accumulators = 4 * columns / 8 * u64::from(element_type(types[2]).bits()) / 32;
        assert!(plan.spilled_registers() >= accumulators.saturating_sub(limit).max(1), "{types:?}");
        assert_eq!(plan.spilled_registers(), plan.cost.registers - limit, "{types:?}");
        assert!(plan.cost.spill_cycles > 0.0, "{types:?}");
        proven(&plan, &rows);
    }
    let narrow = problem([4, 4, 8], ["f16", "f16", "f32"], 1).with_may_spill(true);
    assert_eq!(planned(&narrow, &rows).spilled_registers(), 0);
}

#[test]
fn refusals_say_why() {
    let (test_target, rows) = (test_target(), rows());
    let context = PlanContext::new(&test_target).with_instructions(&rows);
    let refused = |problem: &MmaProblem| match mma::plan_mma(problem, context) {
        Err(error) => error.to_string(),
        Ok(plan) => panic!("{problem:?}: {}", plan.atom_name()),
    };
    let message = refused(&problem([4, 4, 4], ["s32", "f16", "f32"], 1));
    assert!(message.contains("multiply-adds: it takes f32 for a, which lacks some values of s32"), "{message}");
    let known = rows[0].name.clone();
    let message = refused(&problem([16, 8, 8], ["f16", "f16", "f32"], 1).with_atom(Some(format!("{known}x"))));
    assert!(message.contains("has no such instruction; did you mean `") && message.contains(&known), "{message}");
    let narrow = problem([4, 4, 8], ["f16", "f16", "f32"], 1).with_k_width(64);
    assert!(refused(&narrow).contains("a lane has at most 4 elements of K, not 64"));
    let message = refused(&problem([256, 256, 4], ["f64", "f64", "f64"], 1));
    let needed =
        message.split("would need ").skip(1).map(|rest| rest.split(' ').next().and_then(|count| count.parse().ok()));
    let needed: Vec<u64> = needed.map(|count| count.expect("a number of registers")).collect();
    assert!(needed.len() > 1 && needed.is_sorted(), "the nearest candidate is first: {message}");
    assert!(needed[0] >= 256 * 256 * 2 / 8, "a lane holds its accumulators: {message}");
    assert!(
        message.starts_with("no candidate multiplies: ") && message.contains("a smaller tile take fewer"),
        "{message}"
    );
    assert!(refused(&problem([3, 4, 4], ["f16", "f16", "f32"], 1)).contains("3 is not a tile size"));
    assert!(refused(&problem([4, 4, 4], ["f16", "f16", "f32"], 1).with_lanes(16)).contains("16"));
    assert!(refused(&problem([4, 4, 4], ["f16", "f16", "f32"], 3)).contains("3 warps"));
}
