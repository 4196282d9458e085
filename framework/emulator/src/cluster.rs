//! Execution of a cluster: its blocks in order, each until it waits at the cluster's barrier or ends; the warps of a
//! block likewise in order, each until it waits or ends. A cluster is suspended if a warp yields to other programs.

use std::ops::Range;

use super::access::Transactions;
use super::fault::{FaultKind, LaneFault};
use super::global_races::GlobalRaces;
use super::mapped_tensor::Tensor;
use super::memory::GlobalMemory;
use super::named_barriers::NamedBarriers;
use super::print::PrintReceiver;
use super::program::{Program, Step};
use super::register_pool::RegisterPool;
use super::semantics::SemanticsTable;
use super::shared::{Epoch, SharedMemory};
use super::tensor_memory::TensorMemory;
use super::warp::{BlockContext, GridPosition, Pause, Warp, end_of_share};
use tilewright_kernel::{CollectiveScope, Counts, StaticLaunchConfig};
use tilewright_target::TargetDescription;

/// The state of a run that all its clusters share.
pub(super) struct RunState<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) target: &'a TargetDescription,
    pub(super) semantics: Option<&'a SemanticsTable>,
    pub(super) global: &'a mut GlobalMemory,
    /// For each tensor-map parameter, by index, the tensor bound to it.
    pub(super) tensors: &'a [Option<Tensor>],
    pub(super) transactions: &'a mut Transactions,
    pub(super) printer: Option<&'a PrintReceiver<'a>>,
    /// Number of blocks of the grid along each axis.
    pub(super) grid: [u32; 3],
    /// Number of steps (executed operations) left before the limit.
    pub(super) steps: &'a mut u64,
    /// Maximum number of steps (executed operations) of the run.
    pub(super) step_limit: u64,
    /// The record of accesses of global memory, from which races are detected; `None` if the run does not detect races
    /// of global memory.
    pub(super) races: Option<&'a mut GlobalRaces>,
}

/// The blocks of one cluster with their warps, shared memories and tensor memories.
pub(super) struct Cluster {
    blocks: Vec<Block>,
    shared: Vec<SharedMemory>,
    tensor: Vec<TensorMemory>,
    /// Number of cluster barriers that these blocks have passed, plus the number of clusters of the grid that they have
    /// run so far, because the same blocks run several clusters one after another.
    epoch: u64,
}

struct Block {
    warps: Vec<Warp>,
    /// Number of block barriers that the block has passed.
    epoch: u64,
    /// For each warp, the reason why it has stopped; kept while the block is suspended, and `None` if the warp may run.
    pauses: Vec<Option<Pause>>,
    /// The state of the block once all of its warps have stopped; `None` before. It is kept until the other blocks of
    /// the cluster have stopped too.
    state: Option<BlockState>,
    registers: RegisterPool,
    named_barriers: NamedBarriers,
}

/// A fault with the block, warp and operation that caused it.
pub(super) struct Stop {
    /// Index of the block in the cluster.
    pub(super) block: u32,
    pub(super) warp: u32,
    /// Index of the operation, as in [`tilewright_kernel::Kernel::statements`].
    pub(super) operation: u32,
    pub(super) fault: LaneFault,
}

/// State of a block once all of its warps have stopped.
#[derive(Clone, Copy)]
enum BlockState {
    /// The block waits at the cluster barrier of this step; the second field is the index of one of its warps.
    Waits(usize, u32),
    Finished,
}

impl Cluster {
    /// Creates the blocks of a cluster. `buffers` are the address ranges of the kernel's shared buffers, `bytes` is the
    /// size of a block's shared memory.
    pub(super) fn new(
        launch: StaticLaunchConfig,
        program: &Program<'_>,
        arguments: &[u64],
        buffers: &[Range<u64>],
        bytes: usize,
        target: &TargetDescription,
    ) -> Self {
        let in_groups =
            program.steps.iter().any(|step| matches!(step, Step::NamedBarrier { .. } | Step::IndexedBarrier { .. }));
        let warp = |index| Warp::new(index, launch.lanes as usize, program, arguments);
        let warps = || (0..launch.warps).map(warp).collect();
        let registers = || RegisterPool::new(launch, target.limits.register_reallocation);
        let block = || Block {
            warps: warps(),
            epoch: 0,
            pauses: Vec::new(),
            state: None,
            registers: registers(),
            named_barriers: NamedBarriers::default(),
        };
        Self {
            blocks: (0..launch.blocks).map(|_| block()).collect(),
            shared: (0..launch.blocks)
                .map(|owner| SharedMemory::new(owner as u8, buffers.to_vec(), bytes, in_groups))
                .collect(),
            tensor: (0..launch.blocks).map(|_| TensorMemory::new(target.tensor.as_ref())).collect(),
            epoch: 0,
        }
    }

    /// Resets the cluster's blocks, so that they can run as other blocks of the grid.
    pub(super) fn start(&mut self) {
        self.epoch += 1;
        self.shared.iter_mut().for_each(|memory| memory.start_block(self.epoch));
        self.tensor.iter_mut().for_each(TensorMemory::start_block);
        for block in &mut self.blocks {
            block.registers.restart();
            block.named_barriers.restart();
            block.warps.iter_mut().for_each(Warp::restart);
        }
    }

    /// Runs the cluster whose first block has the grid index `first`, until it ends or yields; returns whether it has
    /// ended.
    pub(super) fn run(&mut self, first: [u32; 3], outside: &mut RunState<'_>) -> Result<bool, Stop> {
        loop {
            for block in 0..self.blocks.len() {
                if self.blocks[block].state.is_none() {
                    self.blocks[block].state = self.block(block, first, outside)?;
                }
            }
            let Some(stands) = self.blocks.iter().map(|block| block.state).collect::<Option<Vec<_>>>() else {
                return Ok(false);
            };
            self.blocks.iter_mut().for_each(|block| block.state = None);
            let waiting = (0..).zip(&stands).find_map(|(block, stand)| match *stand {
                BlockState::Waits(step, warp) => Some((block, step, warp)),
                BlockState::Finished => None,
            });
            let Some((block, step, warp)) = waiting else { break };
            let there = |stand: &BlockState| matches!(stand, BlockState::Waits(at, _) if *at == step);
            let missing: Vec<u32> = (0..).zip(&stands).filter(|(_, stand)| !there(stand)).map(|(at, _)| at).collect();
            if !missing.is_empty() {
                let fault = FaultKind::ClusterBarrierNotReached { missing }.into();
                return Err(Stop { block, warp, operation: operation(outside.program, step), fault });
            }
            self.epoch += 1;
        }
        self.check_foreign_accesses().map(|()| true)
    }

    /// Checks that no block has ended while another block could still access its memory.
    fn check_foreign_accesses(&self) -> Result<(), Stop> {
        let Some((visit, kind)) =
            self.shared.iter().find_map(|memory| memory.find_unfinished_foreign_access(self.epoch))
        else {
            return Ok(());
        };
        Err(Stop {
            block: u32::from(visit.block),
            warp: u32::from(visit.warp),
            operation: visit.operation,
            fault: LaneFault { lane: Some(u32::from(visit.lane)), kind },
        })
    }

    /// Runs one block until all of its warps wait at the cluster's barrier or have finished; `None` if one yields.
    fn block(&mut self, block: usize, first: [u32; 3], outside: &mut RunState<'_>) -> Result<Option<BlockState>, Stop> {
        loop {
            let Some(pauses) = self.warps(block, first, outside)? else { return Ok(None) };
            self.check_issued_together(block, outside)?;
            let waiting = (0..).zip(&pauses).find_map(|(warp, pause)| match *pause {
                Pause::Barrier(scope, step) => Some((warp, scope, step)),
                Pause::Mbarrier { .. }
                | Pause::Group { .. }
                | Pause::Arrives { .. }
                | Pause::Registers { .. }
                | Pause::Yielded
                | Pause::Finished => None,
            });
            let Some((warp, scope, step)) = waiting else { return self.check_block_end(block).map(Some) };
            let elsewhere = (0..).zip(&pauses).filter(|(_, pause)| **pause != Pause::Barrier(scope, step));
            let missing: Vec<u32> = elsewhere.map(|(warp, _)| warp).collect();
            if !missing.is_empty() {
                let fault = FaultKind::BarrierNotReached { missing }.into();
                return Err(Stop { block: block as u32, warp, operation: operation(outside.program, step), fault });
            }
            if scope == CollectiveScope::Cluster {
                return Ok(Some(BlockState::Waits(step, warp)));
            }
            self.blocks[block].epoch += 1;
        }
    }

    /// Checks that warps that must issue instructions together have issued the same ones, now that all warps have
    /// stopped at a barrier or ended.
    fn check_issued_together(&mut self, block: usize, outside: &RunState<'_>) -> Result<(), Stop> {
        let Some(warps) = self.blocks.get_mut(block).map(|block| &mut block.warps) else { return Ok(()) };
        for (warp, warp_state) in warps.iter().enumerate() {
            for (number, &(together, step)) in warp_state.issued_together().iter().enumerate() {
                let first = warp - warp % together as usize;
                let issues = |other: &usize| {
                    warps
                        .get(*other)
                        .is_some_and(|other| other.issued_together().get(number) == Some(&(together, step)))
                };
                let missing: Vec<u32> = (first..first + together as usize)
                    .filter(|other| !issues(other))
                    .map(|other| other as u32)
                    .collect();
                if !missing.is_empty() {
                    let fault = FaultKind::NotIssuedTogether { together, missing }.into();
                    let operation = operation(outside.program, step);
                    return Err(Stop { block: block as u32, warp: warp as u32, operation, fault });
                }
            }
        }
        warps.iter_mut().for_each(Warp::forget_issued_together);
        Ok(())
    }

    /// Checks that a block whose warps have ended has waited for all asynchronous operations and freed its tensor
    /// memory.
    fn check_block_end(&self, block: usize) -> Result<BlockState, Stop> {
        let (shared, tensor) = (&self.shared[block], &self.tensor[block]);
        if let Some(other) = shared.find_in_flight().or_else(|| tensor.in_flight()) {
            let (warp, operation) = (other.warp.unwrap_or(0), other.operation as u32);
            let fault = FaultKind::Unfinished { other: Box::new(other) }.into();
            return Err(Stop { block: block as u32, warp, operation, fault });
        }
        let Some((warp, operation, columns)) = tensor.find_live_allocation() else { return Ok(BlockState::Finished) };
        let fault = FaultKind::TensorLeft { columns }.into();
        Err(Stop { block: block as u32, warp, operation, fault })
    }

    /// Runs every warp of a block until it waits for the block or cluster, or ends; `None` if one yields. Warps that
    /// wait for an mbarrier are retried while other warps make progress.
    fn warps(&mut self, block: usize, first: [u32; 3], outside: &mut RunState<'_>) -> Result<Option<Vec<Pause>>, Stop> {
        let mut pauses = std::mem::take(&mut self.blocks[block].pauses);
        pauses.resize(self.blocks[block].warps.len(), None);
        loop {
            let mut went_on = false;
            for (warp, pause) in pauses.iter_mut().enumerate() {
                if !matches!(pause, None | Some(Pause::Mbarrier { .. } | Pause::Yielded)) {
                    continue;
                }
                let steps = *outside.steps;
                let now = self.warp(block, warp, first, outside)?;
                // A warp has made progress if it waits elsewhere or has executed more than one step: the wait that it
                // retries is one step.
                went_on |= *pause != Some(now) || steps - *outside.steps > 1;
                *pause = Some(now);
            }
            let Block { warps, named_barriers, .. } = &mut self.blocks[block];
            if named_barriers.release(warps, &mut pauses) {
                continue;
            }
            let changed = self.blocks[block].registers.change(&mut pauses);
            let at = |step| operation(outside.program, step);
            if changed.map_err(|(warp, step, fault)| Stop { block: block as u32, warp, operation: at(step), fault })? {
                continue;
            }
            if pauses.contains(&Some(Pause::Yielded)) {
                self.blocks[block].pauses = pauses;
                return Ok(None);
            }
            let stuck = (0..).zip(&pauses).find_map(|(warp, pause)| match *pause {
                Some(Pause::Mbarrier { step, .. } | Pause::Group { step, .. } | Pause::Registers { step, .. }) => {
                    Some((warp, step))
                }
                _ => None,
            });
            match stuck {
                None => return Ok(Some(pauses.into_iter().flatten().collect())),
                Some((warp, step)) if !went_on => {
                    let fault = self.deadlock(block, warp as usize, &pauses).into();
                    return Err(Stop { block: block as u32, warp, operation: at(step), fault });
                }
                Some(_) => {}
            }
        }
    }

    /// Returns the fault of a warp whose wait never ends, since no warp of its block can continue.
    fn deadlock(&self, block: usize, warp: usize, pauses: &[Option<Pause>]) -> FaultKind {
        match pauses[warp] {
            Some(Pause::Mbarrier { address, .. }) => {
                let (arrivals, bytes) = self.shared[block].missing_arrivals_and_bytes(address);
                FaultKind::NeverCompletes { address, arrivals, bytes }
            }
            Some(Pause::Registers { change, registers, .. }) => {
                self.blocks[block].registers.deadlock(warp, (change, registers), pauses)
            }
            _ => FaultKind::BarrierNotReached { missing: warps_elsewhere(pauses, pauses[warp]) },
        }
    }

    /// Runs one warp until it waits or ends.
    fn warp(&mut self, block: usize, warp: usize, first: [u32; 3], outside: &mut RunState<'_>) -> Result<Pause, Stop> {
        let Block { warps, epoch, .. } = &mut self.blocks[block];
        let mut around = BlockContext {
            program: outside.program,
            target: outside.target,
            semantics: outside.semantics,
            global: outside.global,
            tensors: outside.tensors,
            shared: &mut self.shared,
            tensor: &mut self.tensor[block],
            transactions: outside.transactions,
            position: GridPosition { block: [first[0] + block as u32, first[1], first[2]], grid: outside.grid },
            printer: outside.printer,
            member: block as u8,
            epoch: Epoch { cluster: self.epoch, block: *epoch },
            yield_at: end_of_share(*outside.steps),
            steps: outside.steps,
            step_limit: outside.step_limit,
            races: outside.races.as_deref_mut(),
        };
        let stop = |(step, fault)| Stop {
            block: block as u32,
            warp: warp as u32,
            operation: operation(outside.program, step),
            fault,
        };
        warps[warp].run(&mut around).map_err(stop)
    }

    /// Returns the number of bytes that all clusters have stored to shared memory so far.
    pub(super) fn shared_bytes_stored(&self) -> u64 {
        self.shared.iter().map(SharedMemory::bytes_stored).sum()
    }

    /// Returns the maximum of each operation count over all warps of the cluster.
    pub(super) fn counts(&self) -> Counts {
        let warps = self.blocks.iter().flat_map(|block| &block.warps);
        warps.fold(Counts::default(), |most, warp| most.componentwise_max(warp.counts()))
    }
}

/// Returns the indices of the warps whose entry of `pauses` differs from `at`.
fn warps_elsewhere(pauses: &[Option<Pause>], at: Option<Pause>) -> Vec<u32> {
    (0..).zip(pauses).filter(|(_, pause)| **pause != at).map(|(warp, _)| warp).collect()
}

/// Returns the operation index, as in [`tilewright_kernel::Kernel::statements`], of the step with the index `step`.
fn operation(program: &Program<'_>, step: usize) -> u32 {
    program.numbers.get(step).copied().unwrap_or(0)
}
