//! Measured data movements in two variants each: transpositions, conversions within warps, and gathers within warps.

use std::sync::Arc;

use conformance_pack::FigurePoint;
use tilewright_layout::{Dim, FamilyParameterValue, FamilySpec, Layout, LinearLayout, MemoryLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::{ConversionKind, MovementError, PlanContext, plan_shared_access};
use tilewright_target::Direction;
use tilewright_verify::{RepeatedMovement, TestCase};

use super::super::emulated::run_on_emulator;
use super::super::executed::not_built;
use super::super::law::{distributed, law_failure, resolve};
use super::{FigureVariant, prediction_text};
use crate::{Context, EvidenceLevel, Verdict};

/// Number of times that a kernel repeats the movement.
const ROUNDS: u32 = 32;

/// Number of warps of a block in all measured movements.
const WARPS: u32 = 4;

/// The kind of a measured data movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MovementKind {
    /// A conversion from lanes that hold parts of rows to lanes that hold parts of columns.
    Transpose,
    /// A conversion within warps: each warp holds the same elements in both layouts.
    Convert,
    /// A gather along the first axis, which lies within warps.
    Gather,
}

/// The variant of a measured movement: the means of moving the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MovementPath {
    /// The best plan of this kind, such as a plan by shuffles.
    Path(ConversionKind),
    /// A movement through shared memory with each row padded by one vector.
    Padding,
}

/// One variant of a measured movement: kind, variant, shape, element type and lanes.
#[derive(Debug, Clone, Copy)]
struct Movement {
    what: MovementKind,
    by: MovementPath,
    shape: [u64; 2],
    element: (&'static str, u32),
    lanes: u32,
}

const TRANSPOSED: [[u64; 2]; 6] = [[32, 64], [64, 64], [64, 128], [128, 64], [128, 128], [128, 256]];
const CONVERTED: [[u64; 2]; 5] = [[16, 64], [32, 64], [64, 64], [64, 128], [128, 128]];
const GATHERED: [[u64; 2]; 6] = [[32, 32], [64, 32], [128, 32], [256, 32], [512, 32], [1024, 32]];

/// Returns the variants of all data movements that are measured on a target.
pub(super) fn all(context: &Context) -> Vec<Arc<dyn FigureVariant>> {
    let lanes = context.target().description().lanes.default;
    let mut all: Vec<Arc<dyn FigureVariant>> = Vec::new();
    let mut add = |what, shape, element, variants: [MovementPath; 2]| {
        all.extend(variants.map(|by| Arc::new(Movement { what, by, shape, element, lanes }) as Arc<dyn FigureVariant>));
    };
    let shared_or_shuffle = [MovementPath::Path(ConversionKind::Shared), MovementPath::Path(ConversionKind::Shuffle)];
    for shape in TRANSPOSED {
        add(
            MovementKind::Transpose,
            shape,
            ("f8", 8),
            [MovementPath::Padding, MovementPath::Path(ConversionKind::Shared)],
        );
    }
    // Each warp has rows of its own, so smaller tensors are left out.
    let converted = CONVERTED.into_iter().filter(|[rows, _]| *rows >= u64::from(lanes / 8 * WARPS)).collect::<Vec<_>>();
    let gathered = GATHERED.into_iter().filter(|[rows, _]| *rows >= u64::from(lanes)).collect::<Vec<_>>();
    for (shape, element) in pairs(&converted, &[("f8", 8), ("f16", 16), ("f32", 32)]) {
        add(MovementKind::Convert, shape, element, shared_or_shuffle);
    }
    for (shape, element) in pairs(&gathered, &[("f16", 16), ("f32", 32)]) {
        add(MovementKind::Gather, shape, element, shared_or_shuffle);
    }
    all
}

fn pairs(shapes: &[[u64; 2]], elements: &[(&'static str, u32)]) -> Vec<([u64; 2], (&'static str, u32))> {
    shapes.iter().flat_map(|&shape| elements.iter().map(move |&element| (shape, element))).collect()
}

impl Movement {
    fn bits(&self) -> u32 {
        self.element.1
    }

    /// Builds the source and destination layouts of the movement.
    fn layouts(&self, context: &Context) -> Result<[LinearLayout; 2], Verdict> {
        let (lanes, warps) = (i64::from(self.lanes), i64::from(WARPS));
        let [rows, columns] = self.shape.map(|size| size as i64);
        let of = |spec: FamilySpec| {
            let layout = distributed(context, &spec, &self.shape)?;
            layout.ok_or_else(|| law_failure("a blocked layout is not distributed"))
        };
        Ok(match self.what {
            MovementKind::Transpose => {
                // A vector has sixteen elements, or fewer if a lane or a line (row or column) has fewer.
                let vector = |line: i64| 16.min(rows * columns / (lanes * warps)).min(line);
                let (along, down) = (vector(columns), vector(rows));
                let inner = |line: i64, vector: i64| (line / vector).min(lanes);
                let (of_row, of_column) = (inner(columns, along), inner(rows, down));
                [
                    of(blocked([1, along], [lanes / of_row, of_row], [warps, 1], [1, 0]))?,
                    of(blocked([down, 1], [of_column, lanes / of_column], [1, warps], [0, 1]))?,
                ]
            }
            MovementKind::Convert => {
                // In both layouts a warp holds `lanes / 8` rows of each tile.
                let across = lanes.min(32);
                let down = lanes / 8 / (lanes / across);
                [
                    of(blocked([1, 4], [lanes / 8, 8], [warps, 1], [1, 0]))?,
                    of(blocked([down, 1], [lanes / across, across], [warps, 1], [1, 0]))?,
                ]
            }
            MovementKind::Gather => {
                let layout = of(blocked([1, 1], [lanes, 1], [1, warps], [0, 1]))?;
                [layout.clone(), layout]
            }
        })
    }

    /// Calls `work` with the plan of the movement; returns a verdict if there is no such plan.
    fn with_plan<T>(
        &self,
        context: &Context,
        work: impl FnOnce(RepeatedMovement<'_>, PlanContext<'_>) -> Result<T, Verdict>,
    ) -> Result<T, Verdict> {
        let target = context.target();
        let plan_context = PlanContext::new(target.description()).with_instructions(target.instructions());
        let layouts = self.layouts(context)?;
        let [src, dst] = &layouts;
        match (self.what, self.by) {
            (MovementKind::Gather, MovementPath::Path(path)) => {
                let (plans, rejected) =
                    movement::gather_candidates(src, dst, Dim::tensor(0), self.bits(), target.description())
                        .map_err(refused)?;
                let plan = plans.iter().find(|plan| plan.path == path);
                let reason =
                    rejected.into_iter().find(|variant| variant.candidate == path).map(|variant| variant.reason);
                work(
                    RepeatedMovement::Gather(
                        src,
                        Dim::tensor(0),
                        plan.ok_or_else(|| rejected_candidate(path, reason))?,
                    ),
                    plan_context,
                )
            }
            (_, MovementPath::Path(path)) => {
                let (plans, rejected) =
                    movement::conversion_candidates(src, dst, self.bits(), plan_context).map_err(refused)?;
                let plan = plans.iter().find(|plan| plan.path == path);
                let reason =
                    rejected.into_iter().find(|variant| variant.candidate == path).map(|variant| variant.reason);
                work(
                    RepeatedMovement::Conversion([src, dst], plan.ok_or_else(|| rejected_candidate(path, reason))?),
                    plan_context,
                )
            }
            (_, MovementPath::Padding) => {
                let memory = self.padded(context)?;
                let store =
                    plan_shared_access(src, &memory, self.bits(), Direction::Store, plan_context).map_err(refused)?;
                let load =
                    plan_shared_access(dst, &memory, self.bits(), Direction::Load, plan_context).map_err(refused)?;
                work(RepeatedMovement::Staging([src, dst], &memory, [&store, &load]), plan_context)
            }
        }
    }

    /// Returns a row-major memory layout with each row padded by the vector that a lane stores.
    fn padded(&self, context: &Context) -> Result<MemoryLayout, Verdict> {
        let vector = 16 * 8 / i64::from(self.bits());
        let spec = FamilySpec::new("padded_shared")
            .with_parameter(
                "interval_padding_pairs",
                FamilyParameterValue::List(vec![FamilyParameterValue::from([self.shape[1] as i64, vector])]),
            )
            .with_parameter("order", [1i64, 0]);
        match resolve(context, &spec, &self.shape)? {
            Layout::Memory(memory) => Ok(memory),
            _ => Err(law_failure("a padded layout is not a memory layout")),
        }
    }
}

fn blocked(per_lane: [i64; 2], per_warp: [i64; 2], per_block: [i64; 2], order: [i64; 2]) -> FamilySpec {
    FamilySpec::new("blocked")
        .with_parameter("size_per_thread", per_lane)
        .with_parameter("threads_per_warp", per_warp)
        .with_parameter("warps_per_cta", per_block)
        .with_parameter("order", order)
}

fn refused(error: MovementError) -> Verdict {
    super::super::emulated::planning_verdict(error)
}

fn rejected_candidate(path: ConversionKind, reason: Option<String>) -> Verdict {
    Verdict::unsupported(format!("{path}: {}", reason.unwrap_or_else(|| "another path has the same plan".to_owned())))
}

impl FigureVariant for Movement {
    fn figure(&self) -> FigurePoint {
        let (name, is_base) = match (self.what, self.by) {
            (MovementKind::Transpose, by) => ("transpose", by == MovementPath::Padding),
            (MovementKind::Convert, by) => ("conversion", by == MovementPath::Path(ConversionKind::Shared)),
            (MovementKind::Gather, by) => ("gather", by == MovementPath::Path(ConversionKind::Shared)),
        };
        let variant = match self.by {
            MovementPath::Padding => "padding".to_owned(),
            MovementPath::Path(ConversionKind::Shared) if self.what == MovementKind::Transpose => "swizzled".to_owned(),
            MovementPath::Path(path) => path.to_string(),
        };
        let [rows, columns] = self.shape;
        let point = format!("{}/{rows}x{columns}/w{WARPS}", self.element.0);
        FigurePoint { name: name.to_owned(), point, variant, is_base }
    }

    fn check_kernel(&self, context: &Context) -> Result<Verdict, Verdict> {
        self.with_plan(context, |repeated, plan_context| {
            run_on_emulator(repeated.build_case(self.bits(), ROUNDS), plan_context)?;
            let predicted = repeated.predict_round(self.bits(), ROUNDS);
            Ok(Verdict::pass(EvidenceLevel::Emulated).with_detail(prediction_text(&predicted)))
        })
    }

    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict> {
        self.with_plan(context, |repeated, _| {
            repeated.build_case(self.bits(), ROUNDS).map(|case| vec![case]).map_err(not_built)
        })
    }
}
