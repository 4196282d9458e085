//! Lists that terms may be: what no operation is made for.

use super::plain;
use super::term::Made;
use super::write::Writer;
use crate::tile::transform::Copier;
use crate::tile::{Attribute, BuildError, Type, Value, Values};

impl Writer<'_> {
    /// | list | is |
    /// |---|---|
    /// | `reversed(x)` | the values of `x`, last first |
    /// | `elements(x, p)` | each of `x`, a number of bytes, as that of elements that `p` points to |
    /// | `then(x, 1)` | the values of `x`, and a number |
    /// | `registers(x)` | `x`, where it lies in memory of the block read from there |
    /// | `unless(c, x, n)` | `x`; where `c` is given and does not hold, the number `n` |
    pub(super) fn list(&self, copier: &mut Copier<'_, '_, '_>, made: &Made) -> Result<Values, BuildError> {
        let part = |copier: &mut Copier<'_, '_, '_>, place: usize| match made.parts.get(place) {
            Some(term) => self.term(copier, term, None),
            None => Ok(Values::new()),
        };
        let first = part(copier, 0)?;
        match made.name.as_str() {
            "reversed" => Ok(first.into_iter().rev().collect()),
            "elements" => {
                let pointer = part(copier, 1)?;
                let pointee = pointer.first().and_then(|pointer| copier.to.ty(*pointer).pointee());
                let bytes = pointee.and_then(|ty| ty.element_bits()).map_or(1, |bits| i64::from(bits / 8).max(1));
                first.into_iter().map(|value| self.quotient(copier, value, bytes)).collect()
            }
            "then" => {
                let last = first.last().map(|value| copier.to.ty(*value).clone());
                let beside = last.unwrap_or(Type::integer(64));
                let number = made.parts.get(1).map(|term| self.term(copier, term, Some(&beside))).transpose()?;
                Ok(first.into_iter().chain(number.into_iter().flatten()).collect())
            }
            "registers" => first.into_iter().map(|value| self.in_registers(copier, value)).collect(),
            "unless" => self.unless(copier, made, &first),
            _ => Err(BuildError::UnknownOperation(made.name.clone())),
        }
    }

    fn quotient(&self, copier: &mut Copier<'_, '_, '_>, value: Value, by: i64) -> Result<Value, BuildError> {
        let ty = copier.to.ty(value).clone();
        let by = copier.to.constant(Attribute::integer(by, ty))?;
        copier.to.op("arith.divsi").operand(value).operand(by).value()
    }

    fn in_registers(&self, copier: &mut Copier<'_, '_, '_>, value: Value) -> Result<Value, BuildError> {
        let Some(memory) = copier.to.ty(value).as_memory() else { return Ok(value) };
        let ty = plain::tensor(memory, self.module);
        copier.to.op("ttg.local_load").operand(value).result(ty).value()
    }

    fn unless(&self, copier: &mut Copier<'_, '_, '_>, made: &Made, condition: &[Value]) -> Result<Values, BuildError> {
        let mut part = |place: usize, beside: Option<&Type>| match made.parts.get(place) {
            Some(term) => self.term(copier, term, beside),
            None => Ok(Values::new()),
        };
        let values = part(1, None)?;
        let (Some(condition), [value]) = (condition.first(), &values[..]) else { return Ok(values) };
        let ty = copier.to.ty(*value).clone();
        let other = made.parts.get(2).map(|term| self.term(copier, term, Some(&ty))).transpose()?.unwrap_or_default();
        let choice = copier.to.op("arith.select").operand(*condition).operands("true_value", &values);
        Ok([choice.operands("false_value", &other).result(ty).value()?].into_iter().collect())
    }
}
