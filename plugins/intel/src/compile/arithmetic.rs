//! Emits arithmetic, comparisons, selects and byte permutes.

use rspirv::spirv::{Op, Word};
use tilewright_kernel::{Binary, Compare, Element, MemorySpace, Type};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use super::emit::Emitter;
use super::emitted::EmittedValue;
use super::extended;

/// How a binary operation on integers of two bits or more is emitted in SPIR-V.
enum Integer {
    /// A SPIR-V instruction whose result is defined for all operand values.
    Plain(Op),
    /// A shift instruction. The emitted code masks the distance, because SPIR-V leaves distances of at least the bit
    /// width undefined, while the kernel IR gives them some value.
    Shift(Op),
    /// A division or remainder instruction. The emitted code replaces a zero divisor by one, because SPIR-V leaves
    /// division by zero undefined, while the kernel IR gives it some value.
    Division(Op),
    /// A signed division or remainder: as `Division`, but the divisor -1 is also replaced if the quotient would
    /// overflow.
    Signed(Op),
    /// An instruction of the OpenCL extended instruction set, by its opcode there.
    Extended(Word),
}

impl Integer {
    fn of(op: Binary) -> Option<Self> {
        Some(match op {
            Binary::Add => Self::Plain(Op::IAdd),
            Binary::Sub => Self::Plain(Op::ISub),
            Binary::Mul => Self::Plain(Op::IMul),
            Binary::And => Self::Plain(Op::BitwiseAnd),
            Binary::Or => Self::Plain(Op::BitwiseOr),
            Binary::Xor => Self::Plain(Op::BitwiseXor),
            Binary::Shl => Self::Shift(Op::ShiftLeftLogical),
            Binary::ShrU => Self::Shift(Op::ShiftRightLogical),
            Binary::ShrS => Self::Shift(Op::ShiftRightArithmetic),
            Binary::DivU => Self::Division(Op::UDiv),
            Binary::RemU => Self::Division(Op::UMod),
            Binary::DivS => Self::Signed(Op::SDiv),
            Binary::RemS => Self::Signed(Op::SRem),
            Binary::MulHighU => Self::Extended(extended::U_MUL_HI),
            Binary::MulHighS => Self::Extended(extended::S_MUL_HI),
            _ => return None,
        })
    }
}

fn float_op(op: Binary) -> Option<Op> {
    match op {
        Binary::FAdd => Some(Op::FAdd),
        Binary::FSub => Some(Op::FSub),
        Binary::FMul => Some(Op::FMul),
        _ => None,
    }
}

/// Returns the SPIR-V instruction for a comparison of integers of two bits or more; `None` for floating-point
/// comparisons.
fn compare_op(op: Compare) -> Option<Op> {
    Some(match op {
        Compare::Eq => Op::IEqual,
        Compare::Ne => Op::INotEqual,
        Compare::LtU => Op::ULessThan,
        Compare::LeU => Op::ULessThanEqual,
        Compare::LtS => Op::SLessThan,
        Compare::LeS => Op::SLessThanEqual,
        _ => return None,
    })
}

impl Emitter {
    /// Emits `f` for each pair of corresponding parts (SPIR-V vectors of at most 16 elements) of two values; the result
    /// has type `ty`.
    pub(super) fn zip(
        &mut self,
        ty: Type,
        a: &EmittedValue,
        b: &EmittedValue,
        mut f: impl FnMut(&mut Self, Word, Word) -> Result<Word, CompileError>,
    ) -> Result<EmittedValue, CompileError> {
        b.expect(a.ty)?;
        let ids = a.ids.iter().zip(&b.ids).map(|(&a, &b)| f(self, a, b)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(ty, ids))
    }

    pub(super) fn binary(
        &mut self,
        op: Binary,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        if op.is_float() && element.is_float() && float_op(op).is_none() {
            return self.float_choice(op, a, b);
        }
        match (float_op(op), Integer::of(op)) {
            (Some(op), _) if element.is_float() => self.float_binary(op, element, a, b),
            (_, Some(_)) if element == Element::I1 => self.boolean_binary(op, a, b),
            (_, Some(op)) if !element.is_float() => self.integer_binary(&op, element, a, b),
            _ => Err(invalid_module_error(format!("{op:?} of {}", a.ty))),
        }
    }

    fn float_binary(
        &mut self,
        op: Op,
        element: Element,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let width = a.width();
        if element == Element::Bf16 {
            return self.zip(a.ty, a, b, |this, a, b| this.bfloat_binary(op, width, a, b));
        }
        if self.carrier(element) != element {
            return Err(unsupported_kernel_error(format!(
                "this architecture does not compute with {}",
                element.name()
            )));
        }
        let ty = self.id_type(a.ty);
        self.zip(a.ty, a, b, |this, a, b| this.value(op, ty, [a, b]))
    }

    /// Emits `fma` of OpenCL's extended instructions: `a * b + c`, rounded once.
    pub(super) fn fma(
        &mut self,
        a: &EmittedValue,
        b: &EmittedValue,
        c: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        if !element.is_float() || element == Element::Bf16 {
            return Err(invalid_module_error(format!("a multiply-add of {}", a.ty)));
        }
        if self.carrier(element) != element {
            return Err(unsupported_kernel_error(format!(
                "this architecture does not compute with {}",
                element.name()
            )));
        }
        c.expect(a.ty)?;
        let ty = self.id_type(a.ty);
        let mut summands = c.ids.iter();
        self.zip(a.ty, a, b, |this, a, b| {
            let c = *summands.next().ok_or_else(|| invalid_module_error("a multiply-add without an addend"))?;
            this.extended(extended::FMA, ty, &[a, b, c])
        })
    }

    fn integer_binary(
        &mut self,
        op: &Integer,
        element: Element,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let (ty, width, bits) = (self.id_type(a.ty), a.width(), u64::from(element.bits()));
        let known = b.constant;
        self.zip(a.ty, a, b, |this, a, mut b| match op {
            Integer::Plain(op) => this.value(*op, ty, [a, b]),
            Integer::Shift(op) => {
                if known.is_none_or(|distance| distance >= bits) {
                    let mask = this.constant(element, width, bits - 1);
                    b = this.value(Op::BitwiseAnd, ty, [b, mask])?;
                }
                this.value(*op, ty, [a, b])
            }
            Integer::Division(op) => {
                if known.is_none_or(|divisor| divisor == 0) {
                    b = this.one_for_zero(element, width, b)?;
                }
                this.value(*op, ty, [a, b])
            }
            Integer::Signed(op) => {
                b = this.one_for_zero(element, width, b)?;
                b = this.one_for_overflow(element, width, a, b)?;
                this.value(*op, ty, [a, b])
            }
            Integer::Extended(op) => this.extended(*op, ty, &[a, b]),
        })
    }

    /// Emits the divisors `b` (vectors of `width` integers) with 1 in place of -1 in each element whose dividend in `a`
    /// is the least integer, because that quotient would overflow.
    fn one_for_overflow(&mut self, element: Element, width: u32, a: Word, b: Word) -> Result<Word, CompileError> {
        let (ty, condition) = (self.element_type(element, width), self.element_type(Element::I1, width));
        let bits = element.bits();
        let min = self.constant(element, width, 1 << (bits - 1));
        let (minus_one, one) =
            (self.constant(element, width, u64::MAX >> (64 - bits)), self.constant(element, width, 1));
        let is_min = self.value(Op::IEqual, condition, [a, min])?;
        let is_minus_one = self.value(Op::IEqual, condition, [b, minus_one])?;
        let overflows = self.value(Op::LogicalAnd, condition, [is_min, is_minus_one])?;
        self.value(Op::Select, ty, [overflows, one, b])
    }

    fn one_for_zero(&mut self, element: Element, width: u32, divisor: Word) -> Result<Word, CompileError> {
        let (ty, condition) = (self.element_type(element, width), self.element_type(Element::I1, width));
        let (zero, one) = (self.constant(element, width, 0), self.constant(element, width, 1));
        let is_zero = self.value(Op::IEqual, condition, [divisor, zero])?;
        self.value(Op::Select, ty, [is_zero, one, divisor])
    }

    /// Emits a binary operation on one-bit integers. Addition and subtraction are exclusive or. A shift by one and a
    /// division by zero have an unspecified result.
    fn boolean_binary(&mut self, op: Binary, a: &EmittedValue, b: &EmittedValue) -> Result<EmittedValue, CompileError> {
        let (ty, width) = (self.id_type(a.ty), a.width());
        self.zip(a.ty, a, b, |this, a, b| match op {
            Binary::Add | Binary::Sub | Binary::Xor => this.boolean_compare(Compare::Ne, width, a, b),
            Binary::Mul | Binary::And => this.value(Op::LogicalAnd, ty, [a, b]),
            Binary::Or => this.value(Op::LogicalOr, ty, [a, b]),
            Binary::RemU => Ok(this.constant(Element::I1, width, 0)),
            _ => Ok(a),
        })
    }

    pub(super) fn compare(
        &mut self,
        op: Compare,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        if op.is_float() && element.is_float() {
            return self.float_compare(op, a, b);
        }
        if op.is_float() || element.is_float() {
            return Err(invalid_module_error(format!("`{}` of {}", op.name(), a.ty)));
        }
        let ty = Type::vector_or_scalar(Element::I1, a.ty.element_count());
        let result = self.id_type(ty);
        if element == Element::I1 {
            let width = a.width();
            return self.zip(ty, a, b, |this, a, b| this.boolean_compare(op, width, a, b));
        }
        let op = compare_op(op).ok_or_else(|| unsupported_kernel_error(format!("operation `{}`", op.name())))?;
        self.zip(ty, a, b, |this, a, b| this.value(op, result, [a, b]))
    }

    /// Emits a comparison of two vectors of `width` one-bit integers. They are first converted to bytes, 0 or 0xff (-1
    /// if signed), because Intel's compiler fails on comparisons of booleans.
    fn boolean_compare(&mut self, op: Compare, width: u32, a: Word, b: Word) -> Result<Word, CompileError> {
        let (byte, bool_type) = (self.element_type(Element::I8, width), self.element_type(Element::I1, width));
        let (zero, ones) = (self.constant(Element::I8, width, 0), self.constant(Element::I8, width, 0xff));
        let a = self.value(Op::Select, byte, [a, ones, zero])?;
        let b = self.value(Op::Select, byte, [b, ones, zero])?;
        let op = compare_op(op).ok_or_else(|| unsupported_kernel_error(format!("operation `{}`", op.name())))?;
        self.value(op, bool_type, [a, b])
    }

    pub(super) fn select(
        &mut self,
        condition: &EmittedValue,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let mut condition = condition.expect(Type::Scalar(Element::I1))?.scalar()?;
        let (ty, width) = (self.id_type(a.ty), a.width());
        if width > 1 {
            // Before SPIR-V 1.4, `OpSelect` selects vectors only by a vector of conditions, one for each element.
            let conditions = vec![condition; width as usize];
            let splat = self.gather(Type::Vector(Element::I1, width), &conditions)?;
            condition = splat.ids.first().copied().unwrap_or(condition);
        }
        self.zip(a.ty, a, b, |this, a, b| this.value(Op::Select, ty, [condition, a, b]))
    }

    /// Emits a byte permute by shifts and masks: the result consists of four of the eight bytes of `a` and `b`. Bytes
    /// that move by the same distance share one shift.
    pub(super) fn permute_bytes(
        &mut self,
        a: &EmittedValue,
        b: &EmittedValue,
        selector: u16,
    ) -> Result<EmittedValue, CompileError> {
        let i32 = Type::Scalar(Element::I32);
        let words = [a.expect(i32)?.scalar()?, b.expect(i32)?.scalar()?];
        let ty = self.id_type(i32);
        let mut result = None;
        for (source, left, mask) in byte_moves(selector)? {
            let mut word = *words.get(source).ok_or_else(|| invalid_module_error("byte selector"))?;
            if left != 0 {
                let distance = self.u32(left.unsigned_abs());
                let op = if left > 0 { Op::ShiftLeftLogical } else { Op::ShiftRightLogical };
                word = self.value(op, ty, [word, distance])?;
            }
            if mask != u32::MAX {
                let mask = self.u32(mask);
                word = self.value(Op::BitwiseAnd, ty, [word, mask])?;
            }
            result = Some(match result {
                None => word,
                Some(others) => self.value(Op::BitwiseOr, ty, [others, word])?,
            });
        }
        Ok(EmittedValue::new(i32, result.into_iter().collect()))
    }

    /// Emits the address `bytes` bytes above (or below, if negative) the address `pointer`.
    pub(super) fn ptr_add(
        &mut self,
        pointer: &EmittedValue,
        bytes: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let (base, distance) = (pointer.scalar()?, bytes.scalar()?);
        let ty = self.id_type(pointer.ty);
        let moved = match (pointer.ty, bytes.ty) {
            (Type::Pointer(MemorySpace::Global), Type::Scalar(Element::I32 | Element::I64)) => {
                self.value(Op::PtrAccessChain, ty, [base, distance])?
            }
            (Type::Pointer(MemorySpace::Shared), Type::Scalar(Element::I32)) => {
                self.value(Op::IAdd, ty, [base, distance])?
            }
            (Type::Pointer(MemorySpace::Shared), Type::Scalar(Element::I64)) => {
                let low = self.value(Op::UConvert, ty, [distance])?;
                self.value(Op::IAdd, ty, [base, low])?
            }
            _ => return Err(invalid_module_error(format!("{} advanced by {}", pointer.ty, bytes.ty))),
        };
        Ok(EmittedValue::new(pointer.ty, vec![moved]))
    }
}

/// Splits a byte permute into moves. Each move is: source operand (0 or 1), number of bits to shift left (right if
/// negative), and mask of the result bits that it provides.
fn byte_moves(selector: u16) -> Result<Vec<(usize, i32, u32)>, CompileError> {
    let mut moves: Vec<(usize, i32, u32)> = Vec::new();
    for to in 0..4 {
        let from = i32::from(selector >> (4 * to) & 0xf);
        if from > 7 {
            return Err(invalid_module_error(format!("byte selector {selector:#06x}: nibbles are 0 to 7")));
        }
        let (source, left, mask) = ((from / 4) as usize, 8 * (to - from % 4), 0xff << (8 * to));
        match moves.iter_mut().find(|known| (known.0, known.1) == (source, left)) {
            Some(known) => known.2 |= mask,
            None => moves.push((source, left, mask)),
        }
    }
    Ok(moves)
}
