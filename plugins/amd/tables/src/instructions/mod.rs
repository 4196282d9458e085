//! Instruction table of this vendor: the dense matrix instructions of CDNA (`mfma`) and of RDNA and gfx1250 (`wmma`),
//! transposing loads from LDS, and loads from global memory to LDS.
//!
//! Layouts are derived by rule from the shape, the number of independent blocks and the element width; tests compare
//! them with the output of AMD's calculator and other published tables.

mod copy;
mod mfma;
mod numerics;
mod transposed;
mod wmma;
mod wmma_mixed;

pub use mfma::exists_before_gfx940;
use tilewright_layout::LinearLayout;
use tilewright_plugin::{InstructionGroup, concatenate_instruction_groups};
use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, MmaNumerics, OmittedInstruction, Semantics,
};

/// The instruction table in groups by kind, each with a function that returns an architecture's instructions.
pub(crate) const INSTRUCTIONS: &[InstructionGroup] = &[
    InstructionGroup { kind: InstructionKind::Matrix, rows: mfma::rows },
    InstructionGroup { kind: InstructionKind::Matrix, rows: wmma::rows },
    InstructionGroup { kind: InstructionKind::Matrix, rows: wmma_mixed::rows },
    InstructionGroup { kind: InstructionKind::SharedMove, rows: transposed::rows },
    InstructionGroup { kind: InstructionKind::AsyncCopy, rows: copy::rows },
];

/// Returns the instructions of an architecture, such as `gfx942`; none if the architecture is unknown.
#[must_use]
pub fn instructions_of(architecture: &str) -> Vec<Instruction> {
    concatenate_instruction_groups(INSTRUCTIONS, architecture)
}

/// Returns an architecture's instructions that the table leaves out, with the reasons.
#[must_use]
pub fn omitted_instructions_of(architecture: &str) -> Vec<OmittedInstruction> {
    // The list in `unused.toml` parses without an error; tests count its entries.
    OmittedInstruction::parse_list(include_str!("unused.toml"), architecture).unwrap_or_default()
}

/// The element type of an operand in registers: its name, and the number of bits of one element.
#[derive(Debug, Clone, Copy)]
struct Element {
    name: &'static str,
    bits: u32,
}

impl Element {
    fn of(name: &'static str) -> Self {
        let bits = match name {
            "f64" => 64,
            "f32" | "xf32" | "i32" => 32,
            "f16" | "bf16" => 16,
            "fp6" | "bf6" => 6,
            "fp4" | "iu4" | "u4" => 4,
            _ => 8,
        };
        Self { name, bits }
    }

    fn operand(self, role: &str, layout: LinearLayout) -> InstructionOperand {
        InstructionOperand::Register { role: role.to_owned(), element: self.name.to_owned(), bits: self.bits, layout }
    }
}

/// Builds the instruction `d = a * b + c`, where `c` has the layout of `d`. The tuples are the result, A and B.
fn mma_instruction(
    name: String,
    [(out, d), (of_a, a), (of_b, b)]: [(Element, LinearLayout); 3],
    cycles: Option<u32>,
    numerics: Option<MmaNumerics>,
    source: &str,
) -> Instruction {
    Instruction {
        name,
        kind: InstructionKind::Matrix,
        operands: vec![out.operand("d", d.clone()), of_a.operand("a", a), of_b.operand("b", b), out.operand("c", d)],
        cycles: cycles.map(f64::from),
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        numerics,
        source: source.to_owned(),
    }
}
