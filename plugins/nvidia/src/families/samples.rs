//! Typical layouts of this vendor's families, for conformance suites: those of the largest matrix
//! instruction for elements of each width.

use std::cmp::Reverse;

use tilewright::layout::{Dim, FamilySpec, LinearLayout, Sample, SampleUse};
use tilewright::target::{Instruction, InstructionKind, Operand};

use crate::instructions::rows;

pub(super) fn typical(architecture: &str, use_case: SampleUse) -> Vec<Sample> {
    if use_case.lanes != 32 || !use_case.warps.is_power_of_two() {
        return Vec::new();
    }
    let products = rows(architecture).into_iter().filter(|row| row.kind == InstructionKind::Matrix);
    let fitting = products.filter_map(|row| Product::of(row, use_case.element_bits));
    let Some(largest) = fitting.min_by_key(|product| Reverse(product.m * product.n * product.k)) else {
        return Vec::new();
    };
    let mut samples = largest.samples(use_case.warps);
    // Four warps make a group; f64 has no product of groups.
    if architecture.starts_with("sm_90") && use_case.warps >= 4 && use_case.element_bits <= 32 {
        samples.extend(of_groups(use_case));
    }
    samples
}

/// A matrix instruction for elements of one width.
struct Product {
    name: String,
    m: i64,
    n: i64,
    k: i64,
    /// Neighbouring elements of K that a lane holds.
    width: i64,
}

impl Product {
    fn of(row: Instruction, element_bits: u32) -> Option<Self> {
        let operand = |wanted: &str| {
            row.operands.iter().find_map(|operand| match operand {
                Operand::Register { role, bits, layout, .. } if role == wanted => Some((*bits, layout)),
                _ => None,
            })
        };
        let ((bits, a), (_, d)) = (operand("a")?, operand("d")?);
        let size = |layout: &LinearLayout, axis| 1i64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        let width = i64::from(32 / bits).max(1);
        (bits == element_bits).then(|| Self { name: row.name.clone(), m, n, k, width })
    }

    fn samples(&self, warps: u32) -> Vec<Sample> {
        let along_columns = 1i64 << (warps.trailing_zeros() / 2);
        let result = FamilySpec::new("nvidia_mma")
            .with("version", [2i64, 0])
            .with("warps_per_cta", [i64::from(warps) / along_columns, along_columns])
            .with("instr_shape", [self.m, self.n]);
        let operand = |index| dot_operand(index, self.width, &result);
        vec![
            Sample::new("mma", result.clone()).feeding(&self.name, "d"),
            Sample::new("mma-a", operand(0)).feeding(&self.name, "a"),
            Sample::new("mma-b", operand(1)).feeding(&self.name, "b"),
        ]
    }
}

fn of_groups(use_case: SampleUse) -> [Sample; 2] {
    let bits = i64::from(use_case.element_bits);
    let result = FamilySpec::new("nvidia_mma")
        .with("version", [3i64, 0])
        .with("warps_per_cta", [i64::from(use_case.warps), 1])
        .with("instr_shape", [16, 64, 256 / bits]);
    let operand = dot_operand(0, 32 / bits, &result);
    [Sample::new("wgmma", result), Sample::new("wgmma-a", operand)]
}

fn dot_operand(index: i64, width: i64, parent: &FamilySpec) -> FamilySpec {
    FamilySpec::new("dot_operand").with("operand_index", index).with("k_width", width).of(parent.clone())
}
