//! Typical layouts of this vendor's families, for conformance suites: those of the largest matrix
//! instruction for elements of each width.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, FamilyAttribute, FamilySpec, LinearLayout, Sample, SampleUse};
use tilewright_target::{Instruction, InstructionKind, Operand};

use crate::instructions::rows;

pub(super) fn typical(architecture: &str, products: &Products, use_case: SampleUse) -> Vec<Sample> {
    if use_case.lanes != 32 || !use_case.warps.is_power_of_two() {
        return Vec::new();
    }
    let mut samples = products.samples(use_case);
    // Four warps make a group; f64 has no product of groups.
    let groups = use_case.warps >= 4 && use_case.element_bits <= 32;
    match generation(architecture) {
        90 if groups => samples.extend(of_groups(use_case)),
        100 if groups => samples.extend(through_tensor_memory(use_case)),
        _ => {}
    }
    match generation(architecture) {
        100 if use_case.element_bits <= 32 => samples.extend(tensor_memory(use_case)),
        120 if use_case.element_bits == 8 => samples.extend(scales(use_case)),
        _ => {}
    }
    if generation(architecture) >= 90 {
        samples.push(Sample::new("nvmma-shared", bulk_copied(use_case.element_bits)));
    }
    samples
}

/// The compute capability of an architecture without its last digit, `100` for `sm_103a`: what
/// there is in all of a generation. Zero for what is none.
fn generation(architecture: &str) -> u32 {
    let digits = architecture.strip_prefix("sm_").unwrap_or("").trim_end_matches(|c: char| c.is_ascii_lowercase());
    digits.parse::<u32>().map_or(0, |capability| capability / 10 * 10)
}

/// The largest matrix instruction for elements of each width.
#[derive(Debug, Clone, Default)]
pub(super) struct Products(BTreeMap<u32, Product>);

impl Products {
    /// Those of an architecture; of several of one size the first of the table.
    pub(super) fn of(architecture: &str) -> Self {
        let mut largest: BTreeMap<u32, Product> = BTreeMap::new();
        let matrix = rows(architecture).into_iter().filter(|row| row.kind == InstructionKind::Matrix);
        for (bits, product) in matrix.filter_map(Product::of) {
            if largest.get(&bits).is_none_or(|known| known.size() < product.size()) {
                largest.insert(bits, product);
            }
        }
        Self(largest)
    }

    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        let product = self.0.get(&use_case.element_bits);
        product.map(|product| product.samples(use_case.warps)).unwrap_or_default()
    }
}

/// A matrix instruction for elements of one width.
#[derive(Debug, Clone)]
struct Product {
    name: String,
    m: i64,
    n: i64,
    k: i64,
    /// Neighbouring elements of K that a lane holds.
    width: i64,
}

impl Product {
    /// The product of a row, and the width of its elements.
    fn of(row: Instruction) -> Option<(u32, Self)> {
        let operand = |required: &str| {
            row.operands.iter().find_map(|operand| match operand {
                Operand::Register { role, bits, layout, .. } if role == required => Some((*bits, layout)),
                _ => None,
            })
        };
        // Factors in shared memory are of the memory layouts below.
        let ((bits, a), _, (_, d)) = (operand("a")?, operand("b")?, operand("d")?);
        let size = |layout: &LinearLayout, axis| 1i64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        let width = i64::from(32 / bits).max(1);
        Some((bits, Self { name: row.name.clone(), m, n, k, width }))
    }

    fn size(&self) -> i64 {
        self.m * self.n * self.k
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

/// Accumulators of 128 and of 64 rows, and the scales of an operand where elements have 8 bits.
fn tensor_memory(use_case: SampleUse) -> Vec<Sample> {
    let mut samples = vec![
        Sample::new("tensor-memory", in_tensor_memory([128, 64])),
        Sample::new("tensor-memory-64", in_tensor_memory([64, 32])),
    ];
    if use_case.element_bits == 8 {
        samples.push(Sample::new("tensor-memory-scales", FamilySpec::new("tensor_memory_scales")));
    }
    samples
}

/// What a group's loads of accumulators leave in registers.
fn through_tensor_memory(use_case: SampleUse) -> [Sample; 2] {
    let registers = |variant: &str| {
        FamilySpec::new("tmem_reg")
            .with("memory", FamilyAttribute::Spec(Box::new(in_tensor_memory([128, 64]))))
            .with("element_bits", i64::from(use_case.element_bits))
            .with("num_warps", i64::from(use_case.warps))
            .with("instr_variant", FamilyAttribute::Text(variant.to_owned()))
    };
    [Sample::new("tmem-32x32b", registers("32x32b")), Sample::new("tmem-16x256b", registers("16x256b"))]
}

fn in_tensor_memory(block: [i64; 2]) -> FamilySpec {
    FamilySpec::new("tensor_memory").with("block", block).with("col_stride", 1i64)
}

/// The scales of both operands of a block-scaled product.
fn scales(use_case: SampleUse) -> [Sample; 2] {
    let along_columns = 1i64 << (use_case.warps.trailing_zeros() / 2);
    let of = |index: i64| {
        FamilySpec::new("mma_scale")
            .with("operand_index", index)
            .with("warps_per_cta", [i64::from(use_case.warps) / along_columns, along_columns])
    };
    [Sample::new("mma-scale-a", of(0)), Sample::new("mma-scale-b", of(1))]
}

/// Shared memory as bulk copies write it, with the widest swizzle.
fn bulk_copied(element_bits: u32) -> FamilySpec {
    FamilySpec::new("nvmma_shared")
        .with("swizzling_byte_width", 128i64)
        .with("element_bit_width", i64::from(element_bits))
        .with("transposed", false)
}

fn dot_operand(index: i64, width: i64, parent: &FamilySpec) -> FamilySpec {
    FamilySpec::new("dot_operand").with("operand_index", index).with("k_width", width).of(parent.clone())
}
