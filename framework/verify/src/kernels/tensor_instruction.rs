//! A kernel around one vendor instruction with a tile in tensor memory.
//!
//! What brings the tile there, and back, are moves of the target's table.

use super::instruction::Around;
use tilewright_kernel::{Carried, Element, Kernel, Op, Scope, Type, Value, is_result};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::movement::{PlanContext, TensorMemoryAllocation, TensorMoves, TensorTable, first_warp};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Queue, TensorOperand};

/// A kernel that issues the instruction of a row once, as [`super::instruction_kernel`], also where a tile is in tensor
/// memory.
///
/// There is a pointer to global memory for each operand of the row, in its order; those of constants, and of whether
/// sums are added to, which they are, are not used. A tile in tensor memory is there as registers hold it of
/// [`tile_in_tensor_memory`], lane after lane over all warps; what the sums of a product begin with is at a last pointer.
///
/// # Errors
/// A sentence on what no kernel can do.
pub fn issue_kernel(name: &str, row: &Instruction, context: PlanContext<'_>) -> Result<Kernel, String> {
    let Some(tile) = row.operands.iter().find_map(Operand::tensor) else {
        return super::instruction_kernel(name, row);
    };
    let moves = tile_in_tensor_memory(row, tile, context)?;
    let lanes = 1 << moves.registers.in_bits(Dim::LANE);
    let warps = 1 << moves.registers.in_bits(Dim::WARP);
    // Of each tile, the number of its operand, its first column and the way to it.
    let mut tiles = Vec::new();
    let mut columns = 0;
    for (number, operand) in (0..).zip(&row.operands) {
        let Some(tile) = operand.tensor() else { continue };
        tiles.push(Held { number, at: columns, moves: tile_in_tensor_memory(row, tile, context)? });
        columns += tile.columns() as u32;
    }
    let multiplies = row.kind == InstructionKind::Matrix;
    let extra = multiplies.then_some("before");
    let names: Vec<&str> = row.operands.iter().map(super::instruction::parameter_name).chain(extra).collect();
    let mut around = Around::new(name, [lanes, warps], &names);
    let least = context.target.tensor.as_ref().map_or(0, |memory| memory.least_columns);
    let allocation = TensorMemoryAllocation::new(&mut around.builder, columns.next_power_of_two().max(least), 1);
    match multiplies {
        true => around.multiply(row, &tiles, allocation)?,
        false if row.operands.iter().any(|operand| matches!(operand, Operand::Memory(_))) => {
            around.copy_tile(row, &moves, allocation)?;
        }
        false => {
            let own = around.offset_of_warp(allocation.address, &moves.warp_offsets());
            around.move_tile(row, &moves, own)?;
        }
    }
    allocation.free(&mut around.builder);
    Ok(around.builder.finish())
}

/// A tile in tensor memory of the kernel's.
struct Held {
    /// Number of the operand, and of the parameter.
    number: u32,
    /// Its first column, counted from the first that is allotted.
    at: u32,
    moves: TensorMoves,
}

/// How [`issue_kernel`] brings the tile of a row to tensor memory, and back where it is an answer. The tile of a move between
/// registers and tensor memory is in the rows of one warp.
///
/// # Errors
/// A sentence on why nothing does.
pub fn tile_in_tensor_memory(
    row: &Instruction,
    tile: &TensorOperand,
    context: PlanContext<'_>,
) -> Result<TensorMoves, String> {
    let memory = context.target.tensor.as_ref().ok_or("the target has no tensor memory")?;
    let tile = match row.kind {
        InstructionKind::TensorMove if tile.copies.is_empty() => in_rows(tile, memory.warp_rows.trailing_zeros())?,
        _ => tile.clone(),
    };
    let mut table = TensorTable::of(context.instructions, context.target);
    let is_answer = row.kind == InstructionKind::TensorMove || tile.role == "d";
    let way = if is_answer { table.ways(&tile).into_iter().next() } else { table.stores(&tile) };
    way.ok_or_else(|| "no row of the target moves its tile between tensor memory and registers".to_owned())
}

/// A tile of fewer rows in the first of 2^`bits`, of which the others hold nothing.
fn in_rows(tile: &TensorOperand, bits: u32) -> Result<TensorOperand, String> {
    let layout = &tile.layout;
    let mut rows = layout.columns_of(Dim::ROW).to_vec();
    rows.resize(bits as usize, 0);
    let mut ins = Space::default();
    let failed = |error: tilewright_layout::LayoutError| error.to_string();
    ins.push(Dim::ROW, rows.len() as u32).map_err(failed)?;
    ins.push(Dim::COL, layout.in_bits(Dim::COL)).map_err(failed)?;
    rows.extend_from_slice(layout.columns_of(Dim::COL));
    let layout = LinearLayout::from_columns(ins, layout.outs().clone(), &rows).map_err(failed)?;
    Ok(TensorOperand { layout, ..tile.clone() })
}

impl Around {
    /// The address moved by `columns` for each bit of the warp's index.
    fn offset_of_warp(&mut self, address: Value, columns: &[u64]) -> Value {
        let lane_bits = self.lanes.trailing_zeros();
        let columns: Vec<u64> = std::iter::repeat_n(0, lane_bits as usize).chain(columns.iter().copied()).collect();
        if columns.iter().all(|&column| column == 0) {
            return address;
        }
        let thread = tilewright_plan::movement::Thread::new(&mut self.builder, lane_bits);
        let offset = thread.product(&mut self.builder, &columns);
        self.builder.binary(tilewright_kernel::Binary::Add, address, offset)
    }

    /// Where the words of each issue of this lane are in a parameter's memory.
    fn parts(&mut self, parameter: u32, moves: &TensorMoves) -> (Type, Vec<Value>) {
        let ty = Type::of(Element::I32, 1 << moves.issue_bits);
        let whole = 4u32 << (moves.registers.in_bits(Dim::REGISTER) - moves.word_bits);
        let pointer = self.builder.parameter(parameter);
        let own = self.builder.binary_const(tilewright_kernel::Binary::Mul, self.thread, whole);
        let mut at = self.builder.advance(pointer, own);
        let mut all = Vec::new();
        for _ in &moves.offsets {
            all.push(at);
            let next = self.builder.i32(ty.bits() / 8);
            at = self.builder.advance(at, next);
        }
        (ty, all)
    }

    fn fill(&mut self, parameter: u32, moves: &TensorMoves, own: Value) {
        let (ty, places) = self.parts(parameter, moves);
        let values: Vec<Value> = places.into_iter().map(|at| self.load(ty, at)).collect();
        moves.emit_store(&mut self.builder, own, &values);
        TensorMoves::emit_stored(&mut self.builder);
    }

    fn empty(&mut self, parameter: u32, moves: &TensorMoves, own: Value) {
        let pending = moves.emit_load(&mut self.builder, own);
        let values = TensorMoves::emit_loaded(&mut self.builder, &pending);
        let (_, places) = self.parts(parameter, moves);
        places.into_iter().zip(values).for_each(|(at, value)| self.store(at, value));
    }

    fn move_tile(&mut self, row: &Instruction, moves: &TensorMoves, own: Value) -> Result<(), String> {
        let at = |expected: fn(&Operand) -> bool| row.operands.iter().position(expected).map(|at| at as u32);
        let memory = at(|operand| operand.tensor().is_some()).ok_or("it has no tile in tensor memory")?;
        let register = at(|operand| matches!(operand, Operand::Register { .. })).ok_or("it has no registers")?;
        let ty = row.operands.get(register as usize).and_then(|operand| Carried::of(operand).usual_type());
        let ty = ty.ok_or("its registers are nothing that a value carries")?;
        let name = row.name.clone();
        if row.operands.iter().any(is_result) {
            self.fill(memory, moves, own);
            let pending = self.builder.value(ty.pending(), Op::Instruction { name, operands: vec![own] });
            let value = TensorMoves::emit_loaded(&mut self.builder, &[pending])[0];
            let to = self.own_part(register, ty);
            self.store(to, value);
            return Ok(());
        }
        let from = self.own_part(register, ty);
        let value = self.load(ty, from);
        self.builder.effect(Op::Instruction { name, operands: vec![own, value] });
        TensorMoves::emit_stored(&mut self.builder);
        self.empty(memory, moves, own);
        Ok(())
    }

    /// A tile is copied from shared to tensor memory, whose copies each warp brings back.
    fn copy_tile(
        &mut self,
        row: &Instruction,
        moves: &TensorMoves,
        allocation: TensorMemoryAllocation,
    ) -> Result<(), String> {
        let (mut operands, mut result) = (Vec::new(), 0);
        for (number, operand) in (0..).zip(&row.operands) {
            match operand {
                Operand::Tensor(_) => {
                    result = number;
                    operands.push(allocation.address);
                }
                Operand::Memory(memory) => operands.push(self.descriptor(number, memory)?),
                other => return Err(format!("operand {number} is {}", Carried::of(other))),
            }
        }
        self.issue_and_wait(row, operands, allocation)?;
        let own = self.offset_of_warp(allocation.address, &moves.warp_offsets());
        self.empty(result, moves, own);
        Ok(())
    }

    /// One lane issues what has its operands in both memories, and all threads wait for it.
    fn issue_and_wait(
        &mut self,
        row: &Instruction,
        operands: Vec<Value>,
        allocation: TensorMemoryAllocation,
    ) -> Result<(), String> {
        let Completion::Queue(queue @ Queue::Products) = row.completion else {
            return Err("it completes in a way that is not known here".to_owned());
        };
        self.builder.proxy_fence();
        self.builder.barrier(Scope::Block);
        let name = row.name.clone();
        first_warp(&mut self.builder, None, |builder| {
            builder.effect(Op::Instruction { name, operands });
            builder.mbarrier_commit(queue, allocation.mbarrier);
        });
        let first = self.builder.i32(0);
        self.builder.mbarrier_wait(allocation.mbarrier, first);
        Ok(())
    }

    fn multiply(
        &mut self,
        row: &Instruction,
        tiles: &[Held],
        allocation: TensorMemoryAllocation,
    ) -> Result<(), String> {
        let mut operands = Vec::new();
        let mut accumulator = None;
        for (number, operand) in (0..).zip(&row.operands) {
            match operand {
                Operand::Tensor(tile) => {
                    let held = tiles.iter().find(|held| held.number == number).ok_or("a tile has no columns")?;
                    let at = self.builder.binary_const(tilewright_kernel::Binary::Add, allocation.address, held.at);
                    let own = self.offset_of_warp(at, &held.moves.warp_offsets());
                    let is_accumulator = tile.role == "d";
                    self.fill(if is_accumulator { row.operands.len() as u32 } else { number }, &held.moves, own);
                    accumulator = if is_accumulator { Some((number, held, own)) } else { accumulator };
                    operands.push(at);
                }
                Operand::Memory(memory) => operands.push(self.descriptor(number, memory)?),
                Operand::Accumulate => operands.push(self.builder.constant(Type::Scalar(Element::I1), 1)),
                Operand::Constant { .. } => {}
                other => return Err(format!("operand {number} is {}", Carried::of(other))),
            }
        }
        let (number, held, own) = accumulator.ok_or("its sums are in no tensor memory")?;
        self.issue_and_wait(row, operands, allocation)?;
        self.empty(number, &held.moves, own);
        Ok(())
    }
}
