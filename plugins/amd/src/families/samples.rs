//! Typical layouts of this vendor's families, for conformance suites: those of the matrix
//! instructions with the largest K for elements of each width.

use std::cmp::Reverse;

use tilewright::layout::{Dim, FamilySpec, LinearLayout, Sample, SampleUse};
use tilewright::target::{Instruction, Operand};

use crate::instructions::rows;

pub(super) fn typical(architecture: &str, use_case: SampleUse) -> Vec<Sample> {
    let version = match architecture {
        "gfx908" => 1,
        "gfx90a" => 2,
        "gfx942" => 3,
        "gfx950" => 4,
        _ => return Vec::new(),
    };
    if use_case.lanes != 64 || !use_case.warps.is_power_of_two() {
        return Vec::new();
    }
    let fitting: Vec<_> = rows(architecture).iter().filter_map(|row| Product::of(row, use_case.element_bits)).collect();
    let sizes = [32, 16].into_iter();
    let of_size = |size| fitting.iter().filter(move |product| product.m == size);
    let largest = sizes.filter_map(|size| of_size(size).min_by_key(|product| Reverse(product.k)));
    largest.flat_map(|product| product.samples(version, use_case.warps)).collect()
}

/// A matrix instruction with one block, for elements of one width.
struct Product {
    name: String,
    m: i64,
    n: i64,
    k: i64,
    /// Neighbouring elements of K that a lane holds.
    width: i64,
    /// Width of an element of the result in bits.
    result_bits: u32,
}

impl Product {
    fn of(row: &Instruction, element_bits: u32) -> Option<Self> {
        let operand = |wanted: &str| {
            row.operands.iter().find_map(|operand| match operand {
                Operand::Register { role, bits, layout, .. } if role == wanted => Some((*bits, layout)),
                _ => None,
            })
        };
        let ((bits, a), (result_bits, d)) = (operand("a")?, operand("d")?);
        let size = |layout: &LinearLayout, axis| 1i64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        let width = 1 << a.in_bits(Dim::REGISTER);
        let fits = bits == element_bits && d.outs().len() == 2;
        fits.then(|| Self { name: row.name.clone(), m, n, k, width, result_bits })
    }

    fn samples(&self, version: i64, warps: u32) -> Vec<Sample> {
        let along_columns = 1i64 << (warps.trailing_zeros() / 2);
        let result = |transposed: bool| {
            FamilySpec::new("amd_mfma")
                .with("version", version)
                .with("instr_shape", [self.m, self.n, self.k])
                .with("transposed", transposed)
                .with("warps_per_cta", [i64::from(warps) / along_columns, along_columns])
                .with("element_bitwidth", i64::from(self.result_bits))
        };
        let operand = |index: i64| {
            let spec = FamilySpec::new("dot_operand").with("operand_index", index).with("k_width", self.width);
            spec.of(result(false))
        };
        let name = format!("mfma{}", self.m);
        vec![
            Sample::new(&name, result(false)).feeding(&self.name, "d"),
            Sample::new(&format!("{name}-a"), operand(0)).feeding(&self.name, "a"),
            Sample::new(&format!("{name}-b"), operand(1)).feeding(&self.name, "b"),
            Sample::new(&format!("{name}-transposed"), result(true)),
        ]
    }
}
