//! Tests of dots of elements narrower than a byte and of scaled elements, on the small test target: every cast of every
//! element, and every product of an element with a scale.

use crate::mma::{planned, proven};
use crate::possible_dots;
use tilewright_testkit::test_targets;

use possible_dots::planned_if_possible;
use proptest::prelude::*;
use test_targets::test_target;
use tilewright_emulator::{Argument, Emulator, GlobalMemory, RunLimits, SemanticsTable};
use tilewright_layout::{Dim, DimBases, LinearLayout};
use tilewright_plan::mma::{self, BlockScale, MmaPlan, MmaProblem};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{Completion, ElementType, Instruction, InstructionKind, InstructionOperand, Semantics};
use tilewright_verify::kernels::build_mma_kernel;
use tilewright_verify::{build_mma_plan_cases, check_all_emulated};

fn element_type(name: &str) -> ElementType {
    ElementType::from_name(name).unwrap_or_else(|| panic!("{name} is a type"))
}

fn scale(name: &str) -> Option<BlockScale> {
    (!name.is_empty()).then(|| BlockScale::from_name(name).unwrap_or_else(|| panic!("{name} is a type of scales")))
}

fn register(
    role: &str,
    element: &str,
    bits: u32,
    registers: DimBases,
    lanes: DimBases,
    sizes: [u64; 2],
) -> InstructionOperand {
    let outs = [(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])];
    let layout = LinearLayout::from_bases(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], &outs);
    InstructionOperand::Register {
        role: role.to_owned(),
        element: element.to_owned(),
        bits,
        layout: layout.expect("bases fit"),
    }
}

fn row(name: String, operands: Vec<InstructionOperand>) -> Instruction {
    let (kind, semantics, source) = (InstructionKind::Matrix, Semantics::Contract, "invented".to_owned());
    Instruction {
        name,
        kind,
        operands,
        cycles: Some(0.01),
        semantics,
        completion: Completion::Immediate,
        numerics: None,
        source,
    }
}

/// Returns a matrix instruction of M = N = K = 4 for eight lanes with two registers each. The upper bit of K is in
/// registers, the lower one in lanes.
fn mma_instruction([d, a, b]: [&str; 3]) -> Instruction {
    let accumulator = |role| {
        let lanes = vec![vec![1, 0], vec![2, 1], vec![0, 1]];
        register(role, d, element_type(d).bits(), vec![vec![0, 2]], lanes, [4, 4])
    };
    let bits = |name| element_type(name).stored_bits();
    let operands = vec![
        accumulator("d"),
        register("a", a, bits(a), vec![vec![0, 2]], vec![vec![1, 0], vec![2, 1], vec![0, 1]], [4, 4]),
        register("b", b, bits(b), vec![vec![2, 0]], vec![vec![1, 1], vec![0, 2], vec![1, 0]], [4, 4]),
        accumulator("c"),
    ];
    row(format!("multiply.{d}.{a}.{b}"), operands)
}

/// Returns an instruction of M = 4, N = 2, K = 64 with a scale for each 32 elements of K. Lanes 0 to 3 are the rows of
/// `a`, lanes 4 to 7 hold the other half of K; columns of `b` are two lanes apart.
fn scaling([a, b, s]: [&str; 3]) -> Instruction {
    let along = |count: u32, axis: usize, first: u32| -> DimBases {
        (first..first + count).map(|bit| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] }).collect()
    };
    let lanes_a = vec![vec![1, 0], vec![2, 0], vec![0, 32]];
    let lanes_b = vec![vec![16, 0], vec![0, 1], vec![32, 0]];
    let accumulator = |role| register(role, "f32", 32, vec![], vec![vec![1, 0], vec![2, 0], vec![0, 1]], [4, 2]);
    let bits = |name| element_type(name).stored_bits();
    let operands = vec![
        accumulator("d"),
        register("a", a, bits(a), along(5, 1, 0), lanes_a, [4, 64]),
        register("b", b, bits(b), along(4, 0, 0), lanes_b, [64, 2]),
        accumulator("c"),
        register("scale_a", s, 8, vec![], vec![vec![1, 0], vec![2, 0], vec![0, 1]], [4, 2]),
        register("scale_b", s, 8, vec![vec![0, 1]], vec![vec![0, 0], vec![1, 0], vec![0, 0]], [2, 2]),
    ];
    row(format!("scale.{a}.{b}.{s}"), operands)
}

fn problem(shape: [u64; 3], types: [&str; 3], scales: [&str; 2], warps: u32) -> MmaProblem {
    MmaProblem::new(shape, types.map(element_type), 8, warps).with_scales(scales.map(scale))
}

/// Executes a plan's kernel on these contents of memory, and returns the result.
fn result(plan: &MmaPlan, rows: &[Instruction], inputs: &[Vec<u8>]) -> Vec<f32> {
    let test_target = test_target();
    let kernel = build_mma_kernel(plan, false, PlanContext::new(&test_target).with_instructions(rows));
    let kernel = kernel.expect("it is lowered");
    let mut memory = GlobalMemory::new();
    let inputs: Vec<_> = inputs.iter().map(|bytes| Argument::Buffer(memory.allocate_with(bytes))).collect();
    let [m, n, _] = plan.problem.shape;
    let output = memory.allocate((m * n * 4) as usize);
    let arguments = [inputs, vec![Argument::Buffer(output)]].concat();
    let semantics = SemanticsTable::from_instructions(rows);
    let emulator = Emulator::new(&kernel, &test_target).expect("it fits").with_semantics(&semantics);
    emulator.run([1, 1, 1], &arguments, &mut memory, &RunLimits::default()).unwrap_or_else(|fault| panic!("{fault}"));
    let bytes = memory.read_all(output).expect("all is written");
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Returns the value of an element by the definition of its type.
fn value(element_type: ElementType, bits: u64) -> f64 {
    match element_type {
        ElementType::Float(format) => format.decode(bits),
        ElementType::Integer { bits: width, signed: true } => ((bits << (64 - width)) as i64 >> (64 - width)) as f64,
        ElementType::Integer { .. } => bits as f64,
    }
}

/// Returns rows of elements in memory: packed in bytes, or in as many bytes as an element has; `above` fills unused
/// bits.
fn memory(element_type: ElementType, lines: &[Vec<u64>], above: u8) -> Vec<u8> {
    let bits = element_type.stored_bits() as usize;
    let unused = if element_type.bits() < 8 { u64::from(above) << element_type.bits() & 0xff } else { 0 };
    let line = |elements: &Vec<u64>| -> Vec<u8> {
        if bits >= 8 {
            return elements.iter().flat_map(|bits_of| (bits_of | unused).to_le_bytes()[..bits / 8].to_vec()).collect();
        }
        let byte = |own: &[u64]| {
            let used = (0..).zip(own).fold(0, |byte, (index, element)| byte | element << (index * bits));
            (used | u64::from(above) << (own.len() * bits)) as u8
        };
        elements.chunks(8 / bits).map(byte).collect()
    };
    lines.iter().flat_map(line).collect()
}

fn one(element_type: ElementType) -> u64 {
    if let ElementType::Float(format) = element_type { format.encode_one() } else { 1 }
}

/// Returns the unit matrix of four rows; a product with it is the other matrix.
fn identity_matrix(element_type: ElementType) -> Vec<u8> {
    let line = |row: usize| (0..4).map(|column| if row == column { one(element_type) } else { 0 }).collect();
    memory(element_type, &(0..4).map(line).collect::<Vec<_>>(), 0)
}

#[test]
fn every_element_is_what_it_was_after_its_cast() {
    for (from, units) in [
        ("e2m1", ["f16", "bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1"].as_slice()),
        ("e2m3", &["f16", "bf16", "f32", "e4m3", "e2m3"]),
        ("e3m2", &["f16", "bf16", "f32", "e4m3", "e5m2", "e3m2"]),
        ("s4", &["f16", "bf16", "tf32"]),
        ("u4", &["f16", "bf16", "f32"]),
        ("s2", &["f16"]),
        ("u2", &["bf16"]),
        ("u1", &["f16"]),
    ] {
        let (element_type, count) = (element_type(from), 1u64 << element_type(from).bits());
        let elements: Vec<Vec<u64>> = (0..16).map(|row| (0..4).map(|k| (4 * row + k) % count).collect()).collect();
        let expected: Vec<f32> = elements.iter().flatten().map(|&bits| value(element_type, bits) as f32).collect();
        for unit in units {
            let rows = [mma_instruction(["f32", unit, unit])];
            let plan = planned(&problem([16, 4, 4], [from, unit, "f32"], ["", ""], 1), &rows);
            assert_eq!(plan.instruction(), Some(rows[0].name.as_str()), "{from} by {unit}");
            // Unused bits above an element are not read.
            for above in [0, 0xff, 0x55] {
                let inputs = [memory(element_type, &elements, above), identity_matrix(self::element_type(unit))];
                assert_eq!(result(&plan, &rows, &inputs), expected, "{from} by {unit}");
            }
        }
    }
}

#[test]
fn small_integers_stay_integers() {
    for (from, to) in [("s4", "s8"), ("u4", "s8"), ("s2", "s8"), ("u1", "u8"), ("s4", "s4")] {
        let rows = [mma_instruction(["s32", to, to])];
        let plan = planned(&problem([16, 8, 8], [from, to, "s32"], ["", ""], 1), &rows);
        assert_eq!(plan.instruction(), Some(rows[0].name.as_str()));
        proven(&plan, &rows);
    }
}

#[test]
fn every_scale_multiplies_every_element() {
    for (element, scales) in
        [("e2m1", "e8m0"), ("e3m2", "e8m0"), ("e2m1", "ue4m3"), ("e4m3", "ue4m3"), ("e5m2", "e8m0")]
    {
        for unit in ["f32", "bf16"] {
            let rows = [mma_instruction(["f32", unit, unit])];
            let element_type = element_type(element);
            let plan = planned(&problem([256, 4, 4], [element, unit, "f32"], [scales, ""], 4), &rows);
            assert_eq!(plan.instruction(), Some(rows[0].name.as_str()));
            for first in (0..1u64 << element_type.bits()).step_by(4) {
                let line: Vec<u64> = (first..first + 4).collect();
                let of_rows: Vec<u8> = (0..=255).collect();
                let inputs = [
                    memory(element_type, &vec![line.clone(); 256], 0),
                    identity_matrix(self::element_type(unit)),
                    of_rows,
                ];
                for (at, found) in result(&plan, &rows, &inputs).into_iter().enumerate() {
                    let scale = value(self::element_type(scales), at as u64 / 4);
                    let scaled = line.iter().map(|&bits| value(element_type, bits) * scale);
                    // Beyond the range of the atom's type, products round like that type.
                    let scaled = scaled.map(|exact| if unit == "bf16" { bf16(exact) } else { exact as f32 });
                    let expected: f32 = scaled.enumerate().map(|(k, x)| if k == at % 4 { x } else { 0.0 * x }).sum();
                    let same = found == expected || found.is_nan() && expected.is_nan();
                    assert!(same, "{element} x {scales} by {unit}, {line:x?} at {at}: {found}, expected {expected}");
                }
            }
        }
    }
}

/// Checks scales that are NaN: the result must be NaN. K has one element, so that no sum turns an infinity into NaN.
#[test]
fn a_scale_that_is_no_number_makes_none_of_what_it_scales() {
    for (scales, of_rows, expected) in [
        ("e8m0", [0xff, 0x7f, 0xfe, 0x00], [f32::NAN, 1.0, 2f32.powi(127), 2f32.powi(-127)]),
        ("ue4m3", [0x7f, 0x38, 0x7e, 0x01], [f32::NAN, 1.0, 448.0, 2f32.powi(-9)]),
    ] {
        let plan = planned(&problem([4, 1, 1], ["e2m1", "f32", "f32"], [scales, ""], 1), &[]);
        let ones = memory(element_type("e2m1"), &vec![vec![one(element_type("e2m1"))]; 4], 0);
        let found = result(&plan, &[], &[ones, 1f32.to_le_bytes().to_vec(), of_rows.to_vec()]);
        let same = |(found, expected): (&f32, &f32)| found == expected || found.is_nan() && expected.is_nan();
        assert!(found.iter().zip(&expected).all(same), "{scales}: {found:?}, expected {expected:?}");
    }
}

fn bf16(value: f64) -> f32 {
    half::bf16::from_f64(value).to_f32()
}

/// The tested types of `a`, `b` and the accumulator, with the types of the scales of `a` and `b`.
const PROBLEMS: [([&str; 3], [&str; 2]); 16] = [
    (["s4", "s4", "s32"], ["", ""]),
    (["u4", "s8", "s32"], ["", ""]),
    (["s4", "f16", "f32"], ["", ""]),
    (["f16", "u2", "f32"], ["", ""]),
    (["u1", "u1", "s32"], ["", ""]),
    (["e2m1", "bf16", "f32"], ["", ""]),
    (["e2m3", "e3m2", "f32"], ["", ""]),
    (["e2m1", "f16", "f32"], ["e8m0", ""]),
    (["bf16", "e2m1", "f32"], ["", "e8m0"]),
    (["e2m1", "e2m1", "f32"], ["e8m0", "e8m0"]),
    (["e4m3", "e5m2", "f32"], ["e8m0", "e8m0"]),
    (["e2m3", "e4m3", "f32"], ["", "e8m0"]),
    (["e2m1", "e2m1", "f32"], ["ue4m3", "ue4m3"]),
    (["e3m2", "bf16", "f32"], ["e8m0", ""]),
    (["e2m1", "e5m2", "f32"], ["ue4m3", "e8m0"]),
    (["e5m2", "e2m1", "f32"], ["", "e8m0"]),
];

fn rows() -> Vec<Instruction> {
    let plain = [
        ["f32", "f16", "f16"],
        ["f32", "bf16", "bf16"],
        ["f32", "tf32", "tf32"],
        ["s32", "s8", "s8"],
        ["s32", "s4", "s4"],
        ["f32", "e4m3", "e5m2"],
    ];
    let scaled = [["e4m3", "e5m2", "e8m0"], ["e2m1", "e2m1", "e8m0"], ["e2m3", "e3m2", "e8m0"]];
    plain.map(mma_instruction).into_iter().chain(scaled.map(scaling)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn every_planned_scaled_dot_is_correct(
        bits in [0u32..5, 0u32..5, 0u32..8],
        which in 0..PROBLEMS.len(),
        warp_bits in 0u32..3,
        with_rows: bool,
        width in proptest::option::of(0u32..4),
        k_permuted in [any::<bool>(), any::<bool>()],
    ) {
        let (types, scales) = PROBLEMS[which];
        let mut problem = problem(bits.map(|bits| 1 << bits), types, scales, 1 << warp_bits);
        problem.k_width = width.map(|width| 1 << width);
        problem.k_permuted = k_permuted;
        let (test_target, rows) = (test_target(), if with_rows { rows() } else { Vec::new() });
        let context = PlanContext::new(&test_target).with_instructions(&rows);
        let Some(plan) = planned_if_possible(&problem, context)? else { return Ok(()) };
        build_mma_plan_cases(&plan, context).and_then(|cases| check_all_emulated(&cases, context)).map_err(|error| TestCaseError::fail(format!("{problem:?}: {error}")))?;
    }
}

#[test]
fn a_row_that_scales_is_used_where_types_scales_and_blocks_fit() {
    let rows = rows();
    let by = |types, scales: [Option<BlockScale>; 2]| {
        let requested = MmaProblem::new([8, 8, 128], types, 8, 1).with_scales(scales);
        let plan = planned(&requested, &rows);
        proven(&plan, &rows);
        (plan.atom_name().to_owned(), plan.is_transposed())
    };
    let mx = scale("e8m0");
    let types = |a, b| [a, b, "f32"].map(element_type);
    assert_eq!(by(types("e4m3", "e5m2"), [mx, mx]), ("scale.e4m3.e5m2.e8m0".to_owned(), false));
    assert_eq!(by(types("e5m2", "e4m3"), [mx, mx]), ("scale.e4m3.e5m2.e8m0".to_owned(), true));
    assert_eq!(by(types("e2m1", "e2m1"), [mx, None]).0, "scale.e2m1.e2m1.e8m0", "without scales all are one");
    // Elements of a narrower type are cast exactly to the instruction's type.
    assert_eq!(by(types("e2m1", "e3m2"), [mx, mx]).0, "scale.e2m3.e3m2.e8m0");
    // Other scales, or other block sizes, do not fit: operands are scaled before the MMA.
    let short = Some(BlockScale { block: 16, ..mx.expect("a scale") });
    // The scaling takes nearly all of the time, so all instructions count as equally good, and the one of the fewest
    // registers wins.
    assert_eq!(by(types("e2m1", "e2m1"), [short, short]).0, "multiply.f32.tf32.tf32");
    assert_eq!(by(types("e2m1", "e2m1"), [scale("ue4m3"); 2]).0, "multiply.f32.tf32.tf32");
}

#[test]
fn scales_lie_where_their_elements_do() {
    let rows = [mma_instruction(["f32", "bf16", "bf16"])];
    let requested = problem([4, 4, 64], ["e2m1", "bf16", "f32"], ["e8m0", ""], 1).with_k_width(2);
    let plan = planned(&requested, &rows);
    assert_eq!(plan.chunk_elements(), 64);
    let scales = plan.scales[0].as_ref().expect("scales of a");
    // Rows stay; bits of K below 32 disappear.
    for dim in [Dim::REGISTER, Dim::LANE, Dim::WARP] {
        let of_element = plan.a.bases_of(dim).into_iter();
        let expected: DimBases = of_element.map(|basis| vec![basis[0], basis[1] / 32]).collect();
        assert_eq!(scales.bases_of(dim), expected, "{dim}");
    }
    assert!(plan.scales[1].is_none());
}

#[test]
fn refusals_say_why() {
    let test_target = test_target();
    let of = |types, scales| {
        let problem = problem([4, 4, 32], types, scales, 1);
        let plan = mma::plan_mma(&problem, PlanContext::new(&test_target));
        plan.map(|plan| plan.atom_name().to_owned()).expect_err("it is refused").to_string()
    };
    assert!(of(["f16", "f16", "f32"], ["e8m0", ""]).contains("floating-point elements of at most eight bits"));
    assert!(of(["s4", "f16", "f32"], ["e8m0", ""]).contains("operands of s4 with scales of e8m0"));
    let message = of(["e2m1", "e2m1", "f16"], ["e8m0", "e8m0"]);
    assert!(message.contains("cannot represent all products of e2m1 and scales"), "{message}");
}
