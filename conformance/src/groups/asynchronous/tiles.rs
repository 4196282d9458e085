//! Tiles of a tensor that are copied by boxes to shared memory of every layout, in stages, and back.

use std::fmt;

use tilewright_emulator::FaultKind;
use tilewright_kernel::{Launch, Module};
use tilewright_layout::MemoryLayout;
use tilewright_plan::movement::{
    AsyncCopySpec, GlobalTensor, MovementError, PlanContext, TensorCopy, copy_from_shared, copy_to_shared,
};
use tilewright_verify::kernels::{OmittedSync, Stages, tensor_copy_kernel};
use tilewright_verify::{CheckFailure, TestCase, box_tiles_case, check_emulated};

use super::super::corpus::{LayoutCorpus, Turns};
use super::super::emulated::{either, executed, refused};
use super::super::executed::{device_case, not_built};
use super::super::{CaseTensor, Endpoint, artifact};
use super::boxes::found;
use crate::{Case, Context, Level, Status, Verdict};

/// What is shown of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownTiles {
    /// Five tiles through three buffers, of which two are being filled while one is read.
    Stages,
    /// The same with tiles that are partly outside of the tensor.
    Borders,
    /// The same with waits for the phase before: somebody reads what is under way, and is caught.
    Early,
    /// Five tiles from two buffers to the tensor, of which all is as it should be, some tiles being partly outside.
    Back,
    /// The same without a fence: the copy looks at what it cannot see, and is caught.
    Unfenced,
    /// Stages there and back as code.
    Code,
}

impl ShownTiles {
    const ALL: [Self; 6] = [Self::Stages, Self::Borders, Self::Early, Self::Back, Self::Unfenced, Self::Code];

    fn name(self) -> &'static str {
        match self {
            Self::Stages => "stages",
            Self::Borders => "borders",
            Self::Early => "early",
            Self::Back => "back",
            Self::Unfenced => "unfenced",
            Self::Code => "code",
        }
    }
}

/// Tiles copied by boxes. Written as in case names: `tiles/stages/to-shared-128-byte/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileCopying {
    /// What is shown.
    pub shown: ShownTiles,
    /// The layout of the memory.
    pub end: Endpoint,
    /// One tile.
    pub tensor: CaseTensor,
}

impl fmt::Display for TileCopying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tiles/{}/to-{}/{}", self.shown.name(), self.end.name, self.tensor)
    }
}

/// The address of the first element, as maps want it.
const ALIGNMENT: u64 = 256;

/// How many elements tiles are shifted by that are to be partly outside.
const SHIFT: u32 = 3;

impl TileCopying {
    /// All that are shown for a target.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut turns) = (Vec::new(), Turns::new(context));
        let most = u64::from(context.target().description().shared.static_bytes) / 4;
        for corpus in LayoutCorpus::all(context) {
            let fits = |shape: &[u64]| (512..=most).contains(&corpus.bytes(shape));
            for name in &corpus.memory() {
                for shown in ShownTiles::ALL {
                    for (tensor, ends) in corpus.some(&mut turns, 1, &[name], fits) {
                        let end = ends.into_iter().next();
                        all.extend(end.map(|end| Self { shown, end, tensor }));
                    }
                }
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("async/{self}"), move |context| either(self.verdict(context)))
    }

    /// The same on a device, of what is shown there: tiles that come through stages, and go back, over the borders.
    pub(super) fn device_case(self) -> Option<Case> {
        if !matches!(self.shown, ShownTiles::Borders | ShownTiles::Back) {
            return None;
        }
        Some(device_case(format!("async/device/{self}"), move |context| self.test_cases(context)))
    }

    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict> {
        let setting = self.tensor.setting;
        let memory = self.end.memory(context, &self.tensor)?;
        let (to, from) = self.plans(context, &memory)?;
        let (copy, buffers) = if self.shown == ShownTiles::Back { (from, 2) } else { (to, 3) };
        let (launch, stages) = (Launch::new(setting.lanes, setting.warps), self::stages(buffers, None));
        let case = |shifted| box_tiles_case(&copy, &memory, launch, stages, shifted, plan_context(context));
        [0, SHIFT].into_iter().map(case).collect::<Result<_, _>>().map_err(not_built)
    }

    fn verdict(&self, context: &Context) -> Result<Verdict, Verdict> {
        let setting = self.tensor.setting;
        let memory = self.end.memory(context, &self.tensor)?;
        let (to, from) = self.plans(context, &memory)?;
        let launch = Launch::new(setting.lanes, setting.warps);
        let plan_context = plan_context(context);
        let case =
            |copy: &TensorCopy, stages, shifted| box_tiles_case(copy, &memory, launch, stages, shifted, plan_context);
        let caught = |case: Result<TestCase, CheckFailure>, right: fn(&FaultKind) -> bool| {
            found(case.and_then(|case| check_emulated(&case, plan_context)), right)
        };
        let (there, back) = (stages(3, None), stages(2, None));
        let told = |copy: &TensorCopy| {
            let (boxes, arrangement) = (copy.boxes(), &copy.arrangement);
            Verdict::pass(Level::Emulated).with_detail(format!("{boxes} boxes, {arrangement}"))
        };
        Ok(match self.shown {
            ShownTiles::Stages => executed(case(&to, there, 0), plan_context).map(|_| told(&to))?,
            ShownTiles::Borders => executed(case(&to, there, SHIFT), plan_context).map(|_| told(&to))?,
            ShownTiles::Early => caught(case(&to, stages(3, Some(OmittedSync::Wait)), 0), |kind| {
                matches!(kind, FaultKind::InFlight { .. })
            }),
            ShownTiles::Back => {
                executed(case(&from, back, 0), plan_context)?;
                executed(case(&from, back, SHIFT), plan_context).map(|_| told(&from))?
            }
            ShownTiles::Unfenced => caught(case(&from, stages(2, Some(OmittedSync::Fence)), 0), |kind| {
                matches!(kind, FaultKind::Unfenced { .. })
            }),
            ShownTiles::Code => {
                let kernel = |copy, stages| tensor_copy_kernel(copy, &memory, launch, stages).map_err(refused);
                let verdict = artifact::compiled(context, &Module { kernels: vec![kernel(&to, there)?] });
                if verdict.status != Status::Pass {
                    return Ok(verdict);
                }
                artifact::compiled(context, &Module { kernels: vec![kernel(&from, back)?] })
            }
        })
    }

    /// The copies to shared memory and from there.
    fn plans(&self, context: &Context, memory: &MemoryLayout) -> Result<(TensorCopy, TensorCopy), Verdict> {
        let setting = self.tensor.setting;
        let global = GlobalTensor::row_major(&self.tensor.shape, ALIGNMENT);
        let problem = AsyncCopySpec {
            global: &global,
            memory,
            element_bits: setting.element.bits(),
            lanes: setting.lanes,
            warps: setting.warps,
            masked: false,
            mapped: true,
        };
        // Where no box fills the memory one way, none does the other way.
        let from = match copy_from_shared(&problem, plan_context(context)) {
            Ok(from) => from,
            Err(MovementError::Impossible { reasons }) => return Err(Verdict::unsupported(reasons)),
            Err(error) => return Err(refused(error)),
        };
        let copy = copy_to_shared(&problem, plan_context(context)).map_err(refused)?;
        let other = || copy.instruction().unwrap_or("registers").to_owned();
        let better = || Verdict::unsupported(format!("copied by {}, which is better than boxes", other()));
        let to = copy.boxes().cloned().ok_or_else(better)?;
        Ok((to, from))
    }
}

/// Five tiles through so many buffers.
fn stages(buffers: u32, omitted: Option<OmittedSync>) -> Stages {
    Stages { buffers, tensors: 5, omitted }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::of(context.target().description()).with_instructions(context.target().instructions())
}
