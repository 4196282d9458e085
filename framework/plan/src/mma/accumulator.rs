//! The accumulator of an MMA over all chunks of K (parts of K that are multiplied at a time): in registers, or in
//! tensor memory.
//!
//! In tensor memory (PTX `tcgen05`) each warp group has its own tiles, one after the other. The first warp of the block
//! allocates all of them before the first chunk and frees them after the last. The first warp of each group issues the
//! MMAs, and all warps wait at one mbarrier, at which each group arrives once per chunk. A given initial value is
//! stored first; otherwise the first MMA overwrites the accumulator.

use crate::movement::{TensorMemoryAllocation, TensorMoves, ThreadIndices, emit_on_first_warp};
use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Op, Scope, Type, Value};
use tilewright_layout::Dim;

use super::cast::carrier;
use super::elements::{self, PackedElement};
use super::mma_atom::Role;
use super::operands::Operands;
use super::plan::MmaPlan;

const I1: Type = Type::Scalar(Element::I1);

/// The accumulator between [`MmaPlan::emit_prologue`] and [`MmaPlan::emit_epilogue`].
#[derive(Debug, Clone)]
pub struct Accumulator {
    /// The loop-carried values: one integer for each register of the accumulator's layout; for an accumulator in tensor
    /// memory, the number of chunks so far.
    values: Vec<Value>,
    memory: Option<TensorMemoryAccumulator>,
}

/// An accumulator in tensor memory.
#[derive(Debug, Clone, Copy)]
struct TensorMemoryAccumulator {
    all: TensorMemoryAllocation,
    /// The address in tensor memory of the first tile of the current warp group.
    of_group: Value,
    /// Whether the accumulator starts from a given initial value; otherwise the first MMA overwrites it.
    is_initialized: bool,
}

impl Accumulator {
    /// Returns the loop-carried values, which change from chunk to chunk.
    #[must_use]
    pub fn carried(&self) -> &[Value] {
        &self.values
    }

    /// Returns the same accumulator with other loop-carried values, such as the arguments of a loop's body.
    #[must_use]
    pub fn with_values(&self, values: &[Value]) -> Self {
        Self { values: values.to_vec(), memory: self.memory }
    }
}

impl MmaPlan {
    /// Columns of tensor memory that a block allocates for the accumulators and scales of all warp groups; 0 if the
    /// accumulator is in registers.
    #[must_use]
    pub fn tensor_columns(&self) -> u32 {
        let [m, n] = self.tiling.warps;
        let all = (self.columns_of_group() << (m + n)) as u32;
        self.atom.tensor.as_ref().map_or(0, |tensor| all.max(tensor.least_columns))
    }

    /// Columns of tensor memory for the accumulator of one warp group.
    fn accumulator_columns(&self) -> u64 {
        let [m, n, _] = self.tiling.repeats();
        self.atom.tensor.as_ref().map_or(0, |tensor| tensor.columns << (m + n))
    }

    /// Columns of tensor memory for one chunk's scales of A and of B; 0 if scales are not in tensor memory.
    fn columns_of_scales(&self) -> [u64; 2] {
        let [m, n, k] = self.tiling.repeats();
        let scales = self.atom.scales.as_ref().and_then(|scales| scales.tensor.as_ref());
        scales.map_or([0, 0], |[a, b]| [a.columns << (m + k), b.columns << (n + k)])
    }

    /// Columns of tensor memory of one warp group, for its accumulator and then its scales: a power of two.
    fn columns_of_group(&self) -> u64 {
        let all = self.accumulator_columns() + self.columns_of_scales().iter().sum::<u64>();
        if all == 0 { 0 } else { all.next_power_of_two() }
    }

    /// Emits the kernel IR before the first chunk. `c` is the initial value of the accumulator, one integer for each
    /// register of its layout; `None` for zeros.
    pub fn emit_prologue(&self, builder: &mut Builder, c: Option<&[Value]>) -> Accumulator {
        builder.require_registers(self.registers());
        let Some(tensor) = &self.atom.tensor else {
            let zero = |builder: &mut Builder| {
                let zero = builder.constant(carrier(self.atom.accumulator.element_type), 0);
                vec![zero; 1 << self.c.in_bits(Dim::REGISTER)]
            };
            let values = c.map_or_else(|| zero(builder), <[Value]>::to_vec);
            return Accumulator { values, memory: None };
        };
        let [m, n] = self.tiling.warps;
        let all = TensorMemoryAllocation::new(builder, self.tensor_columns(), 1 << (m + n));
        let of_group = self.offset(builder, all.address, &[]);
        if let Some(c) = c {
            let warp_offset = self.offset(builder, all.address, &tensor.moves.warp_offsets());
            let packed_elements: Vec<PackedElement> = c.iter().copied().map(PackedElement::from_value).collect();
            let words: Vec<Value> = packed_elements
                .chunks(1 << tensor.moves.issue_bits)
                .map(|chunk| elements::packed(builder, chunk, &self.atom.accumulator))
                .collect();
            for (tile, words) in (0..).zip(words.chunks(tensor.moves.offsets.len())) {
                let at = moved(builder, warp_offset, tile * tensor.columns);
                tensor.moves.emit_store(builder, at, words);
            }
            TensorMoves::emit_wait_stores(builder);
            builder.barrier(Scope::Block);
        }
        let chunks = builder.i32(0);
        Accumulator {
            values: vec![chunks],
            memory: Some(TensorMemoryAccumulator { all, of_group, is_initialized: c.is_some() }),
        }
    }

    /// Emits the kernel IR after the last chunk of K; returns one integer for each register of the accumulator's
    /// layout.
    pub fn emit_epilogue(&self, builder: &mut Builder, accumulator: Accumulator) -> Vec<Value> {
        let (Some(tensor), Some(memory)) = (&self.atom.tensor, accumulator.memory) else { return accumulator.values };
        let warp_offset = self.offset(builder, memory.all.address, &tensor.moves.warp_offsets());
        let [m, n, _] = self.tiling.repeats();
        let mut pending = Vec::new();
        for tile in 0..1u64 << (m + n) {
            let at = moved(builder, warp_offset, tile * tensor.columns);
            pending.extend(tensor.moves.emit_load(builder, at));
        }
        let words = TensorMoves::emit_wait_loads(builder, &pending);
        memory.all.free(builder);
        unpacked(builder, &words, 1 << tensor.moves.issue_bits, &self.atom.accumulator)
    }

    /// Stores the scales of a chunk to tensor memory if the atom reads them there; each warp stores to its own rows.
    /// Returns for each operand the offset of each tile's scales from the group's first column, in columns.
    fn store_scales(&self, builder: &mut Builder, address: Value, scales: [&[Value]; 2]) -> [Vec<u64>; 2] {
        let Some(tensor) = self.atom.scales.as_ref().and_then(|scales| scales.tensor.as_ref()) else {
            return [Vec::new(), Vec::new()];
        };
        let mut first = self.accumulator_columns();
        let mut positions = [Vec::new(), Vec::new()];
        for (side, side_scales) in tensor.iter().enumerate() {
            let moves = &side_scales.moves;
            let values = self.packed_scales(builder, side, scales[side], moves.issue_bits + moves.word_bits);
            let to = self.offset(builder, address, &moves.warp_offsets());
            for words in values.chunks(moves.offsets.len()) {
                let at = moved(builder, to, first);
                moves.emit_store(builder, at, words);
                positions[side].push(first);
                first += side_scales.columns;
            }
        }
        TensorMoves::emit_wait_stores(builder);
        // One warp reads the scales that all warps have stored.
        builder.barrier(Scope::Block);
        positions
    }

    /// Issues the MMAs of a chunk, which accumulate in tensor memory, by the first warp of each group, and waits for
    /// them.
    pub(super) fn in_tensor_memory(
        &self,
        builder: &mut Builder,
        row: &str,
        ([a, b], scales): ([&[Value]; 2], [&[Value]; 2]),
        accumulator: &Accumulator,
    ) -> Accumulator {
        let (Some(tensor), Some(memory), Some(queue)) = (&self.atom.tensor, accumulator.memory, self.atom.queue) else {
            return accumulator.clone();
        };
        let [scale_a, scale_b] = self.store_scales(builder, memory.all.address, scales);
        let always = builder.constant(I1, 1);
        let chunks = accumulator.values[0];
        let zero = builder.i32(0);
        let adds = if memory.is_initialized { always } else { builder.compare(Compare::Ne, chunks, zero) };
        let along_k = (1 << self.tiling.repeats()[2]) - 1;
        emit_on_first_warp(builder, Some(1 << self.atom.group), |builder| {
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
                let operands = self.atom.order.iter().map(&mut value).collect();
                builder.effect(Op::Instruction { name: row.to_owned(), operands });
            });
            builder.mbarrier_commit(queue, memory.all.mbarrier);
        });
        let parity = builder.binary_const(Binary::And, chunks, 1);
        builder.mbarrier_wait(memory.all.mbarrier, parity);
        let chunks = builder.binary_const(Binary::Add, chunks, 1);
        accumulator.with_values(&[chunks])
    }

    /// Adds to `address` the offset of the current warp group's columns, plus `warp_offset[i]` if bit `i` of the warp's
    /// index in its group is set.
    fn offset(&self, builder: &mut Builder, address: Value, warp_offset: &[u64]) -> Value {
        let lane_bits = self.problem.lanes.trailing_zeros();
        let [m, n] = self.tiling.warps;
        let mut columns = vec![0; (lane_bits + self.atom.group) as usize];
        for (column, &warp_offset) in columns[lane_bits as usize..].iter_mut().zip(warp_offset) {
            *column = warp_offset;
        }
        columns.extend((0..m + n).map(|bit| self.columns_of_group() << bit));
        if columns.iter().all(|&column| column == 0) {
            return address;
        }
        let thread = ThreadIndices::new(builder, lane_bits);
        let offset = thread.emit_product(builder, &columns);
        builder.binary(Binary::Add, address, offset)
    }
}

fn moved(builder: &mut Builder, address: Value, columns: u64) -> Value {
    if columns == 0 { address } else { builder.binary_const(Binary::Add, address, columns as u32) }
}

/// Unpacks an accumulator, which has `count` elements in each value, into one integer for each element.
pub(super) fn unpacked(builder: &mut Builder, values: &[Value], count: u32, operands: &Operands) -> Vec<Value> {
    let narrow = carrier(operands.element_type);
    let mut all = Vec::with_capacity(values.len() * count as usize);
    for &value in values {
        for index in 0..count {
            let element = builder.extract(value, index);
            all.push(builder.cast(Cast::Truncate, element, narrow));
        }
    }
    all
}
