//! Moves of a tile between tensor memory and the registers of a block's warps (PTX `tcgen05.ld`, `tcgen05.st`).
//!
//! The registers and lanes of one instruction reach a set of (row, column) positions within the rows of a warp. The
//! plan repeats the instruction over the columns of the tile and over the rows that one instruction leaves out;
//! together with the warps this covers all positions. Composed with the layout of the tile it gives the register
//! layout. Positions without an element must not be reached, except by stores into memory that belongs to the tile
//! alone. If a position is narrower than a word, a register holds several positions.

use tilewright_kernel::{Builder, Op, Value, is_result_operand};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{
    Instruction, InstructionKind, InstructionOperand, Queue, TargetDescription, TensorMemoryOperand,
};

/// Number of bits of a register and of a column of tensor memory.
const WORD: u32 = 32;

/// A plan of loads and stores of a tile in tensor memory. Each word of the tile is in one register of a warp; if
/// another warp holds a replica of the word, it is in the same register there.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorMemoryMoves {
    /// Register layout: from (register, lane, warp) to the tile. Its registers are counted in elements of the tile's
    /// width; 2^`word_bits` of them share one 32-bit register.
    pub registers: LinearLayout,
    /// Log2 of the number of tile elements in a 32-bit word.
    pub word_bits: u32,
    /// Names of the load instruction and of the store instruction, in this order.
    pub instructions: [String; 2],
    /// Log2 of the number of words that one instruction moves for each lane.
    pub issue_bits: u32,
    /// For each issue of the instruction, the offset of its address from the address of the warp's rows in the tile. An
    /// offset has the row in the upper 16 bits and the column in the lower.
    pub offsets: Vec<u32>,
    /// Number of rows of tensor memory that one warp can access.
    warp_rows: u32,
}

/// The set of (row, column) positions that the registers and lanes of one instruction reach.
#[derive(Debug, PartialEq)]
struct Reach {
    registers: Vec<[u64; 2]>,
    lanes: Vec<[u64; 2]>,
    /// Log2 of the number of rows and columns that the instruction reaches.
    size: [u32; 2],
}

/// The tensor-memory instructions of a target, with a cache of the candidates for each tile.
#[derive(Debug, Default)]
pub struct TensorMemoryMoveTable {
    /// Each load that has a store of the same layout: the names of the load and of the store, and the positions that
    /// both reach.
    moves: Vec<([String; 2], Reach)>,
    warp_rows: u32,
    known: Vec<(TensorMemoryOperand, Vec<TensorMemoryMoves>)>,
}

/// The instructions that a plan needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A load and a store; neither may reach a position without an element.
    Both,
    /// A store, which may reach positions without an element.
    Stores,
}

impl TensorMemoryMoveTable {
    /// Finds the loads of an instruction table that have a matching store; there are none if the target has no tensor
    /// memory.
    #[must_use]
    pub fn new(rows: &[Instruction], target: &TargetDescription) -> Self {
        let Some(memory) = &target.tensor else { return Self::default() };
        let moves = rows.iter().filter(|row| row.kind == InstructionKind::TensorMove);
        let reaches = moves.filter_map(|row| Some((row, Reach::of(row)?)));
        let (loads, stores): (Vec<_>, Vec<_>) =
            reaches.partition(|(row, _)| row.operands.iter().any(is_result_operand));
        let both = |(load, reach): (&Instruction, Reach)| {
            let (store, _) = stores.iter().find(|(_, other)| *other == reach)?;
            Some(([load.name.clone(), store.name.clone()], reach))
        };
        let moves = loads.into_iter().filter_map(both).collect();
        Self { moves, warp_rows: memory.warp_rows, known: Vec::new() }
    }

    /// Returns the candidates that move a tile: for each register layout, the instruction that moves most words.
    pub fn move_candidates(&mut self, tile: &TensorMemoryOperand) -> Vec<TensorMemoryMoves> {
        let is_it = |(known, _): &&(TensorMemoryOperand, Vec<TensorMemoryMoves>)| {
            known.bits == tile.bits && known.layout == tile.layout && known.copies == tile.copies
        };
        if let Some((_, move_candidates)) = self.known.iter().find(is_it) {
            return move_candidates.clone();
        }
        let move_candidates = self.all(tile, Use::Both);
        self.known.push((tile.clone(), move_candidates.clone()));
        move_candidates
    }

    /// Returns the plan with the fewest store instructions for a tile whose columns belong to it alone; `None` if no
    /// store fits the tile.
    #[must_use]
    pub fn cheapest_store(&self, tile: &TensorMemoryOperand) -> Option<TensorMemoryMoves> {
        self.all(tile, Use::Stores).into_iter().min_by_key(|moves| moves.offsets.len())
    }

    fn all(&self, tile: &TensorMemoryOperand, of: Use) -> Vec<TensorMemoryMoves> {
        let mut move_candidates: Vec<(&[[u64; 2]], TensorMemoryMoves)> = Vec::new();
        for (names, reach) in &self.moves {
            let Some(moves) = TensorMemoryMoves::through(tile, reach, names, (self.warp_rows, of)) else { continue };
            match move_candidates.iter_mut().find(|(lanes, _)| *lanes == reach.lanes) {
                Some((_, known)) if known.issue_bits < moves.issue_bits => *known = moves,
                Some(_) => {}
                None => move_candidates.push((&reach.lanes, moves)),
            }
        }
        move_candidates.into_iter().map(|(_, moves)| moves).collect()
    }
}

impl TensorMemoryMoves {
    /// Plans the moves of a tile that repeat the load and the store with the names `names`, which reach the positions
    /// `reach`; `None` if they do not fit the tile. `warp_rows` is the number of rows that a warp can access, `of` the
    /// instructions that must fit.
    fn through(
        tile: &TensorMemoryOperand,
        reach: &Reach,
        names: &[String; 2],
        (warp_rows, of): (u32, Use),
    ) -> Option<Self> {
        let [row_bits, col_bits] = [Dim::ROW, Dim::COL].map(|dim| tile.layout.in_bits(dim));
        let own_bits = warp_rows.trailing_zeros();
        let word_bits = (WORD / tile.bits.clamp(1, WORD)).trailing_zeros();
        let column_bits = col_bits.checked_sub(word_bits)?;
        if reach.size[0] > own_bits || reach.size[1] > column_bits || row_bits < own_bits {
            return None;
        }
        // Copies of the tile must begin where the rows of each warp begin, so that each warp has one copy.
        let first_copy = u64::from(warp_rows) << (row_bits - own_bits);
        if tile.copies.iter().enumerate().any(|(bit, &rows)| rows != first_copy << bit) {
            return None;
        }
        let image = |[row, column]: [u64; 2]| tile.layout.apply_packed(row | column << word_bits << row_bits);
        let of_word = (0..word_bits).map(|bit| tile.layout.apply_packed(1 << bit << row_bits));
        // The row bits that one instruction does not cover, within a warp's rows, along which the tile has elements.
        let more_rows = (reach.size[0]..own_bits).map(|bit| [1 << bit, 0]).filter(|&position| image(position) != 0);
        let more: Vec<[u64; 2]> = (reach.size[1]..column_bits).map(|bit| [0, 1 << bit]).chain(more_rows).collect();
        let words = reach.registers.iter().chain(&more);
        let warps = (own_bits..row_bits).map(|bit| [1 << bit, 0]);
        let images = words.copied().chain(reach.lanes.iter().copied()).chain(warps).map(image);
        let mut columns: Vec<u64> = of_word.chain(images).collect();
        let registers = word_bits + (reach.registers.len() + more.len()) as u32;
        let register_layout = |columns: &[u64], warps: u32| -> Option<LinearLayout> {
            let mut ins = Space::default();
            for (dim, bits) in [(Dim::REGISTER, registers), (Dim::LANE, reach.lanes.len() as u32), (Dim::WARP, warps)] {
                ins.push(dim, bits).ok()?;
            }
            LinearLayout::from_columns(ins, tile.layout.outs().clone(), columns).ok()
        };
        let once = register_layout(&columns, row_bits - own_bits)?;
        if !(once.is_invertible() || of == Use::Stores && once.is_surjective()) {
            return None;
        }
        columns.resize(columns.len() + tile.copies.len(), 0);
        let registers = register_layout(&columns, row_bits - own_bits + tile.copies.len() as u32)?;
        let offset = |issue: u64| {
            let chosen = more.iter().enumerate().filter(|(bit, _)| issue >> bit & 1 == 1);
            chosen.fold(0, |sum, (_, &[row, column])| sum + ((row << 16) as u32 | column as u32))
        };
        Some(Self {
            registers,
            word_bits,
            instructions: names.clone(),
            issue_bits: reach.registers.len() as u32,
            offsets: (0..1u64 << more.len()).map(offset).collect(),
            warp_rows,
        })
    }

    /// Returns the tensor-memory offset that each bit of the warp index adds to the tile's address, to give the warp's
    /// rows. Offsets have the row in the upper 16 bits and the column in the lower.
    #[must_use]
    pub fn warp_offsets(&self) -> Vec<u64> {
        let first = u64::from(self.warp_rows);
        (0..self.registers.in_bits(Dim::WARP)).map(|bit| first << bit << 16).collect()
    }

    /// Emits the loads of a tile; `address` (an `i32`) is the address of the running warp's rows. Returns the pending
    /// registers of each instruction, which are valid after the queue of loads has been committed and waited for.
    pub fn emit_load(&self, builder: &mut Builder, address: Value) -> Vec<Value> {
        let ty = tilewright_kernel::Type::vector_or_scalar(tilewright_kernel::Element::I32, 1 << self.issue_bits)
            .to_pending();
        let load = |&offset: &u32| {
            let operands = vec![moved(builder, address, offset)];
            builder.value(ty, Op::Instruction { name: self.instructions[0].clone(), operands })
        };
        self.offsets.iter().map(load).collect()
    }

    /// Emits the stores of `values`, one for each instruction. The stores complete at a wait for the queue of stores.
    ///
    /// # Panics
    /// If there are fewer values than instructions.
    pub fn emit_store(&self, builder: &mut Builder, address: Value, values: &[Value]) {
        for (&offset, &value) in self.offsets.iter().zip(values) {
            let operands = vec![moved(builder, address, offset), value];
            builder.effect(Op::Instruction { name: self.instructions[1].clone(), operands });
        }
    }

    /// Emits the commit of the loads and the wait for them; returns the registers.
    pub fn emit_wait_loads(builder: &mut Builder, pending: &[Value]) -> Vec<Value> {
        builder.commit(Queue::TensorLoads);
        builder.wait(Queue::TensorLoads, 0, pending)
    }

    /// Emits the commit of the stores and the wait for them; afterwards the warp sees the stored data.
    pub fn emit_wait_stores(builder: &mut Builder) {
        builder.commit(Queue::TensorStores);
        builder.wait(Queue::TensorStores, 0, &[]);
    }
}

fn moved(builder: &mut Builder, address: Value, offset: u32) -> Value {
    if offset == 0 { address } else { builder.binary_const(tilewright_kernel::Binary::Add, address, offset) }
}

impl Reach {
    /// Returns the positions that an instruction reaches; `None` if its registers are not 32-bit words.
    fn of(row: &Instruction) -> Option<Self> {
        let memory = row
            .operands
            .iter()
            .find_map(InstructionOperand::tensor_memory_operand)
            .filter(|memory| memory.bits == WORD)?;
        let register_layout = row.operands.iter().find_map(|operand| match operand {
            InstructionOperand::Register { bits: WORD, layout, .. } => Some(layout),
            _ => None,
        })?;
        let memory_map = register_layout.compose(&memory.layout.invert().ok()?).ok()?;
        let at = |dim| -> Vec<[u64; 2]> {
            let columns = memory_map.columns_of(dim).iter();
            columns.map(|&column| [Dim::ROW, Dim::COL].map(|dim| memory_map.outs().coordinate(column, dim))).collect()
        };
        let size = [Dim::ROW, Dim::COL].map(|dim| memory.layout.in_bits(dim));
        Some(Self { registers: at(Dim::REGISTER), lanes: at(Dim::LANE), size })
    }
}
