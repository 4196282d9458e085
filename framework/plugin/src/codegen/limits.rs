//! What a module's kernels ask of a launch, and whether the target can give it.

use tilewright_kernel::{Kernel, Module, Op, Type};
use tilewright_target::{Instruction, TargetDescription};

use crate::{CompileError, KernelMetadata};

/// Checks that every kernel's lanes, warps, blocks and shared memory are what the target can give.
///
/// # Errors
/// [`CompileError::Invalid`] naming the kernel and the limit; [`CompileError::Unsupported`] for clusters that
/// the target does not have.
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
        let most = target.limits.blocks_per_cluster;
        if launch.blocks > most {
            let (name, blocks, target) = (&kernel.name, launch.blocks, &target.name);
            let message = format!("kernel `{name}`: clusters of {blocks} blocks; {target} has at most {most} in one");
            return Err(CompileError::Unsupported(message));
        }
        let barriers = target.limits.group_barriers;
        let beyond = |op: &Op| matches!(op, Op::GroupBarrier { number, .. } if *number >= barriers);
        if kernel.statements().iter().any(|statement| beyond(&statement.op)) {
            let (name, target) = (&kernel.name, &target.name);
            let message =
                format!("kernel `{name}`: some warps meet by themselves; {target} has {barriers} barriers for that");
            return Err(CompileError::Unsupported(message));
        }
        let bytes = shared_bytes(kernel)?;
        if bytes > u64::from(target.shared.bytes) {
            return fail(format!("{bytes} bytes of shared memory; {} has {}", target.name, target.shared.bytes));
        }
    }
    Ok(())
}

/// Checks that every kernel may be a function: its shared memory is then an array of the module, and no map of a tensor is passed to it.
///
/// # Errors
/// [`CompileError::Unsupported`] naming the kernel and what a function cannot have.
pub fn check_functions(target: &TargetDescription, module: &Module) -> Result<(), CompileError> {
    for kernel in &module.kernels {
        let (bytes, most) = (shared_bytes(kernel)?, target.shared.static_bytes);
        let cannot =
            |what: String| Err(CompileError::Unsupported(format!("kernel `{}` as a function: {what}", kernel.name)));
        if bytes > u64::from(most) {
            return cannot(format!(
                "{bytes} bytes of shared memory; without a launch that asks for more there are {most}"
            ));
        }
        if let Some(map) = kernel.parameters.iter().find(|parameter| parameter.ty == Type::TensorMap) {
            return cannot(format!("`{}` is a map of a tensor, which only a launch passes", map.name));
        }
        if kernel.launch.blocks > 1 {
            return cannot("it is for clusters of blocks, which only a launch makes".to_owned());
        }
    }
    Ok(())
}

/// Shared memory of a block in bytes, once it is known that every alignment is one.
///
/// # Errors
/// [`CompileError::Invalid`] for an alignment that is no power of two.
pub fn shared_bytes(kernel: &Kernel) -> Result<u64, CompileError> {
    match kernel.shared.iter().find(|buffer| !buffer.alignment.is_power_of_two()) {
        None => Ok(kernel.shared_bytes()),
        Some(buffer) => Err(CompileError::Invalid(format!(
            "kernel `{}`: a shared buffer has alignment {}, which is no power of two",
            kernel.name, buffer.alignment
        ))),
    }
}

/// What a launcher must know of each kernel, in the order of the module; `rows` know how maps are encoded.
///
/// # Errors
/// As [`shared_bytes`].
pub fn kernel_metadata(module: &Module, rows: &[Instruction]) -> Result<Vec<KernelMetadata>, CompileError> {
    let of = |kernel: &Kernel| Ok(KernelMetadata::of(kernel, shared_bytes(kernel)?, rows));
    module.kernels.iter().map(of).collect()
}
