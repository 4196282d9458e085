//! Checks of stores from every register layout to every shared-memory layout, and of loads back.

use std::fmt;

use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::movement::{SharedAccessPlan, plan_shared_access};
use tilewright_target::Direction;
use tilewright_verify::{build_shared_load_case, build_shared_store_case};

use super::super::corpus::{LayoutCorpus, Sampler};
use super::super::emulated::{bound_verdict, merge_verdicts, planning_verdict, run_on_emulator, stores_once};
use super::super::{CaseTensorSpec, NamedLayout};
use crate::{Case, Context, Verdict};

/// A store to or a load from shared memory. Case names spell it `store/blocked-rows-to-shared-rows/f16/64x128/w4` or
/// `load/shared-rows-to-blocked-rows/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalAccess {
    /// The direction of the access: store or load.
    pub access: Direction,
    /// The layout of the tensor in registers.
    pub registers: NamedLayout,
    /// The layout of the tensor in shared memory.
    pub memory: NamedLayout,
    /// The tensor that is stored or loaded: element type, shape and number of warps.
    pub tensor: CaseTensorSpec,
}

impl fmt::Display for LocalAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (registers, memory) = (&self.registers.name, &self.memory.name);
        match self.access {
            Direction::Store => write!(f, "store/{registers}-to-{memory}/{}", self.tensor),
            Direction::Load => write!(f, "load/{memory}-to-{registers}/{}", self.tensor),
        }
    }
}

/// The register layout and the memory layout of an access.
type Layouts = (LinearLayout, MemoryLayout);

impl LocalAccess {
    /// Returns all accesses that are checked for a target: each pair of a register and a memory layout in both
    /// directions, for each element width.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut sampler) = (Vec::new(), Sampler::new(context));
        let most = u64::from(context.target().description().shared.bytes);
        for corpus in LayoutCorpus::all(context) {
            let memories = corpus.memory();
            for registers in corpus.distributed() {
                for memory in &memories {
                    for access in [Direction::Store, Direction::Load] {
                        let fits = |shape: &[u64]| corpus.bytes(shape) <= most;
                        for (tensor, ends) in corpus.select_tensors(&mut sampler, 1, &[&registers, memory], fits) {
                            let (registers, memory) = (ends[0].clone(), ends[1].clone());
                            all.push(Self { access, registers, memory, tensor });
                        }
                    }
                }
            }
        }
        all
    }

    pub(super) fn case(self) -> Case {
        Case::new(format!("memory/{self}"), move |context| {
            merge_verdicts(self.plan(context).and_then(|(layouts, plan)| self.check(context, &layouts, &plan)))
        })
    }

    /// Builds both layouts and plans the access.
    ///
    /// # Errors
    /// The verdict of the case if a layout cannot be built, the tensor exceeds the shared memory of a block, or the
    /// access has no plan.
    pub fn plan(&self, context: &Context) -> Result<(Layouts, SharedAccessPlan), Verdict> {
        let target = context.target().description();
        let registers = self.registers.distributed(context, &self.tensor)?;
        let memory = self.memory.memory(context, &self.tensor)?;
        let (needed, most) = (bytes(&self.tensor, memory.allocated_elements()), u64::from(target.shared.bytes));
        if needed > most {
            let reason = format!("the tensor takes {needed} bytes of shared memory; a block has {most}");
            return Err(Verdict::unsupported(reason));
        }
        let bits = self.tensor.setting.element.bits();
        let plan = plan_shared_access(&registers, &memory, bits, self.access, target).map_err(planning_verdict)?;
        Ok(((registers, memory), plan))
    }

    /// Runs the plan on the emulator. After a store, every memory offset must hold the element that the memory layout
    /// gives; after a load, every register must hold the element that the register layout gives. Every element must be
    /// stored once, and the executed operations must equal the plan's counts.
    ///
    /// # Errors
    /// The verdict of the case if the check fails.
    pub fn check(
        &self,
        context: &Context,
        (registers, memory): &Layouts,
        plan: &SharedAccessPlan,
    ) -> Result<Verdict, Verdict> {
        let (target, bits) = (context.target().description(), self.tensor.setting.element.bits());
        match self.access {
            Direction::Store => {
                let report = run_on_emulator(build_shared_store_case(registers, memory, bits, plan), target)?;
                stores_once(&report, bytes(&self.tensor, self.tensor.elements()))?;
            }
            Direction::Load => drop(run_on_emulator(build_shared_load_case(registers, memory, bits, plan), target)?),
        }
        Ok(bound_verdict(plan.stats.above_bound.as_deref()))
    }
}

fn bytes(tensor: &CaseTensorSpec, elements: u64) -> u64 {
    elements * u64::from(tensor.setting.element.bits() / 8)
}
