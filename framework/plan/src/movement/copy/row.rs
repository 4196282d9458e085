//! Asynchronous copy instructions of the target's table, in the form that plans need.

use tilewright_kernel::Queue;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand};

/// The role of an operand of an asynchronous copy instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    To,
    From,
    Predicate,
}

/// An instruction that copies from global to shared memory, completes on a queue, and takes an address from each lane.
#[derive(Debug)]
pub(in crate::movement) struct CopyInstruction<'a> {
    pub(in crate::movement) name: &'a str,
    pub(in crate::movement) queue: Queue,
    /// The roles of the operands, in the order of the instruction.
    pub(super) roles: Vec<Role>,
    /// Number of bytes that a lane copies with one instruction.
    pub(in crate::movement) bytes: u32,
    /// Required alignment of addresses in global memory and in shared memory, in bytes.
    pub(in crate::movement) alignment: [u32; 2],
    /// The map from (lane, byte of the lane) to (slot, byte of the slot) of shared memory; a slot is contiguous.
    to: &'a LinearLayout,
}

impl<'a> CopyInstruction<'a> {
    /// Reads the properties of a copy instruction; `None` if the instruction is not of this kind.
    pub(in crate::movement) fn from_instruction(row: &'a Instruction) -> Option<Self> {
        let Completion::Queue(queue) = row.completion else { return None };
        if row.kind != InstructionKind::AsyncCopy {
            return None;
        }
        let (mut roles, mut to, mut from) = (Vec::new(), None, None);
        for operand in &row.operands {
            roles.push(match operand {
                InstructionOperand::Access { data, alignment, .. } => {
                    to = Some((data, *alignment));
                    Role::To
                }
                InstructionOperand::Global { data, alignment, .. } => {
                    from = Some((data, *alignment));
                    Role::From
                }
                InstructionOperand::Predicate => Role::Predicate,
                _ => return None,
            });
        }
        let ((to, to_alignment), (from, from_alignment)) = (to?, from?);
        let bytes = 1 << to.in_bits(Dim::named("byte"));
        let alignment = [from_alignment, to_alignment];
        let own = from.out_bits(Dim::named("slot")) == from.in_bits(Dim::LANE);
        own.then_some(Self { name: &row.name, queue, roles, bytes, alignment, to })
    }

    /// Returns the number of elements that a lane copies at a time. The error is the reason why the instruction cannot
    /// copy such elements, or elements that may be masked off (`masked`).
    pub(in crate::movement) fn elements(&self, element_bits: u32, masked: bool) -> Result<u32, String> {
        let element_bytes = (element_bits / 8).max(1);
        if masked && !self.is_masked() {
            return Err("it cannot mask off elements".to_owned());
        }
        if self.bytes < element_bytes {
            return Err(format!("it copies {} bytes a lane, less than an element", self.bytes));
        }
        Ok(self.bytes / element_bytes)
    }

    /// Returns log2 of the number of lanes that issue the instruction together.
    pub(in crate::movement) fn lane_bits(&self) -> u32 {
        self.to.in_bits(Dim::LANE)
    }

    /// Whether the instruction can mask off lanes.
    pub(in crate::movement) fn is_masked(&self) -> bool {
        self.roles.contains(&Role::Predicate)
    }

    /// Whether one shared-memory address serves all lanes, which write consecutive bytes.
    pub(in crate::movement) fn is_consecutive(&self) -> bool {
        self.to.out_bits(Dim::named("slot")) == 0
    }

    /// Returns the number of bytes of a slot, the contiguous bytes at one address in shared memory.
    pub(in crate::movement) fn segment_bytes(&self) -> u64 {
        1 << self.to.out_bits(Dim::named("byte"))
    }

    /// Returns the byte offset that bit `lane_bit` of the lane index adds within the slot (contiguous bytes at one
    /// address); `None` if the bit selects another slot, with another address.
    pub(in crate::movement) fn within_segment(&self, lane_bit: usize) -> Option<u64> {
        let column = *self.to.columns_of(Dim::LANE).get(lane_bit)?;
        let outs = self.to.outs();
        (outs.coordinate(column, Dim::named("slot")) == 0).then(|| outs.coordinate(column, Dim::named("byte")))
    }
}
