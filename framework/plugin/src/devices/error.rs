//! Errors of devices as they cross the plugin boundary.

use crate::DeviceError;
use crate::{ErrorCode, SerializedError};

impl From<DeviceError> for SerializedError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::NoRuntime(message) => Self::new(ErrorCode::NO_RUNTIME, [message]),
            DeviceError::OutOfMemory(bytes) => Self::new(ErrorCode::OUT_OF_MEMORY, [bytes.to_string()]),
            DeviceError::BadBuffer(message) => Self::new(ErrorCode::BUFFER, [message]),
            DeviceError::Unsupported(message) => Self::new(ErrorCode::UNSUPPORTED, [message]),
            DeviceError::BadLaunch(message) => Self::new(ErrorCode::LAUNCH, [message]),
            DeviceError::Fault(message) => Self::new(ErrorCode::FAULT, [message]),
            DeviceError::Driver(message) => Self::new(ErrorCode::DRIVER, [message]),
            DeviceError::Plugin(message) => Self::new(ErrorCode::INTERNAL, [message]),
        }
    }
}

impl SerializedError {
    /// Converts the failure to a device error that names the plugin.
    pub(crate) fn into_device_error(self, plugin: &str) -> DeviceError {
        let message = self.chain.join(": ");
        match self.code {
            ErrorCode::NO_RUNTIME => DeviceError::NoRuntime(message),
            ErrorCode::OUT_OF_MEMORY => match message.parse() {
                Ok(bytes) => DeviceError::OutOfMemory(bytes),
                Err(_) => DeviceError::Driver(format!("out of memory: {message}")),
            },
            ErrorCode::BUFFER => DeviceError::BadBuffer(message),
            ErrorCode::UNSUPPORTED => DeviceError::Unsupported(message),
            ErrorCode::LAUNCH => DeviceError::BadLaunch(message),
            ErrorCode::FAULT => DeviceError::Fault(message),
            ErrorCode::DRIVER => DeviceError::Driver(message),
            _ => DeviceError::Plugin(format!("{plugin}: {message}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_devices_cross_with_their_kind() {
        let message = || "why".to_owned();
        for error in [
            DeviceError::NoRuntime(message()),
            DeviceError::OutOfMemory(1 << 40),
            DeviceError::BadBuffer(message()),
            DeviceError::Unsupported(message()),
            DeviceError::BadLaunch(message()),
            DeviceError::Fault(message()),
            DeviceError::Driver(message()),
        ] {
            assert_eq!(SerializedError::from(error.clone()).into_device_error("libplugin.so"), error);
        }
        let broken = SerializedError::from(DeviceError::Plugin(message())).into_device_error("libplugin.so");
        assert_eq!(broken, DeviceError::Plugin("libplugin.so: why".to_owned()));
        for code in 0..24 {
            let _ = SerializedError { code: ErrorCode(code), chain: Vec::new() }.into_device_error("libplugin.so");
        }
    }
}
