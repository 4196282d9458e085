//! `tcgen05.mma` of one block whose factors are multiplied by their scales, one for so many neighbours along K.
//!
//! Scales are in tensor memory, a byte each: those of 32 rows of the first factor, or columns of the second, in as many
//! rows; the next 32 are in the next column of 32 bits. Each warp's rows hold them all again. Of the bytes of a column an
//! instruction takes as many as there are scales along K, from one that its descriptor names on: here the first.
//!
//! Types of six bits, and of four beside those of eight, are in [`super::unused`].

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Queue, Semantics, TensorOperand};

use super::factor::{Side, memory};
use super::tensor_product::{has_tensor_memory, in_rows, told};

const SOURCE: &str = "PTX ISA, tcgen05: block scaling, scale factor layouts, instruction descriptor of mxf8f6f4, mxf4 and \
                      mxf4nvf4; CUTLASS, InstrDescriptorBlockScaled and Sm1xxBlockScaledConfig";

/// Rows of the result; there are no others.
const ROWS: u64 = 128;

/// Bytes of K of one instruction.
const K_BYTES: u64 = 32;

/// Rows of tensor memory that hold scales, and by how many rows the next warp's are further down.
const SCALE_ROWS: u64 = 32;

/// A kind: its name, types of a factor, scales along K and their type.
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

/// The rows of an architecture.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if !has_tensor_memory(architecture) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for kind in &KINDS {
        for (&a, &b) in kind.elements.iter().flat_map(|a| kind.elements.iter().map(move |b| (a, b))) {
            // A row that is no layout would be a mistake here; tests count the rows.
            rows.extend((3..=8).filter_map(|bits| row(kind, [a, b], 1 << bits).ok()));
        }
    }
    rows
}

fn row(kind: &Kind, [a, b]: [&str; 2], columns: u64) -> Result<Instruction, LayoutError> {
    let k = K_BYTES * 8 / u64::from(super::factor::bits(a));
    let Kind { name, count, scale, .. } = kind;
    let tensor = |role: &str, element: &str, bits, layout, copies| {
        Operand::Tensor(TensorOperand { role: role.to_owned(), element: element.to_owned(), bits, layout, copies })
    };
    let copies = vec![SCALE_ROWS, 2 * SCALE_ROWS];
    let told = told();
    Ok(Instruction {
        name: format!(
            "tcgen05.mma.cta_group::1.kind::{name}.block_scale.scale_vec::{count}X.m{ROWS}n{columns}k{k}.f32.{a}.{b}.{scale}.ss.kk"
        ),
        kind: InstructionKind::Matrix,
        operands: vec![
            tensor("d", "f32", 32, in_rows(ROWS, columns)?, vec![]),
            Operand::Memory(memory("a", a, [ROWS, k], Side::AlongK, &told)),
            Operand::Memory(memory("b", b, [k, columns], Side::AlongK, &told)),
            Operand::Constant {
                role: "descriptor".to_owned(),
                bits: 32,
                value: instruction_descriptor([a, b], columns, scale),
            },
            tensor("scale_a", scale, 8, scales(ROWS, *count)?, copies.clone()),
            tensor("scale_b", scale, 8, scales(columns, *count)?, copies),
            Operand::Accumulate,
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Queue(Queue::Products),
        // Nothing is published.
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// The first copy of the scales of so many rows, in the first bytes of each column.
fn scales(rows: u64, count: u64) -> Result<LinearLayout, LayoutError> {
    let down = |row: u64| if row < rows { vec![row, 0] } else { vec![0, 0] };
    let along = |byte: u64| if byte < count { vec![0, byte] } else { vec![0, 0] };
    let further = (0..).map(|bit| SCALE_ROWS << bit).take_while(|&row| row < rows);
    let places: Bases = [1, 2].into_iter().map(along).chain(further.map(down)).collect();
    let own: Bases = (0..SCALE_ROWS.trailing_zeros()).map(|bit| down(1 << bit)).collect();
    let sizes = [(Dim::tensor(0), rows), (Dim::tensor(1), count)];
    LinearLayout::from_bases(&[(Dim::ROW, own), (Dim::COL, places)], &sizes)
}

/// The word that says types and sizes. Which of the bytes of a column are taken is zero, in bits 4 and 29.
fn instruction_descriptor([a, b]: [&str; 2], columns: u64, scale: &str) -> u64 {
    let factor = |element: &str| u64::from(element != "e4m3");
    let is_exponent = u64::from(scale == "ue8m0");
    factor(a) << 7 | factor(b) << 10 | (columns >> 3) << 17 | is_exponent << 23 | (ROWS >> 7) << 27
}
