//! The sums while chunks are added to them: in registers, or in tensor memory.
//!
//! In tensor memory each group of warps has tiles of its own, one after the other. The first warp of the block allots
//! them all before the first chunk and gives them back after the last; the first of each group issues the products, and
//! all wait at one mbarrier, at which each group arrives once for each chunk. Sums that begin with something are
//! stored first; others begin at zero with the first product.

use crate::movement::{TensorMemoryAllocation, TensorMoves, Thread, first_warp};
use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Op, Scope, Type, Value};
use tilewright_layout::Dim;

use super::cast::carrier;
use super::elements::{self, Part};
use super::operands::Operands;
use super::plan::Contraction;
use super::unit::Role;

const TRUTH: Type = Type::Scalar(Element::I1);

/// The sums of one contraction under way.
#[derive(Debug, Clone)]
pub struct Accumulator {
    /// What a loop carries: one integer for each register of the sums' layout, or how many chunks there were.
    values: Vec<Value>,
    memory: Option<Allotted>,
}

/// Sums in tensor memory.
#[derive(Debug, Clone, Copy)]
struct Allotted {
    all: TensorMemoryAllocation,
    /// Where the tiles of the warp's group begin.
    of_group: Value,
    /// Whether they began with something.
    begun: bool,
}

impl Accumulator {
    /// The values that change from chunk to chunk.
    #[must_use]
    pub fn carried(&self) -> &[Value] {
        &self.values
    }

    /// The same with other values, such as those inside a loop.
    #[must_use]
    pub fn with(&self, values: &[Value]) -> Self {
        Self { values: values.to_vec(), memory: self.memory }
    }
}

impl Contraction {
    /// Columns of tensor memory for the sums and scales of all groups of warps; none where they are in registers.
    #[must_use]
    pub fn tensor_columns(&self) -> u32 {
        let [m, n] = self.tiling.warps;
        let all = (self.columns_of_group() << (m + n)) as u32;
        self.unit.tensor.as_ref().map_or(0, |tensor| all.max(tensor.least_columns))
    }

    /// Columns of a group's sums.
    fn accumulator_columns(&self) -> u64 {
        let [m, n, _] = self.tiling.repeats();
        self.unit.tensor.as_ref().map_or(0, |tensor| tensor.columns << (m + n))
    }

    /// Columns of the scales of a chunk of each factor, where they are there too.
    fn columns_of_scales(&self) -> [u64; 2] {
        let [m, n, k] = self.tiling.repeats();
        let scales = self.unit.scales.as_ref().and_then(|scales| scales.tensor.as_ref());
        scales.map_or([0, 0], |[a, b]| [a.columns << (m + k), b.columns << (n + k)])
    }

    /// Columns of a group: its sums, then its scales, a power of two together.
    fn columns_of_group(&self) -> u64 {
        let all = self.accumulator_columns() + self.columns_of_scales().iter().sum::<u64>();
        if all == 0 { 0 } else { all.next_power_of_two() }
    }

    /// Writes the kernel IR before the first chunk. `c`, one integer for each register of the sums' layout, is what
    /// they begin with; else that is zero.
    pub fn begin(&self, builder: &mut Builder, c: Option<&[Value]>) -> Accumulator {
        let Some(tensor) = &self.unit.tensor else {
            let zero = |builder: &mut Builder| {
                let zero = builder.constant(carrier(self.unit.accumulator.number), 0);
                vec![zero; 1 << self.c.in_bits(Dim::REGISTER)]
            };
            let values = c.map_or_else(|| zero(builder), <[Value]>::to_vec);
            return Accumulator { values, memory: None };
        };
        let [m, n] = self.tiling.warps;
        let all = TensorMemoryAllocation::new(builder, self.tensor_columns(), 1 << (m + n));
        let of_group = self.offset(builder, all.address, &[]);
        if let Some(c) = c {
            let own = self.offset(builder, all.address, &tensor.moves.warp_offsets());
            let parts: Vec<Part> = c.iter().copied().map(Part::whole).collect();
            let words: Vec<Value> = parts
                .chunks(1 << tensor.moves.issue_bits)
                .map(|own| elements::packed(builder, own, &self.unit.accumulator))
                .collect();
            for (tile, words) in (0..).zip(words.chunks(tensor.moves.offsets.len())) {
                let at = moved(builder, own, tile * tensor.columns);
                tensor.moves.emit_store(builder, at, words);
            }
            TensorMoves::emit_stored(builder);
            builder.barrier(Scope::Block);
        }
        let chunks = builder.i32(0);
        Accumulator { values: vec![chunks], memory: Some(Allotted { all, of_group, begun: c.is_some() }) }
    }

    /// Writes the kernel IR after the last chunk; gives one integer for each register of the sums' layout.
    pub fn end(&self, builder: &mut Builder, accumulator: Accumulator) -> Vec<Value> {
        let (Some(tensor), Some(memory)) = (&self.unit.tensor, accumulator.memory) else { return accumulator.values };
        let own = self.offset(builder, memory.all.address, &tensor.moves.warp_offsets());
        let [m, n, _] = self.tiling.repeats();
        let mut pending = Vec::new();
        for tile in 0..1u64 << (m + n) {
            let at = moved(builder, own, tile * tensor.columns);
            pending.extend(tensor.moves.emit_load(builder, at));
        }
        let words = TensorMoves::emit_loaded(builder, &pending);
        memory.all.free(builder);
        unpacked(builder, &words, 1 << tensor.moves.issue_bits, &self.unit.accumulator)
    }

    /// Stores the scales of a chunk, where the unit takes any, for each warp in its own rows; gives for each factor how many
    /// columns the scales of each of its tiles are beyond the group's first.
    fn store_scales(&self, builder: &mut Builder, address: Value, scales: [&[Value]; 2]) -> [Vec<u64>; 2] {
        let Some(tensor) = self.unit.scales.as_ref().and_then(|scales| scales.tensor.as_ref()) else {
            return [Vec::new(), Vec::new()];
        };
        let mut first = self.accumulator_columns();
        let mut places = [Vec::new(), Vec::new()];
        for (side, own) in tensor.iter().enumerate() {
            let moves = &own.moves;
            let values = self.packed_scales(builder, side, scales[side], moves.issue_bits + moves.word_bits);
            let to = self.offset(builder, address, &moves.warp_offsets());
            for words in values.chunks(moves.offsets.len()) {
                let at = moved(builder, to, first);
                moves.emit_store(builder, at, words);
                places[side].push(first);
                first += own.columns;
            }
        }
        TensorMoves::emit_stored(builder);
        // What all warps have stored, one of them has read.
        builder.barrier(Scope::Block);
        places
    }

    /// Issues the products of a chunk by the first warp of each group, and waits for them.
    pub(super) fn in_tensor_memory(
        &self,
        builder: &mut Builder,
        row: &str,
        ([a, b], scales): ([&[Value]; 2], [&[Value]; 2]),
        accumulator: &Accumulator,
    ) -> Accumulator {
        let (Some(tensor), Some(memory), Some(queue)) = (&self.unit.tensor, accumulator.memory, self.unit.queue) else {
            return accumulator.clone();
        };
        let [scale_a, scale_b] = self.store_scales(builder, memory.all.address, scales);
        let always = builder.constant(TRUTH, 1);
        let chunks = accumulator.values[0];
        let zero = builder.i32(0);
        let adds = if memory.begun { always } else { builder.compare(Compare::Ne, chunks, zero) };
        let along_k = (1 << self.tiling.repeats()[2]) - 1;
        first_warp(builder, Some(1 << self.unit.group), |builder| {
            self.each_issue(|at_a, at_b, at_accumulator| {
                let mut value = |role: &Role| match role {
                    Role::A => a[at_a],
                    Role::B => b[at_b],
                    Role::Accumulator => moved(builder, memory.of_group, at_accumulator as u64 * tensor.columns),
                    Role::ScaleA => moved(builder, memory.of_group, scale_a[at_a]),
                    Role::ScaleB => moved(builder, memory.of_group, scale_b[at_b]),
                    Role::Accumulate if at_a & along_k == 0 => adds,
                    Role::Accumulate => always,
                };
                let operands = self.unit.order.iter().map(&mut value).collect();
                builder.effect(Op::Instruction { name: row.to_owned(), operands });
            });
            builder.mbarrier_commit(queue, memory.all.mbarrier);
        });
        let parity = builder.binary_const(Binary::And, chunks, 1);
        builder.mbarrier_wait(memory.all.mbarrier, parity);
        let chunks = builder.binary_const(Binary::Add, chunks, 1);
        accumulator.with(&[chunks])
    }

    /// Where what belongs to the warp's group is, moved by `own` for the bits of its index in the group.
    fn offset(&self, builder: &mut Builder, address: Value, own: &[u64]) -> Value {
        let lane_bits = self.problem.lanes.trailing_zeros();
        let [m, n] = self.tiling.warps;
        let mut columns = vec![0; (lane_bits + self.unit.group) as usize];
        for (column, &own) in columns[lane_bits as usize..].iter_mut().zip(own) {
            *column = own;
        }
        columns.extend((0..m + n).map(|bit| self.columns_of_group() << bit));
        if columns.iter().all(|&column| column == 0) {
            return address;
        }
        let thread = Thread::new(builder, lane_bits);
        let offset = thread.product(builder, &columns);
        builder.binary(Binary::Add, address, offset)
    }
}

fn moved(builder: &mut Builder, address: Value, columns: u64) -> Value {
    if columns == 0 { address } else { builder.binary_const(Binary::Add, address, columns as u32) }
}

/// Sums, `count` in each value, each as an integer of its own.
pub(super) fn unpacked(builder: &mut Builder, values: &[Value], count: u32, operands: &Operands) -> Vec<Value> {
    let narrow = carrier(operands.number);
    let mut all = Vec::with_capacity(values.len() * count as usize);
    for &value in values {
        for index in 0..count {
            let element = builder.extract(value, index);
            all.push(builder.cast(Cast::Truncate, element, narrow));
        }
    }
    all
}
