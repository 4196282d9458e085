//! Copies of tensors to every layout of shared memory, and to those that are chosen for copy and reader.

use std::fmt;

use tilewright_emulator::FaultKind;
use tilewright_kernel::Module;
use tilewright_layout::MemoryLayout;
use tilewright_plan::movement::{
    Accessor, AsyncCopySpec, Constraints, GlobalTensor, PlanContext, SharedCopy, choose_shared_layout,
    coalesced_layout, consecutive_copy, copy_to_shared,
};
use tilewright_verify::kernels::{OmittedSync, Stages, pointer_copy_kernel};
use tilewright_verify::{CheckFailure, check_emulated, shared_copy_case};

use super::super::corpus::{LayoutCorpus, Turns};
use super::super::emulated::{either, executed, refused};
use super::super::{CaseTensor, Endpoint, artifact};
use crate::{Case, Context, Level, Verdict};

/// What is shown of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// One tensor is copied: all of it is there, and what was executed is the plan's.
    Once,
    /// Five tensors are copied through three buffers, of which two are being filled while one is read.
    Stages,
    /// The same with a wait that is for one group less: somebody reads what is under way, and is caught.
    Early,
    /// The stages as code.
    Code,
}

impl Shown {
    const ALL: [Self; 4] = [Self::Once, Self::Stages, Self::Early, Self::Code];

    fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Stages => "stages",
            Self::Early => "early",
            Self::Code => "code",
        }
    }

    fn stages(self) -> Stages {
        let (buffers, tensors) = if self == Self::Once { (1, 1) } else { (3, 5) };
        Stages { buffers, tensors, omitted: (self == Self::Early).then_some(OmittedSync::Wait) }
    }
}

/// A copy from global to shared memory. Written as in case names: `stages/to-shared-rows/f16/64x128/w4`,
/// `once/for-blocked-rows/f16/64x128/w4` where the memory's layout is chosen for those who copy and for a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCopying {
    /// What is shown.
    pub shown: Shown,
    /// The layout of the memory, or that of the reader's registers.
    pub end: Endpoint,
    /// Whether the memory's layout is chosen for a reader.
    pub chosen: bool,
    /// The tensor.
    pub tensor: CaseTensor,
}

impl fmt::Display for SharedCopying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.chosen { "for" } else { "to" };
        write!(f, "{}/{word}-{}/{}", self.shown.name(), self.end.name, self.tensor)
    }
}

/// The address of the first element is a multiple of so many bytes, as allocations promise and more.
const ALIGNMENT: u64 = 16;

/// Buffers that hold a tensor at one time in stages.
const BUFFERS: u64 = 3;

impl SharedCopying {
    /// All that are shown for a target.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut turns) = (Vec::new(), Turns::new(context));
        let most = u64::from(context.target().description().shared.static_bytes);
        for corpus in LayoutCorpus::all(context) {
            // Tensors of whole units of memory, so that each begins where the first one does.
            let fits = |shape: &[u64]| (512..=most / BUFFERS / 2).contains(&corpus.bytes(shape));
            let ends = corpus.memory().into_iter().map(|name| (name, false));
            let ends: Vec<_> = ends.chain(corpus.distributed().into_iter().map(|name| (name, true))).collect();
            for (name, chosen) in &ends {
                for shown in Shown::ALL {
                    for (tensor, ends) in corpus.some(&mut turns, 1, &[name], fits) {
                        let end = ends.into_iter().next();
                        all.extend(end.map(|end| Self { shown, end, chosen: *chosen, tensor }));
                    }
                }
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("async/{self}"), move |context| {
            either(self.plan(context).and_then(|(memory, copy)| self.shown(context, &memory, &copy)))
        })
    }

    /// The memory's layout, and the plan.
    ///
    /// # Errors
    /// The verdict where there is none.
    pub fn plan(&self, context: &Context) -> Result<(MemoryLayout, SharedCopy), Verdict> {
        let setting = self.tensor.setting;
        let global = GlobalTensor::row_major(&self.tensor.shape, ALIGNMENT);
        let memory =
            if self.chosen { self.choose(context, &global)? } else { self.end.memory(context, &self.tensor)? };
        let (element_bits, lanes, warps) = (setting.element.bits(), setting.lanes, setting.warps);
        let problem = AsyncCopySpec {
            global: &global,
            memory: &memory,
            element_bits,
            lanes,
            warps,
            masked: false,
            mapped: false,
        };
        let copy = copy_to_shared(&problem, plan_context(context)).map_err(refused)?;
        Ok((memory, copy))
    }

    /// The layout for those who copy and for the reader.
    fn choose(&self, context: &Context, global: &GlobalTensor) -> Result<MemoryLayout, Verdict> {
        let (setting, target) = (self.tensor.setting, context.target().description());
        let bits = setting.element.bits();
        let fetched = coalesced_layout(global, bits, setting.lanes.into(), setting.warps.into(), target);
        let fetched = Accessor::store(fetched.map_err(refused)?);
        let consecutive = consecutive_copy(context.target().instructions(), global);
        let copied = match &consecutive {
            Some(copy) => fetched.clone().copied(copy.clone()),
            None => fetched.clone(),
        };
        let reader = Accessor::load(self.end.distributed(context, &self.tensor)?);
        let choose =
            |copied: Accessor| choose_shared_layout(&[copied, reader.clone()], bits, &Constraints::default(), target);
        // Where lanes would fetch elements twice there is no copy that writes consecutively.
        let choice = choose(copied).or_else(|_| choose(fetched)).map_err(refused)?;
        Ok(choice.chosen().memory.clone())
    }

    /// Shows what is to be shown of the copy.
    ///
    /// # Errors
    /// The verdict where something is wrong.
    pub fn shown(&self, context: &Context, memory: &MemoryLayout, copy: &SharedCopy) -> Result<Verdict, Verdict> {
        let (bits, stages) = (self.tensor.setting.element.bits(), self.shown.stages());
        let case = || shared_copy_case(copy, memory, bits, stages, plan_context(context));
        match (self.shown, copy.instruction()) {
            (Shown::Once, Some(name)) => {
                executed(case(), plan_context(context))?;
                Ok(Verdict::pass(Level::Emulated).with_detail(format!("by {name}")))
            }
            (Shown::Once, None) => {
                executed(case(), plan_context(context))?;
                Ok(Verdict::pass(Level::Emulated).with_detail(format!("through registers: {}", why(copy))))
            }
            (_, None) => Err(Verdict::unsupported(format!("copied through registers: {}", why(copy)))),
            (Shown::Stages, Some(_)) => {
                executed(case(), plan_context(context))?;
                Ok(Verdict::pass(Level::Emulated))
            }
            (Shown::Early, Some(_)) => early(case().and_then(|case| check_emulated(&case, plan_context(context)))),
            (Shown::Code, Some(_)) => {
                let kernel = pointer_copy_kernel(copy, memory, bits, stages).map_err(refused)?;
                Ok(artifact::compiled(context, &Module { kernels: vec![kernel] }))
            }
        }
    }
}

fn plan_context(context: &Context) -> PlanContext<'_> {
    PlanContext::of(context.target().description()).with_instructions(context.target().instructions())
}

/// Why no row copies.
fn why(copy: &SharedCopy) -> String {
    let rejected = copy.rejected.iter().map(|rejected| format!("{}: {}", rejected.candidate, rejected.reason));
    rejected.collect::<Vec<_>>().join("; ")
}

/// The emulator must have found a read of what is under way.
fn early<T: fmt::Debug>(checked: Result<T, CheckFailure>) -> Result<Verdict, Verdict> {
    match checked {
        Err(CheckFailure::Fault(fault)) if matches!(fault.kind, FaultKind::InFlight { .. }) => {
            Ok(Verdict::pass(Level::Emulated).with_detail("caught"))
        }
        Err(other) => Err(Verdict::fail(Level::Emulated, format!("expected a read of what is under way: {other}"))),
        Ok(_) => Err(Verdict::fail(Level::Emulated, "a read before the wait was not caught")),
    }
}
