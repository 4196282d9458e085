//! How the warps of a block move a tile between tensor memory and registers.
//!
//! A row that moves reaches, for each register and lane, a place of a warp's rows. Repeated over the columns of the tile,
//! over the rows of a warp that one issue leaves out, and over the warps that reach all rows, it reaches all places;
//! read through the layout of the tile, that is the layout of the registers. Places that hold nothing may not be reached,
//! but by stores into memory that is the tile's alone. Of places narrower than a word a register has several.

use tilewright_kernel::{Builder, Op, Value, is_result};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{Instruction, InstructionKind, Operand, Queue, TargetDescription, TensorOperand};

/// Bits of a place that a register moves, and of a column.
const WORD: u32 = 32;

/// Loads and stores of a tile, each word of which is in one register, copies of it in that of each warp.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorMoves {
    /// From (register, lane, warp) to the tile, registers being as wide as its places.
    pub registers: LinearLayout,
    /// Log2 of the places of a word.
    pub word_bits: u32,
    /// The rows of the table that load and that store.
    pub rows: [String; 2],
    /// Log2 of the words that one issue moves.
    pub issue_bits: u32,
    /// By issue, what is added to the address of the tile and of the warp's rows.
    pub offsets: Vec<u32>,
    /// Rows that one warp reaches.
    warp_rows: u32,
}

/// Where the registers and lanes of one issue lie, as (row, column) in bits of a place.
#[derive(Debug, PartialEq)]
struct Reach {
    registers: Vec<[u64; 2]>,
    lanes: Vec<[u64; 2]>,
    /// Log2 of the rows and columns.
    size: [u32; 2],
}

/// The moves of a target's table, and the ways that were asked for.
#[derive(Debug, Default)]
pub struct TensorTable {
    /// The names of a load and of the store that moves the same, and what they reach.
    moves: Vec<([String; 2], Reach)>,
    warp_rows: u32,
    known: Vec<(TensorOperand, Vec<TensorMoves>)>,
}

/// What a way is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Loads and stores.
    Both,
    /// Stores, which may reach places that hold nothing.
    Stores,
}

impl TensorTable {
    /// The loads of a table that have a store; none where the target has no tensor memory.
    #[must_use]
    pub fn of(rows: &[Instruction], target: &TargetDescription) -> Self {
        let Some(memory) = &target.tensor else { return Self::default() };
        let moves = rows.iter().filter(|row| row.kind == InstructionKind::TensorMove);
        let reaches = moves.filter_map(|row| Some((row, Reach::of(row)?)));
        let (loads, stores): (Vec<_>, Vec<_>) = reaches.partition(|(row, _)| row.operands.iter().any(is_result));
        let both = |(load, reach): (&Instruction, Reach)| {
            let (store, _) = stores.iter().find(|(_, other)| *other == reach)?;
            Some(([load.name.clone(), store.name.clone()], reach))
        };
        let moves = loads.into_iter().filter_map(both).collect();
        Self { moves, warp_rows: memory.warp_rows, known: Vec::new() }
    }

    /// The ways to move a tile: of rows that move by the same lanes that of the most registers.
    pub fn ways(&mut self, tile: &TensorOperand) -> Vec<TensorMoves> {
        let is_it = |(known, _): &&(TensorOperand, Vec<TensorMoves>)| {
            known.bits == tile.bits && known.layout == tile.layout && known.copies == tile.copies
        };
        if let Some((_, ways)) = self.known.iter().find(is_it) {
            return ways.clone();
        }
        let ways = self.all(tile, Use::Both);
        self.known.push((tile.clone(), ways.clone()));
        ways
    }

    /// The way of the fewest issues to store a tile that nobody loads, in columns of its own.
    #[must_use]
    pub fn stores(&self, tile: &TensorOperand) -> Option<TensorMoves> {
        self.all(tile, Use::Stores).into_iter().min_by_key(|way| way.offsets.len())
    }

    fn all(&self, tile: &TensorOperand, of: Use) -> Vec<TensorMoves> {
        let mut ways: Vec<(&[[u64; 2]], TensorMoves)> = Vec::new();
        for (names, reach) in &self.moves {
            let Some(way) = TensorMoves::through(tile, reach, names, (self.warp_rows, of)) else { continue };
            match ways.iter_mut().find(|(lanes, _)| *lanes == reach.lanes) {
                Some((_, known)) if known.issue_bits < way.issue_bits => *known = way,
                Some(_) => {}
                None => ways.push((&reach.lanes, way)),
            }
        }
        ways.into_iter().map(|(_, way)| way).collect()
    }
}

impl TensorMoves {
    /// The tile by an issue repeated; none where it does not fit.
    fn through(tile: &TensorOperand, reach: &Reach, names: &[String; 2], (warp_rows, of): (u32, Use)) -> Option<Self> {
        let [row_bits, place_bits] = [Dim::ROW, Dim::COL].map(|dim| tile.layout.in_bits(dim));
        let own_bits = warp_rows.trailing_zeros();
        let word_bits = (WORD / tile.bits.clamp(1, WORD)).trailing_zeros();
        let column_bits = place_bits.checked_sub(word_bits)?;
        if reach.size[0] > own_bits || reach.size[1] > column_bits || row_bits < own_bits {
            return None;
        }
        // Copies are one for each warp.
        let first_copy = u64::from(warp_rows) << (row_bits - own_bits);
        if tile.copies.iter().enumerate().any(|(bit, &rows)| rows != first_copy << bit) {
            return None;
        }
        let image = |[row, column]: [u64; 2]| tile.layout.apply_packed(row | column << word_bits << row_bits);
        let of_word = (0..word_bits).map(|bit| tile.layout.apply_packed(1 << bit << row_bits));
        // Rows that an issue leaves out, where they hold something.
        let more_rows = (reach.size[0]..own_bits).map(|bit| [1 << bit, 0]).filter(|&place| image(place) != 0);
        let more: Vec<[u64; 2]> = (reach.size[1]..column_bits).map(|bit| [0, 1 << bit]).chain(more_rows).collect();
        let words = reach.registers.iter().chain(&more);
        let warps = (own_bits..row_bits).map(|bit| [1 << bit, 0]);
        let places = words.copied().chain(reach.lanes.iter().copied()).chain(warps).map(image);
        let mut columns: Vec<u64> = of_word.chain(places).collect();
        let registers = word_bits + (reach.registers.len() + more.len()) as u32;
        let held = |columns: &[u64], warps: u32| -> Option<LinearLayout> {
            let mut ins = Space::default();
            for (dim, bits) in [(Dim::REGISTER, registers), (Dim::LANE, reach.lanes.len() as u32), (Dim::WARP, warps)] {
                ins.push(dim, bits).ok()?;
            }
            LinearLayout::from_columns(ins, tile.layout.outs().clone(), columns).ok()
        };
        let once = held(&columns, row_bits - own_bits)?;
        if !(once.is_invertible() || of == Use::Stores && once.is_surjective()) {
            return None;
        }
        columns.resize(columns.len() + tile.copies.len(), 0);
        let registers = held(&columns, row_bits - own_bits + tile.copies.len() as u32)?;
        let offset = |issue: u64| {
            let chosen = more.iter().enumerate().filter(|(bit, _)| issue >> bit & 1 == 1);
            chosen.fold(0, |sum, (_, &[row, column])| sum + ((row << 16) as u32 | column as u32))
        };
        Some(Self {
            registers,
            word_bits,
            rows: names.clone(),
            issue_bits: reach.registers.len() as u32,
            offsets: (0..1u64 << more.len()).map(offset).collect(),
            warp_rows,
        })
    }

    /// By what the address of a warp's rows differs from that of the tile, for each bit of its index among the warps.
    #[must_use]
    pub fn warp_offsets(&self) -> Vec<u64> {
        let first = u64::from(self.warp_rows);
        (0..self.registers.in_bits(Dim::WARP)).map(|bit| first << bit << 16).collect()
    }

    /// Writes the kernel IR that loads the tile whose part of the running warp is at `address` (an `i32`); gives for each
    /// issue its pending registers. They are there when the queue of loads has been committed and waited for.
    pub fn emit_load(&self, builder: &mut Builder, address: Value) -> Vec<Value> {
        let ty = tilewright_kernel::Type::of(tilewright_kernel::Element::I32, 1 << self.issue_bits).pending();
        let load = |&offset: &u32| {
            let operands = vec![moved(builder, address, offset)];
            builder.value(ty, Op::Instruction { name: self.rows[0].clone(), operands })
        };
        self.offsets.iter().map(load).collect()
    }

    /// Writes the kernel IR that stores the registers of each issue; likewise.
    ///
    /// # Panics
    /// Where there are fewer values than issues.
    pub fn emit_store(&self, builder: &mut Builder, address: Value, values: &[Value]) {
        for (&offset, &value) in self.offsets.iter().zip(values) {
            let operands = vec![moved(builder, address, offset), value];
            builder.effect(Op::Instruction { name: self.rows[1].clone(), operands });
        }
    }

    /// Commits what was loaded and waits for it; gives the registers.
    pub fn emit_loaded(builder: &mut Builder, pending: &[Value]) -> Vec<Value> {
        builder.commit(Queue::TensorLoads);
        builder.wait(Queue::TensorLoads, 0, pending)
    }

    /// Commits what was stored and waits until it is there for the warp.
    pub fn emit_stored(builder: &mut Builder) {
        builder.commit(Queue::TensorStores);
        builder.wait(Queue::TensorStores, 0, &[]);
    }
}

fn moved(builder: &mut Builder, address: Value, offset: u32) -> Value {
    if offset == 0 { address } else { builder.binary_const(tilewright_kernel::Binary::Add, address, offset) }
}

impl Reach {
    /// What a row that moves words reaches; none where registers hold something else.
    fn of(row: &Instruction) -> Option<Self> {
        let memory = row.operands.iter().find_map(Operand::tensor).filter(|memory| memory.bits == WORD)?;
        let held = row.operands.iter().find_map(|operand| match operand {
            Operand::Register { bits: WORD, layout, .. } => Some(layout),
            _ => None,
        })?;
        let places = held.compose(&memory.layout.invert().ok()?).ok()?;
        let at = |dim| -> Vec<[u64; 2]> {
            let columns = places.columns_of(dim).iter();
            columns.map(|&column| [Dim::ROW, Dim::COL].map(|dim| places.outs().coordinate(column, dim))).collect()
        };
        let size = [Dim::ROW, Dim::COL].map(|dim| memory.layout.in_bits(dim));
        Some(Self { registers: at(Dim::REGISTER), lanes: at(Dim::LANE), size })
    }
}
