//! Execution of a program by one warp, step by step.

use crate::access::{Memories, Transactions, access};
use crate::arithmetic;
use crate::atomic::atomic;
use crate::fault::{FaultKind, LaneFault};
use crate::global_races::GlobalRaces;
use crate::mapped_tensor::Tensor;
use crate::memory::GlobalMemory;
use crate::print::PrintReceiver;
use crate::program::{Program, Step};
use crate::queues::Queues;
use crate::semantics::SemanticsTable;
use crate::shared::{Accessor, Clock, Epoch, SharedMemory};
use crate::tensor_memory::TensorMemory;
use std::ops::Range;
use tilewright_kernel::{BarrierAction, CollectiveScope, Counts, MemorySpace, RegisterChange};
use tilewright_target::TargetDescription;

/// Number of operations that a warp executes before it yields to other programs.
const SHARE: u64 = 1 << 28;

/// Number of atomic operations of global memory after which a warp has used its share of operations: it most likely
/// waits for another program.
const ATOMICS_OF_SHARE: u64 = 1 << 12;

/// For a warp that starts with `steps` steps left before the limit of the run, returns the number left at which it
/// yields.
pub(crate) fn end_of_share(steps: u64) -> u64 {
    steps.saturating_sub(SHARE)
}

/// Position of a block in its grid.
#[derive(Clone, Copy)]
pub(crate) struct GridPosition {
    /// Index of the block in the grid.
    pub(crate) block: [u32; 3],
    /// Number of blocks of the grid along each axis.
    pub(crate) grid: [u32; 3],
}

/// State that all warps of a block share.
pub(crate) struct BlockContext<'a> {
    pub(crate) program: &'a Program<'a>,
    pub(crate) target: &'a TargetDescription,
    pub(crate) semantics: Option<&'a SemanticsTable>,
    pub(crate) global: &'a mut GlobalMemory,
    /// Shared memory of each block of the cluster.
    pub(crate) shared: &'a mut [SharedMemory],
    /// For each tensor-map parameter, by index, the tensor bound to it.
    pub(crate) tensors: &'a [Option<Tensor>],
    /// Tensor memory of the block.
    pub(crate) tensor: &'a mut TensorMemory,
    pub(crate) transactions: &'a mut Transactions,
    pub(crate) position: GridPosition,
    pub(crate) printer: Option<&'a PrintReceiver<'a>>,
    /// Index of the block in its cluster.
    pub(crate) member: u8,
    /// Numbers of barriers that the cluster and the block have passed.
    pub(crate) epoch: Epoch,
    /// Number of steps (executed operations) left before the limit.
    pub(crate) steps: &'a mut u64,
    /// Number of steps left at which the warp yields to other programs.
    pub(crate) yield_at: u64,
    /// Maximum number of steps (executed operations) of the run.
    pub(crate) step_limit: u64,
    /// The record of accesses of global memory, from which races are detected; `None` if the run does not detect races
    /// of global memory.
    pub(crate) races: Option<&'a mut GlobalRaces>,
}

/// The reason for which a warp has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The warp waits at the barrier of this step for all warps of the scope, a block or a cluster.
    Barrier(CollectiveScope, usize),
    /// The warp waits, in this step, for a phase of the mbarrier at this shared address.
    Mbarrier { step: usize, address: u64 },
    /// The warp waits at the named barrier with this number until `warps` warps have reached it.
    Group { step: usize, number: u32, warps: u32 },
    /// The warp has arrived at the named barrier with this number, and continues without a wait.
    Arrives { step: usize, number: u32, warps: u32 },
    /// The warp waits, in this step, until all warps of its warp group change their registers and the block's pool has
    /// those that they acquire.
    Registers { step: usize, change: RegisterChange, registers: u32 },
    /// The warp has used its share of operations, and other programs are to make progress.
    Yielded,
    /// The warp has ended.
    Finished,
}

/// The state of an `if` or loop that the warp is executing.
pub(super) enum Frame {
    If {
        /// Mask of the lanes that were active before the `if`.
        outer: u64,
        /// Mask of the lanes that execute the second region.
        otherwise: u64,
        /// Index of the first memory access in the first region.
        began: u64,
        /// Whether the second region is executed after the first, so that the accesses of the first are in
        /// [`Warp::parted`].
        parted: bool,
    },
    Loop {
        /// Mask of the lanes that were active before the loop.
        outer: u64,
    },
}

/// One warp of a block: its registers, its position in the program and its active lanes.
pub(crate) struct Warp {
    pub(super) index: u32,
    pub(super) lanes: usize,
    pub(super) registers: Vec<u64>,
    pub(super) next: usize,
    /// Mask of the lanes that execute the next step: bit `i` stands for lane `i`.
    pub(super) active: u64,
    pub(super) control_stack: Vec<Frame>,
    pub(super) counts: Counts,
    /// Index of the warp's next memory access, counted in program order.
    pub(super) time: u64,
    /// Index of the warp's first memory access after its last barrier.
    pub(super) barrier: u64,
    /// For each warp of the block, an access index: the warp's accesses with lower indices are ordered before all later
    /// accesses of this warp.
    pub(super) known: Clock,
    pub(super) queues: Queues,
    /// Instructions issued together with other warps since the last check, each as (number of warps, step).
    pub(super) issued_together: Vec<(u32, usize)>,
    /// Ranges of access indices: the accesses in the first regions of the enclosing `if`s whose second region the
    /// active lanes execute.
    pub(super) parted: Vec<Range<u64>>,
    pub(super) scratch: Vec<u64>,
}

pub(super) type Done = Result<(), LaneFault>;

impl Warp {
    /// Creates a warp with its constants and arguments in registers.
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
            control_stack: Vec::new(),
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

    /// Restarts the warp for another block. Result registers keep stale values, but a verified kernel reads no register
    /// before it is written.
    pub(crate) fn restart(&mut self) {
        self.next = 0;
        self.active = all(self.lanes);
        self.control_stack.clear();
        self.parted.clear();
        self.known.clear();
        self.queues = Queues::default();
        self.issued_together.clear();
        self.counts = Counts::default();
    }

    /// Returns the instructions issued together with other warps since the last check, each as (number of warps, step).
    pub(crate) fn issued_together(&self) -> &[(u32, usize)] {
        &self.issued_together
    }

    pub(crate) fn forget_issued_together(&mut self) {
        self.issued_together.clear();
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Runs the warp until it waits, yields or ends; a fault is returned with the index of the step that caused it.
    pub(crate) fn run(&mut self, around: &mut BlockContext<'_>) -> Result<Pause, (usize, LaneFault)> {
        while let Some(step) = around.program.steps.get(self.next) {
            let at = self.next;
            if *around.steps <= around.yield_at {
                return match *around.steps {
                    0 => Err((at, FaultKind::StepLimit { limit: around.step_limit }.into())),
                    _ => Ok(Pause::Yielded),
                };
            }
            *around.steps -= 1;
            self.next += 1;
            if let &Step::Barrier(scope @ (CollectiveScope::Block | CollectiveScope::Cluster)) = step {
                self.require_all_lanes().map_err(|fault| (at, fault))?;
                let barriers = match scope {
                    CollectiveScope::Cluster => &mut self.counts.cluster_barriers,
                    _ => &mut self.counts.barriers,
                };
                *barriers += 1;
                return Ok(Pause::Barrier(scope, at));
            }
            if let &Step::NamedBarrier { number, warps } = step {
                self.require_all_lanes().map_err(|fault| (at, fault))?;
                self.counts.barriers += 1;
                return Ok(Pause::Group { step: at, number, warps });
            }
            if let &Step::IndexedBarrier { action, number, warps } = step {
                let number = self.barrier_number(number, around).map_err(|fault| (at, fault))?;
                self.counts.barriers += 1;
                return Ok(match action {
                    BarrierAction::Sync => Pause::Group { step: at, number, warps },
                    BarrierAction::Arrive => Pause::Arrives { step: at, number, warps },
                });
            }
            if let &Step::SetMaxRegisters { change, registers } = step {
                self.require_all_lanes().map_err(|fault| (at, fault))?;
                return Ok(Pause::Registers { step: at, change, registers });
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
        Ok(Pause::Finished)
    }

    fn step(&mut self, step: &Step<'_>, around: &mut BlockContext<'_>, at: usize) -> Done {
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
                if one.space == MemorySpace::Global {
                    around.yield_at = around.yield_at.saturating_add(SHARE / ATOMICS_OF_SHARE);
                }
                let mut memories = memories(around);
                atomic(one, self.lanes, self.active, &mut self.registers, &mut memories, &mut accessor)
            }
            Step::AssumeUniform { value, to, n } => self.assume_uniform(*value, *to, *n),
            Step::Assert { condition, predicate, message } => self.assert(*condition, *predicate, message),
            Step::Print(print) => {
                self.print(print, around);
                Ok(())
            }
            // Both counters count the operations that the run has executed.
            &Step::Clock { to } => {
                let now = around.step_limit.saturating_sub(*around.steps);
                self.registers[to..to + self.lanes].fill(now);
                Ok(())
            }
            Step::Assembly(text) => Err(FaultKind::Assembly { text: (*text).to_owned() }.into()),
            Step::Function { function, .. } if !arithmetic::is_evaluated(*function) => {
                Err(FaultKind::Function { function: *function }.into())
            }
            Step::Shuffle { value, lane, to } => self.shuffle(*value, *lane, *to),
            Step::ShuffleXor { value, mask, to } => self.shuffle_xor(*value, *mask, *to),
            Step::Swap { a, b, lane, to } => self.swap([*a, *b], *lane, *to),
            Step::Barrier(_) => {
                self.require_all_lanes()?;
                // If a warp's accesses are ordered anyway, the barrier only restricts the compiler.
                if !around.target.shared.warp_ordered {
                    self.counts.warp_barriers += 1;
                }
                self.barrier = self.time;
                Ok(())
            }
            Step::Instruction(instruction) => self.instruction(instruction, around, at),
            Step::ReadyToken { queue, value } => self.make_ready(*queue, value),
            Step::Commit(queue) => {
                self.require_all_lanes()?;
                self.queues.commit(*queue);
                Ok(())
            }
            Step::Wait { queue, outstanding, values } => {
                self.wait(queue.queue_of_groups(), *outstanding, values, around, at)
            }
            Step::MbarrierInit { pointer, arrivals } => self.mbarrier_init(*pointer, *arrivals, around, at),
            Step::MbarrierArrive { pointer, bytes } => self.mbarrier_arrive(*pointer, *bytes, around, at),
            Step::MbarrierInvalidate { pointer } => self.mbarrier_invalidate(*pointer, around, at),
            Step::MbarrierCommit { queue, pointer } => self.mbarrier_commit(*queue, *pointer, around, at),
            Step::TensorAllocate { pointer, columns } => self.tensor_allocate(*pointer, *columns, around, at),
            Step::TensorFree { address, columns } => self.tensor_free(*address, *columns, around, at),
            Step::ProxyFence => self.proxy_fence(around, at),
            step => {
                self.compute(step, around.position, around.member);
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

    /// Returns the accessor of the warp's next memory access, for its first active lane, and the memories that it
    /// accesses.
    pub(super) fn next_access<'b>(
        &'b mut self,
        around: &'b mut BlockContext<'_>,
        at: usize,
    ) -> (Accessor<'b>, Memories<'b>) {
        let time = self.next_time();
        let accessor = accessor(self.index, (time, self.barrier), (&self.parted, &self.known), around, at);
        (accessor, memories(around))
    }
}

/// Returns the mask of the lowest `lanes` lanes.
fn all(lanes: usize) -> u64 {
    arithmetic::mask(lanes as u32)
}

pub(super) fn accessor<'a>(
    warp: u32,
    (time, barrier): (u64, u64),
    (parted, known): (&'a [Range<u64>], &'a [u64]),
    around: &BlockContext<'_>,
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
        diverged: parted,
        happens_before: known,
    }
}

pub(super) fn memories<'b>(around: &'b mut BlockContext<'_>) -> Memories<'b> {
    Memories {
        global: around.global,
        shared: around.shared,
        tensors: around.tensors,
        tensor: around.tensor,
        transaction_bytes: u64::from(around.target.global.transaction_bytes.max(1)),
        transactions: around.transactions,
        races: around.races.as_deref_mut(),
    }
}
