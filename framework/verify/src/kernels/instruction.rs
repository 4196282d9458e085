//! A kernel around one vendor instruction, by which its code is looked at, run and checked.

use tilewright_kernel::{
    Binary, Builder, Carried, Cast, Element, InstructionSignature, Kernel, Launch, MemorySpace, Op, Scope,
    SpecialRegister, Type, Value, is_result,
};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::DescriptorMatch;
use tilewright_target::{Completion, Instruction, MemoryOperand, Operand};

use super::IsolatedTile;

/// The widest alignment that accesses ask for.
const ALIGNMENT: u32 = 16;

/// A kernel of one warp, or of as many as issue it together, that issues the instruction of a row once.
///
/// There is a pointer to global memory for each operand of the row, in its order, results too. Of a
/// register operand of B bits a lane, lane `l`, counted over all warps, reads, or writes, B / 8 bytes at `l * B / 8`. Of an
/// access, it is the contents of all slots, one after the other, in the order of their numbers: copied
/// to shared memory before a load, from shared memory after a store or a copy. Of global memory it is the slots
/// themselves; a predicate is true. Of a tile in shared memory, it is the bytes of [`IsolatedTile::of`].
///
/// # Errors
/// A sentence on what no kernel can do.
pub fn instruction_kernel(name: &str, row: &Instruction) -> Result<Kernel, String> {
    let signature = InstructionSignature::of(row);
    let lanes = signature.lanes.ok_or("the row's operands are for different numbers of lanes")?;
    let warps = signature.warps.ok_or("the row's operands are for different numbers of warps")?;
    let names: Vec<_> = row.operands.iter().map(parameter_name).collect();
    let mut kernel = Around::new(name, [lanes, warps], &names);
    kernel.issue(row)?;
    Ok(kernel.builder.finish())
}

pub(super) fn parameter_name(operand: &Operand) -> &str {
    match operand {
        Operand::Register { role, .. } => role,
        Operand::Memory(memory) => &memory.role,
        Operand::Tensor(tensor) => &tensor.role,
        Operand::Constant { role, .. } => role,
        Operand::Accumulate => "accumulate",
        Operand::Global { .. } => "global",
        _ => "memory",
    }
}

pub(super) struct Around {
    pub(super) builder: Builder,
    /// Index of the thread in the block.
    pub(super) thread: Value,
    lane: Value,
    pub(super) lanes: u32,
    warps: u32,
}

impl Around {
    /// The beginning of a kernel of so many lanes and warps; its parameters are pointers to global memory.
    pub(super) fn new(name: &str, [lanes, warps]: [u32; 2], parameters: &[&str]) -> Self {
        let parameters: Vec<_> = parameters.iter().map(|&name| (name, Type::Pointer(MemorySpace::Global))).collect();
        let builder = Builder::new(name, Launch::new(lanes, warps), &parameters);
        let mut kernel = Self { builder, thread: Value(0), lane: Value(0), lanes, warps };
        kernel.lane = kernel.builder.special(SpecialRegister::Lane);
        kernel.thread = kernel.lane;
        if warps > 1 {
            let warp = kernel.builder.special(SpecialRegister::Warp);
            let before = kernel.builder.binary_const(Binary::Mul, warp, lanes);
            kernel.thread = kernel.builder.binary(Binary::Add, before, kernel.lane);
        }
        kernel
    }

    fn issue(&mut self, row: &Instruction) -> Result<(), String> {
        let loads = row.operands.iter().any(is_result);
        let (mut operands, mut results, mut stored) = (Vec::new(), Vec::new(), None);
        for (number, operand) in (0..).zip(&row.operands) {
            let carried = Carried::of(operand);
            if let Operand::Memory(memory) = operand {
                operands.push(self.descriptor(number, memory)?);
                continue;
            }
            let ty = carried.usual_type().filter(|ty| ty.bits() >= 8 || carried == Carried::Truth);
            let ty = ty.ok_or_else(|| format!("operand {number} is {carried}"))?;
            match operand {
                operand if is_result(operand) => results.push((number, ty)),
                Operand::Access { data, address, .. } => {
                    let buffer = self.buffer(data)?;
                    if loads {
                        let from = self.builder.parameter(number);
                        self.copy(from, buffer);
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
        if row.operands.iter().any(|operand| matches!(operand, Operand::Memory(_))) {
            // What all warps have stored, each of them reads.
            self.builder.proxy_fence();
            self.builder.barrier(Scope::Block);
        }
        let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
        let values = self.result(row, &types, operands);
        for (&(number, ty), value) in results.iter().zip(values) {
            let to = self.own_part(number, ty);
            self.store(to, value);
        }
        if let Some((number, buffer)) = stored {
            self.builder.barrier(Scope::Warp);
            let to = self.builder.parameter(number);
            self.copy_back(buffer, to);
        }
        Ok(())
    }

    /// Issues the instruction, and waits for it where it completes later.
    fn result(&mut self, row: &Instruction, types: &[Type], operands: Vec<Value>) -> Vec<Value> {
        let op = Op::Instruction { name: row.name.clone(), operands };
        let Completion::Queue(queue) = row.completion else { return self.builder.values(types, op) };
        let types: Vec<Type> = types.iter().map(|ty| ty.pending()).collect();
        let pending = self.builder.values(&types, op);
        self.builder.commit(queue);
        self.builder.wait(queue, 0, &pending)
    }

    /// The descriptor of a tile that is copied to shared memory.
    pub(super) fn descriptor(&mut self, number: u32, memory: &MemoryOperand) -> Result<Value, String> {
        let tile = IsolatedTile::of(memory)?;
        let bytes = tile.bytes;
        let threads = u64::from(self.lanes * self.warps);
        let own = (bytes / threads).clamp(1, ALIGNMENT.into());
        let part = Carried::Bits(own as u32 * 8).usual_type().filter(|_| bytes.is_multiple_of(own * threads));
        let part = part.ok_or("its tile cannot be copied by so many lanes")?;
        let address = self.builder.shared_buffer(bytes as u32, tile.alignment());
        let from = self.builder.parameter(number);
        self.copy(from, Buffer { address, part, times: (bytes / threads / own) as u32 });
        let address = self.builder.cast(Cast::Bits, address, Type::Scalar(Element::I32));
        let start = DescriptorMatch::emit_start(&mut self.builder, memory, address);
        let others = self.builder.constant(Type::Scalar(Element::I64), tile.descriptor()?);
        Ok(self.builder.binary(Binary::Add, start, others))
    }

    /// A shared buffer for the slots of an access.
    fn buffer(&mut self, data: &LinearLayout) -> Result<Buffer, String> {
        let bits = 8u32.checked_shl(data.outs().bits()).filter(|bits| *bits <= 1 << 20);
        let part = bits.map(|bits| bits / self.lanes).and_then(|bits| Carried::Bits(bits).usual_type());
        let part = part.ok_or("its slots cannot be copied by one warp")?;
        let address = self.builder.shared_buffer(part.bits() / 8 * self.lanes, 128);
        Ok(Buffer { address, part, times: 1 })
    }

    /// Where this lane's part of a pointer's memory is.
    fn offset(&mut self, pointer: Value, ty: Type) -> Value {
        let bytes = self.builder.binary_const(Binary::Mul, self.thread, ty.bits() / 8);
        self.builder.advance(pointer, bytes)
    }

    pub(super) fn own_part(&mut self, parameter: u32, ty: Type) -> Value {
        let pointer = self.builder.parameter(parameter);
        self.offset(pointer, ty)
    }

    fn copy(&mut self, from: Value, to: Buffer) {
        self.copies(from, to.address, to);
    }

    fn copy_back(&mut self, from: Buffer, to: Value) {
        self.copies(from.address, to, from);
    }

    fn copies(&mut self, from: Value, to: Value, buffer: Buffer) {
        let (mut from, mut to) = (self.offset(from, buffer.part), self.offset(to, buffer.part));
        for iteration in 0..buffer.times {
            if iteration > 0 {
                let bytes = self.builder.i32(buffer.part.bits() / 8 * self.lanes * self.warps);
                (from, to) = (self.builder.advance(from, bytes), self.builder.advance(to, bytes));
            }
            let value = self.load(buffer.part, from);
            self.store(to, value);
        }
    }

    pub(super) fn load(&mut self, ty: Type, pointer: Value) -> Value {
        let alignment = (ty.bits() / 8).min(ALIGNMENT);
        self.builder.value(ty, Op::Load { pointer, predicate: None, offset: 0, alignment })
    }

    pub(super) fn store(&mut self, pointer: Value, value: Value) {
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

/// A shared buffer, the part that each lane copies at a time, and how many times.
#[derive(Clone, Copy)]
struct Buffer {
    address: Value,
    part: Type,
    times: u32,
}
