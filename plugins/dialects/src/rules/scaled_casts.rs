//! Defines the rules of casts between wide types and scaled fp8 or fp4.

use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure};
use tilewright_tile::{TensorType, TileType};

use super::register_parts::tensors;

/// The rules of `amdg`'s casts with scales.
pub(super) const RULES: [VerifyRule; 2] =
    [VerifyRule::new("scaled", scaled), VerifyRule::new("scaled_down", scaled_down)];

/// The target whose casts from scaled fp8 and fp4 require scales to be 8-bit exponents (`i8`).
const EXPONENT_SCALES: &str = "hip:gfx1250";

/// Rules `scaled` (of `amdg.scaled_upcast_fp8`) and `scaled(packed)` (of `amdg.scaled_upcast_fp4`, two elements in a
/// byte): check the shapes of inputs, scales and results. For fp8, all three shapes are equal. For fp4, results have
/// twice the inputs' size along `axis`, and a scale may cover several results along `axis`.
fn scaled(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some((input, output)) = tensors(check, ["input", "output"]) else { return Ok(()) };
    let Some(scale) = check.group_type("scale").and_then(TileType::as_tensor) else { return Ok(()) };
    let rank = output.shape.len();
    ensure(check.target_attribute() != Some(EXPONENT_SCALES) || scale.element == TileType::integer(8), || {
        format!("scales of `{}`: expected exponents in i8 for `{EXPONENT_SCALES}`", scale.element)
    })?;
    ensure(scale.shape.len() == rank && input.shape.len() == rank, || {
        format!("{:?}, scales of {:?} and {:?} differ in their number of axes", input.shape, scale.shape, output.shape)
    })?;
    if groups.first().is_none_or(|word| word != "packed") {
        return ensure(input.shape == output.shape && scale.shape == output.shape, || {
            format!("{:?} with scales of {:?} become {:?}: expected one shape", input.shape, scale.shape, output.shape)
        });
    }
    let axis = check.integer_attribute("axis").and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
    let Some(axis) = axis else {
        return Err(format!(
            "there is no axis {}: expected one below {rank}",
            check.integer_attribute("axis").unwrap_or(-1)
        ));
    };
    for at in 0..rank {
        let expected = if at == axis { input.shape[at].saturating_mul(2) } else { input.shape[at] };
        ensure(output.shape[at] == expected, || {
            format!("pairs of {:?} become {:?}: expected {expected} along axis {at}", input.shape, output.shape)
        })?;
        ensure(at == axis || scale.shape[at] == output.shape[at], || {
            format!("scales of {:?} for {:?}: expected one shape except along axis {axis}", scale.shape, output.shape)
        })?;
    }
    check_scale_layout(check, scale, output, axis)
}

/// Checks that each lane holds the scales of its results. The scales' layout must be the results' layout with
/// coordinates along `axis` divided by the number of results of one scale. Unless each result has its own scale, eight
/// adjacent results of a lane must share one.
fn check_scale_layout(check: &OpContext<'_>, scale: &TensorType, output: &TensorType, axis: usize) -> CheckResult {
    ensure(scale.layout.is_some() == output.layout.is_some(), || {
        "the scales or the results have a layout: expected both, or neither".to_owned()
    })?;
    let (Some(own), Some(results)) = (&scale.layout, &output.layout) else { return Ok(()) };
    let block = output.shape[axis] / scale.shape[axis].max(1);
    ensure(block > 0 && output.shape[axis].is_multiple_of(scale.shape[axis].max(1)), || {
        format!("{} scales for {} results along axis {axis}: expected a divisor", scale.shape[axis], output.shape[axis])
    })?;
    let (Some(given), Some(all)) =
        (check.distributed_bases(own, &scale.shape), check.distributed_bases(results, &output.shape))
    else {
        return Ok(());
    };
    let of_scale = |basis: &Vec<u64>| -> Vec<u64> {
        basis.iter().enumerate().map(|(at, by)| if at == axis { by / block } else { *by }).collect()
    };
    let scaled = |bases: &[Vec<u64>]| bases.iter().map(of_scale).collect::<Vec<_>>();
    let is_zero = |basis: &Vec<u64>| basis.iter().all(|by| *by == 0);
    let mut registers = scaled(&all.registers);
    let is_shared = registers.len() >= 3 && registers[..3].iter().all(is_zero);
    ensure(block == 1 || is_shared, || {
        "eight adjacent results of a lane have several scales: expected one".to_owned()
    })?;
    registers.retain(|basis| !is_zero(basis));
    let expected = (registers, scaled(&all.lanes), scaled(&all.warps), scaled(&all.blocks));
    ensure((given.registers, given.lanes, given.warps, given.blocks) == expected, || {
        format!("the scales have the layout `{}`, in which lanes lack the scales of their results", own.text())
    })
}

/// Rules `scaled_down` (of `amdg.scaled_downcast_fp8`) and `scaled_down(packed)` (of `amdg.scaled_downcast_fp4`, two
/// results in a byte): check the shapes of inputs, scales and results. Along `axis`, one scale must cover a multiple of
/// 8 bytes of fp8 results, or of 4 bytes of fp4 results.
fn scaled_down(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some((input, output)) = tensors(check, ["input", "output"]) else { return Ok(()) };
    let Some(scale) = check.group_type("scale").and_then(TileType::as_tensor) else { return Ok(()) };
    let is_packed = groups.first().is_some_and(|word| word == "packed");
    let rank = input.shape.len();
    ensure(scale.shape.len() == rank && output.shape.len() == rank, || {
        format!("{:?}, scales of {:?} and {:?} differ in their number of axes", input.shape, scale.shape, output.shape)
    })?;
    let given = check.integer_attribute("axis").unwrap_or(-1);
    let Some(axis) = usize::try_from(given).ok().filter(|axis| *axis < rank) else {
        return Err(format!("there is no axis {given}: expected one below {rank}"));
    };
    let mut expected = input.shape.clone();
    if is_packed {
        expected[axis] /= 2;
    }
    ensure(output.shape == expected, || {
        format!("{:?} becomes {:?}: expected {expected:?}", input.shape, output.shape)
    })?;
    let matches = |at: usize| at == axis || scale.shape[at] == output.shape[at];
    ensure((0..rank).all(matches), || {
        format!("scales of {:?} for {:?}: expected one shape except along axis {axis}", scale.shape, output.shape)
    })?;
    let (results, count) = (output.shape[axis], scale.shape[axis]);
    ensure(count > 0 && results.is_multiple_of(count), || {
        format!("{count} scales for {results} results along axis {axis}: expected a divisor")
    })?;
    let least = if is_packed { 4 } else { 8 };
    ensure((results / count).is_multiple_of(least), || {
        format!("a scale for {} results along axis {axis}: expected a multiple of {least}", results / count)
    })
}
