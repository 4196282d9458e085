//! Cases of programs whose inputs are formulas.

use std::path::PathBuf;

use tilewright_verify::case::{
    CaseArgument, CaseBuffer, CaseElement, CaseElementValue, CaseValue, ExpectedContents, ProgramCase,
};

/// An argument of a program.
pub(super) enum Argument {
    Buffer(CaseBuffer),
    Integer(usize),
    Float(f32),
}

/// Returns a case with these arguments, in the order of the function.
pub(super) fn build_case(name: &str, grid: [usize; 2], warps: u32, arguments: Vec<(&str, Argument)>) -> ProgramCase {
    let mut buffers: Vec<CaseBuffer> = Vec::new();
    let of = |(name, argument): (&str, Argument)| {
        let value = match argument {
            Argument::Buffer(buffer) => {
                buffers.push(CaseBuffer { name: name.to_owned(), ..buffer });
                CaseValue::Buffer(buffers.len() - 1)
            }
            Argument::Integer(value) => CaseValue::Scalar { bits: value as u64, width: 32 },
            Argument::Float(value) => CaseValue::Scalar { bits: value.to_bits().into(), width: 32 },
        };
        CaseArgument { name: name.to_owned(), value }
    };
    let arguments = arguments.into_iter().map(of).collect();
    ProgramCase {
        name: name.to_owned(),
        program: PathBuf::new(),
        entry: name.to_owned(),
        grid: [grid[0] as u32, grid[1] as u32, 1],
        warps,
        stages: None,
        blocks: 1,
        arguments,
        buffers,
    }
}

/// Returns an input of floating-point elements, row-major. The element type has all values of the formula.
pub(super) fn input(element: &str, shape: [usize; 2], value: impl Fn(usize, usize) -> f64) -> Argument {
    let of = |row: usize, column: usize| CaseElementValue::Float(value(row, column));
    Argument::Buffer(buffer(element, shape, of))
}

/// Returns an input of integers, row-major.
pub(super) fn integers(element: &str, shape: [usize; 2], value: impl Fn(usize, usize) -> usize) -> Argument {
    let of = |row: usize, column: usize| CaseElementValue::Integer(value(row, column) as i128);
    Argument::Buffer(buffer(element, shape, of))
}

/// Returns an output of these values, each with a relative and an absolute tolerance.
pub(super) fn output(element: &str, shape: [usize; 2], values: Vec<f64>, [relative, absolute]: [f64; 2]) -> Argument {
    let allowed = values.iter().map(|value| value.abs() * relative + absolute).collect();
    let after = ExpectedContents::Near { values, rests: Vec::new(), allowed };
    Argument::Buffer(CaseBuffer { after, ..buffer(element, shape, |_, _| CaseElementValue::Float(0.0)) })
}

/// Returns a buffer that a kernel reads and changes, from the values `before` to `after`, which its element type has.
pub(super) fn updated(
    element: &str,
    shape: [usize; 2],
    before: impl Fn(usize, usize) -> f64,
    after: Vec<f64>,
) -> Argument {
    let allowed = vec![0.0; after.len()];
    let after = ExpectedContents::Near { values: after, rests: Vec::new(), allowed };
    let of = |row: usize, column: usize| CaseElementValue::Float(before(row, column));
    Argument::Buffer(CaseBuffer { after, ..buffer(element, shape, of) })
}

fn buffer(element: &str, shape: [usize; 2], value: impl Fn(usize, usize) -> CaseElementValue) -> CaseBuffer {
    let element = CaseElement::from_name(element).expect("an element type");
    let encoded = |row: usize, column: usize| {
        let bits = element.encode(value(row, column)).expect("a small number");
        bits.to_le_bytes()[..element.bytes()].to_vec()
    };
    let positions = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column)));
    let before = positions.flat_map(|(row, column)| encoded(row, column));
    CaseBuffer {
        name: String::new(),
        element,
        shape: shape.map(|size| size as u64).to_vec(),
        before: before.collect(),
        after: ExpectedContents::Unchanged,
    }
}
