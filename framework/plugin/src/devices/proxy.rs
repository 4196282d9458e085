//! A device of a plugin, reached through a channel (calls to the plugin in this or another process). Callers cannot
//! distinguish it from a device of this program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;

use super::call::{DeviceCall, DeviceNames, Number};
use crate::channel::Call;
use crate::remote::Remote;
use crate::wire;
use crate::{Artifact, Device, DeviceBufferId, DeviceError, LaunchRequest, LaunchStats, LoadedCodeId};

/// Max bytes of device memory per call; longer reads and writes are split.
const PIECE: usize = 16 << 20;

/// The next number for a set of open devices; numbers are unique in this process.
static NEXT_SET: AtomicU64 = AtomicU64::new(1);

/// A set of devices that is open in the plugin; it is closed when the last [`Device`] of it is dropped.
struct OpenSet {
    remote: Arc<Remote>,
    number: u64,
}

impl Drop for OpenSet {
    fn drop(&mut self) {
        // A failure here has no caller to report to.
        let _ = self.remote.call(Call::CloseDevices { devices: self.number });
    }
}

/// One device of a set that is open in the plugin.
struct ProxyDevice {
    set: Arc<OpenSet>,
    device: u32,
    name: String,
}

/// Opens the devices of a plugin's target.
pub(crate) fn open(remote: &Arc<Remote>) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    let number = NEXT_SET.fetch_add(1, Ordering::Relaxed);
    let answer = remote.call(Call::OpenDevices { target: remote.target(), devices: number });
    let answer = answer.map_err(|failure| failure.into_device_error(&remote.plugin()))?;
    let set = Arc::new(OpenSet { remote: Arc::clone(remote), number });
    let DeviceNames { names } = read(remote, "names of devices", &answer)?;
    let device = |(device, name)| Box::new(ProxyDevice { set: Arc::clone(&set), device, name }) as Box<dyn Device>;
    Ok((0..).zip(names).map(device).collect())
}

fn read<T: DeserializeOwned>(remote: &Remote, what: &str, bytes: &[u8]) -> Result<T, DeviceError> {
    wire::deserialize_message(bytes).map_err(|error| DeviceError::Plugin(remote.unreadable_answer(what, &error)))
}

impl ProxyDevice {
    fn call(&self, call: DeviceCall) -> Result<Vec<u8>, DeviceError> {
        let remote = &self.set.remote;
        let call = Call::Device { devices: self.set.number, device: self.device, call };
        remote.call(call).map_err(|failure| failure.into_device_error(&remote.plugin()))
    }

    fn number(&self, call: DeviceCall) -> Result<u64, DeviceError> {
        let answer = self.call(call)?;
        read(&self.set.remote, "a number", &answer).map(|Number { number }| number)
    }
}

impl Device for ProxyDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        self.number(DeviceCall::Allocate { bytes }).map(DeviceBufferId)
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        // Memory that is not freed is released with its device.
        let _ = self.call(DeviceCall::Free { buffer: buffer.0 });
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let mut at = offset;
        // An empty write makes a call too, so that the buffer is checked.
        for piece in bytes.chunks(PIECE).chain(bytes.is_empty().then_some(bytes)) {
            self.call(DeviceCall::Write { buffer: buffer.0, offset: at, bytes: piece.to_vec() })?;
            at = at.saturating_add(piece.len() as u64);
        }
        Ok(())
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let mut all = Vec::new();
        loop {
            let read = all.len() as u64;
            let piece = (bytes - read).min(PIECE as u64);
            let got =
                self.call(DeviceCall::Read { buffer: buffer.0, offset: offset.saturating_add(read), bytes: piece })?;
            if got.len() as u64 != piece {
                let message = format!("{}: gave {} bytes of {piece}", self.set.remote.plugin(), got.len());
                return Err(DeviceError::Plugin(message));
            }
            all.extend(got);
            if all.len() as u64 == bytes {
                return Ok(all);
            }
        }
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        let artifact = wire::serialize_message(artifact).map_err(|error| DeviceError::BadLaunch(error.to_string()))?;
        self.number(DeviceCall::Load { artifact }).map(LoadedCodeId)
    }

    fn unload(&mut self, code: LoadedCodeId) {
        // Code that is not unloaded is released with its device.
        let _ = self.call(DeviceCall::Unload { code: code.0 });
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        let request = wire::serialize_message(launch).map_err(|error| DeviceError::BadLaunch(error.to_string()))?;
        let answer = self.call(DeviceCall::Launch { request })?;
        read(&self.set.remote, "the report of a launch", &answer)
    }
}
