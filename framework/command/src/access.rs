//! `tilewright access`: the plans of stores and loads between registers and shared memory of a given layout, or global
//! memory.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{
    AxisStride, GlobalAccess, GlobalTensor, MovementError, PlanContext, SharedAccess, plan_global_access,
    plan_shared_access,
};
use tilewright_target::{Direction, InstructionKind, TargetDescription};
use tilewright_verify::kernels::{copy_kernel, load_kernel, store_kernel};

use crate::emit::{Answer, Emission};
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
    emission: Emission,
}

/// The plan of a store and the plan of a load between the same registers and memory.
pub struct Both<T> {
    store: T,
    load: T,
}

/// Runs `tilewright access`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let registers = tensor.distributed(&session, "REGISTERS", &options.registers)?;
    let bits = tensor.element_bits()?;
    let answer = |answer| options.emission.answer(&session, &target.name, answer);
    match &options.memory {
        Some(text) => {
            let memory = tensor.memory(&session, "MEMORY", text)?;
            let instructions = session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
            let context = PlanContext::new(target).with_instructions(&instructions);
            let both = of_shared(&registers, &memory, bits, context)?;
            let kernels = || {
                let store = store_kernel(&registers, &memory, bits, &both.store)?;
                Ok(vec![store, load_kernel(&registers, &memory, bits, &both.load)?])
            };
            let text = || Ok(shared_text(&both, bits));
            answer(Answer { kernels: &kernels, json: &|| shared_answer(&both), text: &text })
        }
        None => {
            let memory = global_tensor(&input::shape(&tensor.shape)?, &options.order, options.alignment)?;
            let both = of_global(&registers, &memory, bits, target)?;
            let kernels = || Ok(vec![copy_kernel(&registers, bits, &both.load, &both.store)?]);
            let text = || Ok(global_text(&both, bits, target));
            answer(Answer { kernels: &kernels, json: &|| global_answer(&both), text: &text })
        }
    }
}

/// Plans the store from `registers` to shared memory of the layout `memory`, and the load back; elements have `bits`
/// bits.
pub fn of_shared(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    bits: u32,
    context: PlanContext<'_>,
) -> Result<Both<SharedAccess>, MovementError> {
    let access = |direction| plan_shared_access(registers, memory, bits, direction, context);
    Ok(Both { store: access(Direction::Store)?, load: access(Direction::Load)? })
}

/// Plans the store from `registers` to the tensor `memory` in global memory, and the load back; elements have `bits`
/// bits.
pub fn of_global(
    registers: &LinearLayout,
    memory: &GlobalTensor,
    bits: u32,
    target: &TargetDescription,
) -> Result<Both<GlobalAccess>, MovementError> {
    let access = |direction| plan_global_access(registers, memory, bits, direction, target);
    Ok(Both { store: access(Direction::Store)?, load: access(Direction::Load)? })
}

/// Returns a contiguous tensor in global memory whose axes have this order, the fastest first. An empty order is
/// row-major.
pub fn global_tensor(shape: &[u64], order: &[usize], alignment: u64) -> Result<GlobalTensor, CommandError> {
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

fn shared_text(both: &Both<SharedAccess>, bits: u32) -> String {
    let side = |name: &str, access: &SharedAccess| {
        let wide = access.vector_elements * u64::from(bits);
        let by = access.instruction().map_or(String::new(), |name| format!(" by {name}"));
        format!("{name}: {wide} bits a lane per access{by}\n{}", PlanStatsTable::from(&access.stats).text())
    };
    format!("{}\n{}", side("stored", &both.store), side("loaded", &both.load))
}

fn global_text(both: &Both<GlobalAccess>, bits: u32, target: &TargetDescription) -> String {
    let side = |name: &str, access: &GlobalAccess| {
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
pub fn shared_answer(both: &Both<SharedAccess>) -> Json {
    let side = |access: &SharedAccess| {
        let mut answer = PlanStatsTable::from(&access.stats).json();
        answer["vector_elements"] = json!(access.vector_elements);
        if let Some(name) = access.instruction() {
            answer["instruction"] = json!(name);
        }
        answer
    };
    json!({ "store": side(&both.store), "load": side(&both.load) })
}

/// Converts the plans of accesses to global memory to JSON.
pub fn global_answer(both: &Both<GlobalAccess>) -> Json {
    let side = |access: &GlobalAccess| {
        json!({
            "vector_elements": access.vector_elements,
            "accesses": access.accesses,
            "transactions": access.transactions,
            "limited_by": access.limited_by,
        })
    };
    json!({ "store": side(&both.store), "load": side(&both.load) })
}
