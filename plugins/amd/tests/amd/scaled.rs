//! MMAs of narrow and scaled operands as AMD's documents describe them: plans of dots are executed by instructions
//! whose operands are described here anew, element by element, instead of by the instruction table.
//!
//! Sources: AMD, CDNA 4 ISA reference (matrix instructions; formats selected by CBSZ and BLGP; block scales); AMD,
//! Introduction to Matrix Core Programming on CDNA3 and CDNA4, sections 5.4 and 5.5; for gfx1250 the block-scaled input
//! layouts of AMD's emulator (ROCm/rocm-systems pull request 10575).
#![allow(clippy::unwrap_used)]

use tilewright_amd::AmdTarget;
use tilewright_target::{Completion, ElementType};
use tilewright_vendor_testkit::kernels;
use tilewright_vendor_testkit::prelude::*;
use tilewright_verify::check_all_emulated;

use crate::targets::target;

/// The formats of operands: the element type's name in programs and in instructions, and its bits.
const FORMATS: [(&str, &str, u32); 5] =
    [("e4m3", "fp8", 8), ("e5m2", "bf8", 8), ("e2m3", "fp6", 6), ("e3m2", "bf6", 6), ("e2m1", "fp4", 4)];

/// A position in a tile, as (row or column of the result, element or block along K).
type Position = [u64; 2];

/// An instruction's shape as the documents describe it.
#[derive(Debug, Clone, Copy)]
struct MmaDescription {
    /// The mnemonic without the formats.
    name: &'static str,
    lanes: u64,
    /// Rows of A and columns of B.
    size: u64,
    /// Elements along K that share a scale.
    k: u64,
    /// Whether one lane holds all scales of a row; otherwise each lane group holds the scales of one block.
    scales_in_one_lane: bool,
    /// Adjacent elements of eight bits, and of fewer, in a lane.
    runs: [u64; 2],
}

const CDNA4: [MmaDescription; 2] = [
    MmaDescription {
        name: "v_mfma_scale_f32_16x16x128_f8f6f4",
        lanes: 64,
        size: 16,
        k: 128,
        scales_in_one_lane: false,
        runs: [16, 32],
    },
    MmaDescription {
        name: "v_mfma_scale_f32_32x32x64_f8f6f4",
        lanes: 64,
        size: 32,
        k: 64,
        scales_in_one_lane: false,
        runs: [16, 32],
    },
];

const GFX1250: MmaDescription = MmaDescription {
    name: "v_wmma_scale_f32_16x16x128_f8f6f4",
    lanes: 32,
    size: 16,
    k: 128,
    scales_in_one_lane: true,
    runs: [16, 32],
};

impl MmaDescription {
    /// Returns the element in a lane: lane groups hold runs of adjacent elements in turn.
    fn element(self, bits: u32, lane: u64, at: u64) -> Position {
        let (groups, run) = (self.lanes / self.size, self.runs[usize::from(bits < 8)]);
        [lane % self.size, at / run * run * groups + lane / self.size * run + at % run]
    }

    /// Returns the scale in a lane, as (row or column, block of 32 elements).
    fn scale(self, lane: u64, at: u64) -> Position {
        [lane % self.size, if self.scales_in_one_lane { at } else { lane / self.size }]
    }

    /// Returns the element of the result in a lane, as (row, column).
    fn result(self, lane: u64, at: u64) -> Position {
        let (group, column) = (lane / self.size, lane % self.size);
        // On gfx1250 a lane holds eight adjacent rows; on CDNA four, then those of the next pass of lane groups.
        let (height, groups) = (if self.scales_in_one_lane { 8 } else { 4 }, self.lanes / self.size);
        [at / height * height * groups + group * height + at % height, column]
    }

    /// Returns the name of the instruction with scales or without, for the formats of A and B.
    fn name(self, [a, b]: [&str; 2], scaled: bool) -> String {
        let mnemonic = if scaled { self.name.to_owned() } else { self.name.replace("_scale_", "_") };
        format!("{mnemonic}({a},{b})")
    }

    /// Returns the instruction with scales or without, for the formats of A and B.
    fn instruction(self, a: (&str, u32), b: (&str, u32), scaled: bool) -> Instruction {
        let per_lane = self.size * self.k / self.lanes;
        let operand = |role: &str, (element, bits): (&str, u32), layout| InstructionOperand::Register {
            role: role.to_owned(),
            element: element.to_owned(),
            bits,
            layout,
        };
        let [m, n] = [self.size, self.size];
        let result = self.layout(m * n / self.lanes, [m, n], |lane, at| self.result(lane, at));
        let of_a = self.layout(per_lane, [m, self.k], |lane, at| self.element(a.1, lane, at));
        let of_b = self.layout(per_lane, [self.k, n], |lane, at| {
            let [column, k] = self.element(b.1, lane, at);
            [k, column]
        });
        let blocks = self.k / 32;
        let count = if self.scales_in_one_lane { blocks } else { 1 };
        let scales = self.layout(count, [m, blocks], |lane, at| self.scale(lane, at));
        let mut operands = vec![
            operand("d", ("f32", 32), result.clone()),
            operand("a", a, of_a),
            operand("b", b, of_b),
            operand("c", ("f32", 32), result),
        ];
        if scaled {
            operands.extend(["scale_a", "scale_b"].map(|role| operand(role, ("e8m0", 8), scales.clone())));
        }
        Instruction {
            name: self.name([a.0, b.0], scaled),
            kind: InstructionKind::Matrix,
            operands,
            cycles: None,
            semantics: Semantics::Contract,
            completion: Completion::Immediate,
            numerics: None,
            source: String::new(),
        }
    }

    /// Returns the layout that a function describes element by element, which must be linear.
    fn layout(self, registers: u64, sizes: [u64; 2], position: impl Fn(u64, u64) -> Position) -> LinearLayout {
        let bases = |count: u64, at: &dyn Fn(u64) -> Position| -> DimBases {
            (0..count.trailing_zeros()).map(|bit| at(1 << bit).to_vec()).collect()
        };
        let of_registers = bases(registers, &|at| position(0, at));
        let of_lanes = bases(self.lanes, &|lane| position(lane, 0));
        let outs = [(Dim::tensor(0), sizes[0]), (Dim::tensor(1), sizes[1])];
        let layout = LinearLayout::from_bases(&[(Dim::REGISTER, of_registers), (Dim::LANE, of_lanes)], &outs).unwrap();
        for (lane, at) in (0..self.lanes).flat_map(|lane| (0..registers).map(move |at| (lane, at))) {
            let found = layout.apply_packed(at | lane << registers.trailing_zeros());
            let found = [0, 1].map(|axis| layout.outs().coordinate(found, Dim::tensor(axis)));
            assert_eq!(found, position(lane, at), "{}: lane {lane}, element {at}", self.name);
        }
        layout
    }
}

/// Returns all instructions of a shape.
fn instructions_of(shape: MmaDescription) -> Vec<Instruction> {
    let pairs = FORMATS.into_iter().flat_map(|(_, a, bits)| FORMATS.map(|(_, b, of_b)| ((a, bits), (b, of_b))));
    pairs.flat_map(|(a, b)| [true, false].map(|scaled| shape.instruction(a, b, scaled))).collect()
}

/// Plans a dot with one of the table's instructions, and executes its kernel by described instructions.
fn execute(
    target: &AmdTarget,
    shape: MmaDescription,
    types: [&str; 2],
    scaled: bool,
    rows: &[Instruction],
) -> Result<(), String> {
    let name = shape.name(types, scaled);
    let element_type = |of: &str| {
        let (named, ..) = FORMATS.iter().find(|(_, format, _)| *format == of).unwrap();
        ElementType::from_name(named).unwrap()
    };
    let element_types = [element_type(types[0]), element_type(types[1]), ElementType::from_name("f32").unwrap()];
    let scale = || scaled.then(|| BlockScale::from_name("e8m0").unwrap());
    let problem = MmaProblem::new([32, 32, 256], element_types, shape.lanes as u32, 1)
        .with_scales([scale(), scale()])
        .with_atom(name.clone());
    let plan = mma::plan_mma(&problem, build_plan_context(target)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let cases = build_mma_plan_cases(&plan, build_plan_context(target)).unwrap();
    // The plan may also use instructions of the target that move data.
    let moves = target.instructions().iter().filter(|row| row.mma_shape().is_none());
    let rows: Vec<Instruction> = rows.iter().chain(moves).cloned().collect();
    let by_description = PlanContext::new(target.description()).with_instructions(&rows);
    check_all_emulated(&cases, by_description).map(|_| ()).map_err(|failure| format!("{name}: {failure}"))
}

/// Executes dots of all pairs of formats, with scales and without.
fn all_are_right(target: &AmdTarget, shape: MmaDescription, formats: &[&str]) {
    let instructions = instructions_of(shape);
    for (&a, &b) in formats.iter().flat_map(|a| formats.iter().map(move |b| (a, b))) {
        for scaled in [true, false] {
            execute(target, shape, [a, b], scaled, &instructions).unwrap_or_else(|why| panic!("{why}"));
        }
    }
}

#[test]
fn dots_of_all_narrow_types_are_right_by_the_documents() {
    let gfx950 = target("mi355x");
    CDNA4.into_iter().for_each(|shape| all_are_right(&gfx950, shape, &["fp8", "bf8", "fp6", "bf6", "fp4"]));
}

#[test]
fn dots_of_gfx1250_are_right_by_the_documents() {
    let gfx1250 = AmdTarget::new(kernels::build_fake_target("gfx1250", &[32])).unwrap();
    all_are_right(&gfx1250, GFX1250, &["fp8", "bf8", "fp4"]);
}

/// Checks that the test notices wrong positions of elements: scales are then applied to other elements, or elements of
/// A and B with different K are multiplied.
#[test]
fn other_places_of_elements_give_wrong_results() {
    let (gfx950, [shape, _]) = (target("mi355x"), CDNA4);
    let adjacent = instructions_of(MmaDescription { runs: [32, 32], ..shape });
    for (types, scaled) in [(["fp8", "fp8"], true), (["fp8", "fp4"], true), (["fp6", "bf8"], false)] {
        assert!(execute(&gfx950, shape, types, scaled, &adjacent).is_err(), "{types:?}");
    }
    execute(&gfx950, shape, ["fp4", "fp6"], true, &adjacent).unwrap();
    // Without scales, A and B of the same width may have any common order of K.
    execute(&gfx950, shape, ["fp8", "bf8"], false, &adjacent).unwrap();
}
