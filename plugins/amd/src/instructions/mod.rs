//! Instruction rows of this vendor: the dense matrix instructions of CDNA (`mfma`) and of RDNA and
//! gfx1250 (`wmma`), the loads from LDS that transpose, and the loads from global memory to LDS.
//!
//! Layouts are derived by rule from the shape, the number of independent blocks and the element
//! width; tests check them against the output of the vendor's calculator and other published tables.

mod copy;
mod mfma;
mod numerics;
mod transposed;
mod wmma;
mod wmma_mixed;

#[cfg(feature = "codegen")]
pub(crate) use mfma::had_by_first_generations;
use tilewright_layout::LinearLayout;
use tilewright_plugin::{TablePart, instruction_table};
use tilewright_target::{Completion, Instruction, InstructionKind, Numerics, Operand, Semantics, UnusedInstruction};

/// The parts of the instruction table.
pub(crate) const INSTRUCTIONS: &[TablePart] = &[
    TablePart { kind: InstructionKind::Matrix, rows: mfma::rows },
    TablePart { kind: InstructionKind::Matrix, rows: wmma::rows },
    TablePart { kind: InstructionKind::Matrix, rows: wmma_mixed::rows },
    TablePart { kind: InstructionKind::SharedMove, rows: transposed::rows },
    TablePart { kind: InstructionKind::AsyncCopy, rows: copy::rows },
];

/// The instructions of an architecture; none where it is unknown.
#[must_use]
pub fn rows(architecture: &str) -> Vec<Instruction> {
    instruction_table(INSTRUCTIONS, architecture)
}

/// Instructions of an architecture that no row stands for, with the reasons; none for architectures without any.
#[must_use]
pub fn unused(architecture: &str) -> Vec<UnusedInstruction> {
    // A list that cannot be read would be a mistake in it; tests count its forms.
    UnusedInstruction::read_list(include_str!("unused.toml"), architecture).unwrap_or_default()
}

/// A type of elements in registers: its name and how many bits an element takes there.
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

    fn operand(self, role: &str, layout: LinearLayout) -> Operand {
        Operand::Register { role: role.to_owned(), element: self.name.to_owned(), bits: self.bits, layout }
    }
}

/// The row of `d = a * b + c`, the result lying where what it is added to does.
fn product(
    name: String,
    [(out, d), (of_a, a), (of_b, b)]: [(Element, LinearLayout); 3],
    cycles: Option<u32>,
    numerics: Option<Numerics>,
    source: &str,
) -> Instruction {
    Instruction {
        name,
        kind: InstructionKind::Matrix,
        operands: vec![out.operand("d", d.clone()), of_a.operand("a", a), of_b.operand("b", b), out.operand("c", d)],
        cycles: cycles.map(f64::from),
        semantics: Semantics::Contract,
        completion: Completion::AtOnce,
        numerics,
        source: source.to_owned(),
    }
}
