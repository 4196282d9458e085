//! Emits floating-point operations, mostly as instructions of the OpenCL extended set.
//!
//! Accuracy in OpenCL C (full profile): `floor`, `ceil`, `trunc`, `rint`, `fabs`, `fmin` and `fmax` are exact. Division
//! and square root of binary64 are correctly rounded; those of binary32 may have errors of 2.5 and 3 ULPs unless the
//! program is built with `-cl-fp32-correctly-rounded-divide-sqrt`. So narrower numbers are divided in binary64, and the
//! result is rounded once more. Both roundings together are correct, since 53 bits are more than the 2p + 2 that
//! precision p needs. On an architecture without binary64 the operations run in binary32, and the device that builds
//! the program must set that option.

use rspirv::spirv::{Op, Word};
use tilewright_kernel::{Binary, Compare, Element, MathFunction, Type, Unary};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use super::emit::Emitter;
use super::emitted::EmittedValue;
use super::extended;

impl Emitter {
    pub(super) fn unary(&mut self, op: Unary, a: &EmittedValue) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        if op.is_float() != element.is_float() || element == Element::I1 {
            return Err(invalid_module_error(format!("`{}` of {}", op.name(), a.ty)));
        }
        let (ty, width) = (self.id_type(a.ty), a.width());
        let number = match op {
            Unary::FNeg => return self.signs(a, Op::FNegate),
            Unary::FAbs => return self.signs(a, Op::ExtInst),
            Unary::FSqrt => {
                return self.each(a, |this, id| {
                    this.rounded(element, width, &[id], |this, ty, of| this.extended(extended::SQRT, ty, of))
                });
            }
            Unary::FFloor => extended::FLOOR,
            Unary::FCeil => extended::CEIL,
            Unary::FTrunc => extended::TRUNC,
            Unary::FNearest => extended::RINT,
            Unary::LeadingZeros => extended::CLZ,
            Unary::PopCount => extended::POPCOUNT,
        };
        if !op.is_float() {
            return self.each(a, |this, id| this.extended(number, ty, &[id]));
        }
        self.each(a, |this, id| this.exactly(element, width, &[id], |this, ty, of| this.extended(number, ty, of)))
    }

    fn each(
        &mut self,
        a: &EmittedValue,
        mut f: impl FnMut(&mut Self, Word) -> Result<Word, CompileError>,
    ) -> Result<EmittedValue, CompileError> {
        let ids = a.ids.iter().map(|&id| f(self, id)).collect::<Result<_, _>>()?;
        Ok(EmittedValue::new(a.ty, ids))
    }

    /// Emits a negation or an absolute value. For an element type that the architecture holds as an integer, the sign
    /// bit is changed by a bitwise operation.
    fn signs(&mut self, a: &EmittedValue, op: Op) -> Result<EmittedValue, CompileError> {
        let element = a.element()?;
        let (ty, carrier, width) = (self.id_type(a.ty), self.carrier(element), a.width());
        let sign = 1 << (carrier.bits() - 1);
        self.each(a, |this, id| match (carrier == element, op) {
            (true, Op::FNegate) => this.value(Op::FNegate, ty, [id]),
            (true, _) => this.extended(extended::FABS, ty, &[id]),
            (false, Op::FNegate) => {
                let sign = this.constant(carrier, width, sign);
                this.value(Op::BitwiseXor, ty, [id, sign])
            }
            (false, _) => {
                let magnitude = this.constant(carrier, width, sign - 1);
                this.value(Op::BitwiseAnd, ty, [id, magnitude])
            }
        })
    }

    /// Emits a division, minimum or maximum. OpenCL's `fmin` and `fmax` leave the sign of a zero undefined and ignore a
    /// NaN operand, so their result is corrected if the operation requires it.
    pub(super) fn float_choice(
        &mut self,
        op: Binary,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let (element, width) = (a.element()?, a.width());
        let (number, zeros) = match op {
            Binary::FDiv => {
                return self.zip(a.ty, a, b, |this, a, b| {
                    this.rounded(element, width, &[a, b], |this, ty, of| this.value(Op::FDiv, ty, [of[0], of[1]]))
                });
            }
            Binary::FMinNumber => (extended::FMIN, None),
            Binary::FMaxNumber => (extended::FMAX, None),
            // Two equal numbers with different bits are +0 and -0; bitwise or (minimum) or and (maximum) yields the
            // required zero.
            Binary::FMinimum => (extended::FMIN, Some(Op::BitwiseOr)),
            Binary::FMaximum => (extended::FMAX, Some(Op::BitwiseAnd)),
            _ => return Err(unsupported_kernel_error(format!("operation `{}`", op.name()))),
        };
        let computed = if element == Element::Bf16 { Element::F32 } else { element };
        self.zip(a.ty, a, b, |this, a, b| {
            this.exactly(element, width, &[a, b], |this, ty, of| {
                let chosen = this.extended(number, ty, of)?;
                let Some(zeros) = zeros else { return Ok(chosen) };
                this.with_zeros_and_none((computed, width), zeros, [of[0], of[1]], chosen)
            })
        })
    }

    /// Corrects the minimum or maximum `chosen` of `a` and `b`: for equal operands the result is their bitwise
    /// operation `zeros`, and if an operand is NaN the result is NaN.
    fn with_zeros_and_none(
        &mut self,
        (element, width): (Element, u32),
        zeros: Op,
        [a, b]: [Word; 2],
        chosen: Word,
    ) -> Result<Word, CompileError> {
        let (ty, bool_type) = (self.element_type(element, width), self.element_type(Element::I1, width));
        let integer = Element::integer_of_width(element.bits()).unwrap_or(Element::I32);
        let bits = self.element_type(integer, width);
        let (x, y) = (self.value(Op::Bitcast, bits, [a])?, self.value(Op::Bitcast, bits, [b])?);
        let zero = self.value(zeros, bits, [x, y])?;
        let zero = self.value(Op::Bitcast, ty, [zero])?;
        let equal = self.value(Op::FOrdEqual, bool_type, [a, b])?;
        let ordered = self.value(Op::Select, ty, [equal, zero, chosen])?;
        let unordered = self.value(Op::Unordered, bool_type, [a, b])?;
        let none = self.value(Op::FAdd, ty, [a, b])?;
        self.value(Op::Select, ty, [unordered, none, ordered])
    }

    pub(super) fn float_compare(
        &mut self,
        op: Compare,
        a: &EmittedValue,
        b: &EmittedValue,
    ) -> Result<EmittedValue, CompileError> {
        let (element, width) = (a.element()?, a.width());
        let opcode = match op {
            Compare::FEq => Op::FOrdEqual,
            Compare::FLt => Op::FOrdLessThan,
            Compare::FLe => Op::FOrdLessThanEqual,
            Compare::FUnordered => Op::Unordered,
            _ => return Err(invalid_module_error(format!("comparison of {} as integers", a.ty))),
        };
        let ty = Type::vector_or_scalar(Element::I1, a.ty.element_count());
        let bool_type = self.id_type(ty);
        self.zip(ty, a, b, |this, a, b| {
            let (a, b) = (this.computable(element, width, a)?, this.computable(element, width, b)?);
            this.value(opcode, bool_type, [a, b])
        })
    }

    /// Emits a math function that the target file lists as native.
    pub(super) fn math(&mut self, function: MathFunction, a: &EmittedValue) -> Result<EmittedValue, CompileError> {
        let number = match (function, a.element()?) {
            (MathFunction::Exp2, Element::F32) => extended::EXP2,
            (MathFunction::Log2, Element::F32) => extended::LOG2,
            (MathFunction::Rsqrt, Element::F32) => extended::RSQRT,
            _ => return Err(unsupported_kernel_error(format!("`{}` of {}: expand it before", function.name(), a.ty))),
        };
        let ty = self.id_type(a.ty);
        self.each(a, |this, id| this.extended(number, ty, &[id]))
    }

    /// Converts `id`, a vector of `width` numbers, to a type that SPIR-V can compute with: `bf16` to binary32, other
    /// types stay. Returns an error for types that the architecture cannot compute with.
    pub(super) fn computable(&mut self, element: Element, width: u32, id: Word) -> Result<Word, CompileError> {
        if element == Element::Bf16 {
            return self.bfloat_widen(width, id);
        }
        match self.carrier(element) == element {
            true => Ok(id),
            false => {
                Err(unsupported_kernel_error(format!("this architecture does not compute with {}", element.name())))
            }
        }
    }

    /// Emits the operation that `f` emits on vectors of `width` elements. Its result must be one of the operands or
    /// exact, so `bf16` operands are computed in binary32 and converted back without error.
    fn exactly(
        &mut self,
        element: Element,
        width: u32,
        operands: &[Word],
        f: impl FnOnce(&mut Self, Word, &[Word]) -> Result<Word, CompileError>,
    ) -> Result<Word, CompileError> {
        let computed = if element == Element::Bf16 { Element::F32 } else { element };
        let of = operands.iter().map(|&id| self.computable(element, width, id)).collect::<Result<Vec<_>, _>>()?;
        let ty = self.element_type(computed, width);
        let value = f(self, ty, &of)?;
        if element == Element::Bf16 { self.bfloat_round(width, value) } else { Ok(value) }
    }

    /// Emits the operation that `f` emits on vectors of `width` elements, so that results are correctly rounded:
    /// operands are widened to binary64 (to binary32 if the architecture has no binary64), and the result is rounded
    /// back.
    fn rounded(
        &mut self,
        element: Element,
        width: u32,
        operands: &[Word],
        f: impl FnOnce(&mut Self, Word, &[Word]) -> Result<Word, CompileError>,
    ) -> Result<Word, CompileError> {
        let of = operands.iter().map(|&id| self.computable(element, width, id)).collect::<Result<Vec<_>, _>>()?;
        let own = if element == Element::Bf16 { Element::F32 } else { element };
        let wide = if self.carrier(Element::F64) == Element::F64 { Element::F64 } else { Element::F32 };
        let (narrow_type, wide_type) = (self.element_type(own, width), self.element_type(wide, width));
        let convert = |this: &mut Self, ty: Word, id: Word| {
            if wide == own { Ok(id) } else { this.value(Op::FConvert, ty, [id]) }
        };
        let of = of.into_iter().map(|id| convert(self, wide_type, id)).collect::<Result<Vec<_>, _>>()?;
        let value = f(self, wide_type, &of)?;
        let value = convert(self, narrow_type, value)?;
        if element == Element::Bf16 { self.bfloat_round(width, value) } else { Ok(value) }
    }
}
