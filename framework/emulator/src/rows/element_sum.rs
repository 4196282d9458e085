//! One element of an MMA result, computed from the bits of the accumulator and of the operands. The emulator's
//! semantics of MMAs ([`super::mma`]) and other executors of the same instructions, such as virtual devices, share it.
//!
//! Floating point follows the numerics of the row ([`summation`](super::summation)). Integer sums wrap, or, if the row
//! states so, the exact sum saturates once.

use super::super::arithmetic::{mask, sign_extend};
use super::super::rounding::AccumulatorType;
use super::operand::element;
use super::summation::FloatSummation;
use tilewright_target::{ElementType, Instruction, InstructionOperand, Semantics, Summation};

/// The computation of one element of an MMA instruction's result.
pub struct MmaElementEvaluator {
    operands: [ElementType; 2],
    /// Element types of the accumulator: input and output.
    accumulator: [ElementType; 2],
    /// Floating-point summation; `None` for integers.
    float: Option<FloatSummation>,
    /// Semantics of the instruction, which state how products of integers are formed, and whether their sum saturates.
    semantics: Semantics,
}

impl MmaElementEvaluator {
    /// Derives the computation from a table row whose operands are in registers or in shared memory.
    ///
    /// # Errors
    /// A message if the row lacks one of the operands `a`, `b`, `c` and `d`, or if the emulator does not support their
    /// types.
    pub fn from_instruction(row: &Instruction) -> Result<Self, String> {
        let typed = |required: &str| {
            let element = match row.find_matrix_operand(required) {
                Some(InstructionOperand::Register { element, .. }) => element,
                Some(InstructionOperand::Memory(memory)) => &memory.element,
                _ => return Err(format!("its description has no operand `{required}` in registers or shared memory")),
            };
            ElementType::from_name(element).ok_or_else(|| format!("elements of type `{element}` are not supported"))
        };
        Self::between(row, [typed("a")?, typed("b")?], [typed("c")?, typed("d")?])
    }

    /// Derives the computation from a table row, for these element types: operands A and B; accumulator input and
    /// output.
    pub(super) fn between(
        row: &Instruction,
        operands: [ElementType; 2],
        accumulator: [ElementType; 2],
    ) -> Result<Self, String> {
        let ([a, b], [before, after]) = (operands, accumulator);
        let is_integer = |element_type| matches!(element_type, ElementType::Integer { .. });
        let float = match [a, b, before, after].map(is_integer) {
            [true, true, true, true] => None,
            [false, false, false, false] => Some(summed(row, [a, b, before])?),
            _ => return Err("it multiplies integers with floating-point numbers".to_owned()),
        };
        let semantics = row.semantics.clone();
        let of_one_bit = a.bits() == 1 && b.bits() == 1;
        if semantics == Semantics::CountDifferent && !(of_one_bit && float.is_none()) {
            return Err("it counts differing elements of one bit, but its elements are wider".to_owned());
        }
        if semantics == Semantics::ContractSaturating && (float.is_some() || after.bits() > 32) {
            return Err("only integers of up to 32 bits saturate, but its accumulator has another type".to_owned());
        }
        Ok(Self { operands, accumulator, float, semantics })
    }

    /// Computes the bits of an element from the accumulator's bits and those of the operands along K.
    pub fn compute_element(&self, c: u64, operands: impl Iterator<Item = (u64, u64)>) -> u64 {
        if let Some(summed) = &self.float {
            return summed.total(c, operands);
        }
        let [a_type, b_type] = self.operands;
        let term = |a: u64, b: u64| match self.semantics {
            Semantics::CountDifferent => (a ^ b) as i64,
            _ => integer(a_type, a) * integer(b_type, b),
        };
        let add = |sum: i64, (a, b)| sum.wrapping_add(term(a, b));
        let [before, after] = self.accumulator;
        let sum = operands.fold(integer(before, c), add);
        let sum = if self.semantics == Semantics::ContractSaturating { saturated(after, sum) } else { sum };
        sum as u64 & mask(after.bits())
    }

    /// Floating-point summation; `None` for integers.
    pub(super) fn float(&self) -> Option<&FloatSummation> {
        self.float.as_ref()
    }
}

/// Clamps an integer to the range of a type of at most 32 bits.
fn saturated(element_type: ElementType, value: i64) -> i64 {
    match element_type {
        ElementType::Integer { bits, signed: true } => value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1),
        _ => value.clamp(0, mask(element_type.bits()) as i64),
    }
}

/// Decodes an integer element.
pub(super) fn integer(element_type: ElementType, bits: u64) -> i64 {
    match element_type {
        ElementType::Integer { bits: width, signed: true } => sign_extend(bits, width),
        _ => bits as i64,
    }
}

/// Returns the summation for a row whose operands A, B and C have these floating-point types; the error is the reason
/// why the row's numerics do not apply to them.
fn summed(row: &Instruction, types: [ElementType; 3]) -> Result<FloatSummation, String> {
    let sum = element(row, "d").and_then(AccumulatorType::named).ok_or("its accumulator has no floating-point type")?;
    let [ElementType::Float(a), ElementType::Float(b), ElementType::Float(c)] = types else {
        return Err("its elements are integers".to_owned());
    };
    let numerics = row.numerics.clone().unwrap_or_default();
    let in_binary32 = matches!(numerics.summation, Summation::Exact { .. } | Summation::Tree { .. });
    if in_binary32 && sum != AccumulatorType::F32
        || numerics.summation != Summation::Chain && sum == AccumulatorType::F64
    {
        return Err(format!("{:?} does not apply to an accumulator of type {}", numerics.summation, types[2]));
    }
    if numerics.summation != Summation::Chain && a.field_widths()[1].max(b.field_widths()[1]) > 10 {
        return Err(format!("{:?} applies to operands of at most 11 bits of mantissa", numerics.summation));
    }
    let k = row.mma_shape().map_or(0, |[_, _, k]| k as u32);
    Ok(FloatSummation { sum, a, b, c, numerics, k })
}
