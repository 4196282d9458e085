//! Checks of bulk tensor copies of tiles, through several buffers: to shared memory of every layout, and back.

use std::fmt;

use tilewright_emulator::FaultKind;
use tilewright_kernel::{Module, StaticLaunchConfig};
use tilewright_layout::MemoryLayout;
use tilewright_plan::movement::{
    AsyncCopySpec, GlobalTensor, MovementError, PlanContext, TensorCopy, plan_async_copy, plan_tensor_copy_to_global,
};
use tilewright_verify::kernels::{CopyPipelineConfig, OmittedSync, build_tensor_copy_kernel};
use tilewright_verify::{CheckFailure, TestCase, build_tensor_copy_case, check_emulated};

use super::super::corpus::{LayoutCorpus, Sampler};
use super::super::emulated::{merge_verdicts, planning_verdict, run_on_emulator};
use super::super::executed::{device_case, not_built};
use super::super::{CaseTensorSpec, NamedLayout, artifact};
use super::bulk_copies::expect_fault;
use crate::{Case, Context, EvidenceLevel, Status, Verdict};

/// The property of the bulk tensor copies that a case checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileCopyProperty {
    /// Five tiles arrive in shared memory through three buffers, two of them being filled while one is read.
    Stages,
    /// Five tiles that lie partly outside of the tensor arrive through three buffers, with the fill value outside.
    Borders,
    /// Staged copies that wait for the previous phase of an mbarrier, already complete: the emulator must report the
    /// read of data in flight.
    Early,
    /// Five tiles, some of them partly outside, are copied from two buffers to the tensor and arrive unchanged.
    Back,
    /// Copies to the tensor without a proxy fence: the emulator must report that the copy may not see the stored data.
    Unfenced,
    /// The kernels with copies through several buffers, in both directions, compile.
    Code,
}

impl TileCopyProperty {
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

/// Tiles copied by bulk tensor copies. Case names spell it `tiles/stages/to-shared-128-byte/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileCopyCase {
    /// The property to check in this case.
    pub shown: TileCopyProperty,
    /// The layout of the tiles in shared memory.
    pub end: NamedLayout,
    /// One tile: element type, shape and number of warps.
    pub tensor: CaseTensorSpec,
}

impl fmt::Display for TileCopyCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tiles/{}/to-{}/{}", self.shown.name(), self.end.name, self.tensor)
    }
}

/// Alignment in bytes of the address of the tensor's first element, sufficient for a tensor map.
const ALIGNMENT: u64 = 256;

/// Number of elements by which tiles are shifted so that they lie partly outside of the tensor.
const SHIFT: u32 = 3;

impl TileCopyCase {
    /// Returns all tile copies that are checked for a target.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut sampler) = (Vec::new(), Sampler::new(context));
        let most = u64::from(context.target().description().shared.static_bytes) / 4;
        for corpus in LayoutCorpus::all(context) {
            let fits = |shape: &[u64]| (512..=most).contains(&corpus.bytes(shape));
            for name in &corpus.memory() {
                for shown in TileCopyProperty::ALL {
                    for (tensor, ends) in corpus.select_tensors(&mut sampler, 1, &[name], fits) {
                        let end = ends.into_iter().next();
                        all.extend(end.map(|end| Self { shown, end, tensor }));
                    }
                }
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("async/{self}"), move |context| merge_verdicts(self.verdict(context)))
    }

    /// Returns the case that runs on a device, for the properties `Borders` and `Back`. `None` for the other
    /// properties: these two cover `Stages`, and the rest needs the emulator or no device.
    pub(super) fn device_case(self) -> Option<Case> {
        if !matches!(self.shown, TileCopyProperty::Borders | TileCopyProperty::Back) {
            return None;
        }
        Some(device_case(format!("async/device/{self}"), move |context| self.test_cases(context)))
    }

    fn test_cases(&self, context: &Context) -> Result<Vec<TestCase>, Verdict> {
        let setting = self.tensor.setting;
        let memory = self.end.memory(context, &self.tensor)?;
        let (to, from) = self.plans(context, &memory)?;
        let (copy, buffers) = if self.shown == TileCopyProperty::Back { (from, 2) } else { (to, 3) };
        let (launch, stages) = (StaticLaunchConfig::new(setting.lanes, setting.warps), self::stages(buffers, None));
        let case = |shifted| build_tensor_copy_case(&copy, &memory, launch, stages, shifted, plan_context(context));
        [0, SHIFT].into_iter().map(case).collect::<Result<_, _>>().map_err(not_built)
    }

    fn verdict(&self, context: &Context) -> Result<Verdict, Verdict> {
        let setting = self.tensor.setting;
        let memory = self.end.memory(context, &self.tensor)?;
        let (to, from) = self.plans(context, &memory)?;
        let launch = StaticLaunchConfig::new(setting.lanes, setting.warps);
        let plan_context = plan_context(context);
        let case = |copy: &TensorCopy, stages, shifted| {
            build_tensor_copy_case(copy, &memory, launch, stages, shifted, plan_context)
        };
        let caught = |case: Result<TestCase, CheckFailure>, right: fn(&FaultKind) -> bool| {
            expect_fault(case.and_then(|case| check_emulated(&case, plan_context)), right)
        };
        let (there, back) = (stages(3, None), stages(2, None));
        let to_verdict = |copy: &TensorCopy| {
            let (box_count, box_layout) = (copy.box_count(), &copy.box_layout);
            Verdict::pass(EvidenceLevel::Emulated).with_detail(format!("{box_count} boxes, {box_layout}"))
        };
        Ok(match self.shown {
            TileCopyProperty::Stages => run_on_emulator(case(&to, there, 0), plan_context).map(|_| to_verdict(&to))?,
            TileCopyProperty::Borders => {
                run_on_emulator(case(&to, there, SHIFT), plan_context).map(|_| to_verdict(&to))?
            }
            TileCopyProperty::Early => caught(case(&to, stages(3, Some(OmittedSync::Wait)), 0), |kind| {
                matches!(kind, FaultKind::InFlight { .. })
            }),
            TileCopyProperty::Back => {
                run_on_emulator(case(&from, back, 0), plan_context)?;
                run_on_emulator(case(&from, back, SHIFT), plan_context).map(|_| to_verdict(&from))?
            }
            TileCopyProperty::Unfenced => caught(case(&from, stages(2, Some(OmittedSync::Fence)), 0), |kind| {
                matches!(kind, FaultKind::Unfenced { .. })
            }),
            TileCopyProperty::Code => {
                let kernel =
                    |copy, stages| build_tensor_copy_kernel(copy, &memory, launch, stages).map_err(planning_verdict);
                let verdict = artifact::check_compilation(context, &Module { kernels: vec![kernel(&to, there)?] });
                if verdict.status != Status::Pass {
                    return Ok(verdict);
                }
                artifact::check_compilation(context, &Module { kernels: vec![kernel(&from, back)?] })
            }
        })
    }

    /// Plans the copies of the tiles to shared memory and back from shared memory.
    fn plans(&self, context: &Context, memory: &MemoryLayout) -> Result<(TensorCopy, TensorCopy), Verdict> {
        let setting = self.tensor.setting;
        let global = GlobalTensor::row_major(&self.tensor.shape, ALIGNMENT);
        let bits = setting.element.bits();
        let problem = AsyncCopySpec::new(&global, memory, bits, setting.lanes, setting.warps).with_tensor_map(true);
        // A box (the part of a tensor that one instruction copies) that fills the memory in one direction also does in
        // the other.
        let from = match plan_tensor_copy_to_global(&problem, plan_context(context)) {
            Ok(from) => from,
            Err(MovementError::Impossible { reasons }) => return Err(Verdict::unsupported(reasons)),
            Err(error) => return Err(planning_verdict(error)),
        };
        let copy = plan_async_copy(&problem, plan_context(context)).map_err(planning_verdict)?;
        let other = || copy.instruction().unwrap_or("registers").to_owned();
        let better =
            || Verdict::unsupported(format!("copied by {}, which costs less than bulk tensor copies", other()));
        let to = copy.tensor_copy().cloned().ok_or_else(better)?;
        Ok((to, from))
    }
}

/// Returns the parameters of a pipeline that moves five tiles through `buffers` buffers, without the synchronization
/// `omitted`.
fn stages(buffers: u32, omitted: Option<OmittedSync>) -> CopyPipelineConfig {
    CopyPipelineConfig { buffers, tensors: 5, omitted }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::new(context.target().description()).with_instructions(context.target().instructions())
}
