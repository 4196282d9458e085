//! Checks of a plugin's answers against the target's description and the request. Answers that no reader could
//! interpret are rejected here; the conformance suite checks that values and layouts are right.

use std::collections::HashSet;

use tilewright_layout::{Dim, Layout};
use tilewright_target::{Instruction, InstructionOperand, TargetDescription};

/// Checks the entries of a target's instruction table.
///
/// # Errors
/// A message that names the entry, if its name is empty or occurs twice, its cycles are negative or not finite, or an
/// operand has an invalid number of bits or lanes.
pub(super) fn check_instructions(rows: &[Instruction], target: &TargetDescription) -> Result<(), String> {
    let mut names = HashSet::new();
    for row in rows {
        if row.name.is_empty() || !names.insert(row.name.as_str()) {
            return Err(format!("instruction rows of the same name, or without a name, are called `{}`", row.name));
        }
        if row.cycles.is_some_and(|cycles| !cycles.is_finite() || cycles < 0.0) {
            return Err(format!("instruction `{}` takes {:?} cycles", row.name, row.cycles));
        }
        for operand in &row.operands {
            check_operand(operand, target).map_err(|reason| format!("instruction `{}`: {reason}", row.name))?;
        }
    }
    Ok(())
}

fn check_operand(operand: &InstructionOperand, target: &TargetDescription) -> Result<(), String> {
    let InstructionOperand::Register { role, bits, layout, .. } = operand else { return Ok(()) };
    if !(1..=128).contains(bits) {
        return Err(format!("elements of operand `{role}` have {bits} bits"));
    }
    let most = target.lanes.choices.iter().copied().max().unwrap_or(target.lanes.default);
    let lanes = 1u64.checked_shl(layout.in_bits(Dim::LANE)).unwrap_or(u64::MAX);
    if lanes > most.into() {
        return Err(format!("operand `{role}` uses {lanes} lanes; a warp has at most {most}"));
    }
    Ok(())
}

/// Checks that a layout is for a tensor of the requested shape.
///
/// # Errors
/// A message with both shapes, if they differ.
pub(super) fn check_layout(layout: &Layout, shape: &[u64]) -> Result<(), String> {
    let outs: Vec<(Dim, u32)> = layout.linear().outs().iter().collect();
    let axes = (0..shape.len()).map(Dim::tensor);
    let required: Option<Vec<(Dim, u32)>> =
        axes.zip(shape).map(|(dim, size)| Some((dim, size.checked_ilog2()?))).collect();
    if required.as_ref() == Some(&outs) {
        return Ok(());
    }
    let covers: Vec<String> = outs.iter().map(|(dim, bits)| format!("{dim}: 2^{bits}")).collect();
    Err(format!("a layout of ({}), expected one of shape {shape:?}", covers.join(", ")))
}
