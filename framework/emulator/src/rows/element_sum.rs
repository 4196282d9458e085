//! One element of a product of matrices, from the bits of what it is added to and of the factors: what
//! [`super::product`] computes of every element, and whoever else executes such instructions.
//!
//! Floating point: as the row's numerics say ([`summation`](super::summation)). Integers: sums wrap, or saturate where
//! the row says so, the exact sum once.

use super::super::arithmetic::{mask, sign_extend};
use super::super::rounding::Sum;
use super::operand::element;
use super::summation::Summed;
use tilewright_target::{ElementType, Instruction, Operand, Semantics, Summation};

/// How one element of the product of a row comes about.
pub struct ElementSum {
    factors: [ElementType; 2],
    /// The types before and after.
    accumulator: [ElementType; 2],
    /// How floating-point sums come about.
    float: Option<Summed>,
    /// What a term of integers is, and where their sum ends.
    semantics: Semantics,
}

impl ElementSum {
    /// Of a row whose operands are in registers or in shared memory.
    ///
    /// # Errors
    /// What the row lacks, or why there is no such product, in words.
    pub fn of(row: &Instruction) -> Result<Self, String> {
        let typed = |required: &str| {
            let is_required = |operand: &&Operand| operand.role() == Some(required);
            let element = match row.operands.iter().find(is_required) {
                Some(Operand::Register { element, .. }) => element,
                Some(Operand::Memory(memory)) => &memory.element,
                _ => return Err(format!("its row has no operand `{required}` in registers or shared memory")),
            };
            ElementType::named(element).ok_or_else(|| format!("elements of type `{element}` are not known here"))
        };
        Self::between(row, [typed("a")?, typed("b")?], [typed("c")?, typed("d")?])
    }

    /// Of elements of these types: the factors, the sums before and after.
    pub(super) fn between(
        row: &Instruction,
        factors: [ElementType; 2],
        accumulator: [ElementType; 2],
    ) -> Result<Self, String> {
        let ([a, b], [before, after]) = (factors, accumulator);
        let is_integer = |number| matches!(number, ElementType::Integer { .. });
        let float = match [a, b, before, after].map(is_integer) {
            [true, true, true, true] => None,
            [false, false, false, false] => Some(summed(row, [a, b, before])?),
            _ => return Err("it multiplies integers with floating-point numbers".to_owned()),
        };
        let semantics = row.semantics.clone();
        let of_one_bit = a.bits() == 1 && b.bits() == 1;
        if semantics == Semantics::CountDifferent && !(of_one_bit && float.is_none()) {
            return Err("it counts where elements of one bit differ, but its own are others".to_owned());
        }
        if semantics == Semantics::ContractSaturating && (float.is_some() || after.bits() > 32) {
            return Err("integers of up to 32 bits saturate, and its sums are others".to_owned());
        }
        Ok(Self { factors, accumulator, float, semantics })
    }

    /// The bits of an element, from those of what it is added to and of the factors along K.
    pub fn total(&self, c: u64, factors: impl Iterator<Item = (u64, u64)>) -> u64 {
        if let Some(summed) = &self.float {
            return summed.total(c, factors);
        }
        let [a_number, b_number] = self.factors;
        let term = |a: u64, b: u64| match self.semantics {
            Semantics::CountDifferent => (a ^ b) as i64,
            _ => integer(a_number, a) * integer(b_number, b),
        };
        let add = |sum: i64, (a, b)| sum.wrapping_add(term(a, b));
        let [before, after] = self.accumulator;
        let sum = factors.fold(integer(before, c), add);
        let sum = if self.semantics == Semantics::ContractSaturating { saturated(after, sum) } else { sum };
        sum as u64 & mask(after.bits())
    }

    /// How floating-point sums come about; of integers nothing.
    pub(super) fn float(&self) -> Option<&Summed> {
        self.float.as_ref()
    }
}

/// The number of a type, of at most 32 bits, that is nearest to an integer.
fn saturated(number: ElementType, value: i64) -> i64 {
    match number {
        ElementType::Integer { bits, signed: true } => value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1),
        _ => value.clamp(0, mask(number.bits()) as i64),
    }
}

/// The value of an element that is an integer.
pub(super) fn integer(number: ElementType, bits: u64) -> i64 {
    match number {
        ElementType::Integer { bits: width, signed: true } => sign_extend(bits, width),
        _ => bits as i64,
    }
}

/// How sums of floating-point numbers of these types come about.
fn summed(row: &Instruction, types: [ElementType; 3]) -> Result<Summed, String> {
    let sum = element(row, "d").and_then(Sum::named).ok_or("its sums have no type")?;
    let [ElementType::Float(a), ElementType::Float(b), ElementType::Float(c)] = types else {
        return Err("its elements are integers".to_owned());
    };
    let numerics = row.numerics.clone().unwrap_or_default();
    let in_binary32 = matches!(numerics.summation, Summation::Exact { .. } | Summation::Tree { .. });
    if in_binary32 && sum != Sum::F32 || numerics.summation != Summation::Chain && sum == Sum::F64 {
        return Err(format!("{:?} is not for sums of type {}", numerics.summation, types[2]));
    }
    if numerics.summation != Summation::Chain && a.widths()[1].max(b.widths()[1]) > 10 {
        return Err(format!("{:?} is for factors of at most 11 bits of mantissa", numerics.summation));
    }
    let k = row.extent().map_or(0, |[_, _, k]| k as u32);
    Ok(Summed { sum, a, b, c, numerics, k })
}
