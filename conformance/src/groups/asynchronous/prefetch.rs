//! Tiles of a matrix that are prefetched and loaded some turns later.

use std::fmt;

use tilewright_emulator::FaultKind;
use tilewright_kernel::Module;
use tilewright_plan::movement::{PlanContext, Prefetch, PrefetchSpec, prefetch};
use tilewright_target::InstructionKind;
use tilewright_verify::kernels::{Ahead, prefetched_kernel};
use tilewright_verify::{CheckFailure, check_emulated, prefetch_case};

use super::super::artifact;
use super::super::emulated::{either, executed, refused};
use crate::{Case, Context, Level, Verdict};

/// What is shown of prefetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownPrefetch {
    /// Every byte of the matrix is prefetched, and its tiles arrive as they are.
    Tiles,
    /// A matrix whose begin is not aligned is caught.
    Misaligned,
    /// The kernel as code.
    Code,
}

impl ShownPrefetch {
    const ALL: [Self; 3] = [Self::Tiles, Self::Misaligned, Self::Code];

    fn name(self) -> &'static str {
        match self {
            Self::Tiles => "tiles",
            Self::Misaligned => "misaligned",
            Self::Code => "code",
        }
    }
}

/// A matrix that is prefetched. Written as in case names: `prefetch/tiles/f16/64x128/w4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefetching {
    /// What is shown.
    pub shown: ShownPrefetch,
    /// Bits of an element.
    pub element_bits: u32,
    /// Rows and columns of a tile, of which the matrix has five below each other.
    pub tile: [u64; 2],
    /// Warps of the block.
    pub warps: u64,
}

impl fmt::Display for Prefetching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, element_bits, tile: [rows, columns], warps } = self;
        write!(f, "prefetch/{}/i{element_bits}/{rows}x{columns}/w{warps}", shown.name())
    }
}

/// Tiles that a block prefetches ahead.
const AHEAD: Ahead = Ahead { tiles: 2, is_misaligned: false };

impl Prefetching {
    /// All that are shown for a target: none where no row prefetches.
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
            ShownPrefetch::ALL.map(|shown| Self { shown, element_bits, tile, warps })
        });
        all.collect()
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("async/{self}"), move |context| either(self.verdict(context)))
    }

    fn verdict(self, context: &Context) -> Result<Verdict, Verdict> {
        let (plan_context, plan) = (plan_context(context), self.plan(context)?);
        let lanes = context.target().description().lanes.default;
        let case = |ahead| prefetch_case(&plan, lanes, ahead, plan_context);
        Ok(match self.shown {
            ShownPrefetch::Tiles => executed(case(AHEAD), plan_context)
                .map(|_| Verdict::pass(Level::Emulated).with_detail(format!("by {}", plan.instruction)))?,
            ShownPrefetch::Misaligned => {
                match case(Ahead { is_misaligned: true, ..AHEAD }).and_then(|case| check_emulated(&case, plan_context))
                {
                    Err(CheckFailure::Fault(fault)) if matches!(fault.kind, FaultKind::Instruction { .. }) => {
                        Verdict::pass(Level::Emulated).with_detail("caught")
                    }
                    Err(other) => Verdict::fail(Level::Emulated, format!("expected a misaligned matrix: {other}")),
                    Ok(_) => Verdict::fail(Level::Emulated, "a matrix that is not aligned was not caught"),
                }
            }
            ShownPrefetch::Code => {
                let kernel = prefetched_kernel(&plan, lanes, AHEAD, plan_context).map_err(refused)?;
                artifact::compiled(context, &Module { kernels: vec![kernel] })
            }
        })
    }

    fn plan(self, context: &Context) -> Result<Prefetch, Verdict> {
        let [rows, columns] = self.tile;
        let problem = PrefetchSpec {
            tile: self.tile,
            matrix: [5 * rows, columns],
            pitch: 2 * columns,
            element_bits: self.element_bits,
            alignment: 64,
            warps: self.warps,
        };
        prefetch(&problem, plan_context(context)).map_err(refused)
    }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::of(context.target().description()).with_instructions(context.target().instructions())
}
