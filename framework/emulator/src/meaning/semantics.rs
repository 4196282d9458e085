//! Semantics of vendor instructions, as those who know them give it.

use crate::access::{Memories, count_wavefronts, shared_transfer};
use crate::arithmetic::mask;
use crate::fault::{FaultKind, LaneFault};
use crate::program::Instruction;
use crate::shared::Accessor;
use crate::shared::Landing;
use std::collections::BTreeMap;
use std::sync::Arc;
use tilewright_kernel::{Counts, Element, Queue, Type};
use tilewright_target::{BankRow, Direction, TargetDescription};

/// What a vendor instruction does to one warp, all of whose lanes issue it together.
///
/// Functions from [`Call`] are meanings.
pub trait InstructionSemantics: Send + Sync {
    /// Reads the operands, touches memory, sets the results. Results begin as zeros.
    ///
    /// # Errors
    /// What the kernel did wrong: operands that are not the row's ([`Call::wrong`]), or a fault of
    /// memory, handed on.
    fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault>;
}

impl<F> InstructionSemantics for F
where
    F: Fn(&mut Call<'_>) -> Result<(), LaneFault> + Send + Sync,
{
    fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        self(call)
    }
}

/// Meanings by the names of the instructions' rows.
#[derive(Clone, Default)]
pub struct SemanticsTable {
    by_name: BTreeMap<String, Arc<dyn InstructionSemantics>>,
}

impl SemanticsTable {
    /// No meanings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a meaning; one of the same name is replaced.
    pub fn insert(&mut self, name: &str, meaning: impl InstructionSemantics + 'static) {
        self.by_name.insert(name.to_owned(), Arc::new(meaning));
    }

    /// The meaning of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&dyn InstructionSemantics> {
        self.by_name.get(name).map(|meaning| &**meaning)
    }
}

/// One execution of a vendor instruction by a warp.
pub struct Call<'a> {
    pub(crate) instruction: &'a Instruction<'a>,
    pub(crate) lanes: usize,
    pub(crate) registers: &'a mut [u64],
    pub(crate) target: &'a TargetDescription,
    pub(crate) memories: Memories<'a>,
    pub(crate) counts: &'a mut Counts,
    pub(crate) accessor: Accessor<'a>,
    /// The queue on which it completes; at once where there is none.
    pub(crate) queue: Option<Queue>,
    /// The mbarrier on which it completes.
    pub(crate) mbarrier: Option<u64>,
    /// How many warps issue it together.
    pub(crate) together: u32,
    /// What happens when it completes.
    pub(crate) landings: Vec<Landing>,
}

impl<'a> Call<'a> {
    /// Lanes of the warp.
    #[must_use]
    pub fn lanes(&self) -> u32 {
        self.lanes as u32
    }

    /// Index of the warp in its block.
    #[must_use]
    pub fn warp(&self) -> u32 {
        self.accessor.warp.into()
    }

    /// Says that so many warps issue the instruction together, counted from a multiple of that.
    pub fn issued_together_by(&mut self, warps: u32) {
        self.together = warps;
    }

    /// Types of the operands.
    pub fn operand_types(&self) -> impl Iterator<Item = Type> {
        self.instruction.operands.iter().map(|&(_, ty)| ty)
    }

    /// Types of the results.
    pub fn result_types(&self) -> impl Iterator<Item = Type> {
        self.instruction.results.iter().map(|&(_, ty)| ty)
    }

    /// The fault that says that the instruction is used wrongly.
    #[must_use]
    pub fn wrong(&self, message: &str) -> LaneFault {
        FaultKind::Instruction { name: self.instruction.name.to_owned(), message: message.to_owned() }.into()
    }

    /// The bits of one element of an operand in one lane.
    ///
    /// # Errors
    /// There is no such operand, element or lane.
    pub fn operand(&self, operand: usize, element: u32, lane: u32) -> Result<u64, LaneFault> {
        let register = self.register(self.instruction.operands.get(operand), element, lane)?;
        Ok(self.registers[register])
    }

    /// Sets one element of a result in one lane; bits beyond the element's width are dropped.
    ///
    /// # Errors
    /// There is no such result, element or lane.
    pub fn set_result(&mut self, result: usize, element: u32, lane: u32, bits: u64) -> Result<(), LaneFault> {
        let home = self.instruction.results.get(result);
        let width = home.map_or(0, |(_, ty)| ty.awaited().element().map_or(ty.bits(), Element::bits));
        let register = self.register(home, element, lane)?;
        self.registers[register] = bits & mask(width);
        Ok(())
    }

    fn register(&self, home: Option<&(usize, Type)>, element: u32, lane: u32) -> Result<usize, LaneFault> {
        match home {
            Some(&(at, ty)) if element < ty.count() && lane < self.lanes() => {
                Ok(at + element as usize * self.lanes + lane as usize)
            }
            _ => Err(self.wrong("its meaning asks for an operand, result, element or lane that is not there")),
        }
    }

    /// Loads `bytes` bytes from every address; gives them one after the other, zeros where there is
    /// no address. Counts a matrix load, and wavefronts by the instruction's own bank row, or where
    /// there is none by that of plain loads of this width.
    ///
    /// # Errors
    /// What the access does wrong; more addresses than lanes.
    pub fn load_shared(&mut self, addresses: &[Option<u64>], bytes: u32, alignment: u32) -> Result<Vec<u8>, LaneFault> {
        self.load_slots(addresses, &self.own_lanes(addresses), bytes, alignment)
    }

    /// Stores `bytes` bytes of `data` to every address, in the order of [`Call::load_shared`]. Counts
    /// a matrix store, and wavefronts likewise.
    ///
    /// # Errors
    /// What the access does wrong; more addresses than lanes; too little data.
    pub fn store_shared(
        &mut self,
        addresses: &[Option<u64>],
        bytes: u32,
        alignment: u32,
        data: &[u8],
    ) -> Result<(), LaneFault> {
        self.store_slots(addresses, &self.own_lanes(addresses), bytes, alignment, data)
    }

    /// [`Call::load_shared`] of slots whose addresses the given lanes give.
    pub(crate) fn load_slots(
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

    /// [`Call::store_shared`] of slots whose addresses the given lanes give.
    pub(crate) fn store_slots(
        &mut self,
        addresses: &[Option<u64>],
        lanes: &[u32],
        bytes: u32,
        alignment: u32,
        data: &[u8],
    ) -> Result<(), LaneFault> {
        if data.len() != addresses.len() * bytes as usize {
            return Err(self.wrong("its meaning stores more or less data than there are addresses"));
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
            return Err(self.wrong("its meaning makes an access that no warp can make"));
        }
        let row = self.bank_row(direction, bytes.saturating_mul(8))?;
        let slots = addresses.iter().zip(lanes).zip(data.chunks_exact_mut(bytes as usize));
        for ((address, &lane), data) in slots {
            let Some(address) = *address else { continue };
            self.accessor.lane = lane as u8;
            shared_transfer(direction, address, data, alignment, None, &mut self.memories, &self.accessor)
                .map_err(|kind| LaneFault { lane: Some(lane), kind })?;
        }
        count_wavefronts(direction, row, addresses, bytes, self.counts);
        Ok(())
    }

    /// The instruction's own bank row, of the given direction; where it has none, that of plain
    /// accesses of the width.
    pub(super) fn bank_row(&self, direction: Direction, bits: u32) -> Result<&'a BankRow, LaneFault> {
        let name = self.instruction.name;
        let row = self.target.instruction_bank_row(name, direction, bits);
        let missing = || FaultKind::NoBankRow { direction, bits, instruction: Some(name.to_owned()) };
        row.filter(|row| row.bank_bytes > 0).ok_or_else(|| missing().into())
    }
}
