//! Extended-precision integer arithmetic: instructions with `.cc` write a carry flag, which a following instruction
//! reads. The flag is a register of each lane.

use crate::machine::{Destination, DeviceFaultKind, Next, Operation, Running};
use crate::program::{Form, Operands, Row, Semantics, Type, mask, sign_extend};

const TYPES: &str = "u32 s32 u64 s64";

pub(super) const ROWS: &[Row] = &[
    Row { name: "add.cc", modifiers: "", types: TYPES, semantics: Semantics::Warp(add) },
    Row { name: "addc", modifiers: "cc", types: TYPES, semantics: Semantics::Warp(add) },
    Row { name: "sub.cc", modifiers: "", types: TYPES, semantics: Semantics::Warp(sub) },
    Row { name: "subc", modifiers: "cc", types: TYPES, semantics: Semantics::Warp(sub) },
    Row { name: "mad.lo.cc", modifiers: "", types: TYPES, semantics: Semantics::Warp(mad) },
    Row { name: "mad.hi.cc", modifiers: "", types: TYPES, semantics: Semantics::Warp(mad) },
    Row { name: "madc.lo", modifiers: "cc", types: TYPES, semantics: Semantics::Warp(mad) },
    Row { name: "madc.hi", modifiers: "cc", types: TYPES, semantics: Semantics::Warp(mad) },
];

/// An addition, subtraction or multiply-add that reads or writes the carry flag.
struct Carrying {
    to: Option<Destination>,
    /// The registers of the operands. If there are three, the operation is a multiply-add of the first two and the
    /// third.
    from: Vec<u32>,
    ty: Type,
    high: bool,
    subtracts: bool,
    /// The register that holds the carry flag between instructions.
    carry: u32,
    takes: bool,
    leaves: bool,
}

fn operation(
    form: &Form<'_>,
    operands: &mut Operands<'_>,
    count: usize,
    subtracts: bool,
) -> Result<Box<dyn Operation>, String> {
    operands.expect(count + 1..=count + 1)?;
    let ty = form.ty();
    let from = (1..=count).map(|index| operands.source(index, ty)).collect::<Result<_, _>>()?;
    let words: Vec<&str> = form.opcode.split('.').collect();
    Ok(Box::new(Carrying {
        to: operands.destination(0)?,
        from,
        ty,
        high: words.contains(&"hi"),
        subtracts,
        carry: operands.carry(),
        takes: words[0].ends_with('c'),
        leaves: words.contains(&"cc"),
    }))
}

fn add(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operation(form, operands, 2, false)
}

fn sub(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operation(form, operands, 2, true)
}

fn mad(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operation(form, operands, 3, false)
}

impl Carrying {
    /// Returns the first term of the addition: the first operand, or for a multiply-add the low or high half of the
    /// product.
    fn term(&self, values: &[u64]) -> u64 {
        let bits = self.ty.bits;
        let &[a, b, _] = values else { return values[0] & mask(bits) };
        let product = if self.ty.is_signed() {
            (i128::from(sign_extend(a, bits)) * i128::from(sign_extend(b, bits))).cast_unsigned()
        } else {
            u128::from(a & mask(bits)) * u128::from(b & mask(bits))
        };
        (product >> if self.high { bits } else { 0 }) as u64 & mask(bits)
    }
}

impl Operation for Carrying {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let bits = self.ty.bits;
        for lane in warp.lanes() {
            let values: Vec<u64> = self.from.iter().map(|&from| warp.registers.get(from, lane)).collect();
            let mut defined = self.from.iter().all(|&from| warp.registers.is_defined(from, lane));
            let before = if self.takes { warp.registers.get(self.carry, lane) & 1 } else { 0 };
            defined &= !self.takes || warp.registers.is_defined(self.carry, lane);
            let last = values.last().copied().unwrap_or(0) & mask(bits);
            let term = self.term(&values);
            let sum = if self.subtracts {
                u128::from(term).wrapping_sub(u128::from(last)).wrapping_sub(u128::from(before))
            } else {
                u128::from(term) + u128::from(last) + u128::from(before)
            };
            if !defined {
                self.to.iter().for_each(|to| warp.registers.unset(to.register, lane));
                continue;
            }
            warp.set(self.to, lane, sum as u64);
            if self.leaves {
                warp.registers.set(self.carry, lane, (sum >> bits) as u64 & 1);
            }
        }
        Ok(Next::Continue)
    }
}
