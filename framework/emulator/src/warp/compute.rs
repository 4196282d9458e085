//! Steps that access neither memory nor other lanes.

use super::{GridPosition, Warp};
use crate::access::BLOCK_SHIFT;
use crate::program::Step;
use crate::{arithmetic, rounding};
use tilewright_kernel::SpecialRegister;

impl Warp {
    /// Executes a step that accesses neither memory nor other lanes; `member` is the index of the block in its cluster.
    /// All lanes compute, active or not; results of inactive lanes are never used.
    pub(super) fn compute(&mut self, step: &Step<'_>, position: GridPosition, member: u8) {
        let registers = &mut self.registers;
        match *step {
            Step::Special { register, to } => {
                let value = match register {
                    SpecialRegister::Lane => None,
                    SpecialRegister::Warp => Some(self.index),
                    SpecialRegister::Program(axis) => position.block.get(usize::from(axis)).copied(),
                    SpecialRegister::Programs(axis) => position.grid.get(usize::from(axis)).copied(),
                    SpecialRegister::Block => Some(u32::from(member)),
                };
                for (to, lane) in registers[to..to + self.lanes].iter_mut().zip(0..) {
                    *to = value.map_or(lane, u64::from);
                }
            }
            Step::IntegerUnary { op, bits, a, to, n } => {
                let (a, _, to) = pairs(registers, a, a, to, n);
                arithmetic::integer_unary(op, bits, a, to);
            }
            Step::FloatUnary { op, element, a, to, n } => {
                let (a, _, to) = pairs(registers, a, a, to, n);
                arithmetic::float_unary(op, element, a, to);
            }
            Step::Function { function, element, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
                    *to = arithmetic::evaluate(function, element, a, b);
                }
            }
            Step::ToInteger { from, signed, bits, a, to, n } => {
                let (a, _, to) = pairs(registers, a, a, to, n);
                arithmetic::to_integer(from, signed, bits, a, to);
            }
            Step::FloatCompare { op, element, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::float_compare(op, element, a, b, to);
            }
            Step::Truncate { mask, a, to, n } => each(registers, a, to, n, |x| x & mask),
            Step::ExtendSign { from_bits, mask, a, to, n } => {
                each(registers, a, to, n, |x| arithmetic::sign_extend(x, from_bits) as u64 & mask);
            }
            Step::Convert { from, signed, element, rounding, a, to, n } => {
                each(registers, a, to, n, |x| rounding::convert((from, signed), element, rounding, x));
            }
            Step::ConvertByte { cast, wide, a, to, n } => {
                each(registers, a, to, n, |x| rounding::convert_byte(cast, wide, x));
            }
            Step::Integer { op, bits, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::integer(op, bits, a, b, to);
            }
            Step::Float { op, element, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::float(op, element, a, b, to);
            }
            Step::Fma { sum, multiplicands: [a, b], c, to, n } => {
                for register in 0..n {
                    let [a, b, c] = [a, b, c].map(|at| sum.decode(registers[at + register]));
                    registers[to + register] = sum.encode(sum.multiply_add(c, a, b));
                }
            }
            Step::Compare { op, bits, a, b, to, n } => {
                let (a, b, to) = pairs(registers, a, b, to, n);
                arithmetic::compare(op, bits, a, b, to);
            }
            Step::Select { condition, a, b, to, n } => {
                self.counts.selects += 1;
                for register in 0..n {
                    let chosen = if registers[condition + register % self.lanes] != 0 { a } else { b };
                    registers[to + register] = registers[chosen + register];
                }
            }
            Step::PermuteBytes { a, b, selector, alternative, to } => {
                self.counts.permutes += 1;
                for lane in 0..self.lanes {
                    let other = alternative.filter(|(condition, _)| registers[condition + lane] != 0);
                    let selector = other.map_or(selector, |(_, other)| other);
                    registers[to + lane] =
                        arithmetic::permute_bytes(registers[a + lane], registers[b + lane], selector);
                }
            }
            Step::PtrAdd { pointer, bytes, bytes_bits, mask, to } => {
                let (pointer, bytes, to) = pairs(registers, pointer, bytes, to, self.lanes);
                for ((to, &pointer), &bytes) in to.iter_mut().zip(pointer).zip(bytes) {
                    let moved = pointer.wrapping_add(arithmetic::sign_extend(bytes, bytes_bits) as u64);
                    *to = pointer & !mask | moved & mask;
                }
            }
            Step::ClusterAddress { pointer, block, to } => {
                let (pointer, block, to) = pairs(registers, pointer, block, to, self.lanes);
                for ((to, &pointer), &block) in to.iter_mut().zip(pointer).zip(block) {
                    *to = block << BLOCK_SHIFT | pointer;
                }
            }
            Step::Pack { ref elements, to } => {
                for (index, &element) in elements.iter().enumerate() {
                    registers.copy_within(element..element + self.lanes, to + index * self.lanes);
                }
            }
            Step::Regroup { from_bits, to_bits, a, to, to_count } => {
                regroup(registers, self.lanes, (from_bits, a), (to_bits, to), to_count);
            }
            _ => {}
        }
    }
}

/// Returns slices of `n` registers for the operands at `a` and `b` and for the result at `to`, which lies behind both
/// in the register file.
pub(super) fn pairs(registers: &mut [u64], a: usize, b: usize, to: usize, n: usize) -> (&[u64], &[u64], &mut [u64]) {
    let (operands, results) = registers.split_at_mut(to);
    (&operands[a..a + n], &operands[b..b + n], &mut results[..n])
}

fn each(registers: &mut [u64], a: usize, to: usize, n: usize, f: impl Fn(u64) -> u64) {
    let (operands, results) = registers.split_at_mut(to);
    for (to, &x) in results[..n].iter_mut().zip(&operands[a..a + n]) {
        *to = f(x);
    }
}

/// Reinterprets the bits of a value as elements of another width: `from` and `to` are (bits of an element, first
/// register).
fn regroup(registers: &mut [u64], lanes: usize, from: (u32, usize), to: (u32, usize), to_count: usize) {
    for element in 0..to_count {
        let first_bit = element as u32 * to.0;
        for lane in 0..lanes {
            let mut bits = 0;
            let mut filled = 0;
            while filled < to.0 {
                let (source, shift) = ((first_bit + filled) / from.0, (first_bit + filled) % from.0);
                bits |= (registers[from.1 + source as usize * lanes + lane] >> shift) << filled;
                filled += from.0 - shift;
            }
            registers[to.1 + element * lanes + lane] = bits & arithmetic::mask(to.0);
        }
    }
}
