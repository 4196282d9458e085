//! One warp of a block: its reconvergence stack, registers, local memory and asynchronous operations in flight.

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

use super::in_flight::{Groups, PendingCopies, Reads};
use super::launch::Launch;
use super::registers::{LANES, Registers};
use super::shared::Shared;
use super::stack::Stack;
use super::traffic::GlobalTraffic;
use super::{Arrival, DeviceFault, DeviceFaultKind, Global, Next, RegisterChange, Running};
use crate::program::{Program, Special, Step};

/// Whether a warp can run, waits at a barrier, or has exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WarpState {
    Runs,
    Waits(Arrival),
    ChangesRegisters(RegisterChange),
    Finished,
}

/// A warp of the block that runs.
pub(super) struct Warp {
    number: u32,
    /// Mask of the lanes that exist; the last warp of a block may have fewer than 32.
    lanes: u32,
    stack: Stack,
    registers: Registers,
    pending_copies: PendingCopies,
    groups: [Groups; LANES],
    reads: Reads,
    local: Vec<u8>,
    epoch: u32,
    pub(super) standing: WarpState,
    pub(super) counts: Counts,
}

/// State that all warps of a block share, and that the running warp may change.
pub(super) struct BlockContext<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a TargetDescription,
    pub(super) parameters: &'a [u8],
    pub(super) block: [u32; 3],
    pub(super) shared: &'a mut Shared,
    pub(super) global: &'a mut Global,
    pub(super) traffic: &'a mut GlobalTraffic,
    pub(super) printed: &'a mut Vec<String>,
    /// Number of instructions that all warps of the launch together may still execute.
    pub(super) steps_left: &'a mut u64,
    pub(super) most_steps: u64,
    /// Number of times that each step (index of an instruction) was issued, summed over warps.
    pub(super) issued: &'a mut [u64],
}

/// Number of instructions after which a running warp lets other warps of the block run.
const TIME_SLICE: u32 = 100_000;

impl Warp {
    pub(super) fn new(program: &Program, launch: &Launch<'_>, number: u32) -> Self {
        let threads = launch.threads.iter().product::<u32>();
        let lanes = (threads - number * LANES as u32).min(LANES as u32);
        let lanes = if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 };
        let mut registers = Registers::new(program.registers);
        registers.clear();
        Self {
            number,
            lanes,
            stack: Stack::new(lanes),
            registers,
            pending_copies: PendingCopies::default(),
            groups: Default::default(),
            reads: Reads::default(),
            local: vec![0; program.local_bytes as usize * LANES],
            epoch: 0,
            standing: WarpState::Runs,
            counts: Counts::default(),
        }
    }

    /// Resets the warp to start the kernel in the block with this index.
    pub(super) fn begin(&mut self, program: &Program, launch: &Launch<'_>, block: [u32; 3]) {
        self.stack = Stack::new(self.lanes);
        self.pending_copies.clear();
        self.groups.iter_mut().for_each(Groups::clear);
        self.reads.clear();
        self.epoch = 0;
        self.standing = WarpState::Runs;
        self.counts = Counts::default();
        self.local.fill(0);
        self.registers.clear();
        for &(register, value) in &program.constants {
            self.registers.fill(register, [value; LANES]);
        }
        for &register in &program.undefined {
            self.registers.fill(register, [0; LANES]);
        }
        for &(register, special) in &program.specials {
            let mut values = [0; LANES];
            for (lane, value) in values.iter_mut().enumerate() {
                *value = self.special(special, program, launch, block, lane as u32);
            }
            self.registers.fill(register, values);
        }
    }

    fn special(&self, special: Special, program: &Program, launch: &Launch<'_>, block: [u32; 3], lane: u32) -> u64 {
        let threads = launch.threads;
        let thread = self.number * LANES as u32 + lane;
        let below = (1u64 << lane) - 1;
        u64::from(match special {
            Special::Thread(0) => thread % threads[0],
            Special::Thread(1) => thread / threads[0] % threads[1],
            Special::Thread(_) => thread / (threads[0] * threads[1]),
            Special::Threads(axis) => threads[axis % 3],
            Special::Block(axis) => block[axis % 3],
            Special::Blocks(axis) => launch.grid[axis % 3],
            Special::Lane => lane,
            Special::Warp => self.number,
            Special::Warps => threads.iter().product::<u32>().div_ceil(LANES as u32),
            Special::LanesBelow => below as u32,
            Special::LanesUpTo => (below << 1 | 1) as u32,
            Special::LanesFrom => !below as u32,
            Special::LanesAbove => !(below << 1 | 1) as u32,
            Special::LaneAlone => 1 << lane,
            Special::DynamicBytes => launch.dynamic_bytes as u32,
            Special::SharedBytes => (program.shared_bytes + launch.dynamic_bytes) as u32,
            Special::Number(number) => return number,
        })
    }

    /// Continues the warp: the barrier that it waited at has completed.
    pub(super) fn released(&mut self) {
        self.epoch += 1;
        self.standing = WarpState::Runs;
    }

    /// Runs the warp until it waits at a barrier, exits or has executed [`TIME_SLICE`] instructions.
    pub(super) fn run(&mut self, around: &mut BlockContext<'_>) -> Result<(), Box<DeviceFault>> {
        let mut waited = 0;
        for _ in 0..TIME_SLICE {
            let Some((number, lanes)) = self.stack.top() else {
                return self.end(around);
            };
            let Some(step) = around.program.steps.get(number as usize) else {
                // A kernel may end without `exit`: lanes exit after the last instruction.
                self.stack.end(lanes);
                continue;
            };
            *around.steps_left = around
                .steps_left
                .checked_sub(1)
                .ok_or_else(|| self.fault(around, number, DeviceFaultKind::Steps(around.most_steps)))?;
            let (active, next) = match self.step(around, number, step, lanes) {
                Ok(next) => next,
                // Diverged lanes run first, because the fault may be premature: lanes that exit need not take part, and
                // others may still arrive at the instruction.
                Err(DeviceFaultKind::Divergent { .. }) if waited < LANES && self.stack.rotate() => {
                    waited += 1;
                    continue;
                }
                Err(kind) => return Err(self.fault(around, number, kind)),
            };
            waited = 0;
            around.issued[number as usize] += 1;
            if let Some(standing) = self.go(next, active, around.program.reconvergence[number as usize]) {
                self.standing = standing;
                return Ok(());
            }
        }
        Ok(())
    }

    fn fault(&self, around: &BlockContext<'_>, number: u32, kind: DeviceFaultKind) -> Box<DeviceFault> {
        let (line, opcode) = around
            .program
            .steps
            .get(number as usize)
            .map_or((0, String::new()), |step| (step.line, step.opcode.clone()));
        let (block, warp) = (around.block, self.number);
        Box::new(DeviceFault { kernel: around.program.name.clone(), line, opcode, block, warp, kind })
    }

    /// Executes one instruction for the lanes of the mask `lanes` whose guard predicate is true. Returns the mask of
    /// these lanes, and the control flow after the instruction.
    fn step(
        &mut self,
        around: &mut BlockContext<'_>,
        number: u32,
        step: &Step,
        lanes: u32,
    ) -> Result<(u32, Next), DeviceFaultKind> {
        let active = match step.guard {
            None => lanes,
            Some((register, negated)) => {
                let undefined = lanes & !self.registers.defined(register);
                if undefined != 0 {
                    let lane = undefined.trailing_zeros();
                    return Err(DeviceFaultKind::UndefinedRegister { what: "the predicate of the instruction", lane });
                }
                let row = self.registers.row(register);
                let guard_lanes =
                    (0..LANES).fold(0u32, |guard_lanes, lane| guard_lanes | ((row[lane] & 1) as u32) << lane);
                lanes & if negated { !guard_lanes } else { guard_lanes }
            }
        };
        if active == 0 {
            return Ok((0, Next::Continue));
        }
        step.operation.execute(&mut self.running(around, number, active)).map(|next| (active, next))
    }

    /// Returns the state of the warp and its block for the instruction with index `step`, which the lanes of the mask
    /// `active` execute.
    fn running<'a>(&'a mut self, around: &'a mut BlockContext<'_>, step: u32, active: u32) -> Running<'a> {
        Running {
            registers: &mut self.registers,
            active,
            alive: self.stack.alive(),
            warp: self.number,
            step,
            clock: around.most_steps.saturating_sub(*around.steps_left),
            epoch: &mut self.epoch,
            pending_copies: &mut self.pending_copies,
            groups: &mut self.groups,
            reads: &mut self.reads,
            local: &mut self.local,
            parameters: around.parameters,
            shared: around.shared,
            global: around.global,
            counts: &mut self.counts,
            traffic: around.traffic,
            printed: around.printed,
            target: around.target,
        }
    }

    /// Ends the warp after all its lanes have exited, and completes their bulk copies. Returns a fault if a lane has
    /// not waited until a copy's source was read.
    fn end(&mut self, around: &mut BlockContext<'_>) -> Result<(), Box<DeviceFault>> {
        let mut running = self.running(around, u32::MAX, self.lanes);
        let result = running.lanes().try_for_each(|lane| running.bulk_end(lane));
        self.standing = WarpState::Finished;
        result.map_err(|kind| self.fault(around, u32::MAX, kind))
    }

    /// Applies the control flow `next` after an instruction that the lanes of the mask `active` executed. Returns the
    /// new state if the warp stops running, otherwise `None`.
    fn go(&mut self, next: Next, active: u32, reconvergence: u32) -> Option<WarpState> {
        match next {
            Next::Continue => self.stack.follow(),
            Next::Jump(target) => self.stack.jump(active, target, reconvergence),
            Next::Scatter(targets) => self.stack.scatter(active, &targets, reconvergence),
            Next::End => {
                self.stack.end(active);
                self.stack.follow();
            }
            Next::Wait(arrival) => {
                self.stack.follow();
                return Some(WarpState::Waits(arrival));
            }
            Next::ChangeRegisters(change) => {
                self.stack.follow();
                return Some(WarpState::ChangesRegisters(change));
            }
            Next::Yield => {
                self.stack.follow();
                return Some(WarpState::Runs);
            }
        }
        None
    }
}
