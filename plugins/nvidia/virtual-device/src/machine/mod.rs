//! What programs run on: registers, memories, warps, blocks, and what is counted and checked.
//!
//! May import `tilewright_target`, `tilewright_kernel` (counts) and [`super::program`].

mod block;
mod bulk;
mod fault;
mod flight;
mod global;
mod lanes;
mod launch;
mod mbarrier;
mod memory;
mod products;
mod registers;
mod shared;
mod stack;
mod tensor_map;
mod warp;

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

pub(super) use bulk::Groups;
pub use fault::{Fault, FaultKind};
pub(super) use flight::Flights;
pub(super) use global::Global;
pub(super) use lanes::{Lanes, each};
pub use launch::Report;
pub(super) use launch::{Launch, run};
pub use memory::Space;
pub(super) use memory::{Access, Data, LANES};
pub(super) use products::Reads;
pub(super) use registers::Registers;
pub(super) use shared::{Accessor, Shared};
pub(super) use tensor_map::{GRAIN, MAP_BYTES, Tensor};

use super::program::Place;

/// What an instruction does to a warp.
pub(super) trait Operation: Send + Sync {
    /// Does it for the lanes that [`Running::active`] has.
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, FaultKind>;

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
pub(super) enum Leaves {
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
pub(super) enum Next {
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
pub(super) struct Arrival {
    pub(super) barrier: u32,
    /// Threads that the barrier waits for; all of the block where nothing is said.
    pub(super) threads: Option<u32>,
    /// Whether the warp goes on at once.
    pub(super) only_arrives: bool,
}

/// An address operand: a register and an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) base: u32,
    pub(super) offset: u64,
    /// Whether the register has 64 bits; else addresses are of 32.
    pub(super) is_wide: bool,
    /// The space of a variable that is named.
    pub(super) space: Option<Space>,
}

/// A warp while it executes an instruction.
pub(super) struct Running<'a> {
    pub(super) registers: &'a mut Registers,
    /// Lanes that execute it.
    pub(super) active: u32,
    /// Lanes that have not ended.
    pub(super) alive: u32,
    pub(super) warp: u32,
    pub(super) step: u32,
    /// Barriers of the warp so far.
    pub(super) epoch: &'a mut u32,
    pub(super) flights: &'a mut Flights,
    /// Bulk copies from shared memory, of each lane.
    pub(super) groups: &'a mut [Groups; LANES],
    /// What products of four warps read.
    pub(super) reads: &'a mut Reads,
    /// The lanes' own memory, one lane's after the other's.
    pub(super) local: &'a mut [u8],
    pub(super) parameters: &'a [u8],
    pub(super) shared: &'a mut Shared,
    pub(super) global: &'a mut Global,
    pub(super) counts: &'a mut Counts,
    pub(super) transactions: &'a mut [u64; 2],
    pub(super) printed: &'a mut Vec<String>,
    pub(super) target: &'a TargetDescription,
}

impl Running<'_> {
    /// The numbers of the lanes that execute it.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..LANES).filter(move |lane| active >> lane & 1 == 1)
    }

    pub(super) fn accessor(&self, lane: usize) -> Accessor {
        Accessor { warp: self.warp as u8, lane: lane as u8, epoch: *self.epoch, step: self.step, atomic: false }
    }

    /// The value of a register in a lane, which something depends on.
    pub(super) fn known(&self, register: u32, lane: usize, what: &'static str) -> Result<u64, FaultKind> {
        if self.registers.is_defined(register, lane) {
            return Ok(self.registers.get(register, lane));
        }
        Err(FaultKind::UndefinedRegister { what, lane: lane as u32 })
    }

    pub(super) fn set(&mut self, place: Option<Place>, lane: usize, value: u64) {
        if let Some(place) = place {
            self.registers.set(place.register, lane, value & place.mask);
        }
    }

    /// Checks that all lanes of a mask that have not ended execute this together, the executing ones among them.
    pub(super) fn together(&self, members: u32) -> Result<(), FaultKind> {
        let (missing, others) = (members & self.alive & !self.active, self.active & !members);
        if missing == 0 && others == 0 {
            return Ok(());
        }
        Err(FaultKind::Divergent { members, active: self.active })
    }

    /// The mask of members that all executing lanes name.
    pub(super) fn members(&self, register: u32) -> Result<u32, FaultKind> {
        let mut members = None;
        for lane in self.lanes() {
            let own = self.known(register, lane, "the mask of members")? as u32;
            if *members.get_or_insert(own) != own {
                return Err(FaultKind::Divergent { members: own, active: self.active });
            }
        }
        let members = members.unwrap_or(0);
        self.together(members).map(|()| members)
    }

    /// A value that all executing lanes have.
    pub(super) fn same(&self, register: u32, what: &'static str) -> Result<u64, FaultKind> {
        let mut same = None;
        for lane in self.lanes() {
            let own = self.known(register, lane, what)?;
            if *same.get_or_insert(own) != own {
                return Err(FaultKind::Differs { what });
            }
        }
        Ok(same.unwrap_or(0))
    }
}
