//! Checks of kernels that prefetch tiles of a matrix and load them some iterations later.

use std::fmt;

use tilewright_emulator::FaultKind;
use tilewright_kernel::Module;
use tilewright_plan::movement::{PlanContext, PrefetchPlan, PrefetchSpec, plan_prefetch};
use tilewright_target::InstructionKind;
use tilewright_verify::kernels::{PrefetchDistance, build_prefetch_kernel};
use tilewright_verify::{CheckFailure, build_prefetch_case, check_emulated};

use super::super::artifact;
use super::super::emulated::{merge_verdicts, planning_verdict, run_on_emulator};
use crate::{Case, Context, EvidenceLevel, Verdict};

/// The property of prefetches that a case checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefetchProperty {
    /// Every byte of the matrix is prefetched, and the loaded tiles have the matrix's elements.
    Tiles,
    /// The emulator reports the prefetch of a matrix whose first address is misaligned for the instruction.
    Misaligned,
    /// The kernel compiles to the same code twice.
    Code,
}

impl PrefetchProperty {
    const ALL: [Self; 3] = [Self::Tiles, Self::Misaligned, Self::Code];

    fn name(self) -> &'static str {
        match self {
            Self::Tiles => "tiles",
            Self::Misaligned => "misaligned",
            Self::Code => "code",
        }
    }
}

/// A matrix whose tiles are prefetched. Case names spell it `prefetch/tiles/f16/64x128/w4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefetchCase {
    /// The property to check in this case.
    pub shown: PrefetchProperty,
    /// Width of a matrix element in bits.
    pub element_bits: u32,
    /// Numbers of rows and columns of a tile; the matrix is five tiles high.
    pub tile: [u64; 2],
    /// Number of warps of the block that prefetches and loads.
    pub warps: u64,
}

impl fmt::Display for PrefetchCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, element_bits, tile: [rows, columns], warps } = self;
        write!(f, "prefetch/{}/i{element_bits}/{rows}x{columns}/w{warps}", shown.name())
    }
}

/// Number of tiles by which a block prefetches ahead of its loads.
const DISTANCE: PrefetchDistance = PrefetchDistance { tiles: 2, is_misaligned: false };

impl PrefetchCase {
    /// Returns all prefetches that are checked for a target; empty if the target has no prefetch instruction.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let rows = context.target().instructions();
        if !rows.iter().any(|row| row.kind == InstructionKind::Prefetch) {
            return Vec::new();
        }
        let tiles = [[1, 64], [8, 64], [32, 128], [64, 64], [128, 32], [16, 512]];
        let each =
            |element_bits| tiles.iter().flat_map(move |&tile| [1, 4, 16].map(|warps| (element_bits, tile, warps)));
        let all = [8, 16, 32, 64].into_iter().flat_map(each);
        let all = all.flat_map(|(element_bits, tile, warps)| {
            PrefetchProperty::ALL.map(|shown| Self { shown, element_bits, tile, warps })
        });
        all.collect()
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("async/{self}"), move |context| merge_verdicts(self.verdict(context)))
    }

    fn verdict(self, context: &Context) -> Result<Verdict, Verdict> {
        let (plan_context, plan) = (plan_context(context), self.plan(context)?);
        let lanes = context.target().description().lanes.default;
        let case = |distance| build_prefetch_case(&plan, lanes, distance, plan_context);
        Ok(match self.shown {
            PrefetchProperty::Tiles => run_on_emulator(case(DISTANCE), plan_context)
                .map(|_| Verdict::pass(EvidenceLevel::Emulated).with_detail(format!("by {}", plan.instruction)))?,
            PrefetchProperty::Misaligned => {
                match case(PrefetchDistance { is_misaligned: true, ..DISTANCE })
                    .and_then(|case| check_emulated(&case, plan_context))
                {
                    Err(CheckFailure::Fault(fault)) if matches!(fault.kind, FaultKind::Instruction { .. }) => {
                        Verdict::pass(EvidenceLevel::Emulated).with_detail("caught")
                    }
                    Err(other) => {
                        Verdict::fail(EvidenceLevel::Emulated, format!("expected a misaligned matrix: {other}"))
                    }
                    Ok(_) => Verdict::fail(EvidenceLevel::Emulated, "a matrix that is not aligned was not caught"),
                }
            }
            PrefetchProperty::Code => {
                let kernel = build_prefetch_kernel(&plan, lanes, DISTANCE, plan_context).map_err(planning_verdict)?;
                artifact::check_compilation(context, &Module { kernels: vec![kernel] })
            }
        })
    }

    fn plan(self, context: &Context) -> Result<PrefetchPlan, Verdict> {
        let [rows, columns] = self.tile;
        let problem = PrefetchSpec::new(self.tile, [5 * rows, columns], self.element_bits)
            .with_pitch(2 * columns)
            .with_alignment(64)
            .with_warps(self.warps);
        plan_prefetch(&problem, plan_context(context)).map_err(planning_verdict)
    }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::new(context.target().description()).with_instructions(context.target().instructions())
}
