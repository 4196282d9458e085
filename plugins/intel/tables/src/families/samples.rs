//! Sample layouts of this vendor's families for conformance suites: for each element width, layouts of the MMA
//! instruction with the most rows, and of the 2-D block loads of its operands.

use std::cmp::Reverse;

use tilewright_layout::{Dim, FamilySpec, LinearLayout, SampleLayout, SampleLayoutRequest};
use tilewright_target::Instruction;

use crate::instructions::instructions_of;

pub(super) fn typical(architecture: &str, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
    if !use_case.warps.is_power_of_two() {
        return Vec::new();
    }
    let all = instructions_of(architecture);
    let fitting = all.iter().filter_map(|row| SampleMma::of(row, use_case));
    let largest = fitting.min_by_key(|mma| Reverse(mma.m));
    largest.map(|mma| mma.samples(use_case)).unwrap_or_default()
}

/// The sizes of an MMA instruction, for the samples of one element width.
struct SampleMma {
    name: String,
    m: i64,
    n: i64,
    /// Whether a sub-group of the use case has as many lanes as the instruction, so that operands can be loaded for it.
    /// If false, the sub-group has twice as many lanes: it can hold the operands, but not execute the instruction.
    operand_loads: bool,
}

impl SampleMma {
    fn of(row: &Instruction, use_case: SampleLayoutRequest) -> Option<Self> {
        let operand = |required: &str| row.find_register_operand(required).map(|(_, bits, layout)| (bits, layout));
        let ((bits, _), (_, d)) = (operand("a")?, operand("d")?);
        let size = |layout: &LinearLayout, axis| 1i64 << layout.out_bits(Dim::tensor(axis));
        let lanes = 1 << d.in_bits(Dim::LANE);
        let operand_loads = lanes == use_case.lanes;
        let fits = bits == use_case.element_bits && (operand_loads || lanes == 16 && 2 * lanes == use_case.lanes);
        fits.then(|| Self { name: row.name.clone(), m: size(d, 0), n: size(d, 1), operand_loads })
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        let along_columns = 1i64 << (use_case.warps.trailing_zeros() / 2);
        let along_rows = i64::from(use_case.warps) / along_columns;
        let dpas = FamilySpec::new("dpas")
            .with_parameter("repeat_count", self.m)
            .with_parameter("systolic_depth", 8i64)
            .with_parameter("execution_size", self.n)
            .with_parameter("ops_per_channel", 32 / i64::from(use_case.element_bits))
            .with_parameter("threads_per_warp", i64::from(use_case.lanes))
            .with_parameter("warps_per_cta", [along_rows, along_columns]);
        let single = dpas.clone().with_parameter("rep_cluster", [1i64, 1]);
        let clustered = dpas.with_parameter("rep_cluster", [2i64, 2]);
        let operand = |index: i64, parent: &FamilySpec| {
            FamilySpec::new("dot_operand").with_parameter("operand_index", index).with_parent(parent.clone())
        };
        let for_operand =
            |sample: SampleLayout, role| if self.operand_loads { sample.for_operand(&self.name, role) } else { sample };
        let mut samples = vec![
            for_operand(SampleLayout::new("dpas", single.clone()), "d"),
            for_operand(SampleLayout::new("dpas-a", operand(0, &single)), "a"),
            for_operand(SampleLayout::new("dpas-b", operand(1, &single)), "b"),
            SampleLayout::new("dpas-cluster", clustered.clone()),
            SampleLayout::new("dpas-cluster-a", operand(0, &clustered)),
        ];
        // Architectures whose instructions have eight columns lack 2-D block loads.
        if self.n == 16 {
            let block = block_read(use_case.lanes, [along_rows, along_columns]);
            samples.extend([
                SampleLayout::new("block-a", operand(0, &block)),
                SampleLayout::new("block-b", operand(1, &block)),
            ]);
        }
        samples
    }
}

/// Returns the parameters of a 2-D block load of sixteen rows, each with one element for each lane.
fn block_read(lanes: u32, warps: [i64; 2]) -> FamilySpec {
    FamilySpec::new("subgroup_2d_block")
        .with_parameter("instr_shape", [16i64, i64::from(lanes)])
        .with_parameter("num_blocks", 1i64)
        .with_parameter("order", [1i64, 0])
        .with_parameter("threads_per_warp", i64::from(lanes))
        .with_parameter("warps_per_cta", warps)
}
