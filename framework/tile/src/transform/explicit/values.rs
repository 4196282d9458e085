//! Expands operations whose results are in registers: dots, casts, reductions, layout conversions.

use crate::op::name::{arith, tt, ttg, tw};

use super::choices::{DotWarps, PingPongChoice};
use super::expander::Expander;
use super::packed;
use crate::op_attrs::{
    ALL_WARPS_ALONG_M, BEGINS_EXCLUSIVE, DOT_COLUMNS_PER_LANE, ENDS_EXCLUSIVE, INSTRUCTION, IS_PENDING, K_WIDTH,
    MMA_TO_DOT_ATTRIBUTES, OPERAND_STAYS_IN_SMEM, SWAP_AB, WARP_COUNTS_M_N,
};
use crate::transform::pipeliner::find_accumulated_dot;
use crate::{Attribute, Block, BuildError, FloatType, FunctionBody, FunctionBuilder, Op, TileType, Value, ValueOrigin};

use crate::transform::{IrCloner, Rewritten, violation};

impl Expander<'_> {
    pub(super) fn register_tensor(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let result = cloner.from.op(op).results[0];
        let ty = cloner.from.value_type(result).clone();
        let initial = cloner.clone_of(cloner.from.op(op).operands[0]);
        let new_value = cloner.to.unary(tt::SPLAT, initial, ty)?;
        cloner.bind(result, new_value);
        Ok(())
    }

    /// Expands a layout conversion to the layout that the program states for the result or, if it states none, to one
    /// that layout assignment finds.
    pub(super) fn rearrange(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let result = cloner.from.op(op).results[0];
        let ty = cloner.from.value_type(result).clone();
        let source = cloner.clone_of(cloner.from.op(op).operands[0]);
        // Narrow elements are bytes in registers.
        let ty = ty.with_element(cloner.to.ty(source).element().clone());
        let new_value = cloner.to.unary(ttg::CONVERT_LAYOUT, source, ty)?;
        cloner.bind(result, new_value);
        Ok(())
    }

    /// Expands a dot (`tw.mma` or `tt.dot`) with its choice; operands in shared memory are loaded first.
    pub(super) fn mma(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let choice = self.choices.dots.get(&op).cloned().unwrap_or_default();
        let mma_operands = self.mma_operands(op, choice.smem_operands, cloner)?;
        let accumulator = cloner.clone_of(cloner.from.op(op).operands[2]);
        let ty = cloner.to.ty(accumulator).clone();
        let number = |width: u64| Attribute::integer(width as i64, TileType::integer(32));
        let exclusive = |is: &dyn Fn(&&PingPongChoice) -> bool| {
            self.ping_pong.iter().find(is).map(|exclusive| number(exclusive.groups.into()))
        };
        let (begins_exclusive, ends_exclusive) =
            (exclusive(&|exclusive| exclusive.first == op), exclusive(&|exclusive| exclusive.last == op));
        // The exclusive section ends when the MMA is issued, so it is waited for afterwards. The last of several MMAs
        // that are in flight together is waited for, too.
        let ends_early = ends_exclusive.is_some() && choice.smem_operands == [true; 2];
        let overlaps = self.pending.contains(&op);
        let [follows, precedes] = self.dots_in_flight(cloner.from, op);
        let is_waited = ends_early || !overlaps && follows && !precedes;
        let (counts, swap_ab) = match choice.warps {
            Some(DotWarps::Partition { warps, swap_ab }) => (Some(warps), swap_ab),
            _ => (None, false),
        };
        let chosen = [
            (INSTRUCTION, choice.instruction.map(Attribute::Text)),
            (K_WIDTH, choice.k_width.map(number)),
            (DOT_COLUMNS_PER_LANE, choice.n_width.map(number)),
            (ALL_WARPS_ALONG_M, choice.warps.map(|warps| Attribute::Bool(warps == DotWarps::AlongM))),
            (WARP_COUNTS_M_N, counts.map(|counts| Attribute::Array(TileType::integer(64), counts.to_vec()))),
            (SWAP_AB, swap_ab.then_some(Attribute::Unit)),
            (IS_PENDING, (is_waited || overlaps || precedes).then_some(Attribute::Unit)),
            (BEGINS_EXCLUSIVE, begins_exclusive),
            (ENDS_EXCLUSIVE, ends_exclusive),
        ];
        let chosen = chosen.into_iter().filter_map(|(name, value)| Some((name, value?)));
        // The choices that the program states replace those of the search.
        let explicit = cloner.from.op(op).attributes.iter().map(|(name, value)| (dot_attribute(name), value.clone()));
        let new_op = cloner.to.build_op(tt::DOT).operand(mma_operands[0]).operand(mma_operands[1]).operand(accumulator);
        let new_op = new_op.attributes(chosen).attributes(explicit).result(ty).build()?;
        let mut result = cloner.to.body().op(new_op).results[0];
        self.replacements.dots.push((op, new_op));
        if is_waited {
            let ty = cloner.to.ty(result).clone();
            let wait = cloner.to.build_op(tw::MMA_WAIT).operands("inputs", &[result]).result(ty);
            result = wait.attribute("outstanding", 0).value()?;
        }
        cloner.bind(cloner.from.op(op).results[0], result);
        Ok(())
    }

    /// Returns operands A and B of a dot; those in shared memory are loaded, and MMAs read those of `smem_operands`
    /// there.
    fn mma_operands(
        &mut self,
        op: Op,
        smem_operands: [bool; 2],
        cloner: &mut IrCloner<'_, '_, '_>,
    ) -> Rewritten<Vec<Value>> {
        let mut mma_operands = Vec::new();
        for (side, stays_in_smem) in smem_operands.into_iter().enumerate() {
            let operand = cloner.from.op(op).operands[side];
            let mma_operand = match (cloner.from.value_type(operand), cloner.from.value_origin(operand)) {
                (TileType::Memory(_), _) => self.out_of_shared(op, operand, cloner)?,
                (_, ValueOrigin::Result(copy, _)) if self.reads_shared_copy(cloner.from, op, side) => {
                    self.out_of_shared(copy, cloner.from.op(copy).operands[0], cloner)?
                }
                _ => cloner.clone_of(operand),
            };
            if let (ValueOrigin::Result(load, _), true) = (cloner.to.body().value_origin(mma_operand), stays_in_smem) {
                cloner.to.body_mut().op_mut(load).attributes.set(OPERAND_STAYS_IN_SMEM, Attribute::Unit);
            }
            mma_operands.push(mma_operand);
        }
        Ok(mma_operands)
    }

    /// Whether the MMA of a dot is issued while the MMA that makes its accumulator is in flight, and whether it is
    /// itself in flight when the MMA that it makes the accumulator of is issued.
    fn dots_in_flight(&self, body: &FunctionBody, dot: Op) -> [bool; 2] {
        let Some(block) = body.block_of(dot) else { return [false; 2] };
        let before = find_accumulated_dot(body, &self.uses, dot).map(|before| [before, dot]);
        let next = match self.uses.of_value(body.op(dot).results[0]) {
            [(user, 2)] => find_accumulated_dot(body, &self.uses, *user).map(|before| [before, *user]),
            _ => None,
        };
        [before, next].map(|pair| {
            let is_inside = |dots: &[Op; 2]| dots.iter().all(|dot| body.ops(block).contains(dot));
            pair.filter(is_inside).is_some_and(|[first, second]| self.stays_in_flight(body, block, first, second))
        })
    }

    /// Whether the MMA of the dot `first` can stay in flight until the MMA of `second` is issued, of which it makes the
    /// accumulator: both have one instruction, which reads both operands from shared memory, and no operation between
    /// them may write memory.
    fn stays_in_flight(&self, body: &FunctionBody, block: Block, first: Op, second: Op) -> bool {
        let choice = |dot: Op| self.choices.dots.get(&dot).filter(|choice| choice.smem_operands == [true; 2]);
        let (Some(one), Some(other)) = (choice(first), choice(second)) else { return false };
        let between = body.ops(block).iter().skip_while(|op| **op != first).take_while(|op| **op != second);
        let is_harmless = |op: &Op| {
            let operation = body.op(*op);
            let traits = operation.definition.traits;
            let is_read = operation.name() == tw::COPY && body.operand(*op, "dst").is_none();
            traits.pure || traits.elementwise || is_read || matches!(operation.name(), tw::MMA | tt::DOT)
        };
        one.instruction == other.instruction && between.into_iter().all(is_harmless)
    }

    /// Whether an MMA reads operand A (`side` 0) or B (1) from shared memory, from which the program copies it to
    /// registers for several dots.
    fn reads_shared_copy(&self, body: &FunctionBody, dot: Op, side: usize) -> bool {
        let operand = body.op(dot).operands[side];
        self.choices.dots.get(&dot).is_some_and(|choice| choice.smem_operands[side])
            && self.uses.of_value(operand).len() > 1
    }

    /// Whether MMAs read the tensor that a copy to registers copies from shared memory, so that no operation needs the
    /// copy.
    pub(super) fn is_read_in_shared(&self, body: &FunctionBody, copied: Value) -> bool {
        let users = self.uses.of_value(copied);
        users.len() > 1 && users.iter().all(|&(op, index)| index < 2 && self.reads_shared_copy(body, op, index))
    }

    pub(super) fn cast(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let (source, result) = (operation.operands[0], operation.results[0]);
        let (from, to) = (cloner.from.value_type(source).clone(), cloner.from.value_type(result).clone());
        let signed = operation.attributes.get("unsigned").is_none();
        let mut value = cloner.clone_of(source);
        if packed::is_narrow(to.element()) {
            return Err(violation(
                cloner,
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
                let wide = cloner.to.widened(value, *float)?;
                let wide = wide.ok_or_else(|| violation(cloner, op, format!("`{from}` has no cast")))?;
                (value, known, bits) = (wide, TileType::Float(FloatType::F16), 16);
            }
            (true, _) => {
                if signed {
                    value = cloner.to.sign_extended(value, bits)?;
                }
                bits = 8;
            }
        }
        let name = cast_name(&known, bits, to.element(), signed);
        let new_value = match name {
            Some(name) => cloner.to.rounded(name, value, to)?,
            None => value,
        };
        cloner.bind(result, new_value);
        Ok(())
    }

    pub(super) fn reduce(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let operation = cloner.from.op(op);
        let (source, result) = (cloner.clone_of(operation.operands[0]), operation.results[0]);
        let to = cloner.from.value_type(result).clone();
        let element = to.element().clone();
        let kind = operation.attributes.get("kind").and_then(Attribute::as_text).unwrap_or("add").to_owned();
        let Some(name) = combination(&kind, &element) else {
            return Err(violation(cloner, op, format!("elements of `{element}` are not reduced by `{kind}`")));
        };
        let axis = operation.attributes.get("axis").cloned().unwrap_or_else(|| 0.into());
        // A reduction along the only axis gives a scalar.
        let given = if to.shape().is_some_and(<[u64]>::is_empty) { element.clone() } else { to };
        let of = element.clone();
        let new_op = cloner.to.build_op(tt::REDUCE).operand(source).attribute("axis", axis).result(given);
        let new_op = new_op.region(vec![element.clone(), element], |inner, arguments| {
            let sum = inner.build_op(name).operand(arguments[0]).operand(arguments[1]).result(of).value()?;
            inner.build_op(tt::REDUCE_RETURN).operand(sum).build().map(drop)
        });
        let new_value = new_op.value()?;
        cloner.bind(result, new_value);
        Ok(())
    }
}

impl FunctionBuilder<'_> {
    /// Emits a cast, with a rounding mode if it narrows floating-point numbers.
    fn rounded(&mut self, name: &str, value: Value, to: TileType) -> Result<Value, BuildError> {
        let narrows = self.ty(value).element_bits() > to.element_bits();
        let mut new_op = self.build_op(name).operand(value);
        if name == tt::FP_TO_FP && narrows {
            new_op = new_op.attribute("rounding", Attribute::Keyword("rtne".into()));
        }
        new_op.result(to).value()
    }

    /// Emits the conversion of encodings of four- and six-bit floats to binary16; `None` for other types.
    ///
    /// It moves the fields of sign, exponent and mantissa into place, then multiplies by two to the power of the
    /// difference of the exponent biases. The product is exact, for subnormals too.
    fn widened(&mut self, codes: Value, float: FloatType) -> Result<Option<Value>, BuildError> {
        // Exponent bits, mantissa bits and bias (OCP MX specification, section 5.3).
        let (exponent, mantissa, bias) = match float {
            FloatType::F4E2M1Fn => (2, 1, 1),
            FloatType::F6E2M3Fn => (2, 3, 1),
            FloatType::F6E3M2Fn => (3, 2, 3),
            _ => return Ok(None),
        };
        let ty = self.ty(codes).with_element(TileType::integer(16));
        let wide = self.unary(arith::EXTUI, codes, ty.clone())?;
        let below = exponent + mantissa;
        let mut shifted = Vec::new();
        for (mask, shift) in [(1i64 << below, 15 - below), ((1i64 << below) - 1, 10 - mantissa)] {
            let [mask, shift] = [self.integer(mask, &ty)?, self.integer(shift, &ty)?];
            let masked = self.binary(arith::ANDI, wide, mask)?;
            shifted.push(self.binary(arith::SHLI, masked, shift)?);
        }
        let bits = self.binary(arith::ORI, shifted[0], shifted[1])?;
        let ty = ty.with_element(TileType::Float(FloatType::F16));
        let number = self.unary(tt::BITCAST, bits, ty.clone())?;
        // 2^(15 - bias) in binary16.
        let scale = self.add_constant(Attribute::of_bits((15 + 15 - bias) << 10, ty))?;
        self.binary(arith::MULF, number, scale).map(Some)
    }

    /// Emits a sign extension of the low `bits` bits of each byte.
    fn sign_extended(&mut self, value: Value, bits: u32) -> Result<Value, BuildError> {
        let ty = self.ty(value).clone();
        let sign = self.integer(1 << (bits - 1), &ty)?;
        let flipped = self.binary(arith::XORI, value, sign)?;
        self.binary(arith::SUBI, flipped, sign)
    }
}

/// The attribute of `tt.dot` for an attribute of `tw.mma`; attributes of `tt.dot` keep their names.
fn dot_attribute(name: &str) -> &str {
    MMA_TO_DOT_ATTRIBUTES.iter().find(|(of_mma, _)| *of_mma == name).map_or(name, |(_, of_dot)| *of_dot)
}

/// The name of the operation that casts between these element types; `None` if none is needed.
///
/// `from_bits` is the width of the operand's elements in registers; `signed` applies to integers.
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

/// The name of the operation that combines two elements in a reduction of this kind; `None` for unknown kinds.
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
