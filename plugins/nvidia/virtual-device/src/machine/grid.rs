//! Runs all blocks of a grid one after another, always in the same order.

use super::launch::{Launch, LaunchReport};
use super::registers::LANES;
use super::shared::Shared;
use super::traffic::GlobalTraffic;
use super::warp::{BlockContext, Warp};
use super::{DeviceFault, Global, block};
use crate::program::Program;

/// Executes a program over a grid and returns the counts of the launch.
///
/// # Errors
/// [`DeviceFault`] if an operation of the program is invalid; the launch ends at the first.
pub(crate) fn run(
    program: &Program,
    launch: &Launch<'_>,
    global: &mut Global,
) -> Result<LaunchReport, Box<DeviceFault>> {
    let threads = launch.threads.iter().product::<u32>();
    let mut warps: Vec<Warp> =
        (0..threads.div_ceil(LANES as u32)).map(|number| Warp::new(program, launch, number)).collect();
    let shared_bytes = program.shared_bytes + launch.dynamic_bytes;
    let mut shared = Shared::new(shared_bytes as usize, launch.replicated_stores);
    let mut report = LaunchReport::default();
    let mut traffic = GlobalTraffic::new(&launch.target.global, shared_bytes);
    let mut steps_left = launch.most_steps;
    let mut issued = vec![0; program.steps.len()];
    let [x, y, z] = launch.grid;
    let blocks = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    for block in blocks {
        shared.clear();
        traffic.invalidate();
        warps.iter_mut().for_each(|warp| warp.begin(program, launch, block));
        let mut around = BlockContext {
            program,
            target: launch.target,
            parameters: launch.parameters,
            block,
            shared: &mut shared,
            global,
            traffic: &mut traffic,
            printed: &mut report.printed,
            steps_left: &mut steps_left,
            issued: &mut issued,
            most_steps: launch.most_steps,
        };
        block::run(&mut warps, &mut around)?;
        report.counts = warps.iter().fold(report.counts, |most, warp| most.componentwise_max(warp.counts));
        report.totals = warps.iter().fold(report.totals, |sum, warp| sum.add_counts(warp.counts));
    }
    [report.transactions_loaded, report.transactions_stored] = traffic.touched;
    [report.l2_sectors_loaded, report.l2_sectors_stored] = traffic.beyond_cache;
    for (step, count) in program.steps.iter().zip(issued).filter(|&(_, count)| count > 0) {
        *report.issued.entry(step.opcode.clone()).or_default() += count;
        *report.issued_by_line.entry(step.line).or_default() += count;
    }
    report.instructions = launch.most_steps - steps_left;
    Ok(report)
}
