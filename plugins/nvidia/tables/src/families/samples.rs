//! Sample layouts of this vendor's families for conformance suites: layouts of the largest matrix instruction for each
//! element width, and of the memories that feed it.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, FamilyParameterValue, FamilySpec, LinearLayout, SampleLayout, SampleLayoutRequest};
use tilewright_target::{Instruction, InstructionKind};

use crate::instructions::instructions_of;

pub(super) fn sample_layouts(
    architecture: &str,
    largest_mmas: &LargestMmas,
    use_case: SampleLayoutRequest,
) -> Vec<SampleLayout> {
    if use_case.lanes != 32 || !use_case.warps.is_power_of_two() {
        return Vec::new();
    }
    let mut samples = largest_mmas.samples(use_case);
    // Four warps form a warpgroup; f64 has no warpgroup MMA.
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
        samples.push(SampleLayout::new("nvmma-shared", bulk_copied(use_case.element_bits)));
    }
    samples
}

/// Returns the GPU generation: the compute capability, times ten, without its last digit, such as `100` for `sm_103a`.
/// Zero if the architecture is unknown.
fn generation(architecture: &str) -> u32 {
    let digits = architecture.strip_prefix("sm_").unwrap_or("").trim_end_matches(|c: char| c.is_ascii_lowercase());
    digits.parse::<u32>().map_or(0, |capability| capability / 10 * 10)
}

/// For each element width in bits, the largest MMA whose operands are all in registers.
#[derive(Debug, Clone, Default)]
pub(super) struct LargestMmas(BTreeMap<u32, SampleMma>);

impl LargestMmas {
    /// Returns the largest MMAs of an architecture; of equally large instructions the first in the instruction table.
    pub(super) fn of(architecture: &str) -> Self {
        let mut largest: BTreeMap<u32, SampleMma> = BTreeMap::new();
        let matrix = instructions_of(architecture).into_iter().filter(|row| row.kind == InstructionKind::Matrix);
        for (bits, mma) in matrix.filter_map(SampleMma::of) {
            if largest.get(&bits).is_none_or(|known| known.size() < mma.size()) {
                largest.insert(bits, mma);
            }
        }
        Self(largest)
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        let mma = self.0.get(&use_case.element_bits);
        mma.map(|mma| mma.samples(use_case.warps)).unwrap_or_default()
    }
}

/// The sizes of a matrix instruction for elements of one width.
#[derive(Debug, Clone)]
struct SampleMma {
    name: String,
    m: i64,
    n: i64,
    k: i64,
    /// Number of adjacent elements along K in a lane, as the layout parameter `k_width`.
    width: i64,
}

impl SampleMma {
    /// Returns the element width in bits and the sizes of an MMA; `None` unless all operands are in registers.
    fn of(row: Instruction) -> Option<(u32, Self)> {
        let operand = |required: &str| row.find_register_operand(required).map(|(_, bits, layout)| (bits, layout));
        // An MMA with an operand in shared memory has no register layout for it; `None` skips such an MMA.
        let ((bits, a), _, (_, d)) = (operand("a")?, operand("b")?, operand("d")?);
        let size = |layout: &LinearLayout, axis| 1i64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        let width = i64::from(32 / bits).max(1);
        Some((bits, Self { name: row.name.clone(), m, n, k, width }))
    }

    fn size(&self) -> i64 {
        self.m * self.n * self.k
    }

    fn samples(&self, warps: u32) -> Vec<SampleLayout> {
        let along_columns = 1i64 << (warps.trailing_zeros() / 2);
        let result = FamilySpec::new("nvidia_mma")
            .with_parameter("version", [2i64, 0])
            .with_parameter("warps_per_cta", [i64::from(warps) / along_columns, along_columns])
            .with_parameter("instr_shape", [self.m, self.n]);
        let operand = |index| dot_operand(index, self.width, &result);
        vec![
            SampleLayout::new("mma", result.clone()).for_operand(&self.name, "d"),
            SampleLayout::new("mma-a", operand(0)).for_operand(&self.name, "a"),
            SampleLayout::new("mma-b", operand(1)).for_operand(&self.name, "b"),
        ]
    }
}

fn of_groups(use_case: SampleLayoutRequest) -> [SampleLayout; 2] {
    let bits = i64::from(use_case.element_bits);
    let result = FamilySpec::new("nvidia_mma")
        .with_parameter("version", [3i64, 0])
        .with_parameter("warps_per_cta", [i64::from(use_case.warps), 1])
        .with_parameter("instr_shape", [16, 64, 256 / bits]);
    let operand = dot_operand(0, 32 / bits, &result);
    [SampleLayout::new("wgmma", result), SampleLayout::new("wgmma-a", operand)]
}

/// Returns samples in tensor memory: accumulators of 128 and of 64 rows, and for 8-bit elements the scales of an
/// operand.
fn tensor_memory(use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
    let mut samples = vec![
        SampleLayout::new("tensor-memory", in_tensor_memory([128, 64])),
        SampleLayout::new("tensor-memory-64", in_tensor_memory([64, 32])),
    ];
    if use_case.element_bits == 8 {
        samples.push(SampleLayout::new("tensor-memory-scales", FamilySpec::new("tensor_memory_scales")));
    }
    samples
}

/// Returns samples of the registers into which a warpgroup loads an accumulator from tensor memory.
fn through_tensor_memory(use_case: SampleLayoutRequest) -> [SampleLayout; 2] {
    let registers = |variant: &str| {
        FamilySpec::new("tmem_reg")
            .with_parameter("memory", FamilyParameterValue::Spec(Box::new(in_tensor_memory([128, 64]))))
            .with_parameter("element_bits", i64::from(use_case.element_bits))
            .with_parameter("num_warps", i64::from(use_case.warps))
            .with_parameter("instr_variant", FamilyParameterValue::Text(variant.to_owned()))
    };
    [SampleLayout::new("tmem-32x32b", registers("32x32b")), SampleLayout::new("tmem-16x256b", registers("16x256b"))]
}

fn in_tensor_memory(block: [i64; 2]) -> FamilySpec {
    FamilySpec::new("tensor_memory").with_parameter("block", block).with_parameter("col_stride", 1i64)
}

/// Returns samples for the scales of A and of B of a block-scaled MMA.
fn scales(use_case: SampleLayoutRequest) -> [SampleLayout; 2] {
    let along_columns = 1i64 << (use_case.warps.trailing_zeros() / 2);
    let of = |index: i64| {
        FamilySpec::new("mma_scale")
            .with_parameter("operand_index", index)
            .with_parameter("warps_per_cta", [i64::from(use_case.warps) / along_columns, along_columns])
    };
    [SampleLayout::new("mma-scale-a", of(0)), SampleLayout::new("mma-scale-b", of(1))]
}

/// Returns the parameters of the widest-swizzle `nvmma_shared` layout, which bulk tensor copies (TMA) write.
fn bulk_copied(element_bits: u32) -> FamilySpec {
    FamilySpec::new("nvmma_shared")
        .with_parameter("swizzling_byte_width", 128i64)
        .with_parameter("element_bit_width", i64::from(element_bits))
        .with_parameter("transposed", false)
}

fn dot_operand(index: i64, width: i64, parent: &FamilySpec) -> FamilySpec {
    FamilySpec::new("dot_operand")
        .with_parameter("operand_index", index)
        .with_parameter("k_width", width)
        .with_parent(parent.clone())
}
