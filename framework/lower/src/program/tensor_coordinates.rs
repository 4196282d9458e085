//! Emits the tensor coordinates of a layout's registers.

use tilewright_kernel::{Binary, Value};
use tilewright_layout::f2;
use tilewright_layout::{Dim, LinearLayout};

pub use tilewright_assign::layouts::{
    coordinates_from_row_major, map_coordinates, row_major_index, unpack_coordinates,
};

use super::lowering::Lowering;

/// Returns the bases of lanes, warps and blocks of a layout, each changed by `map`, in the bit order of
/// [`tilewright_plan::movement::ThreadIndices`].
pub(super) fn thread_columns(layout: &LinearLayout, map: impl Fn(u64) -> u64) -> Vec<u64> {
    [Dim::LANE, Dim::WARP, Dim::BLOCK]
        .iter()
        .flat_map(|&dim| layout.columns_of(dim))
        .map(|&column| map(column))
        .collect()
}

impl Lowering<'_> {
    /// Emits, for each register, an `i32`: the value of a function, linear over F2, at the coordinates of the
    /// register's element. `number` returns the function's value for a basis of the layout, given as packed
    /// coordinates.
    pub(super) fn numbers(&mut self, layout: &LinearLayout, number: impl Fn(u64) -> u64) -> Vec<Value> {
        let columns = thread_columns(layout, &number);
        let of_thread = columns.iter().fold(0, |all, column| all | column);
        let thread = self.thread();
        let thread_offset = thread.emit_f2_product(&mut self.builder, &columns);
        let registers: Vec<u64> = layout.columns_of(Dim::REGISTER).iter().map(|&column| number(column)).collect();
        (0..1u64 << registers.len())
            .map(|register| {
                let constant = f2::multiply_vector(&registers, register) as u32;
                match constant {
                    0 => thread_offset,
                    _ if of_thread == 0 => self.builder.i32(constant),
                    // With disjoint bits `add` equals `xor`, and addresses with `add` are folded better.
                    _ if u64::from(constant) & of_thread == 0 => {
                        self.builder.binary_const(Binary::Add, thread_offset, constant)
                    }
                    _ => self.builder.binary_const(Binary::Xor, thread_offset, constant),
                }
            })
            .collect()
    }

    /// Emits the coordinate along an axis of the element in each register, as `i32`.
    pub(super) fn coordinate(&mut self, layout: &LinearLayout, axis: usize) -> Vec<Value> {
        let outs = layout.outs().clone();
        self.numbers(layout, |column| outs.coordinate(column, Dim::tensor(axis)))
    }

    /// Emits the predicate that selects one thread among those with the same elements; `None` if no two threads have
    /// the same elements.
    pub(super) fn active(&mut self, layout: &LinearLayout) -> Option<Value> {
        let idle = idle_threads(layout);
        let thread = self.thread();
        thread.emit_are_bits_zero(&mut self.builder, idle)
    }

    /// Emits the predicate that is true in the first thread of the program, or of the cluster if it runs on one. `None`
    /// if that is the only thread.
    pub(super) fn is_first_of_program(&mut self) -> Option<Value> {
        let threads = [self.launch.lanes, self.launch.warps, self.launch.blocks].map(u64::from);
        let thread = self.thread();
        thread.emit_are_bits_zero(&mut self.builder, threads.iter().product::<u64>() - 1)
    }

    /// Emits the predicate that is true in the first thread of the block; `None` if the block has one thread.
    pub(super) fn is_first(&mut self) -> Option<Value> {
        let threads = u64::from(self.launch.lanes) * u64::from(self.launch.warps);
        let thread = self.thread();
        thread.emit_are_bits_zero(&mut self.builder, threads - 1)
    }
}

/// Returns the mask of the bits of an input index, such as the lane, that only number replicas. `required` is the input
/// dim.
pub(super) fn free_bits(layout: &LinearLayout, required: Dim) -> u64 {
    layout.free_variable_masks().into_iter().find(|(dim, _)| *dim == required).map_or(0, |(_, mask)| mask)
}

/// Returns the mask of the bits of a thread's index (lanes, then warps, then blocks) that only number replicas. Of all
/// threads with the same elements, the selected one has zeros in these bits.
pub(super) fn idle_threads(layout: &LinearLayout) -> u64 {
    let [lanes, warps] = [Dim::LANE, Dim::WARP].map(|dim| layout.in_bits(dim));
    free_bits(layout, Dim::LANE)
        | free_bits(layout, Dim::WARP) << lanes
        | free_bits(layout, Dim::BLOCK) << (lanes + warps)
}

/// Returns the mask of the bits of a register's index that only number replicas. Of all registers with the same
/// element, the selected one has zeros in these bits.
pub(super) fn idle_registers(layout: &LinearLayout) -> u64 {
    free_bits(layout, Dim::REGISTER)
}
