//! Runs of kernel IR on the emulator.

use thiserror::Error;
use tilewright_emulator::{
    Argument, BufferHandle, Emulator, Fault, FaultKind, GlobalMemory, HostAccessError, PrintReceiver, RunLimits,
    RunReport, SemanticsTable,
};
use tilewright_kernel::Kernel;
use tilewright_plugin::Target;

use super::{HostBuffer, KernelArgument, KernelLaunch};

/// The result of a run on the emulator.
#[derive(Debug, Clone, PartialEq)]
pub struct EmulatedRun {
    /// The contents of each buffer after the run; `None` if the run did not change it.
    pub changed: Vec<Option<Vec<u8>>>,
    /// Counts and other statistics of the run.
    pub report: RunReport,
}

/// The reason why a run on the emulator has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EmulatedRunError {
    /// The arguments do not match the kernel or the buffers; the caller's error.
    #[error("{0}")]
    Arguments(String),
    /// The emulator stopped the kernel with a fault: an error of the kernel, or a limit.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// A buffer that the host did not initialise has bytes that the kernel did not write.
    #[error("buffer {buffer}: {source}")]
    Unwritten {
        /// Index of the buffer among those of the launch.
        buffer: usize,
        /// The error of reading the first byte without a value; it has the byte's offset in the buffer.
        source: HostAccessError,
    },
}

impl EmulatedRunError {
    /// Whether the kernel is valid, but the target lacks the shared memory for it.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Fault(fault) if matches!(fault.kind, FaultKind::SharedLimit { .. }))
    }
}

/// Runs a kernel on the emulator of its target, over the whole grid. Buffers are at distant addresses, so an access
/// beyond the end of one does not reach another. `printer` receives the values that the kernel prints.
///
/// # Errors
/// [`EmulatedRunError::Arguments`] if the arguments do not match the kernel or the buffers, [`EmulatedRunError::Fault`]
/// if the emulator stops the kernel, [`EmulatedRunError::Unwritten`] if a buffer that the host did not initialise has
/// bytes that the kernel did not write.
///
/// # Examples
/// ```no_run
/// use tilewright::run::{HostBuffer, KernelArgument, KernelLaunch, bind_arguments, run_emulated};
/// use tilewright::tile::{Dialects, ForeignOpReplacements};
/// use tilewright::{ProgramCompiler, ProgramOptions};
/// use tilewright_emulator::RunLimits;
///
/// let program = "tt.func @iota(%out: !tt.ptr<i32>) {
///   %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
///   %base = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
///   %to = tt.addptr %base, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
///   tt.store %to, %i : tensor<128x!tt.ptr<i32>>
///   tt.return
/// }";
/// let session = tilewright::Session::builder(tilewright_targets::read_default_catalogue()?).open()?;
/// let target = session.target("h100")?;
/// let compiler = ProgramCompiler { dialects: &Dialects::neutral(), imports: &ForeignOpReplacements::default(), target: &*target };
/// let kernel = compiler.compile_kernel(program, &ProgramOptions::default(), &mut |_| {})?;
/// let out = [0; 4 * 128];
/// let arguments = bind_arguments(&kernel, &[("out", KernelArgument::Buffer(0))], &[out.len() as u64])?;
/// let launch = KernelLaunch { grid: [1, 1, 1], arguments: &arguments, buffers: vec![HostBuffer::new(&out)] };
/// let run = run_emulated(&kernel, &*target, &launch, &RunLimits::default(), None)?;
/// assert_eq!(run.changed[0].as_ref().map(|bytes| &bytes[4 * 7..4 * 8]), Some(&7_u32.to_le_bytes()[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_emulated(
    kernel: &Kernel,
    target: &dyn Target,
    launch: &KernelLaunch<'_>,
    limits: &RunLimits,
    printer: Option<&PrintReceiver<'_>>,
) -> Result<EmulatedRun, EmulatedRunError> {
    let mut memory = GlobalMemory::new();
    let buffers: Vec<BufferHandle> = launch.buffers.iter().map(|buffer| allocated(buffer, &mut memory)).collect();
    let arguments = launch.arguments.iter().map(|argument| emulated(argument, &buffers)).collect::<Result<Vec<_>, _>>();
    let arguments = arguments.map_err(EmulatedRunError::Arguments)?;
    let fault = |fault| EmulatedRunError::Fault(Box::new(fault));
    let semantics = SemanticsTable::from_kernel(kernel, target.instructions());
    let emulator = Emulator::new(kernel, target.description()).map_err(fault)?.with_semantics(&semantics);
    let emulator = match printer {
        Some(printer) => emulator.with_printer(printer),
        None => emulator,
    };
    let report = emulator.run(launch.grid, &arguments, &mut memory, limits).map_err(fault)?;
    let read = launch.buffers.iter().zip(buffers).enumerate().map(|(index, (before, buffer))| {
        let after =
            memory.take_if_stored(buffer).map_err(|source| EmulatedRunError::Unwritten { buffer: index, source })?;
        Ok(after.filter(|after| after != before.bytes))
    });
    Ok(EmulatedRun { changed: read.collect::<Result<_, EmulatedRunError>>()?, report })
}

fn allocated(host: &HostBuffer<'_>, memory: &mut GlobalMemory) -> BufferHandle {
    let buffer = match host.address {
        Some(address) => memory.allocate_at(address, host.bytes),
        None => memory.allocate_with(host.bytes),
    };
    if !host.initialised {
        memory.mark_uninitialised(buffer);
    }
    buffer
}

fn emulated(argument: &KernelArgument, buffers: &[BufferHandle]) -> Result<Argument, String> {
    let buffer = |index: usize| {
        let missing = || format!("an argument is buffer {index} of {}", buffers.len());
        buffers.get(index).copied().ok_or_else(missing)
    };
    Ok(match *argument {
        KernelArgument::Buffer(index) => Argument::Buffer(buffer(index)?),
        KernelArgument::Pointer { buffer: index, offset } => Argument::Pointer { buffer: buffer(index)?, offset },
        KernelArgument::Scalar { bits, .. } => Argument::Scalar(bits),
        KernelArgument::Tensor(tensor) => Argument::Tensor(tensor.with_buffer(buffer(tensor.buffer)?)),
    })
}
