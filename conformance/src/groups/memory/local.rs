//! Stores of every layout of registers to every layout of shared memory, and loads.

use std::fmt;

use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::movement::{SharedAccess, access_shared};
use tilewright_target::Direction;
use tilewright_verify::{load_case, store_case};

use super::super::corpus::{LayoutCorpus, Turns};
use super::super::emulated::{at_bound, either, executed, refused, stores_once};
use super::super::{CaseTensor, Endpoint};
use crate::{Case, Context, Verdict};

/// A local store or load. Written as in case names: `store/blocked-rows-to-shared-rows/f16/64x128/w4`,
/// `load/shared-rows-to-blocked-rows/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalAccess {
    /// Which way.
    pub access: Direction,
    /// The layout of the registers.
    pub registers: Endpoint,
    /// The layout of the memory.
    pub memory: Endpoint,
    /// The tensor.
    pub tensor: CaseTensor,
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

/// A question that has its layouts.
type Layouts = (LinearLayout, MemoryLayout);

impl LocalAccess {
    /// All that are shown for a target: each two layouts in both directions, for each width of elements.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let (mut all, mut turns) = (Vec::new(), Turns::new(context));
        let most = u64::from(context.target().description().shared.bytes);
        for corpus in LayoutCorpus::all(context) {
            let memories = corpus.memory();
            for registers in corpus.distributed() {
                for memory in &memories {
                    for access in [Direction::Store, Direction::Load] {
                        let fits = |shape: &[u64]| corpus.bytes(shape) <= most;
                        for (tensor, ends) in corpus.some(&mut turns, 1, &[&registers, memory], fits) {
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
            either(self.plan(context).and_then(|(layouts, plan)| self.shown(context, &layouts, &plan)))
        })
    }

    /// The layouts, and the plan.
    ///
    /// # Errors
    /// The verdict where there is none.
    pub fn plan(&self, context: &Context) -> Result<(Layouts, SharedAccess), Verdict> {
        let target = context.target().description();
        let registers = self.registers.distributed(context, &self.tensor)?;
        let memory = self.memory.memory(context, &self.tensor)?;
        let (needed, most) = (bytes(&self.tensor, memory.allocated_elements()), u64::from(target.shared.bytes));
        if needed > most {
            let reason = format!("the tensor takes {needed} bytes of shared memory; a block has {most}");
            return Err(Verdict::unsupported(reason));
        }
        let bits = self.tensor.setting.element.bits();
        let plan = access_shared(&registers, &memory, bits, self.access, target).map_err(refused)?;
        Ok(((registers, memory), plan))
    }

    /// Runs the plan: memory, or every register, must hold what the layouts say, every element is stored once, and
    /// the counts are the plan's.
    ///
    /// # Errors
    /// The verdict where something is wrong.
    pub fn shown(
        &self,
        context: &Context,
        (registers, memory): &Layouts,
        plan: &SharedAccess,
    ) -> Result<Verdict, Verdict> {
        let (target, bits) = (context.target().description(), self.tensor.setting.element.bits());
        match self.access {
            Direction::Store => {
                let report = executed(store_case(registers, memory, bits, plan), target)?;
                stores_once(&report, bytes(&self.tensor, self.tensor.elements()))?;
            }
            Direction::Load => drop(executed(load_case(registers, memory, bits, plan), target)?),
        }
        Ok(at_bound(plan.stats.above_bound.as_deref()))
    }
}

fn bytes(tensor: &CaseTensor, elements: u64) -> u64 {
    elements * u64::from(tensor.setting.element.bits() / 8)
}
