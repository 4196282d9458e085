//! A kernel around one vendor instruction, by which its code is looked at, run and checked.

use crate::kernel::{
    Binary, Builder, Carried, Element, Kernel, Launch, Op, Scope, Signature, Space, SpecialRegister, Type, Value,
    is_result,
};
use crate::layout::{Dim, LinearLayout};
use crate::target::{Completion, Instruction, Operand};

/// The widest alignment that accesses ask for.
const ALIGNMENT: u32 = 16;

/// A kernel of one warp that issues the instruction of a row once.
///
/// There is a pointer to global memory for each operand of the row, in its order, results too. Of a
/// register operand of B bits a lane, lane `l` reads, or writes, B / 8 bytes at `l * B / 8`. Of an
/// access, it is the contents of all slots, one after the other, in the order of their numbers: copied
/// to shared memory before a load, from shared memory after a store or a copy. Of global memory it is the slots
/// themselves; a predicate is true.
///
/// # Errors
/// A sentence on what no kernel can do.
pub fn instruction_kernel(name: &str, row: &Instruction) -> Result<Kernel, String> {
    let signature = Signature::of(row);
    let lanes = signature.lanes.ok_or("the row's operands are for different numbers of lanes")?;
    let names: Vec<_> = row.operands.iter().map(parameter_name).collect();
    let parameters: Vec<_> = names.iter().map(|&name| (name, Type::Pointer(Space::Global))).collect();
    let builder = Builder::new(name, Launch::new(lanes, 1), &parameters);
    let mut kernel = Around { builder, lane: Value(0), lanes };
    kernel.lane = kernel.builder.special(SpecialRegister::Lane);
    kernel.issue(row)?;
    Ok(kernel.builder.finish())
}

fn parameter_name(operand: &Operand) -> &str {
    match operand {
        Operand::Register { role, .. } => role,
        Operand::Global { .. } => "global",
        _ => "memory",
    }
}

struct Around {
    builder: Builder,
    lane: Value,
    lanes: u32,
}

impl Around {
    fn issue(&mut self, row: &Instruction) -> Result<(), String> {
        let loads = row.operands.iter().any(is_result);
        let (mut operands, mut results, mut stored) = (Vec::new(), Vec::new(), None);
        for (number, operand) in (0..).zip(&row.operands) {
            let carried = Carried::of(operand);
            let ty = carried.usual_type().filter(|ty| ty.bits() >= 8 || carried == Carried::Truth);
            let ty = ty.ok_or_else(|| format!("operand {number} is {carried}"))?;
            match operand {
                operand if is_result(operand) => results.push((number, ty)),
                Operand::Access { data, address, .. } => {
                    let buffer = self.buffer(data)?;
                    if loads {
                        let from = self.builder.parameter(number);
                        self.copy(from, buffer.address, buffer.part);
                        self.builder.barrier(Scope::Warp);
                    } else {
                        stored = Some((number, buffer));
                    }
                    operands.push(self.slot_address(buffer.address, data, address));
                }
                Operand::Global { data, address, .. } => {
                    let from = self.builder.parameter(number);
                    operands.push(self.slot_address(from, data, address));
                }
                Operand::Predicate => operands.push(self.builder.constant(ty, 1)),
                _ => {
                    let from = self.own_part(number, ty);
                    operands.push(self.load(ty, from));
                }
            }
        }
        let queue = match row.completion {
            Completion::Queue(queue) => Some(queue),
            _ => None,
        };
        let given = |&(_, ty): &(u32, Type)| if queue.is_some() { ty.pending() } else { ty };
        let types: Vec<Type> = results.iter().map(given).collect();
        let mut values = self.builder.values(&types, Op::Instruction { name: row.name.clone(), operands });
        if let Some(queue) = queue {
            self.builder.commit(queue);
            values = self.builder.wait(queue, 0, &values);
        }
        for (&(number, ty), value) in results.iter().zip(values) {
            let to = self.own_part(number, ty);
            self.store(to, value);
        }
        if let Some((number, buffer)) = stored {
            self.builder.barrier(Scope::Warp);
            let to = self.builder.parameter(number);
            self.copy(buffer.address, to, buffer.part);
        }
        Ok(())
    }

    /// A shared buffer for the slots of an access.
    fn buffer(&mut self, data: &LinearLayout) -> Result<Buffer, String> {
        let bits = 8u32.checked_shl(data.outs().bits()).filter(|bits| *bits <= 1 << 20);
        let part = bits.map(|bits| bits / self.lanes).and_then(|bits| Carried::Bits(bits).usual_type());
        let part = part.ok_or("its slots cannot be copied by one warp")?;
        let address = self.builder.shared_buffer(part.bits() / 8 * self.lanes, 128);
        Ok(Buffer { address, part })
    }

    /// Where this lane's part of a pointer's memory is.
    fn offset(&mut self, pointer: Value, ty: Type) -> Value {
        let bytes = self.builder.binary_const(Binary::Mul, self.lane, ty.bits() / 8);
        self.builder.advance(pointer, bytes)
    }

    fn own_part(&mut self, parameter: u32, ty: Type) -> Value {
        let pointer = self.builder.parameter(parameter);
        self.offset(pointer, ty)
    }

    fn copy(&mut self, from: Value, to: Value, part: Type) {
        let (from, to) = (self.offset(from, part), self.offset(to, part));
        let value = self.load(part, from);
        self.store(to, value);
    }

    fn load(&mut self, ty: Type, pointer: Value) -> Value {
        let alignment = (ty.bits() / 8).min(ALIGNMENT);
        self.builder.value(ty, Op::Load { pointer, predicate: None, offset: 0, alignment })
    }

    fn store(&mut self, pointer: Value, value: Value) {
        let alignment = (self.builder.type_of(value).bits() / 8).min(ALIGNMENT);
        self.builder.effect(Op::Store { pointer, value, predicate: None, offset: 0, alignment });
    }

    /// The address of the slot that this lane addresses.
    fn slot_address(&mut self, base: Value, data: &LinearLayout, address: &LinearLayout) -> Value {
        let slot_bits = data.out_bits(Dim::named("byte"));
        let mut offset = self.builder.constant(Type::Scalar(Element::I32), 0);
        for (bit, basis) in (0..).zip(address.bases_of(Dim::LANE)) {
            let bytes = basis.first().copied().unwrap_or(0) << slot_bits;
            let own = self.builder.binary_const(Binary::ShrU, self.lane, bit);
            let own = self.builder.binary_const(Binary::And, own, 1);
            let own = self.builder.binary_const(Binary::Mul, own, bytes as u32);
            offset = self.builder.binary(Binary::Xor, offset, own);
        }
        self.builder.advance(base, offset)
    }
}

/// A shared buffer, and the part that each lane copies.
#[derive(Clone, Copy)]
struct Buffer {
    address: Value,
    part: Type,
}
