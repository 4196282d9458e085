//! `tilewright copy`: the plan of a copy from global memory to shared memory of a given layout: by a copy instruction,
//! or through registers.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_kernel::StaticLaunchConfig;
use tilewright_plan::movement::{AsyncCopyPlan, AsyncCopySpec, PlanContext, TensorCopy, plan_async_copy};
use tilewright_target::{InstructionKind, TargetDescription};
use tilewright_verify::kernels::{CopyPipelineConfig, build_pointer_copy_pipeline_kernel, build_tensor_copy_kernel};

use crate::access::contiguous_global_tensor;
use crate::emit::{AnswerForms, AnswerOptions};
use crate::failure::CommandError;
use crate::stats::PlanStatsTable;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright copy`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout of shared memory.
    memory: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// Number of warps of the block.
    #[arg(long, value_name = "WARPS", default_value_t = 4)]
    warps: u32,
    /// The tensor's axes in global memory, the fastest first, as 1,0. Default: row-major.
    #[arg(long, value_name = "AXES", value_delimiter = ',', conflicts_with = "emit")]
    order: Vec<usize>,
    /// Alignment of the first element in global memory, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    alignment: u64,
    /// Some elements may be masked off: shared memory gets zeros for them.
    #[arg(long, conflicts_with = "emit")]
    masked: bool,
    /// The kernel gets no tensor map, so bulk tensor copies are not available.
    #[arg(long)]
    no_map: bool,
    /// Number of shared-memory buffers of the emitted kernel: all but one are filled while one is read.
    #[arg(long, value_name = "BUFFERS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    stages: u32,
    #[command(flatten)]
    emission: AnswerOptions,
}

/// Runs `tilewright copy`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let tensor = &options.tensor;
    let target = session.target_without_table(&tensor.target)?;
    let memory = tensor.parse_memory_layout(&session, "MEMORY", &options.memory)?;
    let from = contiguous_global_tensor(&input::parse_shape(&tensor.shape)?, &options.order, options.alignment)?;
    if !options.warps.is_power_of_two() {
        return Err(CommandError::Input(format!("--warps {}: expected a power of two", options.warps)));
    }
    let (element_bits, lanes) = (tensor.parse_element_bits()?, target.description().lanes.default);
    let request = AsyncCopySpec::new(&from, &memory, element_bits, lanes, options.warps)
        .with_masked(options.masked)
        .with_tensor_map(!options.no_map);
    let kinds = [InstructionKind::AsyncCopy, InstructionKind::SharedMove];
    let instructions = session.instructions_of(&tensor.target, &kinds)?;
    let context = PlanContext::new(target.description()).with_instructions(&instructions);
    let copy = &plan_async_copy(&request, context)?;
    let kernels = || {
        let stages = CopyPipelineConfig { buffers: options.stages, tensors: 2 * options.stages, omitted: None };
        let kernel = match copy.tensor_copy() {
            Some(tensor_copy) => {
                build_tensor_copy_kernel(tensor_copy, &memory, StaticLaunchConfig::new(lanes, options.warps), stages)
            }
            None => build_pointer_copy_pipeline_kernel(copy, &memory, element_bits, stages),
        };
        Ok(vec![kernel?])
    };
    let text = || Ok(text(copy, target.description()));
    options.emission.print_answer(
        &session,
        &tensor.target,
        AnswerForms { kernels: &kernels, json: &|| answer(copy), text: &text },
    )
}

fn stats(copy: &AsyncCopyPlan) -> PlanStatsTable<'_> {
    PlanStatsTable::new(copy.counts, copy.cost, 0)
}

fn text(copy: &AsyncCopyPlan, target: &TargetDescription) -> String {
    if let Some(tensor_copy) = copy.tensor_copy() {
        return tensor_copy_text(copy, tensor_copy, target);
    }
    let path = match (copy.instruction(), copy.completion_queue()) {
        (Some(name), Some(queue)) => format!("by {name}, on the queue `{}`", queue.name()),
        _ => "through registers".to_owned(),
    };
    let text = format!(
        "copied {path}: {} bytes a lane per access, {} accesses a warp, {} transactions of {} bytes\n{}",
        copy.bytes_per_access(),
        copy.issued_accesses(),
        copy.transactions,
        target.global.transaction_bytes,
        stats(copy).to_text()
    );
    text + &rejected_text(copy)
}

fn rejected_text(copy: &AsyncCopyPlan) -> String {
    copy.rejected.iter().map(|rejected| format!("rejected: {}: {}\n", rejected.candidate, rejected.reason)).collect()
}

fn tensor_copy_text(copy: &AsyncCopyPlan, tensor_copy: &TensorCopy, target: &TargetDescription) -> String {
    let sizes: Vec<_> = tensor_copy.map.box_sizes.iter().map(u32::to_string).collect();
    let axes: Vec<_> = tensor_copy.axes.iter().map(ToString::to_string).collect();
    format!(
        "copied by {}, on an mbarrier: {} boxes of {} elements along {} by one warp, {} bytes, {} arrivals, {}, \
         {} transactions of {} bytes\n{}",
        tensor_copy.instruction(),
        tensor_copy.box_count(),
        sizes.join("x"),
        axes.join(", "),
        tensor_copy.total_box_bytes(),
        tensor_copy.counts.mbarrier_arrivals,
        tensor_copy.box_layout,
        copy.transactions,
        target.global.transaction_bytes,
        rejected_text(copy)
    )
}

/// Converts the plan of a copy to JSON.
fn answer(copy: &AsyncCopyPlan) -> Json {
    let mut answer = stats(copy).to_json();
    answer["instruction"] = json!(copy.instruction());
    answer["bytes_at_once"] = json!(copy.bytes_per_access());
    answer["accesses"] = json!(copy.issued_accesses());
    answer["transactions"] = json!(copy.transactions);
    if let Some(tensor_copy) = copy.tensor_copy() {
        answer["boxes"] = json!({
            "count": tensor_copy.box_count(), "sizes": tensor_copy.map.box_sizes, "bytes": tensor_copy.total_box_bytes(),
            "arrivals": tensor_copy.counts.mbarrier_arrivals, "arrangement": tensor_copy.box_layout,
            "axes": tensor_copy.axes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
    }
    let rejected =
        copy.rejected.iter().map(|rejected| json!({ "instruction": rejected.candidate, "reason": rejected.reason }));
    answer["closed"] = rejected.collect();
    answer
}
