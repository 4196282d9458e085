//! What can be said of a kernel without its body: its name, its parameters, its launch.

use tilewright_kernel::{Kernel, MemorySpace, Type};
use tilewright_plugin::CompileError;

use super::Machine;
use super::held::{invalid, unsupported};

/// Names are at most this long, so that an instruction can hold them.
pub(super) const MAX_NAME: usize = 1024;

/// The most parameters of a SPIR-V function.
const MAX_PARAMETERS: usize = 255;

/// Refuses kernels that no body could make right.
pub(super) fn check_header(machine: Machine<'_>, kernel: &Kernel) -> Result<(), CompileError> {
    let mut characters = kernel.name.chars();
    let starts_well = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(invalid("a name is letters, digits and underscores, and does not begin with a digit"));
    }
    if kernel.name.len() > MAX_NAME {
        return Err(unsupported(format!("names have at most {MAX_NAME} letters here")));
    }
    if kernel.parameters.len() > MAX_PARAMETERS {
        return Err(unsupported(format!("{} parameters; there can be {MAX_PARAMETERS}", kernel.parameters.len())));
    }
    for parameter in &kernel.parameters {
        if !matches!(parameter.ty, Type::Scalar(_) | Type::Pointer(MemorySpace::Global)) {
            let (name, ty) = (&parameter.name, parameter.ty);
            return Err(invalid(format!("parameter `{name}` is {ty}; scalars and global pointers can be passed")));
        }
    }
    if !kernel.body.arguments.is_empty() {
        return Err(invalid("the body has arguments; it has the parameters instead"));
    }
    check_launch(machine, kernel)
}

fn check_launch(machine: Machine<'_>, kernel: &Kernel) -> Result<(), CompileError> {
    let (lanes, warps) = (kernel.launch.lanes, kernel.launch.warps);
    let choices = &machine.description.lanes.choices;
    if lanes == 0 || !choices.contains(&lanes) {
        return Err(invalid(format!("{lanes} lanes a warp; the target has {choices:?}")));
    }
    let most = machine.description.limits.lanes_per_block;
    if warps == 0 || u64::from(lanes) * u64::from(warps) > u64::from(most) {
        return Err(invalid(format!("{warps} warps of {lanes} lanes; a block has one warp to {most} lanes")));
    }
    if kernel.launch.blocks > machine.description.limits.blocks_per_cluster {
        let most = machine.description.limits.blocks_per_cluster;
        return Err(unsupported(format!(
            "clusters of {} blocks; the target has at most {most} in one",
            kernel.launch.blocks
        )));
    }
    if let Some(buffer) = kernel.shared.iter().find(|buffer| !buffer.alignment.is_power_of_two()) {
        return Err(invalid(format!("shared buffer alignment {} is no power of two", buffer.alignment)));
    }
    Ok(())
}
