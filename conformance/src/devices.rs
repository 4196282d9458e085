//! The device on which a worker's cases run.

use std::sync::{Mutex, PoisonError};

use tilewright::vendor::{Device, DeviceError, Target};

/// Opened by the first case that needs it, and kept; opened again where it was lost.
#[derive(Default)]
pub struct Devices {
    first: Mutex<Option<Box<dyn Device>>>,
}

impl Devices {
    /// Does something with the target's first device.
    ///
    /// # Errors
    /// Why there is none. An error of the work is in what it gives.
    pub fn with_first<T>(
        &self,
        target: &dyn Target,
        work: impl FnOnce(&mut dyn Device) -> T,
    ) -> Result<T, DeviceError> {
        // Where a case panicked, nothing is known of its device.
        let mut first = self.first.lock().unwrap_or_else(|broken| {
            let mut first = PoisonError::into_inner(broken);
            *first = None;
            first
        });
        if first.is_none() {
            *first = target.devices()?.into_iter().next();
        }
        match first.as_mut() {
            Some(device) => Ok(work(&mut **device)),
            None => Err(DeviceError::NoRuntime("this machine has no device of the target".to_owned())),
        }
    }

    /// Forgets the device, which its plugin has lost.
    pub fn forget(&self) {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
