//! A warp that executes a program, statement by statement.

use crate::access::{Memories, Transactions, access};
use crate::arithmetic;
use crate::atomic::atomic;
use crate::fault::{FaultKind, LaneFault};
use crate::mapped_tensor::Tensor;
use crate::meaning::SemanticsTable;
use crate::memory::GlobalMemory;
use crate::print::Printer;
use crate::program::{Program, Step};
use crate::queues::Queues;
use crate::shared::{Accessor, Clock, Epoch, SharedMemory};
use crate::tensor_memory::TensorMemory;
use std::ops::Range;
use tilewright_kernel::{Counts, Scope};
use tilewright_target::TargetDescription;

/// Where a block is.
#[derive(Clone, Copy)]
pub(crate) struct GridPlace {
    /// Index of the block in the grid.
    pub(crate) block: [u32; 3],
    /// Blocks of the grid along each axis.
    pub(crate) grid: [u32; 3],
}

/// What all warps of a block share.
pub(crate) struct Surroundings<'a> {
    pub(crate) program: &'a Program<'a>,
    pub(crate) target: &'a TargetDescription,
    pub(crate) meanings: Option<&'a SemanticsTable>,
    pub(crate) global: &'a mut GlobalMemory,
    /// Of each block of the cluster.
    pub(crate) shared: &'a mut [SharedMemory],
    /// By parameter, the tensor whose map it is.
    pub(crate) tensors: &'a [Option<Tensor>],
    /// Of the own block.
    pub(crate) tensor: &'a mut TensorMemory,
    pub(crate) transactions: &'a mut Transactions,
    pub(crate) place: GridPlace,
    pub(crate) printer: Option<&'a Printer<'a>>,
    /// Index of the block in its cluster.
    pub(crate) member: u8,
    /// What barriers lie behind the block.
    pub(crate) epoch: Epoch,
    /// How many steps may still be run.
    pub(crate) steps: &'a mut u64,
    /// How many there were at first.
    pub(crate) step_limit: u64,
}

/// Why a warp has stopped for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It waits at the barrier that is this step, with all of the scope: a block or a cluster.
    Barrier(Scope, usize),
    /// It waits for a phase of the mbarrier at this shared address, in this step.
    Mbarrier { step: usize, address: u64 },
    /// It waits at the barrier of this number until so many warps have come to it.
    Group { step: usize, number: u32, warps: u32 },
    /// It has ended.
    Ended,
}

/// What is remembered while a region runs.
pub(super) enum Frame {
    If {
        /// The lanes that came to it.
        outer: u64,
        /// The lanes that the second region is for.
        otherwise: u64,
        /// When the first region began.
        began: u64,
        /// Whether lanes have parted, and the times of the first region are in `parted`.
        parted: bool,
    },
    Loop {
        /// The lanes that came to it.
        outer: u64,
    },
}

/// One warp of the block being run.
pub(crate) struct Warp {
    pub(super) index: u32,
    pub(super) lanes: usize,
    pub(super) registers: Vec<u64>,
    pub(super) next: usize,
    /// A bit for every lane that is here.
    pub(super) active: u64,
    pub(super) frames: Vec<Frame>,
    pub(super) counts: Counts,
    /// Number of the next access to memory.
    pub(super) time: u64,
    /// The first access after the last barrier of the warp.
    pub(super) barrier: u64,
    /// By warp of the block, the time before which its accesses come before all that this warp will make.
    pub(super) known: Clock,
    pub(super) queues: Queues,
    /// What it has issued together with other warps since they were last compared.
    pub(super) issued_together: Vec<(u32, usize)>,
    /// Times of the first regions from whose lanes the active ones have parted.
    pub(super) parted: Vec<Range<u64>>,
    pub(super) scratch: Vec<u64>,
}

pub(super) type Done = Result<(), LaneFault>;

impl Warp {
    /// A warp with its constants and arguments in place.
    pub(crate) fn new(index: u32, lanes: usize, program: &Program<'_>, arguments: &[u64]) -> Self {
        let mut registers = vec![0; program.registers];
        for &(at, n, bits) in &program.constants {
            registers[at..at + n].fill(bits);
        }
        for (&at, &bits) in program.parameters.iter().zip(arguments) {
            registers[at..at + lanes].fill(bits);
        }
        Self {
            index,
            lanes,
            registers,
            next: 0,
            active: all(lanes),
            frames: Vec::new(),
            counts: Counts::default(),
            time: 0,
            barrier: 0,
            known: Clock::new(),
            queues: Queues::default(),
            issued_together: Vec::new(),
            parted: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Goes back to the start, for another block; registers that hold results are stale, but no
    /// verified kernel reads one before it is written.
    pub(crate) fn restart(&mut self) {
        self.next = 0;
        self.active = all(self.lanes);
        self.frames.clear();
        self.parted.clear();
        self.known.clear();
        self.queues = Queues::default();
        self.issued_together.clear();
        self.counts = Counts::default();
    }

    /// What it has issued together with other warps: with how many, and the step.
    pub(crate) fn issued_together(&self) -> &[(u32, usize)] {
        &self.issued_together
    }

    pub(crate) fn forget_issued_together(&mut self) {
        self.issued_together.clear();
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Runs until the warp has to wait or ends; a fault comes with the step that it happened at.
    pub(crate) fn run(&mut self, around: &mut Surroundings<'_>) -> Result<Pause, (usize, LaneFault)> {
        while let Some(step) = around.program.steps.get(self.next) {
            let at = self.next;
            if *around.steps == 0 {
                return Err((at, FaultKind::StepLimit { limit: around.step_limit }.into()));
            }
            *around.steps -= 1;
            self.next += 1;
            if let &Step::Barrier(scope @ (Scope::Block | Scope::Cluster)) = step {
                self.require_all_lanes().map_err(|fault| (at, fault))?;
                let barriers = match scope {
                    Scope::Cluster => &mut self.counts.cluster_barriers,
                    _ => &mut self.counts.barriers,
                };
                *barriers += 1;
                return Ok(Pause::Barrier(scope, at));
            }
            if let &Step::GroupBarrier { number, warps } = step {
                self.require_all_lanes().map_err(|fault| (at, fault))?;
                self.counts.barriers += 1;
                return Ok(Pause::Group { step: at, number, warps });
            }
            if let &Step::MbarrierWait { pointer, phase } = step {
                let address = self.mbarrier_wait(pointer, phase, around, at).map_err(|fault| (at, fault))?;
                if let Some(address) = address {
                    self.next = at;
                    return Ok(Pause::Mbarrier { step: at, address });
                }
                continue;
            }
            self.step(step, around, at).map_err(|fault| (at, fault))?;
        }
        Ok(Pause::Ended)
    }

    fn step(&mut self, step: &Step<'_>, around: &mut Surroundings<'_>, at: usize) -> Done {
        match step {
            Step::Branch { .. }
            | Step::Otherwise { .. }
            | Step::Join { .. }
            | Step::Enter { .. }
            | Step::EnterWhile { .. }
            | Step::RepeatWhile { .. }
            | Step::Repeat { .. } => self.control(step),
            Step::Access(one) => {
                let time = self.next_time();
                let mut accessor = accessor(self.index, (time, self.barrier), (&self.parted, &self.known), around, at);
                let mut memories = memories(around);
                let (registers, counts) = (&mut self.registers, &mut self.counts);
                access(one, self.lanes, self.active, registers, &mut memories, counts, &mut accessor)
            }
            Step::Atomic(one) => {
                let time = self.next_time();
                let mut accessor = accessor(self.index, (time, self.barrier), (&self.parted, &self.known), around, at);
                let mut memories = memories(around);
                atomic(one, self.lanes, self.active, &mut self.registers, &mut memories, &mut accessor)
            }
            Step::Same { value, to, n } => self.same(*value, *to, *n),
            Step::Assert { condition, predicate, message } => self.assert(*condition, *predicate, message),
            Step::Print(print) => {
                self.print(print, around);
                Ok(())
            }
            Step::Assembly(text) => Err(FaultKind::Assembly { text: (*text).to_owned() }.into()),
            Step::Function { function, .. } if !arithmetic::is_evaluated(*function) => {
                Err(FaultKind::Function { function: *function }.into())
            }
            Step::Exchange { value, lane, to } => self.exchange(*value, *lane, *to),
            Step::ExchangeXor { value, mask, to } => self.exchange_xor(*value, *mask, *to),
            Step::Swap { a, b, lane, to } => self.swap([*a, *b], *lane, *to),
            Step::Barrier(_) => {
                self.require_all_lanes()?;
                // Where a warp's accesses are in order anyway, it only holds the compiler back.
                if !around.target.shared.warp_ordered {
                    self.counts.warp_barriers += 1;
                }
                self.barrier = self.time;
                Ok(())
            }
            Step::Instruction(instruction) => self.instruction(instruction, around, at),
            Step::Pend { queue, value } => self.pend(*queue, value),
            Step::Commit(queue) => {
                self.require_all_lanes()?;
                self.queues.commit(*queue);
                Ok(())
            }
            Step::Wait { queue, outstanding, values } => self.wait(*queue, *outstanding, values, around, at),
            Step::MbarrierInit { pointer, arrivals } => self.mbarrier_init(*pointer, *arrivals, around, at),
            Step::MbarrierArrive { pointer, bytes } => self.mbarrier_arrive(*pointer, *bytes, around, at),
            Step::MbarrierCommit { queue, pointer } => self.mbarrier_commit(*queue, *pointer, around, at),
            Step::TensorAllocate { pointer, columns } => self.tensor_allocate(*pointer, *columns, around, at),
            Step::TensorFree { address, columns } => self.tensor_free(*address, *columns, around, at),
            Step::ProxyFence => self.proxy_fence(around, at),
            step => {
                self.compute(step, around.place, around.member);
                Ok(())
            }
        }
    }

    pub(super) fn next_time(&mut self) -> u64 {
        self.time += 1;
        self.time - 1
    }

    pub(super) fn require_all_lanes(&self) -> Done {
        match all(self.lanes) & !self.active {
            0 => Ok(()),
            missing => Err(FaultKind::Divergent { missing }.into()),
        }
    }

    /// This warp's next access of memory, by its first lane, and the memories that it sees.
    pub(super) fn next_access<'b>(
        &'b mut self,
        around: &'b mut Surroundings<'_>,
        at: usize,
    ) -> (Accessor<'b>, Memories<'b>) {
        let time = self.next_time();
        let accessor = accessor(self.index, (time, self.barrier), (&self.parted, &self.known), around, at);
        (accessor, memories(around))
    }
}

/// A bit for every lane.
fn all(lanes: usize) -> u64 {
    arithmetic::mask(lanes as u32)
}

pub(super) fn accessor<'a>(
    warp: u32,
    (time, barrier): (u64, u64),
    (parted, known): (&'a [Range<u64>], &'a [u64]),
    around: &Surroundings<'_>,
    at: usize,
) -> Accessor<'a> {
    Accessor {
        block: around.member,
        epoch: around.epoch,
        warp: warp as u16,
        lane: 0,
        time,
        barrier,
        operation: around.program.numbers.get(at).copied().unwrap_or(0),
        warp_ordered: around.target.shared.warp_ordered,
        parted,
        known,
    }
}

pub(super) fn memories<'b>(around: &'b mut Surroundings<'_>) -> Memories<'b> {
    Memories {
        global: around.global,
        shared: around.shared,
        tensors: around.tensors,
        tensor: around.tensor,
        transaction_bytes: u64::from(around.target.global.transaction_bytes.max(1)),
        transactions: around.transactions,
    }
}
