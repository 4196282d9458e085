//! Dots whose layouts the program states. If a plan with exactly these layouts exists, it is taken, because any other
//! plan would convert the operands and the accumulator at each dot.

use super::LaunchConfig;
use super::batches::{MatrixBatch, extend_axis, extend_over_batches, warp_partition};
use super::layouts::{LayoutCache, to_canonical_dim_order};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_plan::mma::{MmaPlan, MmaProblem};
use tilewright_tile::{FunctionBody, Op, Value};

/// The layouts in registers that the types of a dot's tensors have; `None` for a tensor without a layout and for an
/// operand in memory.
struct GivenLayouts {
    operands: [Option<LinearLayout>; 2],
    accumulator: Option<LinearLayout>,
}

impl GivenLayouts {
    fn of(body: &FunctionBody, op: Op, config: &LaunchConfig<'_>) -> Self {
        let layouts = LayoutCache::new(config.families);
        let given = |value: Option<Value>| layouts.resolve_distributed(body.value_type(value?)).ok();
        Self {
            operands: ["a", "b"].map(|operand| given(body.operand(op, operand))),
            accumulator: given(body.op(op).results.first().copied()),
        }
    }

    /// Whether a plan's operands and accumulator have these layouts, in any order of registers, since reordering them
    /// costs nothing. A tensor without a stated layout may have any layout in the plan.
    fn are_those_of(&self, plan: &MmaPlan, batches: Option<MatrixBatch>) -> Result<bool, LayoutError> {
        for (side, (given, planned)) in self.operands.iter().zip([&plan.a, &plan.b]).enumerate() {
            let Some(given) = given else { continue };
            if planned.ins().contains(Dim::OFFSET) {
                return Ok(false);
            }
            let planned = extend_over_batches(&extend_axis(planned, 1 - side, plan.problem.shape[2])?, batches)?;
            if !hold_the_same(&planned, given) {
                return Ok(false);
            }
        }
        let Some(given) = &self.accumulator else { return Ok(true) };
        Ok(hold_the_same(&to_canonical_dim_order(&extend_over_batches(&plan.c, batches)?)?, given))
    }

    /// Returns the number of consecutive elements along K that a lane holds in the stated layout of operand A, or of B
    /// if A has none. `None` if neither has a layout.
    fn k_width(&self) -> Option<u64> {
        let mut layouts = self.operands.iter().enumerate();
        let (side, layout) = layouts.find_map(|(side, layout)| Some((side, layout.as_ref()?)))?;
        // K is the last axis of A and the last but one of B.
        let k = Dim::tensor(layout.outs().len() - 1 - side);
        let shift = layout.outs().shift_of(k)?;
        let registers = layout.columns_of(Dim::REGISTER);
        let bits = (0..layout.out_bits(k)).take_while(|bit| registers.contains(&(1 << (shift + bit))));
        Some(1 << bits.count())
    }
}

/// Whether each thread holds the same elements in both layouts, in whatever order of its registers.
fn hold_the_same(a: &LinearLayout, b: &LinearLayout) -> bool {
    let registers = |layout: &LinearLayout| {
        let mut columns = layout.columns_of(Dim::REGISTER).to_vec();
        columns.sort_unstable();
        columns
    };
    let is_equal = |dim: Dim| a.columns_of(dim) == b.columns_of(dim);
    a.outs() == b.outs() && [Dim::LANE, Dim::WARP, Dim::BLOCK].into_iter().all(is_equal) && registers(a) == registers(b)
}

/// Returns the plan of a dot whose tensors have the layouts that the program states. Returns `planned` if it has these
/// layouts, or if no plan with the stated accumulator and width of K has them.
pub(super) fn plan_for_given_layouts(
    planned: (MmaPlan, Option<MatrixBatch>),
    problem: MmaProblem,
    body: &FunctionBody,
    op: Op,
    config: &LaunchConfig<'_>,
) -> Result<(MmaPlan, Option<MatrixBatch>), LayoutError> {
    let given = GivenLayouts::of(body, op, config);
    let (plan, batches) = &planned;
    if given.are_those_of(plan, *batches)? {
        return Ok(planned);
    }
    let required = given.accumulator.clone().filter(|_| batches.is_none());
    let problem = problem.with_k_width(given.k_width()).with_result_layout(required);
    match warp_partition(&problem, batches.map(|batches| batches.count), config) {
        Ok((other, batches)) if given.are_those_of(&other, batches)? => Ok((other, batches)),
        _ => Ok(planned),
    }
}
