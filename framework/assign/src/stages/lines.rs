//! The report of pipelined loops, as data and as text: the number of stages, and how each load is prefetched or why it
//! is not.

use std::fmt;

use serde::Serialize;
use tilewright_tile::op::name::{scf, ttg};

use super::how::PrefetchPlan;
use crate::bulk_store::BulkStore;
use crate::source::{source, suffix};
use tilewright_kernel::SourceLocation;
use tilewright_plan::memory_synthesis::SharedLayoutSolution;
use tilewright_tile::transform::loads::{
    InvariantDotOperand, PrefetchConsumer, PrefetchPath, PrefetchRead, PrefetchableLoad,
};
use tilewright_tile::{FunctionBody, LayoutAttribute, Op, Value, ValueOrigin};

/// The report of a loop with loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoopPipelineReport {
    /// Name of the loop's first result, e.g. `%acc`; `scf.for` if the loop has no result.
    pub name: String,
    /// The source line of the loop; `None` if the program gives none.
    pub source: Option<SourceLocation>,
    /// Number of stages, which is the number of buffers of each prefetch by copies. It is two if all prefetched loads
    /// go through registers, and one if nothing is prefetched.
    pub stages: u32,
    /// Bytes of shared memory of all buffers of the loop.
    pub bytes: u64,
    /// Number of producer warps, which only issue the loop's copies; the launch has these warps in addition.
    pub producers: u32,
    /// Number of 32-bit registers of a lane of the other warps, and of the producer warps, which hand theirs over;
    /// `None` if all warps keep the registers of the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<[u32; 2]>,
    /// The reports of the loop's loads.
    pub loads: Vec<LoadPrefetchReport>,
    /// The reason why there are fewer stages than requested; `None` if there are not.
    pub note: Option<String>,
}

/// The report of a load in a loop, or of an MMA operand that is stored before the loop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LoadPrefetchReport {
    /// Name of the loaded value, or of the MMA operand, in the program's text.
    pub value: String,
    /// The source line of the load; `None` if the program gives none.
    pub source: Option<SourceLocation>,
    /// Whether the value is an MMA operand that is the same in each iteration and is stored before the loop.
    pub is_invariant: bool,
    /// The instructions that fill and read the value's buffer; `None` if the load is not prefetched.
    pub by: Option<String>,
    /// Name of the shared-memory layout of the value's buffer; `None` if the value has no buffer.
    pub memory: Option<String>,
    /// Bytes of one buffer in shared memory; 0 if the value has no buffer.
    pub bytes: u64,
    /// Number of shared-memory wavefronts of a warp in each iteration that are due to bank conflicts.
    pub conflicts: u64,
    /// The reason why the load is not prefetched; `None` if it is.
    pub reason: Option<String>,
}

impl LoadPrefetchReport {
    pub(super) fn left(body: &FunctionBody, load: Op, reason: String) -> Self {
        Self { reason: Some(reason), ..Self::named(body, load) }
    }

    /// Returns a report with the name and the source line of a load.
    fn named(body: &FunctionBody, load: Op) -> Self {
        let value = body.op(load).results.first().map_or_else(String::new, |value| body.display_name(*value));
        Self { value, source: source(body, load), ..Self::default() }
    }

    pub(super) fn for_stored_operand(
        body: &FunctionBody,
        operand: &InvariantDotOperand,
        solution: &SharedLayoutSolution,
        bytes: u64,
        memory: &LayoutAttribute,
    ) -> Self {
        let read: Vec<String> = (1..solution.served.len()).map(|index| named_access(solution, index)).collect();
        let source = operand.reads.iter().find_map(|read| match read.reader {
            PrefetchConsumer::MmaOperand(dot, _) => source(body, dot),
            PrefetchConsumer::Lanes => None,
        });
        Self {
            value: body.display_name(operand.value),
            source,
            is_invariant: true,
            by: Some(format!("by {}, read by {}", named_access(solution, 0), read.join(" and "))),
            memory: Some(memory.text().to_owned()),
            bytes,
            conflicts: solution.conflict_wavefronts(),
            reason: None,
        }
    }

    pub(super) fn for_prefetch(
        body: &FunctionBody,
        load: &PrefetchableLoad,
        how: &PrefetchPlan,
        memory: Option<&LayoutAttribute>,
    ) -> Self {
        let solution = how.solution.as_ref();
        let served = |index: usize| solution.map_or_else(String::new, |solution| named_access(solution, index));
        let read: Vec<String> = (1..solution.map_or(0, |solution| solution.served.len())).map(served).collect();
        let filled = match how.path {
            PrefetchPath::Copy | PrefetchPath::TensorCopy => {
                format!("copied by {}, read by {}", served(0), read.join(" and "))
            }
            PrefetchPath::Registers => {
                format!("by registers, stored by {}, read by {}", served(0), read.join(" and "))
            }
            PrefetchPath::Carried => format!("in {} registers of a lane", how.registers),
        };
        Self {
            by: Some(filled),
            memory: memory.map(|memory| memory.text().to_owned()),
            bytes: how.bytes,
            conflicts: solution.map_or(0, SharedLayoutSolution::conflict_wavefronts),
            ..Self::named(body, load.op)
        }
    }
}

/// The report of a store through a tensor descriptor that is a bulk tensor copy from a buffer in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BulkStoreReport {
    /// Name of the stored value in the program's text; of the tensor in shared memory if the program has it there.
    pub value: String,
    /// The source line of the store; `None` if the program gives none.
    pub source: Option<SourceLocation>,
    /// The instructions that fill and copy the buffer.
    pub by: String,
    /// Name of the buffer's shared-memory layout, or the type of the program's own tensor.
    pub memory: String,
    /// Bytes of the buffer; 0 if the copy reads the program's own tensor.
    pub bytes: u64,
    /// Number of shared-memory wavefronts of a warp that are due to bank conflicts.
    pub conflicts: u64,
}

impl BulkStoreReport {
    /// Returns the report of a copy from the program's own tensor, which `load` reads, by this instruction.
    pub(super) fn of_own_tensor(body: &FunctionBody, op: Op, load: Op, instruction: &str) -> Self {
        let tensor = body.op(load).operands[0];
        Self {
            value: body.display_name(tensor),
            source: source(body, op),
            by: format!("copied by {instruction}"),
            memory: body.value_type(tensor).to_string(),
            bytes: 0,
            conflicts: 0,
        }
    }

    pub(super) fn of(body: &FunctionBody, op: Op, store: &BulkStore, memory: &LayoutAttribute) -> Self {
        let [filled, copied] = [0, 1].map(|index| named_access(&store.solution, index));
        Self {
            value: body.operand(op, "src").map_or_else(String::new, |value| body.display_name(value)),
            source: source(body, op),
            by: format!("stored by {filled}, copied by {copied}"),
            memory: memory.text().to_owned(),
            bytes: store.bytes,
            conflicts: store.solution.conflict_wavefronts(),
        }
    }
}

impl fmt::Display for BulkStoreReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, by, bytes, conflicts, memory, .. } = self;
        writeln!(f, "    {value}{}: {by}; {bytes} bytes, {conflicts} bank conflicts", suffix(self.source.as_ref()))?;
        writeln!(f, "      {memory}")
    }
}

/// Names the access with this index (0 fills the buffer, 1 reads it) by its instruction. A plain load or store is named
/// by its width.
fn named_access(solution: &SharedLayoutSolution, index: usize) -> String {
    solution.served.get(index).map_or_else(String::new, |served| {
        served.instruction.clone().unwrap_or_else(|| format!("accesses of {} bytes", served.bytes))
    })
}

pub(super) fn named(body: &FunctionBody, op: Op) -> String {
    body.op(op).results.first().map_or_else(|| scf::FOR.to_owned(), |value| body.display_name(*value))
}

/// Returns the conversions that a prefetched load replaces, each as the name of the value, its layout and the required
/// layout.
pub(super) fn conversions(body: &FunctionBody, load: &PrefetchableLoad) -> Vec<(String, String, String)> {
    let layout = |value: Value| body.value_type(value).layout().map(|layout| layout.text().to_owned());
    let line = |read: &PrefetchRead| {
        let ValueOrigin::Result(op, _) = body.value_origin(read.value) else { return None };
        let &converted = body.op(op).operands.first().filter(|_| body.op(op).name() == ttg::CONVERT_LAYOUT)?;
        Some((body.display_name(converted), layout(converted)?, layout(read.value)?))
    };
    load.reads.iter().filter_map(line).collect()
}

impl LoopPipelineReport {
    /// Returns the loop with its number of stages and the bytes of its buffers, as text.
    pub(super) fn heading(&self) -> String {
        let stages = match self.stages {
            1 => "no load is prefetched".to_owned(),
            stages => format!("{stages} stages, {} bytes of shared memory", self.bytes),
        };
        let producer = match (self.producers, self.registers) {
            (0, _) => String::new(),
            (count, None) => format!(", copies issued by {count} producer warp"),
            (count, Some([own, of_producers])) => format!(
                ", copies issued by {count} producer warp of {of_producers} registers, which leaves {own} to the others"
            ),
        };
        format!("{}{}: {stages}{producer}", self.name, suffix(self.source.as_ref()))
    }
}

impl fmt::Display for LoopPipelineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "    {}", self.heading())?;
        if let Some(note) = &self.note {
            writeln!(f, "      no more stages: {note}")?;
        }
        for load in &self.loads {
            let at = suffix(load.source.as_ref());
            let verb = if load.is_invariant { "stored before the loop" } else { "prefetched" };
            match (&load.by, &load.memory, &load.reason) {
                (Some(by), Some(memory), _) => {
                    writeln!(
                        f,
                        "      {}{at} {verb}: {by}; {} bytes, {} bank conflicts",
                        load.value, load.bytes, load.conflicts
                    )?;
                    writeln!(f, "        {memory}")?;
                }
                (Some(by), None, _) => writeln!(f, "      {}{at} {verb}: {by}", load.value)?,
                (_, _, reason) => {
                    writeln!(f, "      {}{at} not prefetched: {}", load.value, reason.as_deref().unwrap_or_default())?;
                }
            }
        }
        Ok(())
    }
}
