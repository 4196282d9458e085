//! Movements in two ways each: transpositions, conversions within warps, gathers within warps.

use std::sync::Arc;

use conformance_pack::Figure;
use tilewright_layout::{Dim, FamilyAttribute, FamilySpec, Layout, LinearLayout, MemoryLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::{MovementError, Path, PlanContext, access_shared};
use tilewright_target::Direction;
use tilewright_verify::{Repeated, TestCase};

use super::super::emulated::executed;
use super::super::executed::not_built;
use super::super::law::{broken, distributed, resolve};
use super::{Way, said};
use crate::{Context, Level, Verdict};

/// How often a kernel does it.
const ROUNDS: u32 = 32;

/// Warps of a block.
const WARPS: u32 = 4;

/// What is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// From lanes that hold parts of rows to lanes that hold parts of columns.
    Transpose,
    /// Between layouts whose warps hold the same elements.
    Convert,
    /// Along the first axis, which lies within warps.
    Gather,
}

/// By what way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The planner's best on a path.
    Path(Path),
    /// Through rows in shared memory that are padded by a vector each.
    Padding,
}

/// One way of one movement.
#[derive(Debug, Clone, Copy)]
struct Movement {
    what: What,
    by: By,
    shape: [u64; 2],
    element: (&'static str, u32),
    lanes: u32,
}

const TRANSPOSED: [[u64; 2]; 6] = [[32, 64], [64, 64], [64, 128], [128, 64], [128, 128], [128, 256]];
const CONVERTED: [[u64; 2]; 5] = [[16, 64], [32, 64], [64, 64], [64, 128], [128, 128]];
const GATHERED: [[u64; 2]; 6] = [[32, 32], [64, 32], [128, 32], [256, 32], [512, 32], [1024, 32]];

/// All that are shown for a target.
pub(super) fn all(context: &Context) -> Vec<Arc<dyn Way>> {
    let lanes = context.target().description().lanes.default;
    let mut all: Vec<Arc<dyn Way>> = Vec::new();
    let mut add = |what, shape, element, ways: [By; 2]| {
        all.extend(ways.map(|by| Arc::new(Movement { what, by, shape, element, lanes }) as Arc<dyn Way>));
    };
    let exchanged = [By::Path(Path::Shared), By::Path(Path::Shuffle)];
    for shape in TRANSPOSED {
        add(What::Transpose, shape, ("f8", 8), [By::Padding, By::Path(Path::Shared)]);
    }
    // A warp has rows of its own.
    let converted = CONVERTED.into_iter().filter(|[rows, _]| *rows >= u64::from(lanes / 8 * WARPS)).collect::<Vec<_>>();
    let gathered = GATHERED.into_iter().filter(|[rows, _]| *rows >= u64::from(lanes)).collect::<Vec<_>>();
    for (shape, element) in pairs(&converted, &[("f8", 8), ("f16", 16), ("f32", 32)]) {
        add(What::Convert, shape, element, exchanged);
    }
    for (shape, element) in pairs(&gathered, &[("f16", 16), ("f32", 32)]) {
        add(What::Gather, shape, element, exchanged);
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

    /// The layouts before and after.
    fn layouts(&self, context: &Context) -> Result<[LinearLayout; 2], Verdict> {
        let (lanes, warps) = (i64::from(self.lanes), i64::from(WARPS));
        let [rows, columns] = self.shape.map(|size| size as i64);
        let of = |spec: FamilySpec| {
            let layout = distributed(context, &spec, &self.shape)?;
            layout.ok_or_else(|| broken("a blocked layout is no distributed one"))
        };
        Ok(match self.what {
            What::Transpose => {
                // Sixteen bytes at a time, or what a lane has of a line.
                let vector = |line: i64| 16.min(rows * columns / (lanes * warps)).min(line);
                let (along, down) = (vector(columns), vector(rows));
                let inner = |line: i64, vector: i64| (line / vector).min(lanes);
                let (of_row, of_column) = (inner(columns, along), inner(rows, down));
                [
                    of(blocked([1, along], [lanes / of_row, of_row], [warps, 1], [1, 0]))?,
                    of(blocked([down, 1], [of_column, lanes / of_column], [1, warps], [0, 1]))?,
                ]
            }
            What::Convert => {
                // A warp holds `lanes / 8` rows of each tile both times.
                let across = lanes.min(32);
                let down = lanes / 8 / (lanes / across);
                [
                    of(blocked([1, 4], [lanes / 8, 8], [warps, 1], [1, 0]))?,
                    of(blocked([down, 1], [lanes / across, across], [warps, 1], [1, 0]))?,
                ]
            }
            What::Gather => {
                let layout = of(blocked([1, 1], [lanes, 1], [1, warps], [0, 1]))?;
                [layout.clone(), layout]
            }
        })
    }

    /// Does something with the movement, if there is such a way.
    fn with<T>(
        &self,
        context: &Context,
        work: impl FnOnce(Repeated<'_>, PlanContext<'_>) -> Result<T, Verdict>,
    ) -> Result<T, Verdict> {
        let target = context.target();
        let plan_context = PlanContext::of(target.description()).with_instructions(target.instructions());
        let layouts = self.layouts(context)?;
        let [src, dst] = &layouts;
        match (self.what, self.by) {
            (What::Gather, By::Path(path)) => {
                let (plans, rejected) =
                    movement::gathers(src, dst, Dim::tensor(0), self.bits(), target.description()).map_err(refused)?;
                let plan = plans.iter().find(|plan| plan.path == path);
                let reason = rejected.into_iter().find(|way| way.candidate == path).map(|way| way.reason);
                work(
                    Repeated::Gather(src, Dim::tensor(0), plan.ok_or_else(|| rejected_candidate(path, reason))?),
                    plan_context,
                )
            }
            (_, By::Path(path)) => {
                let (plans, rejected) = movement::candidates(src, dst, self.bits(), plan_context).map_err(refused)?;
                let plan = plans.iter().find(|plan| plan.path == path);
                let reason = rejected.into_iter().find(|way| way.candidate == path).map(|way| way.reason);
                work(
                    Repeated::Conversion([src, dst], plan.ok_or_else(|| rejected_candidate(path, reason))?),
                    plan_context,
                )
            }
            (_, By::Padding) => {
                let memory = self.padded(context)?;
                let store =
                    access_shared(src, &memory, self.bits(), Direction::Store, plan_context).map_err(refused)?;
                let load = access_shared(dst, &memory, self.bits(), Direction::Load, plan_context).map_err(refused)?;
                work(Repeated::Staging([src, dst], &memory, [&store, &load]), plan_context)
            }
        }
    }

    /// Rows one after the other, each padded by as much as a lane stores at a time.
    fn padded(&self, context: &Context) -> Result<MemoryLayout, Verdict> {
        let vector = 16 * 8 / i64::from(self.bits());
        let spec = FamilySpec::new("padded_shared")
            .with(
                "interval_padding_pairs",
                FamilyAttribute::List(vec![FamilyAttribute::from([self.shape[1] as i64, vector])]),
            )
            .with("order", [1i64, 0]);
        match resolve(context, &spec, &self.shape)? {
            Layout::Memory(memory) => Ok(memory),
            _ => Err(broken("a padded layout is none of memory")),
        }
    }
}

fn blocked(per_lane: [i64; 2], per_warp: [i64; 2], per_block: [i64; 2], order: [i64; 2]) -> FamilySpec {
    FamilySpec::new("blocked")
        .with("size_per_thread", per_lane)
        .with("threads_per_warp", per_warp)
        .with("warps_per_cta", per_block)
        .with("order", order)
}

fn refused(error: MovementError) -> Verdict {
    super::super::emulated::refused(error)
}

fn rejected_candidate(path: Path, reason: Option<String>) -> Verdict {
    Verdict::unsupported(format!("{path}: {}", reason.unwrap_or_else(|| "another way does the same".to_owned())))
}

impl Way for Movement {
    fn figure(&self) -> Figure {
        let (name, is_base) = match (self.what, self.by) {
            (What::Transpose, by) => ("transpose", by == By::Padding),
            (What::Convert, by) => ("conversion", by == By::Path(Path::Shared)),
            (What::Gather, by) => ("gather", by == By::Path(Path::Shared)),
        };
        let way = match self.by {
            By::Padding => "padding".to_owned(),
            By::Path(Path::Shared) if self.what == What::Transpose => "swizzled".to_owned(),
            By::Path(path) => path.to_string(),
        };
        let [rows, columns] = self.shape;
        let point = format!("{}/{rows}x{columns}/w{WARPS}", self.element.0);
        Figure { name: name.to_owned(), point, way, is_base }
    }

    fn shown(&self, context: &Context) -> Result<Verdict, Verdict> {
        self.with(context, |repeated, plan_context| {
            executed(repeated.case(self.bits(), ROUNDS), plan_context)?;
            let predicted = repeated.predicted(self.bits(), ROUNDS);
            Ok(Verdict::pass(Level::Emulated).with_detail(said(&predicted)))
        })
    }

    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict> {
        self.with(context, |repeated, _| repeated.case(self.bits(), ROUNDS).map(|case| vec![case]).map_err(not_built))
    }
}
