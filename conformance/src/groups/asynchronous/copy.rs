//! Checks of asynchronous copies of tensors to every shared-memory layout, and to layouts chosen for the copy and its
//! reader.

use std::fmt;

use tilewright_emulator::FaultKind;
use tilewright_kernel::Module;
use tilewright_layout::MemoryLayout;
use tilewright_plan::movement::{
    AsyncCopyPlan, AsyncCopySpec, GlobalTensor, PlanContext, SharedLayoutSearchOptions, SharedMemoryAccessor,
    choose_shared_layout, find_coalesced_layout, find_warp_addressed_copy, plan_async_copy,
};
use tilewright_verify::kernels::{CopyPipelineConfig, OmittedSync, build_pointer_copy_pipeline_kernel};
use tilewright_verify::{CheckFailure, build_async_copy_case, check_emulated};

use super::super::corpus::{LayoutCorpus, Sampler};
use super::super::emulated::{merge_verdicts, planning_verdict, run_on_emulator};
use super::super::{CaseTensorSpec, NamedLayout, artifact};
use crate::{Case, Context, EvidenceLevel, Verdict};

/// The property of an asynchronous copy that a case checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsyncCopyProperty {
    /// One tensor is copied and arrives completely, and the executed operations are those of the plan.
    Once,
    /// Five tensors are copied through three buffers, two of them being filled while one is read; all five arrive.
    Stages,
    /// Staged copies with one wait too few: the emulator must report the read of data in flight.
    Early,
    /// The kernel of `Stages` compiles.
    Code,
}

impl AsyncCopyProperty {
    const ALL: [Self; 4] = [Self::Once, Self::Stages, Self::Early, Self::Code];

    fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Stages => "stages",
            Self::Early => "early",
            Self::Code => "code",
        }
    }

    fn stages(self) -> CopyPipelineConfig {
        let (buffers, tensors) = if self == Self::Once { (1, 1) } else { (3, 5) };
        CopyPipelineConfig { buffers, tensors, omitted: (self == Self::Early).then_some(OmittedSync::Wait) }
    }
}

/// An asynchronous copy from global to shared memory. Case names spell it `stages/to-shared-rows/f16/64x128/w4`, or
/// `once/for-blocked-rows/f16/64x128/w4` if the memory layout is chosen for the copy and a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsyncCopyCase {
    /// The property to check in this case.
    pub check: AsyncCopyProperty,
    /// The layout of shared memory or, if `chosen`, of the registers of the copy's reader.
    pub end: NamedLayout,
    /// Whether the memory layout is chosen for a reader, rather than given.
    pub chosen: bool,
    /// The copied tensor: element type, shape and number of warps.
    pub tensor: CaseTensorSpec,
}

impl fmt::Display for AsyncCopyCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.chosen { "for" } else { "to" };
        write!(f, "{}/{word}-{}/{}", self.check.name(), self.end.name, self.tensor)
    }
}

/// Alignment in bytes of the address of the tensor's first element; allocations guarantee at least this.
const ALIGNMENT: u64 = 16;

/// Number of shared-memory buffers of a copy in stages.
const BUFFERS: u64 = 3;

impl AsyncCopyCase {
    /// Returns all asynchronous copies that are checked for a target.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut sampler) = (Vec::new(), Sampler::new(context));
        let most = u64::from(context.target().description().shared.static_bytes);
        for corpus in LayoutCorpus::all(context) {
            // The size of a tensor is a multiple of memory sectors, so that each tensor is aligned like the first.
            let fits = |shape: &[u64]| (512..=most / BUFFERS / 2).contains(&corpus.bytes(shape));
            let ends = corpus.memory().into_iter().map(|name| (name, false));
            let ends: Vec<_> = ends.chain(corpus.distributed().into_iter().map(|name| (name, true))).collect();
            for (name, chosen) in &ends {
                for shown in AsyncCopyProperty::ALL {
                    for (tensor, ends) in corpus.select_tensors(&mut sampler, 1, &[name], fits) {
                        let end = ends.into_iter().next();
                        all.extend(end.map(|end| Self { check: shown, end, chosen: *chosen, tensor }));
                    }
                }
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("async/{self}"), move |context| {
            merge_verdicts(self.plan(context).and_then(|(memory, copy)| self.check_property(context, &memory, &copy)))
        })
    }

    /// Returns the memory layout that the case copies to, and the plan of the copy.
    ///
    /// # Errors
    /// The verdict of the case if the memory layout cannot be built, or the copy has no plan.
    pub fn plan(&self, context: &Context) -> Result<(MemoryLayout, AsyncCopyPlan), Verdict> {
        let setting = self.tensor.setting;
        let global = GlobalTensor::row_major(&self.tensor.shape, ALIGNMENT);
        let memory =
            if self.chosen { self.choose(context, &global)? } else { self.end.memory(context, &self.tensor)? };
        let (element_bits, lanes, warps) = (setting.element.bits(), setting.lanes, setting.warps);
        let problem = AsyncCopySpec::new(&global, &memory, element_bits, lanes, warps);
        let copy = plan_async_copy(&problem, plan_context(context)).map_err(planning_verdict)?;
        Ok((memory, copy))
    }

    /// Chooses a memory layout that suits the threads that copy and those that read.
    fn choose(&self, context: &Context, global: &GlobalTensor) -> Result<MemoryLayout, Verdict> {
        let (setting, target) = (self.tensor.setting, context.target().description());
        let bits = setting.element.bits();
        let fetched = find_coalesced_layout(global, bits, setting.lanes.into(), setting.warps.into(), target);
        let fetched = SharedMemoryAccessor::store(fetched.map_err(planning_verdict)?);
        let consecutive = find_warp_addressed_copy(context.target().instructions(), global);
        let copied = match &consecutive {
            Some(copy) => fetched.clone().with_copy(copy.clone()),
            None => fetched.clone(),
        };
        let reader = SharedMemoryAccessor::load(self.end.distributed(context, &self.tensor)?);
        let choose = |copied: SharedMemoryAccessor| {
            choose_shared_layout(&[copied, reader.clone()], bits, &SharedLayoutSearchOptions::default(), target)
        };
        // If no layout suits the instruction that writes consecutive addresses, as when lanes fetch elements twice, a
        // layout for plain copies is chosen.
        let choice = choose(copied).or_else(|_| choose(fetched)).map_err(planning_verdict)?;
        Ok(choice.chosen().memory.clone())
    }

    /// Checks the property of the copy that the case is about.
    ///
    /// # Errors
    /// The verdict of the case if the check fails.
    pub fn check_property(
        &self,
        context: &Context,
        memory: &MemoryLayout,
        copy: &AsyncCopyPlan,
    ) -> Result<Verdict, Verdict> {
        let (bits, stages) = (self.tensor.setting.element.bits(), self.check.stages());
        let case = || build_async_copy_case(copy, memory, bits, stages, plan_context(context));
        match (self.check, copy.instruction()) {
            (AsyncCopyProperty::Once, Some(name)) => {
                run_on_emulator(case(), plan_context(context))?;
                Ok(Verdict::pass(EvidenceLevel::Emulated).with_detail(format!("by {name}")))
            }
            (AsyncCopyProperty::Once, None) => {
                run_on_emulator(case(), plan_context(context))?;
                Ok(Verdict::pass(EvidenceLevel::Emulated)
                    .with_detail(format!("through registers: {}", rejection_reasons(copy))))
            }
            (_, None) => Err(Verdict::unsupported(format!("copied through registers: {}", rejection_reasons(copy)))),
            (AsyncCopyProperty::Stages, Some(_)) => {
                run_on_emulator(case(), plan_context(context))?;
                Ok(Verdict::pass(EvidenceLevel::Emulated))
            }
            (AsyncCopyProperty::Early, Some(_)) => {
                expect_read_in_flight(case().and_then(|case| check_emulated(&case, plan_context(context))))
            }
            (AsyncCopyProperty::Code, Some(_)) => {
                let kernel =
                    build_pointer_copy_pipeline_kernel(copy, memory, bits, stages).map_err(planning_verdict)?;
                Ok(artifact::check_compilation(context, &Module { kernels: vec![kernel] }))
            }
        }
    }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::new(context.target().description()).with_instructions(context.target().instructions())
}

/// Returns, for each copy instruction, the reason why it cannot be used, as text.
fn rejection_reasons(copy: &AsyncCopyPlan) -> String {
    let rejected = copy.rejected.iter().map(|rejected| format!("{}: {}", rejected.candidate, rejected.reason));
    rejected.collect::<Vec<_>>().join("; ")
}

/// Returns a pass if the emulator reported that a lane read data still in flight; a failure otherwise.
fn expect_read_in_flight<T: fmt::Debug>(checked: Result<T, CheckFailure>) -> Result<Verdict, Verdict> {
    match checked {
        Err(CheckFailure::Fault(fault)) if matches!(fault.kind, FaultKind::InFlight { .. }) => {
            Ok(Verdict::pass(EvidenceLevel::Emulated).with_detail("caught"))
        }
        Err(other) => {
            Err(Verdict::fail(EvidenceLevel::Emulated, format!("expected a read of data in flight: {other}")))
        }
        Ok(_) => Err(Verdict::fail(EvidenceLevel::Emulated, "a read before the wait was not caught")),
    }
}
