//! A running operation: the state that it reads and writes.

use super::fault::DeviceFaultKind;
use super::global::Global;
use super::in_flight::{Flights, Groups, Reads};
use super::operand::Place;
use super::registers::{LANES, Registers};
use super::shared::{Accessor, Shared};
use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// What an instruction does to a warp.
pub(crate) trait Operation: Send + Sync {
    /// Does it for the lanes that [`Running::active`] has.
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind>;

    /// Steps that it may jump to.
    fn targets(&self) -> &[u32] {
        &[]
    }

    /// Whether the step behind it never follows, and why.
    fn leaves(&self) -> Leaves {
        Leaves::Never
    }
}

/// Why the step behind an instruction never follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// It does.
    Never,
    /// Lanes go elsewhere.
    Jumps,
    /// Lanes end.
    Ends,
    /// The run ends.
    Faults,
}

/// What a warp does after an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// The step behind it.
    Follow,
    /// The lanes that executed it go to this step, the others on.
    Jump(u32),
    /// Each of the lanes that executed it goes to a step of its own.
    Scatter(Box<[u32; LANES]>),
    /// The lanes that executed it end.
    End,
    /// The warp waits at a barrier of the block.
    Wait(Arrival),
    /// The step behind it, after other warps had their turn.
    Yield,
}

/// How a warp comes to a barrier of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) barrier: u32,
    /// Threads that the barrier waits for; all of the block where nothing is said.
    pub(crate) threads: Option<u32>,
    /// Whether the warp goes on at once.
    pub(crate) only_arrives: bool,
}

/// A warp while it executes an instruction.
pub(crate) struct Running<'a> {
    pub(crate) registers: &'a mut Registers,
    /// Lanes that execute it.
    pub(crate) active: u32,
    /// Lanes that have not ended.
    pub(crate) alive: u32,
    pub(crate) warp: u32,
    pub(crate) step: u32,
    /// Barriers of the warp so far.
    pub(crate) epoch: &'a mut u32,
    pub(crate) flights: &'a mut Flights,
    /// Bulk copies from shared memory, of each lane.
    pub(crate) groups: &'a mut [Groups; LANES],
    /// What products of four warps read.
    pub(crate) reads: &'a mut Reads,
    /// The lanes' own memory, one lane's after the other's.
    pub(crate) local: &'a mut [u8],
    pub(crate) parameters: &'a [u8],
    pub(crate) shared: &'a mut Shared,
    pub(crate) global: &'a mut Global,
    pub(crate) counts: &'a mut Counts,
    pub(crate) transactions: &'a mut [u64; 2],
    pub(crate) printed: &'a mut Vec<String>,
    pub(crate) target: &'a TargetDescription,
}

impl Running<'_> {
    /// The numbers of the lanes that execute it.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..LANES).filter(move |lane| active >> lane & 1 == 1)
    }

    pub(crate) fn accessor(&self, lane: usize) -> Accessor {
        Accessor { warp: self.warp as u8, lane: lane as u8, epoch: *self.epoch, step: self.step, atomic: false }
    }

    /// The value of a register in a lane, which something depends on.
    pub(crate) fn known(&self, register: u32, lane: usize, what: &'static str) -> Result<u64, DeviceFaultKind> {
        if self.registers.is_defined(register, lane) {
            return Ok(self.registers.get(register, lane));
        }
        Err(DeviceFaultKind::UndefinedRegister { what, lane: lane as u32 })
    }

    pub(crate) fn set(&mut self, place: Option<Place>, lane: usize, value: u64) {
        if let Some(place) = place {
            self.registers.set(place.register, lane, value & place.mask);
        }
    }

    /// Checks that all lanes of a mask that have not ended execute this together, the executing ones among them.
    pub(crate) fn together(&self, members: u32) -> Result<(), DeviceFaultKind> {
        let (missing, others) = (members & self.alive & !self.active, self.active & !members);
        if missing == 0 && others == 0 {
            return Ok(());
        }
        Err(DeviceFaultKind::Divergent { members, active: self.active })
    }

    /// The mask of members that all executing lanes name.
    pub(crate) fn members(&self, register: u32) -> Result<u32, DeviceFaultKind> {
        let mut members = None;
        for lane in self.lanes() {
            let own = self.known(register, lane, "the mask of members")? as u32;
            if *members.get_or_insert(own) != own {
                return Err(DeviceFaultKind::Divergent { members: own, active: self.active });
            }
        }
        let members = members.unwrap_or(0);
        self.together(members).map(|()| members)
    }

    /// A value that all executing lanes have.
    pub(crate) fn same(&self, register: u32, what: &'static str) -> Result<u64, DeviceFaultKind> {
        let mut same = None;
        for lane in self.lanes() {
            let own = self.known(register, lane, what)?;
            if *same.get_or_insert(own) != own {
                return Err(DeviceFaultKind::Differs { what });
            }
        }
        Ok(same.unwrap_or(0))
    }
}
