//! `tilewright copy`: how a tensor is copied from global to shared memory of a given layout: by which row of the
//! instruction table, or through registers.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_kernel::Launch;
use tilewright_plan::movement::{AsyncCopySpec, PlanContext, SharedCopy, TensorCopy, copy_to_shared};
use tilewright_target::{InstructionKind, TargetDescription};
use tilewright_verify::kernels::{Stages, pointer_copy_kernel, tensor_copy_kernel};

use crate::access::global_tensor;
use crate::emit::{Answer, Emission};
use crate::failure::CommandError;
use crate::stats::PlanNumbers;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// What is copied where.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout of shared memory.
    memory: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// Warps of the block.
    #[arg(long, value_name = "WARPS", default_value_t = 4)]
    warps: u32,
    /// The tensor's axes in global memory, the fastest first, as 1,0; row-major where nothing is said.
    #[arg(long, value_name = "AXES", value_delimiter = ',', conflicts_with = "emit")]
    order: Vec<usize>,
    /// What the address of the first element in global memory is a multiple of.
    #[arg(long, value_name = "BYTES", default_value_t = 16)]
    alignment: u64,
    /// Some elements may not be there: zeros take their place.
    #[arg(long, conflicts_with = "emit")]
    masked: bool,
    /// The kernel is given no map of the tensor, so that no boxes of it can be copied.
    #[arg(long)]
    no_map: bool,
    /// Buffers of the kernel that is emitted: all but one are filled while one is read.
    #[arg(long, value_name = "BUFFERS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    stages: u32,
    #[command(flatten)]
    emission: Emission,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let tensor = &options.tensor;
    let target = session.target_without_table(&tensor.target)?;
    let memory = tensor.memory(&session, "MEMORY", &options.memory)?;
    let from = global_tensor(&input::shape(&tensor.shape)?, &options.order, options.alignment)?;
    if !options.warps.is_power_of_two() {
        return Err(CommandError::Input(format!("--warps {}: expected a power of two", options.warps)));
    }
    let (element_bits, lanes) = (tensor.element_bits()?, target.description().lanes.default);
    let request = AsyncCopySpec {
        global: &from,
        memory: &memory,
        element_bits,
        lanes,
        warps: options.warps,
        masked: options.masked,
        mapped: !options.no_map && options.order.is_empty(),
    };
    let kinds = [InstructionKind::AsyncCopy, InstructionKind::SharedMove];
    let instructions = session.instructions_of(&tensor.target, &kinds)?;
    let context = PlanContext::of(target.description()).with_instructions(&instructions);
    let copy = &copy_to_shared(&request, context)?;
    let kernels = || {
        let stages = Stages { buffers: options.stages, tensors: 2 * options.stages, omitted: None };
        let kernel = match copy.boxes() {
            Some(boxes) => tensor_copy_kernel(boxes, &memory, Launch::new(lanes, options.warps), stages),
            None => pointer_copy_kernel(copy, &memory, element_bits, stages),
        };
        Ok(vec![kernel?])
    };
    let text = || Ok(text(copy, target.description()));
    options.emission.answer(&session, &tensor.target, Answer { kernels: &kernels, json: &|| answer(copy), text: &text })
}

fn stats(copy: &SharedCopy) -> PlanNumbers<'_> {
    PlanNumbers::new(copy.counts, copy.cost, 0)
}

fn text(copy: &SharedCopy, target: &TargetDescription) -> String {
    if let Some(boxes) = copy.boxes() {
        return boxes_text(copy, boxes, target);
    }
    let way = match (copy.instruction(), copy.queue()) {
        (Some(name), Some(queue)) => format!("by {name}, on the queue `{}`", queue.name()),
        _ => "through registers".to_owned(),
    };
    let text = format!(
        "copied {way}: {} bytes of a lane at once, {} times by each warp, {} units of {} bytes in all\n{}",
        copy.bytes_at_once(),
        copy.accesses(),
        copy.transactions,
        target.global.transaction_bytes,
        stats(copy).text()
    );
    text + &rejected_text(copy)
}

fn rejected_text(copy: &SharedCopy) -> String {
    copy.rejected.iter().map(|rejected| format!("not by {}: {}\n", rejected.candidate, rejected.reason)).collect()
}

fn boxes_text(copy: &SharedCopy, boxes: &TensorCopy, target: &TargetDescription) -> String {
    let sizes: Vec<_> = boxes.map.box_sizes.iter().map(u32::to_string).collect();
    let axes: Vec<_> = boxes.axes.iter().map(ToString::to_string).collect();
    format!(
        "copied by {}, on an mbarrier: {} boxes of {} elements along {} by one warp, {} bytes, {} arrivals, {}, \
         {} units of {} bytes in all\n{}",
        boxes.instruction(),
        boxes.boxes(),
        sizes.join("x"),
        axes.join(", "),
        boxes.bytes(),
        boxes.counts.mbarrier_arrivals,
        boxes.arrangement,
        copy.transactions,
        target.global.transaction_bytes,
        rejected_text(copy)
    )
}

/// A copy as programs read it.
fn answer(copy: &SharedCopy) -> Json {
    let mut answer = stats(copy).json();
    answer["instruction"] = json!(copy.instruction());
    answer["bytes_at_once"] = json!(copy.bytes_at_once());
    answer["accesses"] = json!(copy.accesses());
    answer["transactions"] = json!(copy.transactions);
    if let Some(boxes) = copy.boxes() {
        answer["boxes"] = json!({
            "count": boxes.boxes(), "sizes": boxes.map.box_sizes, "bytes": boxes.bytes(),
            "arrivals": boxes.counts.mbarrier_arrivals, "arrangement": boxes.arrangement,
            "axes": boxes.axes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
    }
    let rejected =
        copy.rejected.iter().map(|rejected| json!({ "instruction": rejected.candidate, "reason": rejected.reason }));
    answer["closed"] = rejected.collect();
    answer
}
