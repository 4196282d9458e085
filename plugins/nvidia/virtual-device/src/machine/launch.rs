//! A launch: all blocks of a grid, one after another, so that every run is the same.

use tilewright_kernel::Counts;
use tilewright_target::TargetDescription;

use super::memory::LANES;
use super::shared::Shared;
use super::warp::{Around, Warp};
use super::{DeviceFault, Global, block};
use crate::program::Program;

/// What is run, and where.
pub(crate) struct Launch<'a> {
    pub(crate) target: &'a TargetDescription,
    /// Blocks along the three axes.
    pub(crate) grid: [u32; 3],
    /// Threads of a block along the three axes.
    pub(crate) threads: [u32; 3],
    /// Bytes of shared memory that the launch gives.
    pub(crate) dynamic_bytes: u64,
    /// The bytes of the parameters.
    pub(crate) parameters: &'a [u8],
    /// Instructions of all warps that are executed at most.
    pub(crate) most_steps: u64,
}

/// What a run did, counted as the emulator counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchReport {
    /// Of one warp; where warps differ, the most over all warps of all blocks.
    pub counts: Counts,
    /// Units of global memory that loads touched, access by access.
    pub transactions_loaded: u64,
    /// Those that stores touched.
    pub transactions_stored: u64,
    /// Instructions of all warps.
    pub instructions: u64,
    /// What `vprintf` printed.
    pub printed: Vec<String>,
}

/// Runs a program over a grid.
///
/// # Errors
/// The first thing that it does and may not.
pub(crate) fn run(
    program: &Program,
    launch: &Launch<'_>,
    global: &mut Global,
) -> Result<LaunchReport, Box<DeviceFault>> {
    let threads = launch.threads.iter().product::<u32>();
    let mut warps: Vec<Warp> =
        (0..threads.div_ceil(LANES as u32)).map(|number| Warp::new(program, launch, number)).collect();
    let mut shared = Shared::new((program.shared_bytes + launch.dynamic_bytes) as usize);
    let mut report = LaunchReport::default();
    let mut transactions = [0; 2];
    let mut steps_left = launch.most_steps;
    let [x, y, z] = launch.grid;
    let blocks = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    for block in blocks {
        shared.clear();
        warps.iter_mut().for_each(|warp| warp.begin(program, launch, block));
        let mut around = Around {
            program,
            target: launch.target,
            parameters: launch.parameters,
            block,
            shared: &mut shared,
            global,
            transactions: &mut transactions,
            printed: &mut report.printed,
            steps_left: &mut steps_left,
            most_steps: launch.most_steps,
        };
        block::run(&mut warps, &mut around)?;
        report.counts = warps.iter().fold(report.counts, |most, warp| most.most(warp.counts));
    }
    [report.transactions_loaded, report.transactions_stored] = transactions;
    report.instructions = launch.most_steps - steps_left;
    Ok(report)
}
