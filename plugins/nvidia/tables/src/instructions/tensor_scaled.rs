//! Block-scaled `tcgen05.mma` of one block: one scale for a block of elements along K.
//!
//! Scales are in tensor memory, one byte each. The scales of 32 rows of A, or of 32 columns of B, occupy 32 rows of a
//! 32-bit column; the next 32 are in the next column. The rows of each warp hold a replica. An instruction reads as
//! many bytes of a column as it has scales along K, from the byte on that its instruction descriptor names: here the
//! first.
//!
//! Six-bit types, and four-bit types mixed with eight-bit ones, are in [`super::omitted_instructions_of`].

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, Queue, Semantics, TensorMemoryOperand,
};

use super::smem_operand::{OperandLocation, memory};
use super::tensor_mma::{encoding, has_tensor_memory, in_rows};

const SOURCE: &str = "PTX ISA, tcgen05: block scaling, scale factor layouts, instruction descriptor of mxf8f6f4, mxf4 and \
                      mxf4nvf4; CUTLASS, InstrDescriptorBlockScaled and Sm1xxBlockScaledConfig";

/// Number of rows (M) of the result; block-scaled MMAs of one block exist for no other M.
const ROWS: u64 = 128;

/// Bytes along K that one instruction multiplies.
const K_BYTES: u64 = 32;

/// Number of rows of tensor memory that hold different scales; the 32 rows of each warp hold a replica.
const SCALE_ROWS: u64 = 32;

/// A kind of block-scaled MMA: its name, the element types of A and B, the number of scales along K, and the type of
/// the scales.
struct Kind {
    name: &'static str,
    elements: &'static [&'static str],
    count: u64,
    scale: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind { name: "mxf8f6f4", elements: &["e4m3", "e5m2"], count: 1, scale: "ue8m0" },
    Kind { name: "mxf4", elements: &["e2m1"], count: 2, scale: "ue8m0" },
    Kind { name: "mxf4nvf4", elements: &["e2m1"], count: 2, scale: "ue8m0" },
    Kind { name: "mxf4nvf4", elements: &["e2m1"], count: 4, scale: "ue4m3" },
];

/// Returns the block-scaled MMAs of an architecture; none if it has no tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !has_tensor_memory(architecture) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for kind in &KINDS {
        for (&a, &b) in kind.elements.iter().flat_map(|a| kind.elements.iter().map(move |b| (a, b))) {
            // All these layouts are valid, so no error is dropped; tests count the instructions.
            rows.extend((3..=8).filter_map(|bits| row(kind, [a, b], 1 << bits).ok()));
        }
    }
    rows
}

fn row(kind: &Kind, [a, b]: [&str; 2], columns: u64) -> Result<Instruction, LayoutError> {
    let k = K_BYTES * 8 / u64::from(super::smem_operand::bits(a));
    let Kind { name, count, scale, .. } = kind;
    let tensor = |role: &str, element: &str, bits, layout, copies| {
        InstructionOperand::Tensor(TensorMemoryOperand {
            role: role.to_owned(),
            element: element.to_owned(),
            bits,
            layout,
            copies,
        })
    };
    let copies = vec![SCALE_ROWS, 2 * SCALE_ROWS];
    let encoding = encoding();
    Ok(Instruction {
        name: format!(
            "tcgen05.mma.cta_group::1.kind::{name}.block_scale.scale_vec::{count}X.m{ROWS}n{columns}k{k}.f32.{a}.{b}.{scale}.ss.kk"
        ),
        kind: InstructionKind::Matrix,
        operands: vec![
            tensor("d", "f32", 32, in_rows(ROWS, columns)?, vec![]),
            InstructionOperand::Memory(memory("a", a, [ROWS, k], OperandLocation::KMajor, &encoding)),
            InstructionOperand::Memory(memory("b", b, [k, columns], OperandLocation::KMajor, &encoding)),
            InstructionOperand::Constant {
                role: "descriptor".to_owned(),
                bits: 32,
                value: instruction_descriptor([a, b], columns, scale),
            },
            tensor("scale_a", scale, 8, scales(ROWS, *count)?, copies.clone()),
            tensor("scale_b", scale, 8, scales(columns, *count)?, copies),
            InstructionOperand::Accumulate,
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Mma),
        // No experiments on the numerics of block-scaled MMAs are published.
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// Returns the tensor-memory layout of the scales of `rows` rows of an operand, with `count` scales along K in the
/// first bytes of each 32-bit column. It describes one warp's 32 rows; the replicas in other warps' rows are left out.
fn scales(rows: u64, count: u64) -> Result<LinearLayout, LayoutError> {
    let down = |row: u64| if row < rows { vec![row, 0] } else { vec![0, 0] };
    let along = |byte: u64| if byte < count { vec![0, byte] } else { vec![0, 0] };
    let further = (0..).map(|bit| SCALE_ROWS << bit).take_while(|&row| row < rows);
    let along_columns: DimBases = [1, 2].into_iter().map(along).chain(further.map(down)).collect();
    let own: DimBases = (0..SCALE_ROWS.trailing_zeros()).map(|bit| down(1 << bit)).collect();
    let sizes = [(Dim::tensor(0), rows), (Dim::tensor(1), count)];
    LinearLayout::from_bases(&[(Dim::ROW, own), (Dim::COL, along_columns)], &sizes)
}

/// Returns the instruction descriptor, a 32-bit word that encodes the element types and sizes. Bits 4 and 29 select the
/// first byte of the scales in a 32-bit column; they are zero.
fn instruction_descriptor([a, b]: [&str; 2], columns: u64, scale: &str) -> u64 {
    let type_code = |element: &str| u64::from(element != "e4m3");
    let is_exponent = u64::from(scale == "ue8m0");
    type_code(a) << 7 | type_code(b) << 10 | (columns >> 3) << 17 | is_exponent << 23 | (ROWS >> 7) << 27
}
