//! Where the registers of a layout are in their tensor, as numbers of the kernel.

use tilewright_kernel::{Binary, Value};
use tilewright_layout::f2;
use tilewright_layout::{Dim, LinearLayout};

pub use tilewright_assign::layouts::{coordinates, mapped, of_row_major, row_major};

use super::lowering::Lowering;

/// The columns of lanes and warps, as which [`tilewright_plan::movement::Thread`] takes them.
pub(super) fn thread_columns(layout: &LinearLayout, map: impl Fn(u64) -> u64) -> Vec<u64> {
    [Dim::LANE, Dim::WARP].iter().flat_map(|&dim| layout.columns_of(dim)).map(|&column| map(column)).collect()
}

impl Lowering<'_> {
    /// For each register a number, as `i32`, that is linear over F2 in the element's packed coordinate.
    pub(super) fn numbers(&mut self, layout: &LinearLayout, number: impl Fn(u64) -> u64) -> Vec<Value> {
        let columns = thread_columns(layout, &number);
        let of_thread = columns.iter().fold(0, |all, column| all | column);
        let thread = self.thread();
        let own = thread.product(&mut self.builder, &columns);
        let registers: Vec<u64> = layout.columns_of(Dim::REGISTER).iter().map(|&column| number(column)).collect();
        (0..1u64 << registers.len())
            .map(|register| {
                let part = f2::multiply(&registers, register) as u32;
                match part {
                    0 => own,
                    _ if of_thread == 0 => self.builder.i32(part),
                    // Where no bits meet, the sum is no different, and addresses are folded better.
                    _ if u64::from(part) & of_thread == 0 => self.builder.binary_const(Binary::Add, own, part),
                    _ => self.builder.binary_const(Binary::Xor, own, part),
                }
            })
            .collect()
    }

    /// The coordinate along an axis of the element in each register, as `i32`.
    pub(super) fn coordinate(&mut self, layout: &LinearLayout, axis: usize) -> Vec<Value> {
        let outs = layout.outs().clone();
        self.numbers(layout, |column| outs.coordinate(column, Dim::tensor(axis)))
    }

    /// Whether this thread is the one of all that hold the same elements that acts for them; `None` where none holds
    /// the same as another.
    pub(super) fn active(&mut self, layout: &LinearLayout) -> Option<Value> {
        let idle = idle_threads(layout);
        let thread = self.thread();
        thread.all_zero(&mut self.builder, idle)
    }

    /// Whether this is the first thread of the block; `None` where it is the only one.
    pub(super) fn is_first(&mut self) -> Option<Value> {
        let threads = u64::from(self.launch.lanes) * u64::from(self.launch.warps);
        let thread = self.thread();
        thread.all_zero(&mut self.builder, threads - 1)
    }
}

fn free_bits(layout: &LinearLayout, required: Dim) -> u64 {
    layout.free_variable_masks().into_iter().find(|(dim, _)| *dim == required).map_or(0, |(_, mask)| mask)
}

/// The bits of a thread's index (lanes, then warps) that must be zero in the one that acts.
pub(super) fn idle_threads(layout: &LinearLayout) -> u64 {
    free_bits(layout, Dim::LANE) | free_bits(layout, Dim::WARP) << layout.in_bits(Dim::LANE)
}

/// The bits of a register's number that must be zero in the one that stands for all that hold the same.
pub(super) fn idle_registers(layout: &LinearLayout) -> u64 {
    free_bits(layout, Dim::REGISTER)
}
