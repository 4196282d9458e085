//! List functions of import terms: functions in the terms of an import table that compute a list of values and are no
//! operations of the IR.

use super::image::PIXELS;
use super::plain;
use super::term::{Call, Term};
use super::write::{ReplacementWriter, number};
use crate::op::name::{arith, math, scf, tt, ttg};
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{Attribute, BuildError, FloatType, TileType, Value, Values};

impl ReplacementWriter<'_> {
    /// Emits the call of a list function, and returns its values:
    ///
    /// | list | value |
    /// |---|---|
    /// | `reversed(x)` | the values of `x`, last first |
    /// | `elements(x, p)` | each of `x`, a number of bytes, converted to a number of elements of the pointee of `p` |
    /// | `then(x, 1)` | the values of `x`, and a number |
    /// | `registers(x)` | `x`, loaded to registers if it is in memory of the block |
    /// | `powers(x)` | the numbers `x` as `f32`; integers are E8M0 encodings, powers of two |
    /// | `zero(x)` | a tensor of zeros of the shape of the memory `x`, or `zero()` of the first result's type |
    /// | `zeros(x)` | one 32-bit zero per axis of `x` |
    /// | `with_minimum(x)`, `with_maximum(x)` | `x`, and its minimum or maximum along the last axis: of magnitudes if
    /// `abs` is true, NaN if an element is NaN and `NaN` is true |
    /// | `unless(c, x, n)` | `x`; the number `n` if `c` exists and is false |
    /// | `where(c, x, n)` | `x`, computed only if `c` is true; otherwise the number `n` |
    /// | `extracted(x)` | the part of tensor `x` that the result has, from `static_offsets` |
    /// | `concatenated(x)` | the tensors `x` side by side, the last axis fastest |
    /// | `repacked(x)` | bytes of four-bit elements in memory `x`, packed along the axis of the result |
    /// | `quotients(x, s)` | the numbers `x` as `f32`, divided by powers of two; `s` has their E8M0 encodings |
    /// | `widened(x)` | the `f16` or `bf16` numbers `x` as `f32`, if the foreign operation's result is `f32` |
    /// | `packed_e2m1(x)` | the `f32` numbers `x` as E2M1 codes, packed along `axis` |
    /// | `pixels(d, c, o, x)` | the pixels of the image `d` that memory `x` holds, from the coordinates `c` on, moved by `o` |
    /// | `fused_copies(x, y)` | nothing; copies a block of each descriptor in `x` to the memory in `y` |
    /// | `alone(o(x))` | as `o(x)`; an error if a program runs on several blocks |
    /// | `each(o(x, y))` | nothing; emits `o` for the first of `x` and `y`, then for the second of both, and so on |
    pub(super) fn list(&self, cloner: &mut IrCloner<'_, '_, '_>, call: &Call) -> Rewritten<Values> {
        let argument_values = |cloner: &mut IrCloner<'_, '_, '_>, index: usize| match call.arguments.get(index) {
            Some(term) => self.term(cloner, term, None),
            None => Ok(Values::new()),
        };
        if let ("each", [Term::Call(one)]) = (call.name.as_str(), &call.arguments[..]) {
            return self.each(cloner, one);
        }
        let blocks = self.module.get("ttg.num-ctas").and_then(crate::Attribute::as_integer).unwrap_or(1);
        if call.name == "alone" && blocks != 1 {
            return Err(violation(cloner, self.op, format!("with {blocks} blocks it has no neutral meaning")));
        }
        if call.name == PIXELS {
            return self.pixels(cloner, call);
        }
        let first = argument_values(cloner, 0)?;
        if call.name == "where" {
            return self.emit_where(cloner, call, &first);
        }
        match call.name.as_str() {
            "reversed" => Ok(first.into_iter().rev().collect()),
            "elements" => {
                let pointer = argument_values(cloner, 1)?;
                let pointee = pointer.first().and_then(|pointer| cloner.to.ty(*pointer).pointee_type());
                let bytes = pointee.and_then(|ty| ty.element_bits()).map_or(1, |bits| i64::from(bits / 8).max(1));
                first.into_iter().map(|value| self.quotient(cloner, value, bytes)).collect()
            }
            "then" => {
                let last = first.last().map(|value| cloner.to.ty(*value).clone());
                let number_type = last.unwrap_or(TileType::integer(64));
                let number =
                    call.arguments.get(1).map(|term| self.term(cloner, term, Some(&number_type))).transpose()?;
                Ok(first.into_iter().chain(number.into_iter().flatten()).collect())
            }
            "registers" => first.into_iter().map(|value| self.in_registers(cloner, value)).collect(),
            "powers" => first.into_iter().map(|value| self.power(cloner, value)).collect(),
            "zero" => self.zero(cloner, &first),
            "zeros" => {
                let rank = first.first().and_then(|value| cloner.to.ty(*value).shape()).map_or(0, <[u64]>::len);
                (0..rank).map(|_| Ok(cloner.to.constant_i32(0)?)).collect()
            }
            "with_minimum" => self.with_extreme(cloner, &first, [arith::MINNUMF, arith::MINIMUMF]),
            "with_maximum" => self.with_extreme(cloner, &first, [arith::MAXNUMF, arith::MAXIMUMF]),
            "unless" => self.unless(cloner, call, &first),
            "alone" => Ok(first),
            "concatenated" => Ok([self.concatenated(cloner, &first)?].into_iter().collect()),
            "extracted" => first.into_iter().map(|value| self.extracted(cloner, value)).collect(),
            "repacked" => first.into_iter().map(|value| self.repacked(cloner, value)).collect(),
            "widened" => first.into_iter().map(|value| self.widened(cloner, value)).collect(),
            "packed_e2m1" => first.into_iter().map(|value| self.packed_e2m1(cloner, value)).collect(),
            "quotients" => {
                let scales = argument_values(cloner, 1)?;
                first.into_iter().zip(scales).map(|(value, scale)| self.quotients(cloner, value, scale)).collect()
            }
            "fused_copies" => {
                let memories = argument_values(cloner, 1)?;
                self.fused_copies(cloner, &first, &memories)
            }
            _ => Err(BuildError::UnknownOperation(call.name.clone()).into()),
        }
    }

    fn zero(&self, cloner: &mut IrCloner<'_, '_, '_>, like: &[Value]) -> Rewritten<Values> {
        let result = cloner.from.op(self.op).results.first().map(|&result| cloner.from.value_type(result).clone());
        let memory = like.first().and_then(|&like| cloner.to.ty(like).as_memory());
        let ty = memory.map(|memory| plain::open_tensor(memory, self.module)).or(result);
        let zero = ty.and_then(|ty| number("0", &ty));
        zero.into_iter().map(|zero| Ok(cloner.to.add_constant(zero)?)).collect()
    }

    fn each(&self, cloner: &mut IrCloner<'_, '_, '_>, one: &Call) -> Rewritten<Values> {
        let groups = self.groups(cloner, one)?;
        for index in 0..groups.iter().map(Values::len).max().unwrap_or(0) {
            let per_result: Vec<Values> =
                groups.iter().map(|group| group.get(index).copied().into_iter().collect()).collect();
            self.operation_of(cloner, one, &per_result, None)?;
        }
        Ok(Values::new())
    }

    fn quotient(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value, by: i64) -> Rewritten<Value> {
        let ty = cloner.to.ty(value).clone();
        let by = cloner.to.integer(by, &ty)?;
        Ok(cloner.to.binary(arith::DIVSI, value, by)?)
    }

    pub(super) fn power(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value) -> Rewritten<Value> {
        let ty = cloner.to.ty(value).clone();
        let numbers = match ty.element() {
            TileType::Integer(..) => {
                let codes = ty.with_element(TileType::Float(FloatType::F8E8M0Fnu));
                cloner.to.unary(tt::BITCAST, value, codes)?
            }
            _ => value,
        };
        Ok(cloner.to.unary(tt::FP_TO_FP, numbers, ty.with_element(TileType::Float(FloatType::F32)))?)
    }

    /// Returns a tensor and its minimum or maximum along the last axis. `combine` names the operation that combines two
    /// elements, and the one to use instead if NaN propagates. The reduced tensor has the type of the foreign
    /// operation's last result.
    fn with_extreme(
        &self,
        cloner: &mut IrCloner<'_, '_, '_>,
        tensor: &[Value],
        combine: [&str; 2],
    ) -> Rewritten<Values> {
        let foreign = cloner.from.op(self.op);
        let is_set = |name: &str| foreign.attributes.get(name) == Some(&Attribute::Bool(true));
        let (magnitudes, combine) = (is_set("abs"), combine[usize::from(is_set("NaN"))]);
        let (&[value], Some(&reduced)) = (tensor, foreign.results.last()) else { return Ok(Values::new()) };
        let (ty, reduced) = (cloner.to.ty(value).clone(), cloner.from.value_type(reduced).clone());
        let operand = if magnitudes { cloner.to.unary(math::ABSF, value, ty.clone())? } else { value };
        let (region, around) = cloner.to.enter_region(vec![ty.element().clone(), ty.element().clone()]);
        let body = cloner.to.body();
        let arguments = body.blocks(region).first().map_or(&[][..], |&block| body.arguments(block)).to_vec();
        let &[left, right] = &arguments[..] else { return Ok(Values::new()) };
        let extreme = cloner.to.binary(combine, left, right)?;
        cloner.to.build_op(tt::REDUCE_RETURN).operand(extreme).build()?;
        cloner.to.set_insertion_block(around);
        let axis = ty.shape().map_or(0, <[u64]>::len).saturating_sub(1) as i32;
        let reduce = cloner.to.build_op(tt::REDUCE).operand(operand).attribute("axis", axis).existing_region(region);
        Ok([value, reduce.result(reduced).value()?].into_iter().collect())
    }

    fn in_registers(&self, cloner: &mut IrCloner<'_, '_, '_>, value: Value) -> Rewritten<Value> {
        let Some(memory) = cloner.to.ty(value).as_memory() else { return Ok(value) };
        let ty = plain::open_tensor(memory, self.module);
        Ok(cloner.to.unary(ttg::LOCAL_LOAD, value, ty)?)
    }

    fn emit_where(&self, cloner: &mut IrCloner<'_, '_, '_>, call: &Call, condition: &[Value]) -> Rewritten<Values> {
        let [_, term, other] = &call.arguments[..] else {
            return Err(BuildError::UnknownOperation(call.name.clone()).into());
        };
        let Some(&condition) = condition.first().filter(|condition| !cloner.to.body().is_always(**condition)) else {
            return self.term(cloner, term, None);
        };
        let (then, around) = cloner.to.enter_region(Vec::new());
        let values = self.term(cloner, term, None)?;
        cloner.to.build_op(scf::YIELD).operands("results", &values).build()?;
        cloner.to.set_insertion_block(around);
        let ty = values.first().map_or(TileType::integer(32), |&value| cloner.to.ty(value).clone());
        let (otherwise, around) = cloner.to.enter_region(Vec::new());
        let number = self.term(cloner, other, Some(&ty))?;
        cloner.to.build_op(scf::YIELD).operands("results", &number).build()?;
        cloner.to.set_insertion_block(around);
        let choice = cloner.to.build_op(scf::IF).operand(condition).existing_region(then).existing_region(otherwise);
        Ok(choice.result(ty).values()?)
    }

    fn unless(&self, cloner: &mut IrCloner<'_, '_, '_>, call: &Call, condition: &[Value]) -> Rewritten<Values> {
        let mut argument_values = |index: usize, number_type: Option<&TileType>| match call.arguments.get(index) {
            Some(term) => self.term(cloner, term, number_type),
            None => Ok(Values::new()),
        };
        let values = argument_values(1, None)?;
        let (Some(condition), [value]) = (condition.first(), &values[..]) else { return Ok(values) };
        let ty = cloner.to.ty(*value).clone();
        let other =
            call.arguments.get(2).map(|term| self.term(cloner, term, Some(&ty))).transpose()?.unwrap_or_default();
        let choice = cloner.to.build_op(arith::SELECT).operand(*condition).operands("true_value", &values);
        Ok([choice.operands("false_value", &other).result(ty).value()?].into_iter().collect())
    }
}
