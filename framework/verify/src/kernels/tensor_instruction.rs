//! A kernel around one vendor instruction with a tile in tensor memory.
//!
//! Moves of the target's instruction table transfer the tile to tensor memory and back.

use super::instruction::Around;
use crate::CheckFailure;
use tilewright_kernel::{CollectiveScope, Element, Kernel, Op, Type, Value, ValueTypeRequirement, is_result_operand};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::movement::{
    PlanContext, TensorMemoryAllocation, TensorMemoryMoveTable, TensorMemoryMoves, emit_on_first_warp,
};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Queue, TensorMemoryOperand};

/// Builds a kernel that issues the instruction of a row once, like [`super::build_instruction_kernel`], but also for
/// tiles in tensor memory.
///
/// The parameters are pointers to global memory, one for each operand of the row in order; those of constants and of
/// the accumulate predicate, which is true, are unused. The memory of a tile in tensor memory holds the registers of
/// `find_tile_moves`, lane after lane over all warps. An MMA has a further pointer to its initial accumulator.
///
/// # Errors
/// [`CheckFailure::Row`] if no kernel can issue the row.
pub fn build_instruction_kernel_with_tensor_memory(
    name: &str,
    row: &Instruction,
    context: PlanContext<'_>,
) -> Result<Kernel, CheckFailure> {
    match row.operands.iter().find_map(InstructionOperand::tensor_memory_operand) {
        Some(tile) => with_tiles(name, row, tile, context).map_err(CheckFailure::Row),
        None => super::build_instruction_kernel(name, row),
    }
}

fn with_tiles(
    name: &str,
    row: &Instruction,
    tile: &TensorMemoryOperand,
    context: PlanContext<'_>,
) -> Result<Kernel, String> {
    let moves = find_tile_moves(row, tile, context)?;
    let lanes = 1 << moves.registers.in_bits(Dim::LANE);
    let warps = 1 << moves.registers.in_bits(Dim::WARP);
    // For each tile in tensor memory: the index of its operand, its first column, and its moves.
    let mut tiles = Vec::new();
    let mut columns = 0;
    for (index, operand) in (0..).zip(&row.operands) {
        let Some(tile) = operand.tensor_memory_operand() else { continue };
        tiles.push(TensorMemoryTile { index, at: columns, moves: find_tile_moves(row, tile, context)? });
        columns += tile.columns() as u32;
    }
    let multiplies = row.kind == InstructionKind::Matrix;
    let extra = multiplies.then_some("before");
    let names: Vec<&str> = row.operands.iter().map(super::instruction::parameter_name).chain(extra).collect();
    let mut around = Around::new(name, [lanes, warps], &names);
    let least = context.target.tensor.as_ref().map_or(0, |memory| memory.least_columns);
    let allocation =
        TensorMemoryAllocation::emit_alloc(&mut around.builder, columns.next_power_of_two().max(least), [0, 1]);
    match multiplies {
        true => around.multiply(row, &tiles, allocation)?,
        false if row.operands.iter().any(|operand| matches!(operand, InstructionOperand::Memory(_))) => {
            around.copy_tile(row, &moves, allocation)?;
        }
        false => {
            let warp_offset = around.offset_of_warp(allocation.address, &moves.warp_offsets());
            around.move_tile(row, &moves, warp_offset)?;
        }
    }
    allocation.emit_free(&mut around.builder);
    Ok(around.builder.finish())
}

/// The tile of an operand in tensor memory.
struct TensorMemoryTile {
    /// Index of the operand, and of its kernel parameter.
    index: u32,
    /// First column of the tile, relative to the allocation.
    at: u32,
    moves: TensorMemoryMoves,
}

/// Finds the moves by which [`build_instruction_kernel_with_tensor_memory`] transfers the tile of a row to tensor
/// memory, and back if it is a result. The tile of a move between registers and tensor memory is in the rows of one
/// warp.
///
/// # Errors
/// A message if the target has no tensor memory, or its table has no such moves.
pub fn find_tile_moves(
    row: &Instruction,
    tile: &TensorMemoryOperand,
    context: PlanContext<'_>,
) -> Result<TensorMemoryMoves, String> {
    let memory = context.target.tensor.as_ref().ok_or("the target has no tensor memory")?;
    let tile = match row.kind {
        InstructionKind::TensorMove if tile.copies.is_empty() => in_rows(tile, memory.warp_rows.trailing_zeros())?,
        _ => tile.clone(),
    };
    let mut table = TensorMemoryMoveTable::new(context.instructions, context.target);
    let is_answer = row.kind == InstructionKind::TensorMove || tile.role == "d";
    let moves = if is_answer { table.move_candidates(&tile).into_iter().next() } else { table.cheapest_store(&tile) };
    moves.ok_or_else(|| "no instruction of the target moves its tile between tensor memory and registers".to_owned())
}

/// Returns the tile extended to 2^`bits` rows; its own rows are the first, the other rows hold nothing.
fn in_rows(tile: &TensorMemoryOperand, bits: u32) -> Result<TensorMemoryOperand, String> {
    let layout = &tile.layout;
    let mut rows = layout.columns_of(Dim::ROW).to_vec();
    rows.resize(bits as usize, 0);
    let mut ins = Space::default();
    let failed = |error: tilewright_layout::LayoutError| error.to_string();
    ins.push(Dim::ROW, rows.len() as u32).map_err(failed)?;
    ins.push(Dim::COL, layout.in_bits(Dim::COL)).map_err(failed)?;
    rows.extend_from_slice(layout.columns_of(Dim::COL));
    let layout = LinearLayout::from_columns(ins, layout.outs().clone(), &rows).map_err(failed)?;
    Ok(TensorMemoryOperand { layout, ..tile.clone() })
}

impl Around {
    /// Emits `address` plus the offset of this warp's rows: the XOR of the entries of `columns` at the set bits of the
    /// warp index.
    fn offset_of_warp(&mut self, address: Value, columns: &[u64]) -> Value {
        let lane_bits = self.lanes.trailing_zeros();
        let columns: Vec<u64> = std::iter::repeat_n(0, lane_bits as usize).chain(columns.iter().copied()).collect();
        if columns.iter().all(|&column| column == 0) {
            return address;
        }
        let thread = tilewright_plan::movement::ThreadIndices::new(&mut self.builder, lane_bits);
        let offset = thread.emit_f2_product(&mut self.builder, &columns);
        self.builder.binary(tilewright_kernel::Binary::Add, address, offset)
    }

    /// Returns the type of the words that one move transfers for a lane and, for each move, the address of this lane's
    /// words in the memory of kernel parameter `parameter`.
    fn element_pointers(&mut self, parameter: u32, moves: &TensorMemoryMoves) -> (Type, Vec<Value>) {
        let ty = Type::vector_or_scalar(Element::I32, 1 << moves.issue_bits);
        let lane_bytes = 4u32 << (moves.registers.in_bits(Dim::REGISTER) - moves.word_bits);
        let pointer = self.builder.parameter(parameter);
        let warp_offset = self.builder.binary_const(tilewright_kernel::Binary::Mul, self.thread, lane_bytes);
        let mut at = self.builder.ptr_add(pointer, warp_offset);
        let mut all = Vec::new();
        for _ in &moves.offsets {
            all.push(at);
            let next = self.builder.i32(ty.bits() / 8);
            at = self.builder.ptr_add(at, next);
        }
        (ty, all)
    }

    fn fill(&mut self, parameter: u32, moves: &TensorMemoryMoves, warp_offset: Value) {
        let (ty, addresses) = self.element_pointers(parameter, moves);
        let values: Vec<Value> = addresses.into_iter().map(|at| self.load(ty, at)).collect();
        moves.emit_store(&mut self.builder, warp_offset, &values);
        TensorMemoryMoves::emit_wait_stores(&mut self.builder);
    }

    fn empty(&mut self, parameter: u32, moves: &TensorMemoryMoves, warp_offset: Value) {
        let pending = moves.emit_load(&mut self.builder, warp_offset);
        let values = TensorMemoryMoves::emit_wait_loads(&mut self.builder, &pending);
        let (_, addresses) = self.element_pointers(parameter, moves);
        addresses.into_iter().zip(values).for_each(|(at, value)| self.store(at, value));
    }

    fn move_tile(&mut self, row: &Instruction, moves: &TensorMemoryMoves, warp_offset: Value) -> Result<(), String> {
        let at = |expected: fn(&InstructionOperand) -> bool| row.operands.iter().position(expected).map(|at| at as u32);
        let memory =
            at(|operand| operand.tensor_memory_operand().is_some()).ok_or("it has no tile in tensor memory")?;
        let register =
            at(|operand| matches!(operand, InstructionOperand::Register { .. })).ok_or("it has no registers")?;
        let ty = row
            .operands
            .get(register as usize)
            .and_then(|operand| ValueTypeRequirement::from_operand(operand).default_type());
        let ty = ty.ok_or("no value type of the kernel IR has its registers")?;
        let name = row.name.clone();
        if row.operands.iter().any(is_result_operand) {
            self.fill(memory, moves, warp_offset);
            let pending = self.builder.value(ty.to_pending(), Op::Instruction { name, operands: vec![warp_offset] });
            let value = TensorMemoryMoves::emit_wait_loads(&mut self.builder, &[pending])[0];
            let to = self.value_pointer(register, ty);
            self.store(to, value);
            return Ok(());
        }
        let from = self.value_pointer(register, ty);
        let value = self.load(ty, from);
        self.builder.effect(Op::Instruction { name, operands: vec![warp_offset, value] });
        TensorMemoryMoves::emit_wait_stores(&mut self.builder);
        self.empty(memory, moves, warp_offset);
        Ok(())
    }

    /// Emits the copy of a tile from shared to tensor memory. Each warp then moves its copy of the tile to registers,
    /// and to the memory of the tile's parameter.
    fn copy_tile(
        &mut self,
        row: &Instruction,
        moves: &TensorMemoryMoves,
        allocation: TensorMemoryAllocation,
    ) -> Result<(), String> {
        let (mut operands, mut result) = (Vec::new(), 0);
        for (index, operand) in (0..).zip(&row.operands) {
            match operand {
                InstructionOperand::Tensor(_) => {
                    result = index;
                    operands.push(allocation.address);
                }
                InstructionOperand::Memory(memory) => operands.push(self.descriptor(index, memory)?),
                other => return Err(format!("operand {index} is {}", ValueTypeRequirement::from_operand(other))),
            }
        }
        self.issue_and_wait(row, operands, allocation)?;
        let warp_offset = self.offset_of_warp(allocation.address, &moves.warp_offsets());
        self.empty(result, moves, warp_offset);
        Ok(())
    }

    /// Issues an instruction with operands in tensor and shared memory from one lane; all threads wait for its
    /// completion.
    fn issue_and_wait(
        &mut self,
        row: &Instruction,
        operands: Vec<Value>,
        allocation: TensorMemoryAllocation,
    ) -> Result<(), String> {
        let Completion::Queue(queue @ Queue::Mma) = row.completion else {
            return Err("this completion is not supported here".to_owned());
        };
        self.builder.proxy_fence();
        self.builder.barrier(CollectiveScope::Block);
        let name = row.name.clone();
        emit_on_first_warp(&mut self.builder, None, |builder| {
            builder.effect(Op::Instruction { name, operands });
            let first = builder.i32(0);
            allocation.barriers.emit_commit(builder, queue, first);
        });
        let first = self.builder.i32(0);
        allocation.barriers.emit_wait(&mut self.builder, first);
        Ok(())
    }

    fn multiply(
        &mut self,
        row: &Instruction,
        tiles: &[TensorMemoryTile],
        allocation: TensorMemoryAllocation,
    ) -> Result<(), String> {
        let mut operands = Vec::new();
        let mut accumulator = None;
        for (index, operand) in (0..).zip(&row.operands) {
            match operand {
                InstructionOperand::Tensor(tile) => {
                    let tensor_tile =
                        tiles.iter().find(|tensor_tile| tensor_tile.index == index).ok_or("a tile has no columns")?;
                    let at =
                        self.builder.binary_const(tilewright_kernel::Binary::Add, allocation.address, tensor_tile.at);
                    let warp_offset = self.offset_of_warp(at, &tensor_tile.moves.warp_offsets());
                    let is_accumulator = tile.role == "d";
                    self.fill(
                        if is_accumulator { row.operands.len() as u32 } else { index },
                        &tensor_tile.moves,
                        warp_offset,
                    );
                    accumulator = if is_accumulator { Some((index, tensor_tile, warp_offset)) } else { accumulator };
                    operands.push(at);
                }
                InstructionOperand::Memory(memory) => operands.push(self.descriptor(index, memory)?),
                InstructionOperand::Accumulate => operands.push(self.builder.constant(Type::Scalar(Element::I1), 1)),
                InstructionOperand::Constant { .. } => {}
                other => return Err(format!("operand {index} is {}", ValueTypeRequirement::from_operand(other))),
            }
        }
        let (index, tensor_tile, warp_offset) = accumulator.ok_or("its accumulator is not in tensor memory")?;
        self.issue_and_wait(row, operands, allocation)?;
        self.empty(index, &tensor_tile.moves, warp_offset);
        Ok(())
    }
}
