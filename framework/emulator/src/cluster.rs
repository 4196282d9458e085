//! A cluster being run: its blocks one after another, each until it waits for the cluster or ends, and
//! the warps of a block in turn, each until it waits or ends.

use std::ops::Range;

use super::access::Transactions;
use super::fault::{FaultKind, LaneFault};
use super::mapped_tensor::Tensor;
use super::meaning::SemanticsTable;
use super::memory::GlobalMemory;
use super::print::Printer;
use super::program::{Program, Step};
use super::shared::{Clock, Epoch, SharedMemory, join};
use super::tensor_memory::TensorMemory;
use super::warp::{GridPlace, Pause, Surroundings, Warp};
use tilewright_kernel::{Counts, Launch, Scope};
use tilewright_target::TargetDescription;

/// What is there but for the cluster itself.
pub(super) struct Outside<'a> {
    pub(super) program: &'a Program<'a>,
    pub(super) target: &'a TargetDescription,
    pub(super) meanings: Option<&'a SemanticsTable>,
    pub(super) global: &'a mut GlobalMemory,
    /// By parameter, the tensor whose map it is.
    pub(super) tensors: &'a [Option<Tensor>],
    pub(super) transactions: &'a mut Transactions,
    pub(super) printer: Option<&'a Printer<'a>>,
    /// Blocks along each axis.
    pub(super) grid: [u32; 3],
    /// How many steps may still be run.
    pub(super) steps: &'a mut u64,
    /// How many there were at first.
    pub(super) step_limit: u64,
}

/// The blocks that run together, with their memories.
pub(super) struct Cluster {
    blocks: Vec<Block>,
    shared: Vec<SharedMemory>,
    tensor: Vec<TensorMemory>,
    /// Barriers passed, and clusters begun.
    epoch: u64,
}

struct Block {
    warps: Vec<Warp>,
    /// Barriers passed.
    epoch: u64,
}

/// A fault, and who ran into it.
pub(super) struct Stop {
    /// Index of the block in the cluster.
    pub(super) block: u32,
    pub(super) warp: u32,
    /// Number of the operation.
    pub(super) operation: u32,
    pub(super) fault: LaneFault,
}

/// What all warps of a block have come to.
enum Stand {
    /// The barrier of the cluster that is this step; one of its warps.
    Waits(usize, u32),
    Ended,
}

impl Cluster {
    /// Blocks whose memories have the given buffers and size.
    pub(super) fn new(
        launch: Launch,
        program: &Program<'_>,
        arguments: &[u64],
        buffers: &[Range<u64>],
        bytes: usize,
        target: &TargetDescription,
    ) -> Self {
        let in_groups = program.steps.iter().any(|step| matches!(step, Step::GroupBarrier { .. }));
        let warp = |index| Warp::new(index, launch.lanes as usize, program, arguments);
        let block = || Block { warps: (0..launch.warps).map(warp).collect(), epoch: 0 };
        Self {
            blocks: (0..launch.blocks).map(|_| block()).collect(),
            shared: (0..launch.blocks)
                .map(|owner| SharedMemory::new(owner as u8, buffers.to_vec(), bytes, in_groups))
                .collect(),
            tensor: (0..launch.blocks).map(|_| TensorMemory::new(target.tensor.as_ref())).collect(),
            epoch: 0,
        }
    }

    /// Runs the cluster whose first block is at `first` in the grid.
    pub(super) fn run(&mut self, first: [u32; 3], outside: &mut Outside<'_>) -> Result<(), Stop> {
        self.epoch += 1;
        self.shared.iter_mut().for_each(|memory| memory.start_block(self.epoch));
        self.tensor.iter_mut().for_each(TensorMemory::start_block);
        self.blocks.iter_mut().flat_map(|block| &mut block.warps).for_each(Warp::restart);
        loop {
            let stands =
                (0..self.blocks.len()).map(|block| self.block(block, first, outside)).collect::<Result<Vec<_>, _>>()?;
            let waiting = (0..).zip(&stands).find_map(|(block, stand)| match *stand {
                Stand::Waits(step, warp) => Some((block, step, warp)),
                Stand::Ended => None,
            });
            let Some((block, step, warp)) = waiting else { break };
            let there = |stand: &Stand| matches!(stand, Stand::Waits(at, _) if *at == step);
            let missing: Vec<u32> = (0..).zip(&stands).filter(|(_, stand)| !there(stand)).map(|(at, _)| at).collect();
            if !missing.is_empty() {
                let fault = FaultKind::ClusterBarrierNotReached { missing }.into();
                return Err(Stop { block, warp, operation: operation(outside.program, step), fault });
            }
            self.epoch += 1;
        }
        self.left()
    }

    /// Whether a block may have ended before another had done with its memory.
    fn left(&self) -> Result<(), Stop> {
        let Some((visit, kind)) = self.shared.iter().find_map(|memory| memory.visited(self.epoch)) else {
            return Ok(());
        };
        Err(Stop {
            block: u32::from(visit.block),
            warp: u32::from(visit.warp),
            operation: visit.operation,
            fault: LaneFault { lane: Some(u32::from(visit.lane)), kind },
        })
    }

    /// Runs one block until all of its warps wait for the cluster or have ended.
    fn block(&mut self, block: usize, first: [u32; 3], outside: &mut Outside<'_>) -> Result<Stand, Stop> {
        loop {
            let pauses = self.warps(block, first, outside)?;
            self.issued_together(block, outside)?;
            let waiting = (0..).zip(&pauses).find_map(|(warp, pause)| match *pause {
                Pause::Barrier(scope, step) => Some((warp, scope, step)),
                Pause::Mbarrier { .. } | Pause::Group { .. } | Pause::Ended => None,
            });
            let Some((warp, scope, step)) = waiting else { return self.nothing_left(block) };
            let elsewhere = (0..).zip(&pauses).filter(|(_, pause)| **pause != Pause::Barrier(scope, step));
            let missing: Vec<u32> = elsewhere.map(|(warp, _)| warp).collect();
            if !missing.is_empty() {
                let fault = FaultKind::BarrierNotReached { missing }.into();
                return Err(Stop { block: block as u32, warp, operation: operation(outside.program, step), fault });
            }
            if scope == Scope::Cluster {
                return Ok(Stand::Waits(step, warp));
            }
            self.blocks[block].epoch += 1;
        }
    }

    /// Whether warps that issue instructions together have all issued the same; all have come to a barrier or ended.
    fn issued_together(&mut self, block: usize, outside: &Outside<'_>) -> Result<(), Stop> {
        let Some(warps) = self.blocks.get_mut(block).map(|block| &mut block.warps) else { return Ok(()) };
        for (warp, own) in warps.iter().enumerate() {
            for (number, &(together, step)) in own.issued_together().iter().enumerate() {
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

    /// Whether a block whose warps have ended has waited for all that it issued.
    fn nothing_left(&self, block: usize) -> Result<Stand, Stop> {
        let (shared, tensor) = (&self.shared[block], &self.tensor[block]);
        if let Some(other) = shared.under_way().or_else(|| tensor.under_way()) {
            let (warp, operation) = (other.warp.unwrap_or(0), other.operation as u32);
            let fault = FaultKind::Unfinished { other: Box::new(other) }.into();
            return Err(Stop { block: block as u32, warp, operation, fault });
        }
        let Some((warp, operation, columns)) = tensor.left() else { return Ok(Stand::Ended) };
        let fault = FaultKind::TensorLeft { columns }.into();
        Err(Stop { block: block as u32, warp, operation, fault })
    }

    /// Runs every warp of a block until it waits for the block or cluster, or ends. Those that wait for an
    /// mbarrier are tried again as long as others go on.
    fn warps(&mut self, block: usize, first: [u32; 3], outside: &mut Outside<'_>) -> Result<Vec<Pause>, Stop> {
        let mut pauses: Vec<Option<Pause>> = vec![None; self.blocks[block].warps.len()];
        loop {
            let mut went_on = false;
            for (warp, pause) in pauses.iter_mut().enumerate() {
                if !matches!(pause, None | Some(Pause::Mbarrier { .. })) {
                    continue;
                }
                let steps = *outside.steps;
                let now = self.warp(block, warp, first, outside)?;
                // The wait that is tried again is one step.
                went_on |= *pause != Some(now) || steps - *outside.steps > 1;
                *pause = Some(now);
            }
            if self.groups_meet(block, &mut pauses) {
                continue;
            }
            let stuck = (0..).zip(&pauses).find_map(|(warp, pause)| match *pause {
                Some(Pause::Mbarrier { step, address }) => Some((warp, step, Some(address))),
                Some(Pause::Group { step, .. }) => Some((warp, step, None)),
                _ => None,
            });
            match stuck {
                None => return Ok(pauses.into_iter().flatten().collect()),
                Some((warp, step, address)) if !went_on => {
                    let fault = match address {
                        Some(address) => {
                            let (arrivals, bytes) = self.shared[block].lacks(address);
                            FaultKind::NeverCompletes { address, arrivals, bytes }.into()
                        }
                        None => {
                            FaultKind::BarrierNotReached { missing: elsewhere(&pauses, pauses[warp as usize]) }.into()
                        }
                    };
                    return Err(Stop { block: block as u32, warp, operation: operation(outside.program, step), fault });
                }
                Some(_) => {}
            }
        }
    }

    /// Lets those go on that wait for each other at a barrier of some warps, where all of them have come; whether any could.
    fn groups_meet(&mut self, block: usize, pauses: &mut [Option<Pause>]) -> bool {
        let mut met = false;
        for first in 0..pauses.len() {
            let Some(Pause::Group { number, warps, .. }) = pauses[first] else { continue };
            let there = |pause: &Option<Pause>| matches!(pause, Some(Pause::Group { number: own, warps: many, .. }) if (*own, *many) == (number, warps));
            let come: Vec<usize> = (first..pauses.len()).filter(|&warp| there(&pauses[warp])).collect();
            if come.len() != warps as usize {
                continue;
            }
            let all = &mut self.blocks[block].warps;
            let mut brought = Clock::new();
            come.iter().for_each(|&warp| join(&mut brought, &all[warp].brings()));
            for &warp in &come {
                all[warp].meets(&brought);
                pauses[warp] = None;
            }
            met = true;
        }
        met
    }

    /// Runs one warp until it waits or ends.
    fn warp(&mut self, block: usize, warp: usize, first: [u32; 3], outside: &mut Outside<'_>) -> Result<Pause, Stop> {
        let Block { warps, epoch } = &mut self.blocks[block];
        let mut around = Surroundings {
            program: outside.program,
            target: outside.target,
            meanings: outside.meanings,
            global: outside.global,
            tensors: outside.tensors,
            shared: &mut self.shared,
            tensor: &mut self.tensor[block],
            transactions: outside.transactions,
            place: GridPlace { block: [first[0] + block as u32, first[1], first[2]], grid: outside.grid },
            printer: outside.printer,
            member: block as u8,
            epoch: Epoch { cluster: self.epoch, block: *epoch },
            steps: outside.steps,
            step_limit: outside.step_limit,
        };
        let stop = |(step, fault)| Stop {
            block: block as u32,
            warp: warp as u32,
            operation: operation(outside.program, step),
            fault,
        };
        warps[warp].run(&mut around).map_err(stop)
    }

    /// Bytes that all clusters so far stored to shared memory.
    pub(super) fn shared_bytes_stored(&self) -> u64 {
        self.shared.iter().map(SharedMemory::bytes_stored).sum()
    }

    /// The most that a warp did.
    pub(super) fn counts(&self) -> Counts {
        let warps = self.blocks.iter().flat_map(|block| &block.warps);
        warps.fold(Counts::default(), |most, warp| most.most(warp.counts()))
    }
}

/// The warps that have not come to where this one waits.
fn elsewhere(pauses: &[Option<Pause>], at: Option<Pause>) -> Vec<u32> {
    (0..).zip(pauses).filter(|(_, pause)| **pause != at).map(|(warp, _)| warp).collect()
}

/// The operation of a step.
fn operation(program: &Program<'_>, step: usize) -> u32 {
    program.numbers.get(step).copied().unwrap_or(0)
}
