//! Runs a test case on a device (hardware, virtual device, emulator, pack), and compares the results.

use tilewright::run::DeviceResidentLaunch;
use tilewright_emulator::{RunLimits, RunReport};
use tilewright_kernel::{self as kernel, Module};
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::{Artifact, CompileOptions, Device, LaunchStats, Target};
use tilewright_target::Instruction;

use super::case::{BufferMismatchSummary, CaseBuffer, ExpectedContents};
use super::check_failure::CheckFailure;
use super::emulated_device::{EmulatedDevice, build_emulator_artifact};
use super::test_case::{BufferLegend, TestBuffer, TestCase, TestLaunch};

/// Compiles a case's kernel, runs it on a device of the target, and compares every buffer and the device's counts;
/// [`check_emulated`] does so without a compiler and a device.
///
/// # Errors
/// [`CheckFailure`] if the kernel is invalid or is not compiled, the arguments do not match its parameters, the device
/// does not run it, or a buffer or count differs.
pub fn check_on_device(
    case: &TestCase,
    target: &dyn Target,
    device: &mut dyn Device,
) -> Result<LaunchStats, CheckFailure> {
    let module = verified(case, target.instructions())?;
    // Devices load the object, or, if they execute text, the assembly.
    let artifact = target.compile(&module, &CompileOptions::default())?;
    run_and_check_launch(&case.launch, &artifact, device)
}

/// Runs a case's kernel IR on the emulator, and compares every buffer and every count. `context` has the target
/// description and its instruction table.
///
/// # Errors
/// [`CheckFailure`] if the kernel is invalid, the arguments do not match its parameters, the run has a fault, or a
/// buffer or count differs.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// use tilewright_plan::movement::plan_conversion;
/// use tilewright_verify::{check_emulated, build_conversion_case};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let part = |dim, axis| LinearLayout::identity(8, dim, Dim::tensor(axis));
/// let rows = part(Dim::LANE, 0)?.direct_sum(&part(Dim::REGISTER, 1)?)?;
/// let columns = part(Dim::REGISTER, 0)?.direct_sum(&part(Dim::LANE, 1)?)?;
/// let plan = plan_conversion(&rows, &columns, 32, &target)?;
/// let case = build_conversion_case([&rows, &columns], 32, &plan, &target)?;
/// assert_eq!(check_emulated(&case, &target)?.counts.shuffles, plan.stats.counts.shuffles);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_emulated<'a>(case: &TestCase, context: impl Into<PlanContext<'a>>) -> Result<RunReport, CheckFailure> {
    let context = context.into();
    let module = verified(case, context.instructions)?;
    let mut device = EmulatedDevice::new(context.target, context.instructions);
    let checked =
        run_and_check_launch(&case.launch, &build_emulator_artifact(&module, context.instructions), &mut device);
    checked.map_err(|failure| of_fault(failure, &mut device))?;
    Ok(device.report().unwrap_or_default())
}

/// Checks cases on the emulator one after another; returns the report of the first.
///
/// # Errors
/// [`CheckFailure`] of the first case that fails, under the conditions of [`check_emulated`]; also if `cases` is empty.
pub fn check_all_emulated<'a>(
    cases: &[TestCase],
    context: impl Into<PlanContext<'a>>,
) -> Result<RunReport, CheckFailure> {
    let context = context.into();
    let reports = cases.iter().map(|case| check_emulated(case, context)).collect::<Result<Vec<_>, _>>()?;
    reports.first().copied().ok_or_else(|| CheckFailure::Row("there is no case to run".to_owned()))
}

/// Loads compiled code to a device, runs the launch, and compares every buffer and the device's counts.
///
/// # Errors
/// [`CheckFailure`] if the arguments do not match the kernel's parameters, the device does not run it, or a buffer or
/// count differs.
pub fn run_and_check_launch(
    launch: &TestLaunch,
    artifact: &Artifact,
    device: &mut dyn Device,
) -> Result<LaunchStats, CheckFailure> {
    check_loaded(launch, &mut launch.load(artifact, device)?)
}

/// Runs a loaded launch once, and compares every buffer and the device's counts. The buffers must have the test case's
/// inputs.
///
/// # Errors
/// [`CheckFailure`] if the device does not run the kernel, or if a buffer or count differs.
pub fn check_loaded(launch: &TestLaunch, loaded: &mut DeviceResidentLaunch<'_>) -> Result<LaunchStats, CheckFailure> {
    let launched = loaded.run()?;
    let left = loaded.read()?;
    for (TestBuffer { content, legend, .. }, left) in launch.buffers.iter().zip(&left) {
        if let Some(wrong) = legend.as_ref().and_then(|legend| wrong_field(content, legend, left)) {
            return Err(wrong);
        }
    }
    let differences = differences(launch, &left);
    if !differences.is_empty() {
        return Err(CheckFailure::Differences(differences));
    }
    launch.counts.map_or(Ok(()), |counts| counts.check(&launched))?;
    Ok(launched)
}

/// Runs a test case on the emulator within `limits`. Returns the emulator's report, and the difference of each buffer
/// that does not have its expected contents.
pub(crate) fn emulate(
    case: TestCase,
    context: PlanContext<'_>,
    limits: &RunLimits,
) -> Result<(RunReport, Vec<BufferMismatchSummary>), CheckFailure> {
    let TestCase { kernel, launch } = case;
    let mut device = EmulatedDevice::new(context.target, context.instructions).with_limits(*limits);
    let artifact = build_emulator_artifact(&Module { kernels: vec![kernel] }, context.instructions);
    let left = launch
        .load(&artifact, &mut device)
        .and_then(|mut loaded| loaded.run().and_then(|_| loaded.read()))
        .map_err(|error| of_fault(error.into(), &mut device))?;
    Ok((device.report().unwrap_or_default(), differences(&launch, &left)))
}

fn verified(case: &TestCase, instructions: &[Instruction]) -> Result<Module, CheckFailure> {
    let module = Module { kernels: vec![case.kernel.clone()] };
    kernel::verify(&module)?;
    kernel::verify_vendor_instructions(&case.kernel, instructions)?;
    Ok(module)
}

/// Replaces a device's error by the fault with which the emulator ended the last launch, if there is one; returns other
/// failures unchanged.
fn of_fault(failure: CheckFailure, device: &mut EmulatedDevice<'_>) -> CheckFailure {
    match (failure, device.take_fault()) {
        (CheckFailure::Device(_), Some(fault)) => CheckFailure::Fault(Box::new(fault)),
        (failure, _) => failure,
    }
}

fn differences(launch: &TestLaunch, left: &[Vec<u8>]) -> Vec<BufferMismatchSummary> {
    launch.buffers.iter().zip(left).filter_map(|(buffer, left)| buffer.content.compare_contents(left)).collect()
}

/// Returns the failure of the first wrong field (the bits of one element) of a buffer, whose bytes after the run are
/// `left`; `None` if all fields are right, or no bits are expected.
fn wrong_field(content: &CaseBuffer, legend: &BufferLegend, left: &[u8]) -> Option<CheckFailure> {
    let (expected, mask) = match &content.after {
        ExpectedContents::Expected { bytes, .. } => (bytes, None),
        ExpectedContents::Masked { bytes, mask } => (bytes, Some(mask)),
        _ => return None,
    };
    let wrong = |at: usize| (left[at] ^ expected[at]) & mask.map_or(0xff, |mask| mask[at]);
    let byte = (0..expected.len().min(left.len())).find(|&at| wrong(at) != 0)?;
    let field = legend.describe_bit(8 * byte as u64 + u64::from(wrong(byte).trailing_zeros()));
    let [found, expected] = [left, expected].map(|bytes| field_of(bytes, field.bit, field.bits));
    Some(CheckFailure::WrongElement { location: field.location, found, element: field.element, expected })
}

/// Returns the `bits` bits of `bytes` that begin at bit `start`, counted from the low bit of the first byte.
fn field_of(bytes: &[u8], start: u64, bits: u32) -> u64 {
    let bit = |at: u64| u64::from(bytes[(at / 8) as usize] >> (at % 8) & 1);
    (0..u64::from(bits)).fold(0, |value, index| value | bit(start + index) << index)
}
