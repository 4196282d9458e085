//! `tilewright access`: the plans of stores and loads between registers and shared memory of a given layout, or global
//! memory.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{
    AxisStride, GlobalAccessPlan, GlobalTensor, MovementError, PlanContext, SharedAccessPlan, plan_global_access,
    plan_shared_access,
};
use tilewright_target::{Direction, InstructionKind, TargetDescription};
use tilewright_verify::kernels::{build_global_copy_kernel, build_shared_load_kernel, build_shared_store_kernel};

use crate::emit::{AnswerForms, AnswerOptions};
use crate::failure::CommandError;
use crate::stats::PlanStatsTable;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright access`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the registers.
    registers: String,
    /// The layout of shared memory. Default: the tensor is in global memory.
    memory: Option<String>,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The tensor's axes in global memory, the fastest first, as 1,0. Default: row-major.
    #[arg(long, value_name = "AXES", value_delimiter = ',', conflicts_with_all = ["memory", "emit"])]
    order: Vec<usize>,
    /// Alignment of the first element in global memory, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 16, conflicts_with = "memory")]
    alignment: u64,
    #[command(flatten)]
    emission: AnswerOptions,
}

/// The plan of a store and the plan of a load between the same registers and memory.
pub struct StoreAndLoad<T> {
    store: T,
    load: T,
}

/// Runs `tilewright access`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.find_target(&session)?);
    let registers = tensor.parse_distributed_layout(&session, "REGISTERS", &options.registers)?;
    let bits = tensor.parse_element_bits()?;
    let answer = |answer| options.emission.print_answer(&session, &target.name, answer);
    match &options.memory {
        Some(text) => {
            let memory = tensor.parse_memory_layout(&session, "MEMORY", text)?;
            let instructions = session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
            let context = PlanContext::new(target).with_instructions(&instructions);
            let both = plan_shared_accesses(&registers, &memory, bits, context)?;
            let kernels = || {
                let store = build_shared_store_kernel(&registers, &memory, bits, &both.store)?;
                Ok(vec![store, build_shared_load_kernel(&registers, &memory, bits, &both.load)?])
            };
            let text = || Ok(shared_text(&both, bits));
            answer(AnswerForms { kernels: &kernels, json: &|| shared_accesses_to_json(&both), text: &text })
        }
        None => {
            let memory =
                contiguous_global_tensor(&input::parse_shape(&tensor.shape)?, &options.order, options.alignment)?;
            let both = plan_global_accesses(&registers, &memory, bits, target)?;
            let kernels = || Ok(vec![build_global_copy_kernel(&registers, bits, &both.load, &both.store)?]);
            let text = || Ok(global_text(&both, bits, target));
            answer(AnswerForms { kernels: &kernels, json: &|| global_accesses_to_json(&both), text: &text })
        }
    }
}

/// Plans the store from `registers` to shared memory of the layout `memory`, and the load back; elements have `bits`
/// bits.
pub fn plan_shared_accesses(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    bits: u32,
    context: PlanContext<'_>,
) -> Result<StoreAndLoad<SharedAccessPlan>, MovementError> {
    let access = |direction| plan_shared_access(registers, memory, bits, direction, context);
    Ok(StoreAndLoad { store: access(Direction::Store)?, load: access(Direction::Load)? })
}

/// Plans the store from `registers` to the tensor `memory` in global memory, and the load back; elements have `bits`
/// bits.
pub fn plan_global_accesses(
    registers: &LinearLayout,
    memory: &GlobalTensor,
    bits: u32,
    target: &TargetDescription,
) -> Result<StoreAndLoad<GlobalAccessPlan>, MovementError> {
    let access = |direction| plan_global_access(registers, memory, bits, direction, target);
    Ok(StoreAndLoad { store: access(Direction::Store)?, load: access(Direction::Load)? })
}

/// Returns a contiguous tensor in global memory whose axes have this order, the fastest first. An empty order is
/// row-major.
pub fn contiguous_global_tensor(shape: &[u64], order: &[usize], alignment: u64) -> Result<GlobalTensor, CommandError> {
    let mut tensor = GlobalTensor::row_major(shape, alignment);
    if order.is_empty() {
        return Ok(tensor);
    }
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..shape.len()) {
        let message = format!("--order: expected each of the axes 0 to {} once, the fastest first", shape.len() - 1);
        return Err(CommandError::Input(message));
    }
    let mut stride = 1;
    for &axis in order {
        tensor.axes[axis] = (Dim::tensor(axis), shape[axis], AxisStride::Elements(stride));
        stride *= shape[axis];
    }
    Ok(tensor)
}

fn shared_text(both: &StoreAndLoad<SharedAccessPlan>, bits: u32) -> String {
    let side = |name: &str, access: &SharedAccessPlan| {
        let wide = access.vector_elements * u64::from(bits);
        let by = access.instruction().map_or(String::new(), |name| format!(" by {name}"));
        format!("{name}: {wide} bits a lane per access{by}\n{}", PlanStatsTable::from(&access.stats).to_text())
    };
    format!("{}\n{}", side("stored", &both.store), side("loaded", &both.load))
}

fn global_text(both: &StoreAndLoad<GlobalAccessPlan>, bits: u32, target: &TargetDescription) -> String {
    let side = |name: &str, access: &GlobalAccessPlan| {
        format!(
            "{name}: {} bits a lane per access, {} accesses a warp, {} transactions of {} bytes\n  {}\n",
            access.vector_elements * u64::from(bits),
            access.accesses,
            access.transactions,
            target.global.transaction_bytes,
            access.limited_by
        )
    };
    format!("{}{}", side("loaded", &both.load), side("stored", &both.store))
}

/// Converts the plans of accesses to shared memory to JSON.
pub fn shared_accesses_to_json(both: &StoreAndLoad<SharedAccessPlan>) -> Json {
    let side = |access: &SharedAccessPlan| {
        let mut answer = PlanStatsTable::from(&access.stats).to_json();
        answer["vector_elements"] = json!(access.vector_elements);
        if let Some(name) = access.instruction() {
            answer["instruction"] = json!(name);
        }
        answer
    };
    json!({ "store": side(&both.store), "load": side(&both.load) })
}

/// Converts the plans of accesses to global memory to JSON.
pub fn global_accesses_to_json(both: &StoreAndLoad<GlobalAccessPlan>) -> Json {
    let side = |access: &GlobalAccessPlan| {
        json!({
            "vector_elements": access.vector_elements,
            "accesses": access.accesses,
            "transactions": access.transactions,
            "limited_by": access.limited_by,
        })
    };
    json!({ "store": side(&both.store), "load": side(&both.load) })
}
