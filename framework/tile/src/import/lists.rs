//! Lists that terms may be: what no operation is made for.

use super::plain;
use super::term::{Made, Term};
use super::write::Writer;
use crate::op::name::{arith, scf, tt, ttg};
use crate::transform::{Copier, Rewritten};
use crate::{BuildError, Float, TileType, Value, Values};

impl Writer<'_> {
    /// | list | is |
    /// |---|---|
    /// | `reversed(x)` | the values of `x`, last first |
    /// | `elements(x, p)` | each of `x`, a number of bytes, as that of elements that `p` points to |
    /// | `then(x, 1)` | the values of `x`, and a number |
    /// | `registers(x)` | `x`, where it lies in memory of the block read from there |
    /// | `powers(x)` | the numbers `x` as `f32`; integers are codes of E8M0, powers of two |
    /// | `zeros(x)` | as many zeros as `x` has axes, of 32 bits |
    /// | `unless(c, x, n)` | `x`; where `c` is given and does not hold, the number `n` |
    /// | `where(c, x, n)` | `x`, made only where `c` holds; else the number `n` |
    /// | `each(o(x, y))` | nothing; the operation is made of the first of `x` and the first of `y`, then of the second of both, and so on |
    pub(super) fn list(&self, copier: &mut Copier<'_, '_, '_>, made: &Made) -> Rewritten<Values> {
        let part = |copier: &mut Copier<'_, '_, '_>, place: usize| match made.parts.get(place) {
            Some(term) => self.term(copier, term, None),
            None => Ok(Values::new()),
        };
        if let ("each", [Term::Made(one)]) = (made.name.as_str(), &made.parts[..]) {
            return self.each(copier, one);
        }
        let first = part(copier, 0)?;
        if made.name == "where" {
            return self.made_where(copier, made, &first);
        }
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
                let beside = last.unwrap_or(TileType::integer(64));
                let number = made.parts.get(1).map(|term| self.term(copier, term, Some(&beside))).transpose()?;
                Ok(first.into_iter().chain(number.into_iter().flatten()).collect())
            }
            "registers" => first.into_iter().map(|value| self.in_registers(copier, value)).collect(),
            "powers" => first.into_iter().map(|value| self.power(copier, value)).collect(),
            "zeros" => {
                let rank = first.first().and_then(|value| copier.to.ty(*value).shape()).map_or(0, <[u64]>::len);
                (0..rank).map(|_| Ok(copier.to.word(0)?)).collect()
            }
            "unless" => self.unless(copier, made, &first),
            _ => Err(BuildError::UnknownOperation(made.name.clone()).into()),
        }
    }

    fn each(&self, copier: &mut Copier<'_, '_, '_>, one: &Made) -> Rewritten<Values> {
        let groups = self.groups(copier, one)?;
        for place in 0..groups.iter().map(Values::len).max().unwrap_or(0) {
            let own: Vec<Values> = groups.iter().map(|group| group.get(place).copied().into_iter().collect()).collect();
            self.operation_of(copier, one, &own, None)?;
        }
        Ok(Values::new())
    }

    fn quotient(&self, copier: &mut Copier<'_, '_, '_>, value: Value, by: i64) -> Rewritten<Value> {
        let ty = copier.to.ty(value).clone();
        let by = copier.to.integer(by, &ty)?;
        Ok(copier.to.binary(arith::DIVSI, value, by)?)
    }

    fn power(&self, copier: &mut Copier<'_, '_, '_>, value: Value) -> Rewritten<Value> {
        let ty = copier.to.ty(value).clone();
        let numbers = match ty.element() {
            TileType::Integer(..) => {
                let codes = ty.with_element(TileType::Float(Float::F8E8M0Fnu));
                copier.to.unary(tt::BITCAST, value, codes)?
            }
            _ => value,
        };
        Ok(copier.to.unary(tt::FP_TO_FP, numbers, ty.with_element(TileType::Float(Float::F32)))?)
    }

    fn in_registers(&self, copier: &mut Copier<'_, '_, '_>, value: Value) -> Rewritten<Value> {
        let Some(memory) = copier.to.ty(value).as_memory() else { return Ok(value) };
        let ty = plain::tensor(memory, self.module);
        Ok(copier.to.unary(ttg::LOCAL_LOAD, value, ty)?)
    }

    fn made_where(&self, copier: &mut Copier<'_, '_, '_>, made: &Made, condition: &[Value]) -> Rewritten<Values> {
        let [_, term, other] = &made.parts[..] else {
            return Err(BuildError::UnknownOperation(made.name.clone()).into());
        };
        let Some(&condition) = condition.first().filter(|condition| !copier.to.body().is_always(**condition)) else {
            return self.term(copier, term, None);
        };
        let (then, around) = copier.to.enter_region(Vec::new());
        let values = self.term(copier, term, None)?;
        copier.to.op(scf::YIELD).operands("results", &values).done()?;
        copier.to.at(around);
        let ty = values.first().map_or(TileType::integer(32), |&value| copier.to.ty(value).clone());
        let (otherwise, around) = copier.to.enter_region(Vec::new());
        let number = self.term(copier, other, Some(&ty))?;
        copier.to.op(scf::YIELD).operands("results", &number).done()?;
        copier.to.at(around);
        let choice = copier.to.op(scf::IF).operand(condition).made_region(then).made_region(otherwise);
        Ok(choice.result(ty).values()?)
    }

    fn unless(&self, copier: &mut Copier<'_, '_, '_>, made: &Made, condition: &[Value]) -> Rewritten<Values> {
        let mut part = |place: usize, beside: Option<&TileType>| match made.parts.get(place) {
            Some(term) => self.term(copier, term, beside),
            None => Ok(Values::new()),
        };
        let values = part(1, None)?;
        let (Some(condition), [value]) = (condition.first(), &values[..]) else { return Ok(values) };
        let ty = copier.to.ty(*value).clone();
        let other = made.parts.get(2).map(|term| self.term(copier, term, Some(&ty))).transpose()?.unwrap_or_default();
        let choice = copier.to.op(arith::SELECT).operand(*condition).operands("true_value", &values);
        Ok([choice.operands("false_value", &other).result(ty).value()?].into_iter().collect())
    }
}
