//! The interface between the emulator and the semantics of vendor instructions.

use crate::access::{Memories, count_wavefronts, shared_transfer};
use crate::arithmetic::mask;
use crate::fault::{FaultKind, LaneFault};
use crate::program::Instruction;
use crate::shared::Accessor;
use crate::shared::CompletionEffect;
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_kernel::{Counts, Element, Queue, Type};
use tilewright_target::{BankTableEntry, Direction, TargetDescription};

/// Semantics of a vendor instruction that all lanes of one warp issue together.
///
/// Functions that take an [`InstructionCall`] implement the trait.
pub trait InstructionSemantics: Send + Sync {
    /// Reads the operands, accesses memory and sets the results, which are zero at first.
    ///
    /// # Errors
    /// [`LaneFault`] if the operands do not match the table row ([`InstructionCall::invalid_use_fault`]), or if a
    /// memory access of the instruction is invalid.
    fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault>;
}

impl<F> InstructionSemantics for F
where
    F: Fn(&mut InstructionCall<'_>) -> Result<(), LaneFault> + Send + Sync,
{
    fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        self(call)
    }
}

/// A table of instruction semantics, by the name of the instruction's table row.
#[derive(Clone, Default)]
pub struct SemanticsTable {
    by_name: BTreeMap<String, Arc<dyn InstructionSemantics>>,
}

impl SemanticsTable {
    /// Creates an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the semantics of an instruction; replaces an entry of the same name.
    pub fn insert(&mut self, name: &str, semantics: impl InstructionSemantics + 'static) {
        self.by_name.insert(name.to_owned(), Arc::new(semantics));
    }

    /// Returns the semantics of the instruction `name`; `None` if the table lacks it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&dyn InstructionSemantics> {
        self.by_name.get(name).map(|semantics| &**semantics)
    }
}

/// One execution of a vendor instruction by one warp.
pub struct InstructionCall<'a> {
    pub(crate) instruction: &'a Instruction<'a>,
    pub(crate) lanes: usize,
    pub(crate) registers: &'a mut [u64],
    pub(crate) target: &'a TargetDescription,
    pub(crate) memories: Memories<'a>,
    pub(crate) counts: &'a mut Counts,
    pub(crate) accessor: Accessor<'a>,
    /// The queue that the instruction completes on; `None` if it is synchronous or completes on an mbarrier.
    pub(crate) queue: Option<Queue>,
    /// The shared-memory address of the mbarrier that the instruction completes on; `None` if it does not.
    pub(crate) mbarrier: Option<u64>,
    /// Number of warps that issue the instruction together.
    pub(crate) together: u32,
    /// The effects on memory that the instruction has when it completes.
    pub(crate) landings: Vec<CompletionEffect>,
}

impl<'a> InstructionCall<'a> {
    /// Returns the number of lanes of the warp.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.lanes as u32
    }

    /// Returns the index of the warp in its block.
    #[must_use]
    pub fn warp(&self) -> u32 {
        self.accessor.warp.into()
    }

    /// Requires that `warps` warps issue the instruction together, starting at a multiple of `warps`.
    pub fn require_joint_issue(&mut self, warps: u32) {
        self.together = warps;
    }

    /// Returns the types of the instruction's operands, in order.
    pub fn operand_types(&self) -> impl Iterator<Item = Type> {
        self.instruction.operands.iter().map(|&(_, ty)| ty)
    }

    /// Returns the types of the instruction's results, in order.
    pub fn result_types(&self) -> impl Iterator<Item = Type> {
        self.instruction.results.iter().map(|&(_, ty)| ty)
    }

    /// Returns a fault, with this message, for an invalid use of the instruction.
    #[must_use]
    pub fn invalid_use_fault(&self, message: &str) -> LaneFault {
        FaultKind::Instruction { name: self.instruction.name.to_owned(), message: message.to_owned() }.into()
    }

    /// Returns the bits of one element of an operand in one lane.
    ///
    /// # Errors
    /// [`LaneFault`] if the instruction has no such operand, element or lane.
    pub fn operand(&self, operand: usize, element: u32, lane: u32) -> Result<u64, LaneFault> {
        let register = self.register(self.instruction.operands.get(operand), element, lane)?;
        Ok(self.registers[register])
    }

    /// Sets one element of a result in one lane; bits beyond the element's width are dropped.
    ///
    /// # Errors
    /// [`LaneFault`] if the instruction has no such result, element or lane.
    pub fn set_result(&mut self, result: usize, element: u32, lane: u32, bits: u64) -> Result<(), LaneFault> {
        let result_registers = self.instruction.results.get(result);
        let width = result_registers.map_or(0, |(_, ty)| ty.after_wait().element().map_or(ty.bits(), Element::bits));
        let register = self.register(result_registers, element, lane)?;
        self.registers[register] = bits & mask(width);
        Ok(())
    }

    fn register(&self, result_registers: Option<&(usize, Type)>, element: u32, lane: u32) -> Result<usize, LaneFault> {
        match result_registers {
            Some(&(at, ty)) if element < ty.element_count() && lane < self.lanes() => {
                Ok(at + element as usize * self.lanes + lane as usize)
            }
            _ => {
                Err(self
                    .invalid_use_fault("its semantics access an operand, result, element or lane that does not exist"))
            }
        }
    }

    /// Loads `bytes` bytes from each address of shared memory (one for each lane), and returns them in sequence, with
    /// zeros for lanes without an address. Counts a matrix load; its wavefronts follow the instruction's own bank row
    /// (entry of the bank table), or, if it has none, the row of plain loads of this width.
    ///
    /// # Errors
    /// [`LaneFault`] if the access is invalid, or there are more addresses than lanes.
    pub fn load_shared(&mut self, addresses: &[Option<u64>], bytes: u32, alignment: u32) -> Result<Vec<u8>, LaneFault> {
        self.load_segments(addresses, &self.own_lanes(addresses), bytes, alignment)
    }

    /// Stores `bytes` bytes of `data` to each address, in the order of [`InstructionCall::load_shared`]. Counts a
    /// matrix store, and wavefronts as for loads.
    ///
    /// # Errors
    /// [`LaneFault`] if the access is invalid, there are more addresses than lanes, or `data` does not have `bytes`
    /// bytes for each address.
    pub fn store_shared(
        &mut self,
        addresses: &[Option<u64>],
        bytes: u32,
        alignment: u32,
        data: &[u8],
    ) -> Result<(), LaneFault> {
        self.store_segments(addresses, &self.own_lanes(addresses), bytes, alignment, data)
    }

    /// Executes [`InstructionCall::load_shared`] for segments (runs of contiguous bytes); `lanes` are the lanes that
    /// give the addresses of the segments.
    pub(crate) fn load_segments(
        &mut self,
        addresses: &[Option<u64>],
        lanes: &[u32],
        bytes: u32,
        alignment: u32,
    ) -> Result<Vec<u8>, LaneFault> {
        let mut data = vec![0; addresses.len() * bytes as usize];
        self.shared(Direction::Load, addresses, lanes, (bytes, alignment), &mut data)?;
        self.counts.matrix_loads += 1;
        Ok(data)
    }

    /// Executes [`InstructionCall::store_shared`] for segments (runs of contiguous bytes); `lanes` are the lanes that
    /// give the addresses of the segments.
    pub(crate) fn store_segments(
        &mut self,
        addresses: &[Option<u64>],
        lanes: &[u32],
        bytes: u32,
        alignment: u32,
        data: &[u8],
    ) -> Result<(), LaneFault> {
        if data.len() != addresses.len() * bytes as usize {
            return Err(self.invalid_use_fault("its semantics store more or less data than the addresses take"));
        }
        self.shared(Direction::Store, addresses, lanes, (bytes, alignment), &mut data.to_vec())?;
        self.counts.matrix_stores += 1;
        Ok(())
    }

    fn own_lanes(&self, addresses: &[Option<u64>]) -> Vec<u32> {
        (0..addresses.len() as u32).collect()
    }

    fn shared(
        &mut self,
        direction: Direction,
        addresses: &[Option<u64>],
        lanes: &[u32],
        (bytes, alignment): (u32, u32),
        data: &mut [u8],
    ) -> Result<(), LaneFault> {
        if addresses.len() > self.lanes || bytes == 0 || !alignment.is_power_of_two() {
            return Err(self.invalid_use_fault("its semantics describe an access that no warp can make"));
        }
        let row = self.bank_row(direction, bytes.saturating_mul(8))?;
        let segments = addresses.iter().zip(lanes).zip(data.chunks_exact_mut(bytes as usize));
        for ((address, &lane), data) in segments {
            let Some(address) = *address else { continue };
            self.accessor.lane = lane as u8;
            shared_transfer(direction, address, data, alignment, None, &mut self.memories, &self.accessor)
                .map_err(|kind| LaneFault { lane: Some(lane), kind })?;
        }
        count_wavefronts(direction, row, addresses, bytes, self.counts);
        Ok(())
    }

    /// Returns the instruction's own bank row (entry of the bank table) of a direction; if it has none, the row of
    /// plain accesses of the width.
    pub(super) fn bank_row(&self, direction: Direction, bits: u32) -> Result<&'a BankTableEntry, LaneFault> {
        let name = self.instruction.name;
        let row = self.target.find_instruction_bank_row(name, direction, bits);
        let missing = || FaultKind::NoBankRow { direction, bits, instruction: Some(name.to_owned()) };
        row.filter(|row| row.bank_bytes > 0).ok_or_else(|| missing().into())
    }
}
