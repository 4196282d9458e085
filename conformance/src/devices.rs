//! The device that the cases of one process of the suite run kernels on.

use std::sync::{Mutex, PoisonError};

use tilewright_plugin::{Device, DeviceError, Target};

/// The device that cases run kernels on. The first case that needs it opens it; it is kept, and reopened after it was
/// lost.
#[derive(Default)]
pub struct LazyDevice {
    /// Substring of the device's name, in lower case; empty selects the first device of the target.
    requested: String,
    chosen: Mutex<Option<Box<dyn Device>>>,
}

impl LazyDevice {
    /// Selects the first device whose name contains `requested`, ignoring case; empty matches any.
    #[must_use]
    pub fn select_named(requested: &str) -> Self {
        Self { requested: requested.to_lowercase(), chosen: Mutex::default() }
    }

    /// Returns the name of the selected device of the target.
    ///
    /// # Errors
    /// [`DeviceError`] if the target's devices cannot be opened, or if none has the requested name.
    pub fn name(&self, target: &dyn Target) -> Result<String, DeviceError> {
        self.with_device(target, |device| device.name())
    }

    /// Calls `work` with the target's selected device, which is opened if necessary.
    ///
    /// # Errors
    /// [`DeviceError`] if the target's devices cannot be opened, or if none has the requested name. An error of `work`
    /// is part of its own result.
    pub fn with_device<T>(
        &self,
        target: &dyn Target,
        work: impl FnOnce(&mut dyn Device) -> T,
    ) -> Result<T, DeviceError> {
        // A case that panicked leaves its device in an unknown state, so it is opened again.
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

    /// Drops the device after its plugin reported that it was lost, so that the next case opens it again.
    pub fn drop_lost_device(&self) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
