//! Defines the rule of PTX's arithmetic on elements that are packed in pairs or quadruples.

use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure};
use tilewright_tile::{TensorType, TileType};

/// The rule for `ttng`'s packed arithmetic, by the name that dialect files use.
pub(super) const RULES: [VerifyRule; 1] = [VerifyRule::new("packed_arith", packed_arith)];

/// Element types of packed arithmetic, and the letter for each in [`SIGNATURES`]. The letter `2` (`i8`) stands for
/// bytes that hold two `f4E2M1FN` elements each.
const ELEMENTS: [(&str, char); 7] =
    [("f32", 'f'), ("f16", 'h'), ("bf16", 'b'), ("f8E5M2", '5'), ("f8E4M3FN", '4'), ("i8", '2'), ("f8E8M0FNU", 'u')];

/// Packed operations of PTX that accept the same element types. `kinds` has the names of the operations, separated by
/// spaces; `result` has the letters (see [`ELEMENTS`]) of the possible result types.
struct Signature {
    kinds: &'static str,
    result: &'static str,
    /// For each operand, the letters of its possible element types. `=` stands for the result's type, and `!` for the
    /// other type of `h` and `b`.
    operands: &'static [&'static str],
}

const fn signature(kinds: &'static str, result: &'static str, operands: &'static [&'static str]) -> Signature {
    Signature { kinds, result, operands }
}

/// The packed operations of PTX, with the types of their operands.
const SIGNATURES: [Signature; 11] = [
    signature("add sub mul", "fhb", &["=", "="]),
    signature("fma", "fhb", &["=", "=", "="]),
    signature("min max", "hb", &["=", "="]),
    signature("add sub", "f", &["hb", "f"]),
    signature("add sub", "hb", &["f", "f"]),
    signature("mul", "hb", &["f", "f"]),
    signature("mul", "hb", &["=", "!"]),
    signature("fma", "f", &["hb", "f", "f"]),
    signature("add sub", "54", &["542u", "="]),
    signature("mul", "54", &["542u", "542u"]),
    signature("fma", "54", &["542u", "542u", "="]),
];

fn letter(element: &TileType) -> Option<char> {
    let name = element.to_string();
    ELEMENTS.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter)
}

impl Signature {
    fn fits(&self, kind: &str, result: char, operands: &[char]) -> bool {
        let matches = |letters: &str, own: char| match letters {
            "=" => own == result,
            "!" => own != result && "hb".contains(own),
            _ => letters.contains(own),
        };
        self.kinds.split(' ').any(|known| known == kind)
            && self.result.contains(result)
            && self.operands.len() == operands.len()
            && self.operands.iter().zip(operands).all(|(letters, own)| matches(letters, *own))
    }
}

/// Rule `packed_arith` of `ttng.packed_arith`: checks that PTX has the operation for these element types, and that the
/// operands have the result's layout. Each lane must hold whole pairs, or whole quadruples of 8-bit elements.
fn packed_arith(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(TileType::Tensor(result)) = check.group_type("result") else { return Ok(()) };
    let kind = check.text_attribute("op_kind").unwrap_or_default();
    let kinds = ["add", "sub", "mul", "fma", "min", "max"];
    ensure(kinds.contains(&kind), || format!("`{kind}` is no packed operation: expected one of {}", kinds.join(", ")))?;
    let operands: Vec<&TensorType> =
        check.group_types("operands").into_iter().filter_map(TileType::as_tensor).collect();
    let expected = if kind == "fma" { 3 } else { 2 };
    ensure(operands.len() == expected, || format!("`{kind}` of {} operands: expected {expected}", operands.len()))?;
    let letters: Option<Vec<char>> = operands.iter().map(|operand| letter(&operand.element)).collect();
    let known = letters.zip(letter(&result.element));
    let fits = known.is_some_and(|(operands, result)| SIGNATURES.iter().any(|row| row.fits(kind, result, &operands)));
    ensure(fits, || {
        let elements: Vec<String> = operands.iter().map(|operand| format!("`{}`", operand.element)).collect();
        format!("`{kind}` of {} to `{}` is no packed operation", elements.join(", "), result.element)
    })?;
    let Some(layout) = &result.layout else { return Err("the result has no layout: expected one".to_owned()) };
    let Some(bases) = check.distributed_bases(layout, &result.shape) else { return Ok(()) };
    let lanes = if letter(&result.element).is_some_and(|own| "fhb".contains(own)) { 1 } else { 2 };
    ensure(bases.registers.len() >= lanes, || {
        format!(
            "`{}` has {} elements in each lane: expected a multiple of {}",
            layout.text(),
            1 << bases.registers.len(),
            1 << lanes
        )
    })?;
    let halved = |operand: &&&TensorType| letter(&operand.element) == Some('2');
    let axes: Vec<_> = operands.iter().filter(halved).map(|operand| halved_axes(operand, result)).collect();
    ensure(axes.windows(2).all(|pair| pair[0] == pair[1]), || {
        "the operands have pairs in bytes along different axes: expected one axis".to_owned()
    })?;
    operands.iter().try_for_each(|operand| check_operand(check, operand, result))
}

/// Returns the axes along which the sizes of an operand and the result differ.
fn halved_axes(operand: &TensorType, result: &TensorType) -> Vec<usize> {
    (0..result.shape.len()).filter(|axis| operand.shape.get(*axis) != result.shape.get(*axis)).collect()
}

/// Checks that an operand has the shape and layout of the result. An operand with two `f4E2M1FN` in each byte has half
/// the size along one axis, and each of its bytes must be in the lane that holds the two corresponding results.
fn check_operand(check: &OpContext<'_>, operand: &TensorType, result: &TensorType) -> CheckResult {
    let (Some(own), Some(layout)) = (&operand.layout, &result.layout) else {
        return Err(format!("an operand of {:?} has no layout: expected one", operand.shape));
    };
    if letter(&operand.element) != Some('2') {
        ensure(operand.shape == result.shape, || {
            format!("an operand has the shape {:?}: expected that of the result, {:?}", operand.shape, result.shape)
        })?;
        return ensure(check.may_be_equal_layouts(own, layout, &result.shape), || {
            format!("an operand has the layout `{}`: expected that of the result, `{}`", own.text(), layout.text())
        });
    }
    let halved = |axis: &usize| operand.shape.get(*axis).is_some_and(|size| 2 * size == result.shape[*axis]);
    let [axis] = halved_axes(operand, result)[..] else {
        return Err(format!("pairs of {:?} for {:?}: expected half along one axis", operand.shape, result.shape));
    };
    ensure(halved(&axis) && operand.shape.len() == result.shape.len(), || {
        format!("pairs of {:?} for {:?}: expected half along one axis", operand.shape, result.shape)
    })?;
    let (Some(bytes), Some(all)) =
        (check.distributed_bases(own, &operand.shape), check.distributed_bases(layout, &result.shape))
    else {
        return Ok(());
    };
    let pair: Vec<u64> = (0..result.shape.len()).map(|at| u64::from(at == axis)).collect();
    let half = |bases: &[Vec<u64>]| -> Vec<Vec<u64>> {
        let byte = |(at, by): (usize, &u64)| if at == axis { by / 2 } else { *by };
        let others = bases.iter().filter(|basis| **basis != pair);
        others.map(|basis| basis.iter().enumerate().map(byte).collect()).collect()
    };
    let is_paired = all.registers.contains(&pair);
    let fits = is_paired
        && half(&all.registers) == bytes.registers
        && half(&all.lanes) == bytes.lanes
        && half(&all.warps) == bytes.warps;
    ensure(fits, || {
        format!("pairs have the layout `{}`, whose bytes are not in the lanes of `{}`", own.text(), layout.text())
    })
}
