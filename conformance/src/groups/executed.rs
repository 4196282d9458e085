//! What kernels that run on a device are found to be.

use tilewright_plugin::{CompileError, Device, DeviceError};
use tilewright_verify::{Disproof, Trial};

use crate::{Context, Level, Verdict};

/// Runs a case on the target's device; the verdict names the device.
pub(super) fn on_device(context: &Context, work: impl FnOnce(&mut dyn Device) -> Result<(), Disproof>) -> Verdict {
    let Some(devices) = context.devices() else { return Verdict::skip("devices were not asked for") };
    let ran = devices.with_chosen(context.target(), |device| (device.name(), work(device)));
    match ran {
        Ok((name, Ok(()))) => Verdict::pass(Level::Device).with_detail(format!("on {name}")),
        Ok((name, Err(wrong))) => {
            if matches!(wrong, Disproof::Device(DeviceError::Plugin(_))) {
                devices.forget();
            }
            failed(&name, wrong)
        }
        Err(DeviceError::NoRuntime(why)) => Verdict::skip(format!("no device: {why}")),
        Err(DeviceError::Plugin(message)) => Verdict::crash(message),
        Err(error) => Verdict::fail(Level::Device, error.to_string()),
    }
}

/// Compiles kernels and runs them on the target's device, and compares what their buffers hold then.
pub(super) fn trials_on_device(context: &Context, trials: Vec<Trial>) -> Result<Verdict, Verdict> {
    let mut differences = Vec::new();
    let verdict = on_device(context, |device| {
        for trial in trials {
            differences.extend(trial.run_on(device, context.target())?);
        }
        Ok(())
    });
    if differences.is_empty() {
        return Ok(verdict);
    }
    let differences: Vec<_> = differences.iter().map(ToString::to_string).collect();
    Err(Verdict::fail(Level::Device, format!("{}; {}", differences.join("; "), verdict.detail)))
}

/// The verdict on kernels that cannot be made.
pub(super) fn no_trials(wrong: Disproof) -> Verdict {
    Verdict::fail(Level::Layout, wrong.to_string())
}

fn failed(device: &str, wrong: Disproof) -> Verdict {
    match wrong {
        Disproof::Compile(CompileError::Unsupported(reason)) => Verdict::unsupported(reason),
        Disproof::Device(DeviceError::Unsupported(reason)) => Verdict::unsupported(format!("{reason}, on {device}")),
        Disproof::Compile(CompileError::Plugin(message)) | Disproof::Device(DeviceError::Plugin(message)) => {
            Verdict::crash(message)
        }
        Disproof::Compile(error) => Verdict::fail(Level::Codegen, error.to_string()),
        Disproof::Row(_) | Disproof::Invalid(_) => Verdict::fail(Level::Layout, wrong.to_string()),
        wrong => Verdict::fail(Level::Device, format!("{wrong}, on {device}")),
    }
}
