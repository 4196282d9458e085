//! The device on which a worker's cases run.

use std::sync::{Mutex, PoisonError};

use tilewright_plugin::{Device, DeviceError, Target};

/// Opened by the first case that needs it, and kept; opened again where it was lost.
#[derive(Default)]
pub struct Devices {
    /// A part of its name; the first device of the target where it is empty.
    requested: String,
    chosen: Mutex<Option<Box<dyn Device>>>,
}

impl Devices {
    /// The first of a target's devices that has this in its name, in letters of either case; any has an empty text.
    #[must_use]
    pub fn named(requested: &str) -> Self {
        Self { requested: requested.to_lowercase(), chosen: Mutex::default() }
    }

    /// The name of the target's device.
    ///
    /// # Errors
    /// Why there is none.
    pub fn name(&self, target: &dyn Target) -> Result<String, DeviceError> {
        self.with_chosen(target, |device| device.name())
    }

    /// Does something with the target's device.
    ///
    /// # Errors
    /// Why there is none. An error of the work is in what it gives.
    pub fn with_chosen<T>(
        &self,
        target: &dyn Target,
        work: impl FnOnce(&mut dyn Device) -> T,
    ) -> Result<T, DeviceError> {
        // Where a case panicked, nothing is known of its device.
        let mut chosen = self.chosen.lock().unwrap_or_else(|broken| {
            let mut chosen = PoisonError::into_inner(broken);
            *chosen = None;
            chosen
        });
        if chosen.is_none() {
            *chosen = Some(self.open(target)?);
        }
        match chosen.as_mut() {
            Some(device) => Ok(work(&mut **device)),
            None => Err(DeviceError::NoRuntime("this machine has no device of the target".to_owned())),
        }
    }

    fn open(&self, target: &dyn Target) -> Result<Box<dyn Device>, DeviceError> {
        let mut others = Vec::new();
        for device in target.devices()? {
            let name = device.name();
            if name.to_lowercase().contains(&self.requested) {
                return Ok(device);
            }
            others.push(format!("`{name}`"));
        }
        Err(DeviceError::NoRuntime(match others.is_empty() {
            true => "this machine has no device of the target".to_owned(),
            false => {
                format!("no device of the target has `{}` in its name; there are {}", self.requested, others.join(", "))
            }
        }))
    }

    /// Forgets the device, which its plugin has lost.
    pub fn forget(&self) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
