//! What is done in registers: products, casts, reductions.

use crate::op::name::{arith, tt, ttg};

use super::expander::Expander;
use super::packed;
use crate::marks::{IN_PLACE, INSTRUCTION, K_WIDTH, N_WIDTH, PENDING, WHOLE_ROWS};
use crate::{Attribute, BuildError, Float, FunctionBuilder, Op, TileType, Value, ValueOrigin};

use crate::transform::{Copier, Rewritten, violation};

impl Expander<'_> {
    pub(super) fn register_tensor(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let result = copier.from.op(op).results[0];
        let ty = copier.from.ty(result).clone();
        let initial = copier.value(copier.from.op(op).operands[0]);
        let made = copier.to.unary(tt::SPLAT, initial, ty)?;
        copier.bind(result, made);
        Ok(())
    }

    /// In another layout, which the result names or which is left to be found.
    pub(super) fn rearrange(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let result = copier.from.op(op).results[0];
        let ty = copier.from.ty(result).clone();
        let source = copier.value(copier.from.op(op).operands[0]);
        // Narrow elements have bytes.
        let ty = ty.with_element(copier.to.ty(source).element().clone());
        let made = copier.to.unary(ttg::CONVERT_LAYOUT, source, ty)?;
        copier.bind(result, made);
        Ok(())
    }

    /// Factors in shared memory are loaded first.
    pub(super) fn mma(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operands = copier.from.op(op).operands.clone();
        let mut factors = Vec::new();
        for &factor in &operands[..2] {
            factors.push(match copier.from.ty(factor) {
                TileType::Memory(_) => self.out_of_shared(op, factor, copier)?,
                _ => copier.value(factor),
            });
        }
        let accumulator = copier.value(operands[2]);
        let ty = copier.to.ty(accumulator).clone();
        let said = |name: &str| copier.from.op(op).attributes.get(name).cloned();
        let choice = self.choices.products.get(&op).cloned().unwrap_or_default();
        for (factor, _) in factors.iter().zip(choice.in_place).filter(|(_, in_place)| *in_place) {
            if let ValueOrigin::Result(load, _) = copier.to.body().origin(*factor) {
                copier.to.body_mut().op_mut(load).attributes.set(IN_PLACE, Attribute::Unit);
            }
        }
        let instruction = said("instruction").or_else(|| choice.instruction.map(Attribute::Text));
        let number = |width: u64| Attribute::integer(width as i64, TileType::integer(32));
        let attributes = [
            (INSTRUCTION, instruction),
            (K_WIDTH, said("kWidth").or(choice.k_width.map(number))),
            (N_WIDTH, said("nWidth").or(choice.n_width.map(number))),
            (WHOLE_ROWS, choice.whole_rows.then_some(Attribute::Unit)),
            (PENDING, self.pending.contains(&op).then_some(Attribute::Unit)),
        ];
        let attributes = attributes.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let made = copier.to.op(tt::DOT).operand(factors[0]).operand(factors[1]).operand(accumulator);
        let made = made.attributes(attributes).result(ty).done()?;
        let result = copier.to.body().op(made).results[0];
        self.made.products.push((op, made));
        copier.bind(copier.from.op(op).results[0], result);
        Ok(())
    }

    pub(super) fn cast(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let (source, result) = (operation.operands[0], operation.results[0]);
        let (from, to) = (copier.from.ty(source).clone(), copier.from.ty(result).clone());
        let signed = operation.attributes.get("unsigned").is_none();
        let mut value = copier.value(source);
        if packed::is_narrow(to.element()) {
            return Err(violation(
                copier,
                op,
                format!("registers are not packed into `{}`: elements of a byte and more are cast to", to.element()),
            ));
        }
        let narrow = self.packed_axes.contains_key(&source);
        let mut known = from.element().clone();
        let mut bits = from.element_bits().unwrap_or(32);
        match (narrow, from.element()) {
            (false, _) => {}
            (true, TileType::Float(float)) => {
                let wide = copier.to.widened(value, *float)?;
                let wide = wide.ok_or_else(|| violation(copier, op, format!("`{from}` has no cast")))?;
                (value, known, bits) = (wide, TileType::Float(Float::F16), 16);
            }
            (true, _) => {
                if signed {
                    value = copier.to.sign_extended(value, bits)?;
                }
                bits = 8;
            }
        }
        let name = cast_name(&known, bits, to.element(), signed);
        let made = match name {
            Some(name) => copier.to.rounded(name, value, to)?,
            None => value,
        };
        copier.bind(result, made);
        Ok(())
    }

    pub(super) fn reduce(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let (source, result) = (copier.value(operation.operands[0]), operation.results[0]);
        let to = copier.from.ty(result).clone();
        let element = to.element().clone();
        let kind = operation.attributes.get("kind").and_then(Attribute::as_text).unwrap_or("add").to_owned();
        let Some(name) = combination(&kind, &element) else {
            return Err(violation(copier, op, format!("elements of `{element}` are not reduced by `{kind}`")));
        };
        let axis = operation.attributes.get("axis").cloned().unwrap_or_else(|| 0.into());
        // Along the only axis a single element is left.
        let given = if to.shape().is_some_and(<[u64]>::is_empty) { element.clone() } else { to };
        let of = element.clone();
        let made = copier.to.op(tt::REDUCE).operand(source).attribute("axis", axis).result(given);
        let made = made.region(vec![element.clone(), element], |inner, arguments| {
            let sum = inner.op(name).operand(arguments[0]).operand(arguments[1]).result(of).value()?;
            inner.op(tt::REDUCE_RETURN).operand(sum).done().map(drop)
        });
        let made = made.value()?;
        copier.bind(result, made);
        Ok(())
    }
}

impl FunctionBuilder<'_> {
    /// A cast; of one to narrow floating-point numbers it is said how it rounds.
    fn rounded(&mut self, name: &str, value: Value, to: TileType) -> Result<Value, BuildError> {
        let narrows = self.ty(value).element_bits() > to.element_bits();
        let mut made = self.op(name).operand(value);
        if name == tt::FP_TO_FP && narrows {
            made = made.attribute("rounding", Attribute::Word("rtne".into()));
        }
        made.result(to).value()
    }

    /// Codes of floating-point numbers of four and six bits as numbers of sixteen: sign, exponent and mantissa go where those
    /// have theirs, and the difference of the biases is multiplied, which is exact, that of the numbers below the least normal
    /// one too.
    fn widened(&mut self, codes: Value, float: Float) -> Result<Option<Value>, BuildError> {
        // Bits of the exponent, those of the mantissa, and the bias (OCP MX specification, section 5.3).
        let (exponent, mantissa, bias) = match float {
            Float::F4E2M1Fn => (2, 1, 1),
            Float::F6E2M3Fn => (2, 3, 1),
            Float::F6E3M2Fn => (3, 2, 3),
            _ => return Ok(None),
        };
        let ty = self.ty(codes).with_element(TileType::integer(16));
        let wide = self.unary(arith::EXTUI, codes, ty.clone())?;
        let below = exponent + mantissa;
        let mut parts = Vec::new();
        for (mask, shift) in [(1i64 << below, 15 - below), ((1i64 << below) - 1, 10 - mantissa)] {
            let [mask, shift] = [self.integer(mask, &ty)?, self.integer(shift, &ty)?];
            let part = self.binary(arith::ANDI, wide, mask)?;
            parts.push(self.binary(arith::SHLI, part, shift)?);
        }
        let bits = self.binary(arith::ORI, parts[0], parts[1])?;
        let ty = ty.with_element(TileType::Float(Float::F16));
        let number = self.unary(tt::BITCAST, bits, ty.clone())?;
        // 2^(15 - bias), as numbers of sixteen bits have it.
        let scale = self.constant(Attribute::of_bits((15 + 15 - bias) << 10, ty))?;
        self.binary(arith::MULF, number, scale).map(Some)
    }

    /// The lowest bits of each byte, read as a signed number.
    fn sign_extended(&mut self, value: Value, bits: u32) -> Result<Value, BuildError> {
        let ty = self.ty(value).clone();
        let sign = self.integer(1 << (bits - 1), &ty)?;
        let flipped = self.binary(arith::XORI, value, sign)?;
        self.binary(arith::SUBI, flipped, sign)
    }
}

/// The operation that casts; none where nothing changes.
fn cast_name(from: &TileType, from_bits: u32, to: &TileType, signed: bool) -> Option<&'static str> {
    let to_bits = to.element_bits().unwrap_or(32);
    let narrow_float = |ty: &TileType| matches!(ty, TileType::Float(float) if float.bits() <= 8);
    match (from, to) {
        (TileType::Float(a), TileType::Float(b)) if a == b => None,
        (TileType::Float(_), TileType::Float(_)) if narrow_float(from) || narrow_float(to) => Some(tt::FP_TO_FP),
        (TileType::Float(a), TileType::Float(b)) if a.bits() == b.bits() => Some(tt::FP_TO_FP),
        (TileType::Float(_), TileType::Float(_)) => Some(if to_bits > from_bits { arith::EXTF } else { arith::TRUNCF }),
        (TileType::Float(_), _) => Some(if signed { arith::FPTOSI } else { arith::FPTOUI }),
        (_, TileType::Float(_)) => Some(if signed { arith::SITOFP } else { arith::UITOFP }),
        _ if to_bits > from_bits => Some(if signed { arith::EXTSI } else { arith::EXTUI }),
        _ if to_bits < from_bits => Some(arith::TRUNCI),
        _ => None,
    }
}

/// The operation by which two elements become one.
fn combination(kind: &str, element: &TileType) -> Option<&'static str> {
    let is_float = matches!(element, TileType::Float(_));
    Some(match (kind, is_float) {
        ("add", true) => arith::ADDF,
        ("mul", true) => arith::MULF,
        ("max", true) => arith::MAXNUMF,
        ("min", true) => arith::MINNUMF,
        ("add", false) => arith::ADDI,
        ("mul", false) => arith::MULI,
        ("max", false) => arith::MAXSI,
        ("min", false) => arith::MINSI,
        _ => return None,
    })
}
