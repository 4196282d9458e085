//! The accumulator of an MMA over all chunks of K (parts of K that are multiplied at a time): in registers, or in
//! tensor memory.
//!
//! In tensor memory (PTX `tcgen05`) each warp group has its own tiles, one after the other, in columns that the
//! accumulator or its kernel allocates. The first warp of each group issues the MMAs and commits them; a group of MMAs
//! is complete when all warp groups' commits have arrived at its mbarrier, at which all warps wait. A given initial
//! value is stored first; otherwise the first MMA overwrites the accumulator.

use crate::movement::{MmaBarriers, TensorMemoryAllocation, TensorMemoryMoves, ThreadIndices, emit_on_first_warp};
use tilewright_kernel::{Binary, Builder, Cast, CollectiveScope, Element, Op, Type, Value};
use tilewright_layout::Dim;

use super::cast::carrier_type;
use super::elements::{self, PackedElement};
use super::mma_atom::Role;
use super::operands::Operands;
use super::plan::MmaPlan;

const I1: Type = Type::Scalar(Element::I1);

/// The state of an MMA's accumulator between [`MmaPlan::emit_prologue`] and [`MmaPlan::emit_epilogue`], as kernel IR
/// values.
#[derive(Debug, Clone)]
pub struct Accumulator {
    /// The loop-carried values: one integer for each register of the accumulator's layout. If the accumulator is in
    /// tensor memory, two values instead: an `i1`, true if the next MMA adds to the accumulator and false if it
    /// overwrites it, and an `i32`, the index of the next group of MMAs that the block commits.
    values: Vec<Value>,
    memory: Option<TensorMemoryAccumulator>,
}

/// Columns of tensor memory for an accumulator, and the mbarriers at which its MMAs complete.
#[derive(Debug, Clone, Copy)]
pub struct AccumulatorAllocation {
    /// Tensor-memory address of the first column, an `i32`.
    pub address: Value,
    /// The mbarriers at which groups of MMAs complete. [`MmaPlan::commits_per_group`] returns the number of commits
    /// that complete a group.
    pub barriers: MmaBarriers,
}

/// The location of an accumulator in tensor memory: its columns, its mbarriers, and the running warp's first tile.
#[derive(Debug, Clone, Copy)]
struct TensorMemoryAccumulator {
    space: AccumulatorAllocation,
    /// Tensor-memory address of the first tile of the current warp group (the warps that issue an MMA together).
    of_group: Value,
    /// Allocation of the columns if the kernel allocates them for this accumulator alone; `None` if the caller has
    /// allocated them.
    own: Option<TensorMemoryAllocation>,
}

impl Accumulator {
    /// Returns the loop-carried values of the accumulator, which change from chunk to chunk.
    #[must_use]
    pub fn loop_carried_values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the same accumulator with other loop-carried values, such as the arguments of a loop's body.
    #[must_use]
    pub fn with_values(&self, values: &[Value]) -> Self {
        Self { values: values.to_vec(), memory: self.memory }
    }

    /// Returns the index of the next group of MMAs that the block commits; `None` if the accumulator is in registers.
    #[must_use]
    pub fn next_group_index(&self) -> Option<Value> {
        self.memory.and(self.values.get(1).copied())
    }
}

impl MmaPlan {
    /// Returns the number of columns of tensor memory that a block allocates for the accumulators and scales of all
    /// warp groups (warps that issue an MMA together); 0 if the accumulator is in registers.
    #[must_use]
    pub fn tensor_memory_columns(&self) -> u32 {
        let [m, n] = self.tiling.warps;
        let all = (self.columns_of_group() << (m + n)) as u32;
        self.atom.tensor.as_ref().map_or(0, |tensor| all.max(tensor.least_columns))
    }

    /// Returns the number of tensor-memory columns for the accumulator of one warp group.
    fn accumulator_columns(&self) -> u64 {
        let [m, n, _] = self.tiling.repeats();
        self.atom.tensor.as_ref().map_or(0, |tensor| tensor.columns << (m + n))
    }

    /// Returns the number of tensor-memory columns for one chunk's scales of A and of B; 0 if scales are not in tensor
    /// memory.
    fn columns_of_scales(&self) -> [u64; 2] {
        let [m, n, k] = self.tiling.repeats();
        let scales = self.atom.scales.as_ref().and_then(|scales| scales.tensor.as_ref());
        scales.map_or([0, 0], |[a, b]| [a.columns << (m + k), b.columns << (n + k)])
    }

    /// Returns the number of tensor-memory columns of one warp group, for its accumulator and its scales: a power of
    /// two, or 0.
    fn columns_of_group(&self) -> u64 {
        let all = self.accumulator_columns() + self.columns_of_scales().iter().sum::<u64>();
        if all == 0 { 0 } else { all.next_power_of_two() }
    }

    /// Whether the accumulator is in tensor memory.
    #[must_use]
    pub fn is_in_tensor_memory(&self) -> bool {
        self.atom.tensor.is_some()
    }

    /// Returns the number of commits that complete a group of MMAs: one by the first warp of each warp group (warps
    /// that issue an MMA together).
    #[must_use]
    pub fn commits_per_group(&self) -> u32 {
        let [m, n] = self.tiling.warps;
        1 << (m + n)
    }

    /// Emits the kernel IR before the first chunk. `c` is the initial value of the accumulator, one integer for each
    /// register of its layout; `None` for zeros. An accumulator in tensor memory gets an allocation of its own.
    pub fn emit_prologue(&self, builder: &mut Builder, c: Option<&[Value]>) -> Accumulator {
        if self.atom.tensor.is_none() {
            builder.require_registers(self.register_mode());
            let zero = |builder: &mut Builder| {
                let zero = builder.constant(carrier_type(self.atom.accumulator.element_type), 0);
                vec![zero; 1 << self.c.in_bits(Dim::REGISTER)]
            };
            let values = c.map_or_else(|| zero(builder), <[Value]>::to_vec);
            return Accumulator { values, memory: None };
        }
        let allocation =
            TensorMemoryAllocation::emit_alloc(builder, self.tensor_memory_columns(), [0, self.commits_per_group()]);
        let space = AccumulatorAllocation { address: allocation.address, barriers: allocation.barriers };
        let first = builder.i32(0);
        let mut accumulator = self.emit_tensor_memory_start(builder, space, c, first);
        if c.is_some() {
            builder.barrier(CollectiveScope::Block);
        }
        accumulator.memory =
            accumulator.memory.map(|memory| TensorMemoryAccumulator { own: Some(allocation), ..memory });
        accumulator
    }

    /// Starts an accumulator in tensor memory. Each warp stores the rows of the initial value `c` that it can access;
    /// without `c` nothing is stored, and the first MMA overwrites the columns. `group` is the index of the next group
    /// of MMAs that the block commits. A block barrier must follow before the MMAs.
    pub fn emit_tensor_memory_start(
        &self,
        builder: &mut Builder,
        space: AccumulatorAllocation,
        c: Option<&[Value]>,
        group: Value,
    ) -> Accumulator {
        if let (Some(c), Some(tensor)) = (c, &self.atom.tensor) {
            let warp_offset = self.offset(builder, space.address, &tensor.moves.warp_offsets());
            let packed_elements: Vec<PackedElement> = c.iter().copied().map(PackedElement::from_value).collect();
            let words: Vec<Value> = packed_elements
                .chunks(1 << tensor.moves.issue_bits)
                .map(|chunk| elements::packed(builder, chunk, &self.atom.accumulator))
                .collect();
            for (tile, words) in (0..).zip(words.chunks(tensor.moves.offsets.len())) {
                let at = moved(builder, warp_offset, tile * tensor.columns);
                tensor.moves.emit_store(builder, at, words);
            }
            TensorMemoryMoves::emit_wait_stores(builder);
        }
        let accumulator = self.resume_accumulator(builder, space, group);
        let adds = builder.constant(I1, u64::from(c.is_some()));
        accumulator.with_values(&[adds, group])
    }

    /// Returns the state of an accumulator that [`Self::emit_tensor_memory_start`] put into the columns `space` before,
    /// such as in an earlier iteration; the next MMA adds to it. `group` is the index of the next group of MMAs.
    pub fn resume_accumulator(&self, builder: &mut Builder, space: AccumulatorAllocation, group: Value) -> Accumulator {
        builder.require_registers(self.register_mode());
        let of_group = self.offset(builder, space.address, &[]);
        let adds = builder.constant(I1, 1);
        let memory = TensorMemoryAccumulator { space, of_group, own: None };
        Accumulator { values: vec![adds, group], memory: Some(memory) }
    }

    /// Emits the kernel IR after the last chunk of K; returns one integer for each register of the accumulator's
    /// layout.
    pub fn emit_epilogue(&self, builder: &mut Builder, accumulator: Accumulator) -> Vec<Value> {
        let (Some(tensor), Some(memory)) = (&self.atom.tensor, accumulator.memory) else { return accumulator.values };
        let warp_offset = self.offset(builder, memory.space.address, &tensor.moves.warp_offsets());
        let [m, n, _] = self.tiling.repeats();
        let mut pending = Vec::new();
        for tile in 0..1u64 << (m + n) {
            let at = moved(builder, warp_offset, tile * tensor.columns);
            pending.extend(tensor.moves.emit_load(builder, at));
        }
        let words = TensorMemoryMoves::emit_wait_loads(builder, &pending);
        if let Some(own) = memory.own {
            own.emit_free(builder);
        }
        unpacked(builder, &words, 1 << tensor.moves.issue_bits, &self.atom.accumulator)
    }

    /// Emits the stores of one chunk's scales to tensor memory, each warp to its own rows, and a block barrier.
    /// Returns, for A and for B, the column of each tile's scales relative to the warp group's first column. Emits
    /// nothing and returns empty lists if the atom reads scales from registers or takes none.
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
        TensorMemoryMoves::emit_wait_stores(builder);
        // One warp reads the scales that all warps have stored.
        builder.barrier(CollectiveScope::Block);
        positions
    }

    /// Emits the MMAs of a chunk, which accumulate in tensor memory; the first warp of each warp group issues them. If
    /// `commits` is true, these MMAs and all issued since the last commit become a group, for which [`Self::emit_wait`]
    /// waits.
    pub(super) fn in_tensor_memory(
        &self,
        builder: &mut Builder,
        ([a, b], scales): ([&[Value]; 2], [&[Value]; 2]),
        accumulator: &Accumulator,
        commits: bool,
    ) -> Accumulator {
        let (Some(tensor), Some(row), Some(queue)) = (&self.atom.tensor, &self.atom.row, self.atom.queue) else {
            return accumulator.clone();
        };
        let (Some(memory), &[adds, group]) = (accumulator.memory, &accumulator.values[..]) else {
            return accumulator.clone();
        };
        let [scale_a, scale_b] = self.store_scales(builder, memory.space.address, scales);
        let always = builder.constant(I1, 1);
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
                builder.effect(Op::Instruction { name: row.clone(), operands });
            });
            if commits {
                memory.space.barriers.emit_commit(builder, queue, group);
            }
        });
        let group = if commits { builder.binary_const(Binary::Add, group, 1) } else { group };
        accumulator.with_values(&[always, group])
    }

    /// Emits the wait for the latest group of MMAs that accumulate in tensor memory.
    pub(super) fn emit_wait(&self, builder: &mut Builder, accumulator: &Accumulator) {
        let (Some(memory), Some(group)) = (accumulator.memory, accumulator.next_group_index()) else { return };
        let latest = builder.binary_const(Binary::Sub, group, 1);
        memory.space.barriers.emit_wait(builder, latest);
    }

    /// Whether the MMAs read scales from tensor memory, which the next chunk overwrites.
    pub(super) fn has_scales_in_tensor_memory(&self) -> bool {
        self.atom.scales.as_ref().is_some_and(|scales| scales.tensor.is_some())
    }

    /// Emits `address` plus the offset of the current warp group's columns plus the offset of the current warp: bit `i`
    /// of the warp's index within its group adds `warp_offset[i]`.
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
        let offset = thread.emit_f2_product(builder, &columns);
        builder.binary(Binary::Add, address, offset)
    }
}

fn moved(builder: &mut Builder, address: Value, columns: u64) -> Value {
    if columns == 0 { address } else { builder.binary_const(Binary::Add, address, columns as u32) }
}

/// Emits the unpacking of an accumulator. Each of `values` packs `count` elements, in the order of the registers;
/// returns one integer for each element.
pub(super) fn unpacked(builder: &mut Builder, values: &[Value], count: u32, operands: &Operands) -> Vec<Value> {
    let narrow = carrier_type(operands.element_type);
    let mut all = Vec::with_capacity(values.len() * count as usize);
    for &value in values {
        for index in 0..count {
            let element = builder.extract(value, index);
            all.push(builder.cast(Cast::Truncate, element, narrow));
        }
    }
    all
}
