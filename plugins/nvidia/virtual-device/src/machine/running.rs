//! The state of a warp and its block that an operation reads and writes while it executes.

use super::fault::DeviceFaultKind;
use super::global::Global;
use super::in_flight::{Groups, PendingCopies, Reads};
use super::operand::Destination;
use super::registers::{LANES, Registers};
use super::shared::{Accessor, Shared};
use super::traffic::GlobalTraffic;
use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

/// A decoded instruction: its effect on the registers, memories and control flow of a warp.
pub(crate) trait Operation: Send + Sync {
    /// Executes the operation for the lanes in [`Running::active`].
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind>;

    /// Returns the steps (indices of instructions in the program) that are possible targets of the operation's branch.
    fn targets(&self) -> &[u32] {
        &[]
    }

    /// Returns how all lanes leave the straight-line sequence at this operation; [`Leaves::Never`] if some may continue
    /// with the next instruction.
    fn leaves(&self) -> Leaves {
        Leaves::Never
    }
}

/// How all lanes that execute an instruction leave the sequence of steps, so that the next step does not follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Execution may continue with the next instruction.
    Never,
    /// All lanes that execute the instruction branch.
    Branches,
    /// All lanes that execute the instruction exit.
    Ends,
    /// The instruction always faults, so no lane continues.
    Faults,
}

/// The control flow of a warp after an instruction. A step is the index of an instruction in the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// The warp continues with the next instruction.
    Continue,
    /// The lanes that executed the instruction branch to this step; the others continue with the next instruction.
    Jump(u32),
    /// Each lane that executed the instruction branches to the step in its entry.
    Scatter(Box<[u32; LANES]>),
    /// The lanes that executed the instruction exit.
    End,
    /// The warp arrives at a barrier of its block and waits there.
    Wait(Arrival),
    /// The warp waits until all warps of its warpgroup change their registers, and the block's pool has enough.
    ChangeRegisters(RegisterChange),
    /// The warp lets other warps run, then continues with the next instruction.
    Yield,
}

/// A warp's arrival at a barrier of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) barrier: u32,
    /// Number of threads that the barrier waits for; `None` for all threads of the block.
    pub(crate) threads: Option<u32>,
    /// Whether the warp continues without waiting (`barrier.arrive`).
    pub(crate) only_arrives: bool,
}

/// A change of the registers of all warps of a warpgroup (`setmaxnreg`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegisterChange {
    /// Whether the warps acquire registers (`inc`) or release them (`dec`).
    pub(crate) acquires: bool,
    /// Number of registers of a thread after the change.
    pub(crate) registers: u32,
}

/// The state of a warp, and of its block, while the warp executes an instruction.
pub(crate) struct Running<'a> {
    pub(crate) registers: &'a mut Registers,
    /// Mask of the lanes that execute the instruction.
    pub(crate) active: u32,
    /// Mask of the lanes that have not exited.
    pub(crate) alive: u32,
    pub(crate) warp: u32,
    pub(crate) step: u32,
    /// Number of instructions that the launch has issued, the value of all clocks.
    pub(crate) clock: u64,
    /// Number of barriers that the warp has passed; each access to shared memory is recorded with it to find races.
    pub(crate) epoch: &'a mut u32,
    pub(crate) pending_copies: &'a mut PendingCopies,
    /// Bulk groups of copies from shared memory, one entry for each lane.
    pub(crate) groups: &'a mut [Groups; LANES],
    /// Ranges of shared memory that the warp's warpgroup MMAs in flight read.
    pub(crate) reads: &'a mut Reads,
    /// Local memory of the warp: the bytes of lane 0, then those of lane 1, and so on.
    pub(crate) local: &'a mut [u8],
    pub(crate) parameters: &'a [u8],
    pub(crate) shared: &'a mut Shared,
    pub(crate) global: &'a mut Global,
    pub(crate) counts: &'a mut Counts,
    pub(crate) traffic: &'a mut GlobalTraffic,
    pub(crate) printed: &'a mut Vec<String>,
    pub(crate) target: &'a TargetDescription,
}

impl Running<'_> {
    /// Returns the indices of the active lanes: those that execute the instruction.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..LANES).filter(move |lane| active >> lane & 1 == 1)
    }

    pub(crate) fn accessor(&self, lane: usize) -> Accessor {
        Accessor { warp: self.warp as u8, lane: lane as u8, epoch: *self.epoch, step: self.step, atomic: false }
    }

    /// Returns the value of a register in a lane. Returns a fault if the lane has not written the register; `what`
    /// describes the value in the fault's message.
    pub(crate) fn read_defined(&self, register: u32, lane: usize, what: &'static str) -> Result<u64, DeviceFaultKind> {
        if self.registers.is_defined(register, lane) {
            return Ok(self.registers.get(register, lane));
        }
        Err(DeviceFaultKind::UndefinedRegister { what, lane: lane as u32 })
    }

    pub(crate) fn set(&mut self, destination: Option<Destination>, lane: usize, value: u64) {
        if let Some(destination) = destination {
            self.registers.set(destination.register, lane, value & destination.mask);
        }
    }

    /// Returns a fault unless all lanes of the mask `members` that have not exited execute the instruction together,
    /// and no other lane executes it.
    pub(crate) fn check_convergent(&self, members: u32) -> Result<(), DeviceFaultKind> {
        let (missing, others) = (members & self.alive & !self.active, self.active & !members);
        if missing == 0 && others == 0 {
            return Ok(());
        }
        Err(DeviceFaultKind::Divergent { members, active: self.active })
    }

    /// Returns the member mask in a register (the lanes that must execute an instruction together). It must be equal in
    /// all active lanes, and exactly its lanes must be active; otherwise returns a fault.
    pub(crate) fn members(&self, register: u32) -> Result<u32, DeviceFaultKind> {
        let mut members = None;
        for lane in self.lanes() {
            let lane_value = self.read_defined(register, lane, "the member mask")? as u32;
            if *members.get_or_insert(lane_value) != lane_value {
                return Err(DeviceFaultKind::Divergent { members: lane_value, active: self.active });
            }
        }
        let members = members.unwrap_or(0);
        self.check_convergent(members).map(|()| members)
    }

    /// Returns the value of a register that must be equal in all active lanes; otherwise returns a fault, whose message
    /// names the value by `what`.
    pub(crate) fn read_uniform(&self, register: u32, what: &'static str) -> Result<u64, DeviceFaultKind> {
        let mut same = None;
        for lane in self.lanes() {
            let lane_value = self.read_defined(register, lane, what)?;
            if *same.get_or_insert(lane_value) != lane_value {
                return Err(DeviceFaultKind::Differs { what });
            }
        }
        Ok(same.unwrap_or(0))
    }
}
