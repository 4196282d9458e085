//! Checks of kernels' launch sizes (lanes, warps, blocks, shared memory) against the target's limits.

use tilewright_kernel::{Kernel, Module, Op, Type};
use tilewright_target::{Instruction, TargetDescription};

use crate::{CompileError, KernelMetadata};

/// Checks every kernel's lanes, warps, blocks and shared memory against the target's limits.
///
/// # Errors
/// [`CompileError::Unsupported`] if a cluster has more blocks, or a kernel uses more named barriers, than the target
/// allows. [`CompileError::Invalid`] if another size violates a limit. The message names the kernel and the limit.
pub fn check_limits(target: &TargetDescription, module: &Module) -> Result<(), CompileError> {
    for kernel in &module.kernels {
        let fail = |message: String| Err(CompileError::Invalid(format!("kernel `{}`: {message}", kernel.name)));
        let launch = kernel.launch;
        if !target.lanes.choices.contains(&launch.lanes) || !launch.lanes.is_power_of_two() {
            return fail(format!("{} lanes a warp; {} has {:?}", launch.lanes, target.name, target.lanes.choices));
        }
        let lanes = u64::from(launch.lanes) * u64::from(launch.warps);
        if lanes == 0 || lanes > u64::from(target.limits.lanes_per_block) {
            let most = target.limits.lanes_per_block;
            return fail(format!(
                "{} warps of {} lanes; {} allows 1 to {most} lanes a block",
                launch.warps, launch.lanes, target.name
            ));
        }
        check_registers(target, kernel)?;
        let most = target.limits.blocks_per_cluster;
        if launch.blocks > most {
            let (name, blocks, target) = (&kernel.name, launch.blocks, &target.name);
            let message = format!("kernel `{name}`: clusters of {blocks} blocks; {target} has at most {most} in one");
            return Err(CompileError::Unsupported(message));
        }
        let barriers = target.limits.named_barriers;
        let beyond = |op: &Op| match op {
            Op::NamedBarrier { number, .. } => *number >= barriers,
            Op::IndexedBarrier { .. } => barriers == 0,
            _ => false,
        };
        if kernel.statements().iter().any(|statement| beyond(&statement.op)) {
            let (name, target) = (&kernel.name, &target.name);
            let message = format!("kernel `{name}`: it uses more named barriers than the {barriers} of {target}");
            return Err(CompileError::Unsupported(message));
        }
        check_register_changes(target, kernel, lanes)?;
        let bytes = static_shared_bytes(kernel)?;
        if bytes > u64::from(target.shared.bytes) {
            return fail(format!("{bytes} bytes of shared memory; {} has {}", target.name, target.shared.bytes));
        }
    }
    Ok(())
}

/// Checks the numbers of registers to which a kernel's lanes change, in a block of `lanes` lanes.
fn check_register_changes(target: &TargetDescription, kernel: &Kernel, lanes: u64) -> Result<(), CompileError> {
    for statement in kernel.statements() {
        let Op::SetMaxRegisters { registers, .. } = statement.op else { continue };
        target.limits.check_register_change(registers, lanes).map_err(|reason| {
            CompileError::Unsupported(format!("kernel `{}` for {}: {reason}", kernel.name, target.name))
        })?;
    }
    Ok(())
}

/// Checks that a kernel's number of registers is one that the target can give it.
fn check_registers(target: &TargetDescription, kernel: &Kernel) -> Result<(), CompileError> {
    let (registers, limits, name) = (kernel.launch.registers, &target.limits, &kernel.name);
    if registers == 0 || limits.register_modes.is_empty() && registers <= limits.registers_per_lane {
        return Ok(());
    }
    let wish = match limits.register_modes.is_empty() {
        true => format!("at most {}", limits.registers_per_lane),
        false => format!("{:?}", limits.register_modes),
    };
    let message = |reason: String| format!("kernel `{name}`: {registers} registers of a lane; {reason}");
    if !limits.register_modes.contains(&registers) {
        return Err(CompileError::Unsupported(message(format!("{} gives {wish}", target.name))));
    }
    let threads = u64::from(kernel.launch.lanes) * u64::from(kernel.launch.warps);
    let most = u64::from(limits.registers_per_block);
    if threads * u64::from(registers) > most {
        let reason = format!("{threads} lanes have {most} together on {}: take fewer warps", target.name);
        return Err(CompileError::Unsupported(message(reason)));
    }
    Ok(())
}

/// Checks that every kernel can be compiled as a function of a host's own device code: it takes no tensor map and needs
/// no cluster, since only a launch provides these, and its shared memory, which becomes an array of the module, is
/// within the static limit of the target.
///
/// # Errors
/// [`CompileError::Unsupported`], with the kernel's name, if a kernel needs more shared memory, a tensor map or a
/// cluster; [`CompileError::Invalid`] for an alignment of a shared buffer that is no power of two.
pub fn check_compilable_as_device_functions(target: &TargetDescription, module: &Module) -> Result<(), CompileError> {
    for kernel in &module.kernels {
        let (bytes, most) = (static_shared_bytes(kernel)?, target.shared.static_bytes);
        let cannot =
            |what: String| Err(CompileError::Unsupported(format!("kernel `{}` as a function: {what}", kernel.name)));
        if bytes > u64::from(most) {
            return cannot(format!(
                "it uses {bytes} bytes of shared memory; a launch without a larger request has {most}"
            ));
        }
        if let Some(map) = kernel.parameters.iter().find(|parameter| parameter.ty == Type::TensorMap) {
            return cannot(format!("`{}` is a map of a tensor, which only a launch passes", map.name));
        }
        if kernel.launch.blocks > 1 {
            return cannot("it needs clusters of blocks, which a launch must request".to_owned());
        }
    }
    Ok(())
}

/// Returns the static shared memory of a block in bytes, after a check of all alignments.
///
/// # Errors
/// [`CompileError::Invalid`] for an alignment that is no power of two.
pub fn static_shared_bytes(kernel: &Kernel) -> Result<u64, CompileError> {
    match kernel.shared.iter().find(|buffer| !buffer.alignment.is_power_of_two()) {
        None => Ok(kernel.shared_bytes()),
        Some(buffer) => Err(CompileError::Invalid(format!(
            "kernel `{}`: a shared buffer has alignment {}, which is not a power of two",
            kernel.name, buffer.alignment
        ))),
    }
}

/// Returns the launch metadata of each kernel in the order of the module; `rows` is the instruction table, which has
/// the encodings of tensor maps.
///
/// # Errors
/// [`CompileError::Invalid`] for an alignment of a shared buffer that is no power of two.
pub fn list_kernel_launch_metadata(module: &Module, rows: &[Instruction]) -> Result<Vec<KernelMetadata>, CompileError> {
    let of = |kernel: &Kernel| Ok(KernelMetadata::new(kernel, static_shared_bytes(kernel)?, rows));
    module.kernels.iter().map(of).collect()
}
