//! Rows that copy, as far as a plan must know them.

use tilewright_kernel::Queue;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand};

/// What an operand of the instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    To,
    From,
    Predicate,
}

/// A row that copies from global to shared memory on a queue, from addresses of the lanes' own.
#[derive(Debug)]
pub(in crate::movement) struct CopyRow<'a> {
    pub(in crate::movement) name: &'a str,
    pub(in crate::movement) queue: Queue,
    /// Its operands in order.
    pub(super) roles: Vec<Role>,
    /// Bytes of a lane.
    pub(in crate::movement) bytes: u32,
    /// Alignment of addresses in global and in shared memory, in bytes.
    pub(in crate::movement) alignment: [u32; 2],
    /// From (lane, byte) to (slot, byte) of shared memory.
    to: &'a LinearLayout,
}

impl<'a> CopyRow<'a> {
    /// The row, where it is such a one.
    pub(in crate::movement) fn of(row: &'a Instruction) -> Option<Self> {
        let Completion::Queue(queue) = row.completion else { return None };
        if row.kind != InstructionKind::AsyncCopy {
            return None;
        }
        let (mut roles, mut to, mut from) = (Vec::new(), None, None);
        for operand in &row.operands {
            roles.push(match operand {
                Operand::Access { data, alignment, .. } => {
                    to = Some((data, *alignment));
                    Role::To
                }
                Operand::Global { data, alignment, .. } => {
                    from = Some((data, *alignment));
                    Role::From
                }
                Operand::Predicate => Role::Predicate,
                _ => return None,
            });
        }
        let ((to, to_alignment), (from, from_alignment)) = (to?, from?);
        let bytes = 1 << to.in_bits(Dim::named("byte"));
        let alignment = [from_alignment, to_alignment];
        let own = from.out_bits(Dim::named("slot")) == from.in_bits(Dim::LANE);
        own.then_some(Self { name: &row.name, queue, roles, bytes, alignment, to })
    }

    /// How many elements a lane brings at a time; why none where it cannot.
    pub(in crate::movement) fn elements(&self, element_bits: u32, masked: bool) -> Result<u32, String> {
        let element_bytes = (element_bits / 8).max(1);
        if masked && !self.is_masked() {
            return Err("it cannot leave out what is not there".to_owned());
        }
        if self.bytes < element_bytes {
            return Err(format!("it brings {} bytes at a time, less than an element", self.bytes));
        }
        Ok(self.bytes / element_bytes)
    }

    /// Log2 of the lanes that issue it together.
    pub(in crate::movement) fn lane_bits(&self) -> u32 {
        self.to.in_bits(Dim::LANE)
    }

    /// Whether lanes may be left without reading.
    pub(in crate::movement) fn is_masked(&self) -> bool {
        self.roles.contains(&Role::Predicate)
    }

    /// Whether one address serves all lanes, whose bytes follow each other.
    pub(in crate::movement) fn is_consecutive(&self) -> bool {
        self.to.out_bits(Dim::named("slot")) == 0
    }

    /// Bytes of a slot in shared memory.
    pub(in crate::movement) fn slot_bytes(&self) -> u64 {
        1 << self.to.out_bits(Dim::named("byte"))
    }

    /// Where a bit of the lane leads within a slot, in bytes; none where it leads to another slot, whose
    /// address is free.
    pub(in crate::movement) fn within_slot(&self, lane_bit: usize) -> Option<u64> {
        let column = *self.to.columns_of(Dim::LANE).get(lane_bit)?;
        let outs = self.to.outs();
        (outs.coordinate(column, Dim::named("slot")) == 0).then(|| outs.coordinate(column, Dim::named("byte")))
    }
}
