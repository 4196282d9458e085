//! Emits arithmetic on `bf16`, a type that SPIR-V lacks: operations run in binary32, and results are rounded back.
//!
//! Additions, subtractions and multiplications of two `bf16` numbers, rounded to binary32 and then to `bf16`, are
//! correctly rounded: binary32 has more than twice the precision of `bf16`, and the same exponents.

use rspirv::spirv::{Op, Word};
use tilewright_kernel::Element;
use tilewright_plugin::CompileError;

use super::emit::Emitter;

impl Emitter {
    /// Emits an addition, subtraction or multiplication of `bf16` vectors of `count` elements.
    pub(super) fn bfloat_binary(&mut self, op: Op, count: u32, a: Word, b: Word) -> Result<Word, CompileError> {
        let float = self.element_type(Element::F32, count);
        let (a, b) = (self.bfloat_widen(count, a)?, self.bfloat_widen(count, b)?);
        let exact = self.value(op, float, [a, b])?;
        self.bfloat_round(count, exact)
    }

    /// Converts `bf16` to binary32; the bits of a `bf16` are the upper half of the binary32 number.
    pub(super) fn bfloat_widen(&mut self, count: u32, a: Word) -> Result<Word, CompileError> {
        let (word, float) = (self.element_type(Element::I32, count), self.element_type(Element::F32, count));
        let half = self.constant(Element::I32, count, 16);
        let bits = self.value(Op::UConvert, word, [a])?;
        let bits = self.value(Op::ShiftLeftLogical, word, [bits, half])?;
        self.value(Op::Bitcast, float, [bits])
    }

    /// Rounds binary32 to `bf16`, to nearest, ties to even; a NaN becomes a quiet NaN.
    pub(super) fn bfloat_round(&mut self, count: u32, a: Word) -> Result<Word, CompileError> {
        let (word, bool_type) = (self.element_type(Element::I32, count), self.element_type(Element::I1, count));
        let half = self.constant(Element::I32, count, 16);
        let bits = self.value(Op::Bitcast, word, [a])?;
        let upper = self.value(Op::ShiftRightLogical, word, [bits, half])?;
        // The increment is half of the last kept bit's value minus one, plus one if the last kept bit is one. It
        // carries into the kept bits exactly if the number must be rounded up (ties to even).
        let one = self.constant(Element::I32, count, 1);
        let odd = self.value(Op::BitwiseAnd, word, [upper, one])?;
        let below_half = self.constant(Element::I32, count, 0x7fff);
        let increment = self.value(Op::IAdd, word, [odd, below_half])?;
        let rounded = self.value(Op::IAdd, word, [bits, increment])?;
        let rounded = self.value(Op::ShiftRightLogical, word, [rounded, half])?;
        // For NaN the rounding is skipped: its payload could be only in the lower half, and a carry could turn it into
        // infinity.
        let magnitude_mask = self.constant(Element::I32, count, 0x7fff_ffff);
        let magnitude = self.value(Op::BitwiseAnd, word, [bits, magnitude_mask])?;
        let infinity = self.constant(Element::I32, count, 0x7f80_0000);
        let is_nan = self.value(Op::UGreaterThan, bool_type, [magnitude, infinity])?;
        let quiet_bit = self.constant(Element::I32, count, 0x40);
        let quiet = self.value(Op::BitwiseOr, word, [upper, quiet_bit])?;
        let chosen = self.value(Op::Select, word, [is_nan, quiet, rounded])?;
        let carrier = self.element_type(Element::Bf16, count);
        self.value(Op::UConvert, carrier, [chosen])
    }
}
