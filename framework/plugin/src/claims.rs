//! What a plugin says of its target, held against the target's file and against what was asked, before anybody relies
//! on it. That figures and layouts are true is for the suite to show; here is what no reader could make sense of.

use std::collections::HashSet;

use tilewright_layout::{Dim, Layout};
use tilewright_target::{Instruction, Operand, TargetDescription};

/// Whether the rows of a target's table can be rows of it.
///
/// # Errors
/// The row, and what is wrong with it.
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

fn check_operand(operand: &Operand, target: &TargetDescription) -> Result<(), String> {
    let Operand::Register { role, bits, layout, .. } = operand else { return Ok(()) };
    if !(1..=128).contains(bits) {
        return Err(format!("elements of operand `{role}` have {bits} bits"));
    }
    let most = target.lanes.choices.iter().copied().max().unwrap_or(target.lanes.default);
    let lanes = 1u64.checked_shl(layout.in_bits(Dim::LANE)).unwrap_or(u64::MAX);
    if lanes > most.into() {
        return Err(format!("operand `{role}` lies in {lanes} lanes, and a warp has at most {most}"));
    }
    Ok(())
}

/// Whether a layout is one of a tensor of the shape that was asked for.
///
/// # Errors
/// What it covers.
pub(super) fn check_layout(layout: &Layout, shape: &[u64]) -> Result<(), String> {
    let outs: Vec<(Dim, u32)> = layout.linear().outs().iter().collect();
    let axes = (0..shape.len()).map(Dim::tensor);
    let required: Option<Vec<(Dim, u32)>> =
        axes.zip(shape).map(|(dim, size)| Some((dim, size.checked_ilog2()?))).collect();
    if required.as_ref() == Some(&outs) {
        return Ok(());
    }
    let covers: Vec<String> = outs.iter().map(|(dim, bits)| format!("{dim}: 2^{bits}")).collect();
    Err(format!("a layout of ({}), where one of shape {shape:?} was asked for", covers.join(", ")))
}
