//! Kernels around one vendor instruction, for inspecting, running and checking its code.

use tilewright_kernel::{
    Binary, Builder, Cast, CollectiveScope, Element, InstructionSignature, Kernel, MemorySpace, Op, SpecialRegister,
    StaticLaunchConfig, Type, Value, ValueTypeRequirement, is_result_operand,
};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::DescriptorMatch;
use tilewright_target::{Completion, Instruction, InstructionOperand, MemoryOperand};

use super::SharedOperandTile;
use crate::CheckFailure;

/// Maximum alignment of an access of global memory, in bytes.
const ALIGNMENT: u32 = 16;

/// Builds a kernel of one warp, or of the warps that issue together, that issues the instruction of a row once.
///
/// The parameters are pointers to global memory, one for each operand of the row in order, including results. For a
/// register operand of B bits per lane, lane `l`, counted over all warps, reads or writes B / 8 bytes at `l * B / 8`.
/// For an access operand, the memory holds all segments (contiguous bytes at one address, dim `slot` of the row's
/// layouts) in order; the kernel copies them to shared memory before a load, or from shared memory after a store or a
/// copy. For an operand in global memory, it holds the segments themselves. For a tile in shared memory, it holds the
/// bytes of [`SharedOperandTile::find_smallest`]. Predicates are true.
///
/// # Errors
/// [`CheckFailure::Row`] if no kernel can issue the row.
pub fn build_instruction_kernel(name: &str, row: &Instruction) -> Result<Kernel, CheckFailure> {
    build(name, row).map_err(CheckFailure::Row)
}

fn build(name: &str, row: &Instruction) -> Result<Kernel, String> {
    let signature = InstructionSignature::from_instruction(row);
    let lanes = signature.lanes.ok_or("the instruction's operands are for different numbers of lanes")?;
    let warps = signature.warps.ok_or("the instruction's operands are for different numbers of warps")?;
    let names: Vec<_> = row.operands.iter().map(parameter_name).collect();
    let mut kernel = Around::new(name, [lanes, warps], &names);
    kernel.issue(row)?;
    Ok(kernel.builder.finish())
}

pub(super) fn parameter_name(operand: &InstructionOperand) -> &str {
    operand.role().unwrap_or(match operand {
        InstructionOperand::Constant { role, .. } => role,
        InstructionOperand::Accumulate => "accumulate",
        InstructionOperand::Global { .. } => "global",
        _ => "memory",
    })
}

pub(super) struct Around {
    pub(super) builder: Builder,
    /// The index of the thread in the block.
    pub(super) thread: Value,
    lane: Value,
    pub(super) lanes: u32,
    warps: u32,
}

impl Around {
    /// Starts a kernel with these numbers of lanes and warps; its parameters are pointers to global memory.
    pub(super) fn new(name: &str, [lanes, warps]: [u32; 2], parameters: &[&str]) -> Self {
        let parameters: Vec<_> = parameters.iter().map(|&name| (name, Type::Pointer(MemorySpace::Global))).collect();
        let builder = Builder::new(name, StaticLaunchConfig::new(lanes, warps), &parameters);
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
        let loads = row.operands.iter().any(is_result_operand);
        let (mut operands, mut results, mut stored) = (Vec::new(), Vec::new(), None);
        for (index, operand) in (0..).zip(&row.operands) {
            let carried = ValueTypeRequirement::from_operand(operand);
            if let InstructionOperand::Memory(memory) = operand {
                operands.push(self.descriptor(index, memory)?);
                continue;
            }
            let ty = carried.default_type().filter(|ty| ty.bits() >= 8 || carried == ValueTypeRequirement::Bool);
            let ty = ty.ok_or_else(|| format!("operand {index} is {carried}"))?;
            match operand {
                operand if is_result_operand(operand) => results.push((index, ty)),
                InstructionOperand::Access { data, address, .. } => {
                    let buffer = self.buffer(data)?;
                    if loads {
                        let from = self.builder.parameter(index);
                        self.copy(from, buffer);
                        self.builder.barrier(CollectiveScope::Warp);
                    } else {
                        stored = Some((index, buffer));
                    }
                    operands.push(self.segment_address(buffer.address, data, address));
                }
                InstructionOperand::Global { data, address, .. } => {
                    let from = self.builder.parameter(index);
                    operands.push(self.segment_address(from, data, address));
                }
                InstructionOperand::Predicate => operands.push(self.builder.constant(ty, 1)),
                _ => {
                    let from = self.value_pointer(index, ty);
                    operands.push(self.load(ty, from));
                }
            }
        }
        if row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Memory(_))) {
            // Each warp reads data that all warps have stored, so the proxy fence is followed by a barrier.
            self.builder.proxy_fence();
            self.builder.barrier(CollectiveScope::Block);
        }
        let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
        let values = self.result(row, &types, operands);
        for (&(index, ty), value) in results.iter().zip(values) {
            let to = self.value_pointer(index, ty);
            self.store(to, value);
        }
        if let Some((index, buffer)) = stored {
            self.builder.barrier(CollectiveScope::Warp);
            let to = self.builder.parameter(index);
            self.copy_back(buffer, to);
        }
        Ok(())
    }

    /// Issues the instruction of `row` on `operands`, and waits for its completion if it is asynchronous. Returns its
    /// results, which have the types `types`.
    fn result(&mut self, row: &Instruction, types: &[Type], operands: Vec<Value>) -> Vec<Value> {
        let op = Op::Instruction { name: row.name.clone(), operands };
        let Completion::Queue(queue) = row.completion else { return self.builder.values(types, op) };
        let types: Vec<Type> = types.iter().map(|ty| ty.to_pending()).collect();
        let pending = self.builder.values(&types, op);
        self.builder.commit(queue);
        self.builder.wait(queue, 0, &pending)
    }

    /// Emits the copy of a tile from the memory of kernel parameter `index` to a shared buffer; returns the tile's
    /// matrix descriptor.
    pub(super) fn descriptor(&mut self, index: u32, memory: &MemoryOperand) -> Result<Value, String> {
        let tile = SharedOperandTile::find_smallest(memory).map_err(|error| error.to_string())?;
        let bytes = tile.bytes;
        let threads = u64::from(self.lanes * self.warps);
        let own = (bytes / threads).clamp(1, ALIGNMENT.into());
        let item_type =
            ValueTypeRequirement::Bits(own as u32 * 8).default_type().filter(|_| bytes.is_multiple_of(own * threads));
        let item_type = item_type.ok_or("its tile cannot be distributed over its lanes")?;
        let address = self.builder.shared_buffer(bytes as u32, tile.alignment());
        let from = self.builder.parameter(index);
        self.copy(from, Buffer { address, item_type, times: (bytes / threads / own) as u32 });
        let address = self.builder.cast(Cast::Bits, address, Type::Scalar(Element::I32));
        let start = DescriptorMatch::emit_start_field(&mut self.builder, memory, address);
        let others = tile.descriptor().map_err(|error| error.to_string())?;
        Ok(DescriptorMatch::emit_descriptor(&mut self.builder, memory, start, others))
    }

    /// Allocates a shared buffer for all segments (contiguous bytes at one address) of an access operand with the
    /// layout `data`.
    fn buffer(&mut self, data: &LinearLayout) -> Result<Buffer, String> {
        let bits = 8u32.checked_shl(data.outs().total_bits()).filter(|bits| *bits <= 1 << 20);
        let item_type =
            bits.map(|bits| bits / self.lanes).and_then(|bits| ValueTypeRequirement::Bits(bits).default_type());
        let item_type = item_type.ok_or("its slots cannot be distributed over one warp")?;
        let address = self.builder.shared_buffer(item_type.bits() / 8 * self.lanes, 128);
        Ok(Buffer { address, item_type, times: 1 })
    }

    /// Returns `pointer` plus the offset of this thread's value of type `ty`; the values of the threads lie one after
    /// the other.
    fn offset(&mut self, pointer: Value, ty: Type) -> Value {
        let bytes = self.builder.binary_const(Binary::Mul, self.thread, ty.bits() / 8);
        self.builder.ptr_add(pointer, bytes)
    }

    pub(super) fn value_pointer(&mut self, parameter: u32, ty: Type) -> Value {
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
        let (mut from, mut to) = (self.offset(from, buffer.item_type), self.offset(to, buffer.item_type));
        for iteration in 0..buffer.times {
            if iteration > 0 {
                let bytes = self.builder.i32(buffer.item_type.bits() / 8 * self.lanes * self.warps);
                (from, to) = (self.builder.ptr_add(from, bytes), self.builder.ptr_add(to, bytes));
            }
            let value = self.load(buffer.item_type, from);
            self.store(to, value);
        }
    }

    pub(super) fn load(&mut self, ty: Type, pointer: Value) -> Value {
        let alignment = (ty.bits() / 8).min(ALIGNMENT);
        self.builder.value(ty, Op::Load { pointer, predicate: None, offset: 0, alignment, other: None })
    }

    pub(super) fn store(&mut self, pointer: Value, value: Value) {
        let alignment = (self.builder.type_of(value).bits() / 8).min(ALIGNMENT);
        self.builder.effect(Op::Store { pointer, value, predicate: None, offset: 0, alignment });
    }

    /// Emits the address of the segment (contiguous bytes) that this lane gives to the instruction; the segments lie at
    /// `base`, one after the other.
    fn segment_address(&mut self, base: Value, data: &LinearLayout, address: &LinearLayout) -> Value {
        let segment_bits = data.out_bits(Dim::named("byte"));
        let mut offset = self.builder.constant(Type::Scalar(Element::I32), 0);
        for (bit, basis) in (0..).zip(address.bases_of(Dim::LANE)) {
            let bytes = basis.first().copied().unwrap_or(0) << segment_bits;
            let own = self.builder.binary_const(Binary::ShrU, self.lane, bit);
            let own = self.builder.binary_const(Binary::And, own, 1);
            let own = self.builder.binary_const(Binary::Mul, own, bytes as u32);
            offset = self.builder.binary(Binary::Xor, offset, own);
        }
        self.builder.ptr_add(base, offset)
    }
}

/// A shared buffer, with the type that each thread copies at a time and the number of such copies per thread.
#[derive(Clone, Copy)]
struct Buffer {
    address: Value,
    item_type: Type,
    times: u32,
}
