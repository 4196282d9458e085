//! Gathers by shuffles after a conversion to a layout whose lines lie within the warps that need them.

use tilewright_kernel::Counts;
use tilewright_layout::f2::Subspace;
use tilewright_layout::{LayoutError, LinearLayout};

use super::problem::GatherProblem;
use super::shuffles::{self, Shuffles};
use crate::layouts;
use crate::movement::{ConversionPlan, PlanContext, plan_conversion};

/// Max number of registers of a lane for elements of one line. With more, a conversion and shuffles are planned only if
/// the source does not fit in shared memory.
const MAX_REGISTERS_OF_A_LINE: u64 = 2;

/// The plan of a gather by a conversion and shuffles.
#[derive(Debug, Clone)]
pub(super) struct ConvertedLines {
    pub(super) conversion: ConversionPlan,
    pub(super) shuffles: Shuffles,
}

/// Whether a line (elements that differ only along the axis) takes so few registers of each lane that shuffles may be
/// cheaper than loads from shared memory.
pub(super) fn is_promising(problem: &GatherProblem) -> bool {
    1 << problem.axis_units().len() <= MAX_REGISTERS_OF_A_LINE << problem.lane_bits
}

/// Plans the conversion of the source and the shuffles after it; also returns the operation counts of a warp for the
/// shuffles.
pub(super) fn plan(
    problem: &GatherProblem,
    indices: &LinearLayout,
    context: PlanContext<'_>,
) -> Result<(ConvertedLines, Counts), String> {
    let layout = layout_of_lines(problem).map_err(|error| error.to_string())?;
    let converted = problem.with_source(&layout, indices).map_err(|error| error.to_string())?;
    let (shuffles, counts) = shuffles::plan(&converted, context.target)?;
    let bits = problem.element.bits();
    let conversion = plan_conversion(&problem.src, &layout, bits, context).map_err(|error| error.to_string())?;
    Ok((ConvertedLines { conversion, shuffles }, counts))
}

/// Returns a layout of the source that gives each warp the lines that it needs. The elements of a line are divided over
/// lanes first, so that few registers of each lane hold elements of it.
fn layout_of_lines(problem: &GatherProblem) -> Result<LinearLayout, LayoutError> {
    let (outs, lane_bits) = (problem.src.outs(), problem.lane_bits as usize);
    let (of_lanes, warps) = problem.threads.split_at(lane_bits);
    let mut span = Subspace::span(warps.iter().copied());
    let mut lanes = Vec::new();
    let mut registers = Vec::new();
    let units = outs.dims().flat_map(|dim| layouts::units(outs, dim)).collect::<Vec<_>>();
    for &column in problem.axis_units().iter().chain(of_lanes).chain(&problem.registers).chain(&units) {
        if span.insert(column) {
            if lanes.len() < lane_bits { &mut lanes } else { &mut registers }.push(column);
        }
    }
    lanes.resize(lane_bits, 0);
    layouts::distributed([&registers, &lanes, warps], outs)
}
