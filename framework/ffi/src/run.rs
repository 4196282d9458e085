//! Runs of compiled kernels on the emulator, with buffers of the host.

use tilewright::run::{EmulatedRunError, HostBuffer, KernelArgument, KernelLaunch, bind_arguments, run_emulated};
use tilewright_emulator::RunLimits;

use crate::boundary::{borrowed, fill, guarded, read_array, read_struct};
use crate::code::tw_code;
use crate::error::{Failure, TW_ERROR_FAULT, TW_ERROR_UNSUPPORTED, tw_error};
use crate::session::tw_session;

/// The argument is the address of byte `value` of the buffer with the index `buffer`.
pub const TW_ARGUMENT_BUFFER: u32 = 1;
/// The argument is a scalar of `width` bits, by its bits in `value`.
pub const TW_ARGUMENT_SCALAR: u32 = 2;

/// An argument of the function that a program launches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_argument {
    /// `TW_ARGUMENT_BUFFER` or `TW_ARGUMENT_SCALAR`.
    pub kind: u32,
    /// Width of a scalar in bits.
    pub width: u32,
    /// Index of the buffer in the launch.
    pub buffer: usize,
    /// The bits of a scalar, zero-extended; the byte offset in a buffer.
    pub value: u64,
}

/// A buffer of the host, which a run reads and changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_buffer {
    /// The bytes of the buffer.
    pub data: *mut u8,
    /// Number of bytes.
    pub size: usize,
}

/// The parameters of a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_launch {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// Number of programs along the three axes of the grid.
    pub grid: [u32; 3],
    /// One argument for each argument of the program's function.
    pub arguments: *const tw_argument,
    /// Number of arguments.
    pub argument_count: usize,
    /// The buffers that the arguments refer to.
    pub buffers: *const tw_buffer,
    /// Number of buffers.
    pub buffer_count: usize,
    /// Max number of operations that all warps execute, against endless loops; 0 for 10^8.
    pub max_steps: u64,
}

/// Counts of a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_run_report {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// Number of operations that all warps executed.
    pub steps: u64,
    /// Number of sectors of global memory that all warps loaded.
    pub sectors_loaded: u64,
    /// Number of sectors of global memory that all warps stored.
    pub sectors_stored: u64,
    /// Wavefronts of shared memory that a warp loaded, of the warp with the most.
    pub wavefronts_loaded: u64,
    /// Wavefronts of shared memory that a warp stored, of the warp with the most.
    pub wavefronts_stored: u64,
}

impl From<EmulatedRunError> for Failure {
    fn from(error: EmulatedRunError) -> Self {
        let code = match &error {
            EmulatedRunError::Arguments(_) => return Self::argument(error.to_string()),
            error if error.is_unsupported() => TW_ERROR_UNSUPPORTED,
            _ => TW_ERROR_FAULT,
        };
        Self::new(code, error.to_string())
    }
}

/// Runs the kernel of compiled code on the emulator of its target, over the whole grid, and writes the buffers that it
/// changed. The form `kernel` of `tw_compile` is enough. An illegal operation of the kernel, such as an access out of
/// bounds or a race, is an error with the code `TW_ERROR_FAULT`, which names the operation, block, warp and lane; the
/// buffers are then unchanged. `report` may be null. Available since 1.3.
///
/// # Safety
/// `session` and `code` are handles; `launch` points to a struct that begins with its size, its arrays have their
/// counts, and no other thread uses its buffers; `report` is null, or points to a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_run(
    session: *const tw_session,
    code: *const tw_code,
    launch: *const tw_launch,
    report: *mut tw_run_report,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` and `code` are handles.
        let (session, code) = unsafe { (borrowed("session", session)?, borrowed("code", code)?) };
        // SAFETY: the caller promises that `launch` points to a struct that begins with its size; zero is a value of
        // each field.
        let launch: tw_launch = unsafe { read_struct("launch", launch) }?;
        // SAFETY: the caller promises that `launch->arguments` has `argument_count` arguments.
        let arguments = unsafe { read_array("launch->arguments", launch.arguments, launch.argument_count) }?;
        // SAFETY: the caller promises that `launch->buffers` has `buffer_count` buffers.
        let buffers = unsafe { read_array("launch->buffers", launch.buffers, launch.buffer_count) }?;
        // SAFETY: the caller promises that each buffer has `size` bytes, which no other thread uses.
        let bytes = buffers.iter().map(|buffer| unsafe { read_array("buffer.data", buffer.data, buffer.size) });
        let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
        let run = session.heard(|| emulated(session, code, &launch, arguments, &bytes))?;
        for (changed, buffer) in run.changed.iter().zip(buffers) {
            if let Some(changed) = changed {
                // SAFETY: `changed` is limited to the size of the host's buffer, and `bytes` (slices of the buffers) is
                // not used any more.
                unsafe { std::ptr::copy_nonoverlapping(changed.as_ptr(), buffer.data, changed.len().min(buffer.size)) };
            }
        }
        if report.is_null() {
            return Ok(());
        }
        let known = tw_run_report {
            struct_size: size_of::<tw_run_report>(),
            steps: run.report.steps,
            sectors_loaded: run.report.transactions_loaded,
            sectors_stored: run.report.transactions_stored,
            wavefronts_loaded: run.report.counts.wavefronts_loaded,
            wavefronts_stored: run.report.counts.wavefronts_stored,
        };
        // SAFETY: `report` is not null, and the caller promises a struct that begins with its size.
        unsafe { fill("report", &known, report) }
    })
}

fn emulated(
    session: &tw_session,
    code: &tw_code,
    launch: &tw_launch,
    arguments: &[tw_argument],
    bytes: &[&[u8]],
) -> Result<tilewright::run::EmulatedRun, Failure> {
    let target = session.session.target(&code.target)?;
    let given = arguments.iter().enumerate().map(|(index, argument)| match argument.kind {
        TW_ARGUMENT_BUFFER => Ok(KernelArgument::Pointer { buffer: argument.buffer, offset: argument.value }),
        TW_ARGUMENT_SCALAR => Ok(KernelArgument::Scalar { bits: argument.value, width: argument.width }),
        kind => Err(Failure::argument(format!(
            "`launch->arguments[{index}].kind` is {kind}; pass TW_ARGUMENT_BUFFER or TW_ARGUMENT_SCALAR"
        ))),
    });
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = (0..given.len()).map(|index| index.to_string()).collect();
    let named: Vec<_> = names.iter().map(String::as_str).zip(given).collect();
    let sizes: Vec<_> = bytes.iter().map(|bytes| bytes.len() as u64).collect();
    let arguments = bind_arguments(&code.kernel, &named, &sizes).map_err(Failure::argument)?;
    let [x, y, z] = launch.grid;
    let x =
        x.checked_mul(code.kernel.launch.blocks).ok_or_else(|| Failure::argument("the grid has too many blocks"))?;
    let buffers = bytes.iter().copied().map(HostBuffer::new).collect();
    let launched = KernelLaunch { grid: [x, y, z], arguments: &arguments, buffers };
    let default = RunLimits::default();
    let limits = RunLimits { steps: if launch.max_steps == 0 { default.steps } else { launch.max_steps }, ..default };
    Ok(run_emulated(&code.kernel, &*target, &launched, &limits, None)?)
}
