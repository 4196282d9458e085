//! Verdicts on test cases that were run on a device.

use tilewright_plugin::{CompileError, DeviceError};
use tilewright_verify::{CheckFailure, TestCase, check_on_device};

use super::emulated::merge_verdicts;
use crate::{Case, Context, EvidenceLevel, Verdict};

/// Creates a case that runs kernels on the target's device, and that can be packed to run on another machine.
pub(super) fn device_case(
    name: impl Into<String>,
    test_cases: impl Fn(&Context) -> Result<Vec<TestCase>, Verdict> + Clone + Send + Sync + 'static,
) -> Case {
    let packed = test_cases.clone();
    let check = move |context: &Context| merge_verdicts(test_cases(context).map(|cases| on_device(context, &cases)));
    Case::new(name, check).with_test_cases(packed)
}

/// Runs test cases on the target's device and checks the results. The verdict names the device, for reports.
pub(super) fn on_device(context: &Context, cases: &[TestCase]) -> Verdict {
    let Some(devices) = context.tested_device() else { return Verdict::skip("devices were not requested") };
    let target = context.target();
    let ran = devices.with_device(target, |device| {
        (device.name(), cases.iter().try_for_each(|case| check_on_device(case, target, device).map(drop)))
    });
    match ran {
        Ok((name, Ok(()))) => Verdict::pass(EvidenceLevel::Device).with_detail(format!("on {name}")),
        Ok((name, Err(wrong))) => {
            if matches!(wrong, CheckFailure::Device(DeviceError::Plugin(_))) {
                devices.drop_lost_device();
            }
            failed(&name, wrong)
        }
        Err(DeviceError::NoRuntime(why)) => Verdict::skip(format!("no device: {why}")),
        Err(DeviceError::Plugin(message)) => Verdict::crash(message),
        Err(error) => Verdict::fail(EvidenceLevel::Device, error.to_string()),
    }
}

/// Returns the verdict on a test case that cannot be built: a failure at the layout level, since nothing was compiled
/// or run.
pub(super) fn not_built(wrong: CheckFailure) -> Verdict {
    Verdict::fail(EvidenceLevel::Layout, wrong.to_string())
}

fn failed(device: &str, wrong: CheckFailure) -> Verdict {
    match wrong {
        CheckFailure::Compile(CompileError::Unsupported(reason)) => Verdict::unsupported(reason),
        CheckFailure::Device(DeviceError::Unsupported(reason)) => {
            Verdict::unsupported(format!("{reason}, on {device}"))
        }
        CheckFailure::Compile(CompileError::Plugin(message)) | CheckFailure::Device(DeviceError::Plugin(message)) => {
            Verdict::crash(message)
        }
        CheckFailure::Compile(error) => Verdict::fail(EvidenceLevel::Codegen, error.to_string()),
        CheckFailure::Row(_) | CheckFailure::Invalid(_) => Verdict::fail(EvidenceLevel::Layout, wrong.to_string()),
        wrong => Verdict::fail(EvidenceLevel::Device, format!("{wrong}, on {device}")),
    }
}
