//! The arithmetic that applies a layout to values of a kernel, as text.

use serde_json::{Value as Json, json};

use super::inputs::{Answer, by_dim, layout, optional, point, undefined};
use tilewright_layout::{Dim, IndexBuilder, IndexOperand, LinearLayout, apply_layout};

/// Instructions as lines of text: `%0 = and lane, 3`.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn line(&mut self, operation: &str, operands: [&str; 2]) -> String {
        let name = format!("%{}", self.0.len());
        self.0.push(format!("{name} = {operation} {}", operands.join(", ")));
        name
    }
}

impl IndexBuilder for Lines {
    type Value = String;

    fn constant(&mut self, value: u64) -> String {
        value.to_string()
    }

    fn and(&mut self, value: String, mask: u64) -> String {
        self.line("and", [&value, &mask.to_string()])
    }

    fn xor(&mut self, a: String, b: String) -> String {
        self.line("xor", [&a, &b])
    }

    fn shift_left(&mut self, value: String, bits: u32) -> String {
        self.line("shl", [&value, &bits.to_string()])
    }

    fn shift_right(&mut self, value: String, bits: u32) -> String {
        self.line("shr", [&value, &bits.to_string()])
    }
}

/// Lists the instructions that compute the coordinates of the input `layout`: the index along an input dim is a value
/// with the dim's name, or a constant if the input `constants` has the dim.
pub(super) fn index_arithmetic(inputs: &Json) -> Answer {
    let layout: LinearLayout = layout(inputs, "layout")?;
    let constants = optional(inputs, "constants").map_or(Ok(Vec::new()), point)?;
    let known = |dim: Dim| constants.iter().find(|(named, _)| *named == dim).map(|&(_, at)| IndexOperand::Constant(at));
    let mut indices: Vec<_> = layout
        .ins()
        .dims()
        .map(|dim| (dim, known(dim).unwrap_or_else(|| IndexOperand::Value(dim.to_string()))))
        .collect();
    let unknown = constants.iter().filter(|(dim, _)| !layout.ins().contains(*dim));
    indices.extend(unknown.map(|&(dim, at)| (dim, IndexOperand::Constant(at))));
    let mut lines = Lines::default();
    let values = apply_layout(&mut lines, &layout, &indices).map_err(|error| undefined(&error.to_string()))?;
    Ok(json!({ "instructions": lines.0, "values": by_dim(values) }))
}
