//! Errors of devices, on their way across the boundary.

use crate::DeviceError;
use crate::{Code, Failure};

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::NoRuntime(message) => Self::new(Code::NO_RUNTIME, [message]),
            DeviceError::OutOfMemory(bytes) => Self::new(Code::OUT_OF_MEMORY, [bytes.to_string()]),
            DeviceError::BadBuffer(message) => Self::new(Code::BUFFER, [message]),
            DeviceError::Unsupported(message) => Self::new(Code::UNSUPPORTED, [message]),
            DeviceError::BadLaunch(message) => Self::new(Code::LAUNCH, [message]),
            DeviceError::Fault(message) => Self::new(Code::FAULT, [message]),
            DeviceError::Driver(message) => Self::new(Code::DRIVER, [message]),
            DeviceError::Plugin(message) => Self::new(Code::INTERNAL, [message]),
        }
    }
}

impl Failure {
    /// As an error of a device of the plugin that `plugin` names.
    pub(crate) fn into_device_error(self, plugin: &str) -> DeviceError {
        let message = self.chain.join(": ");
        match self.code {
            Code::NO_RUNTIME => DeviceError::NoRuntime(message),
            Code::OUT_OF_MEMORY => match message.parse() {
                Ok(bytes) => DeviceError::OutOfMemory(bytes),
                Err(_) => DeviceError::Driver(format!("out of memory: {message}")),
            },
            Code::BUFFER => DeviceError::BadBuffer(message),
            Code::UNSUPPORTED => DeviceError::Unsupported(message),
            Code::LAUNCH => DeviceError::BadLaunch(message),
            Code::FAULT => DeviceError::Fault(message),
            Code::DRIVER => DeviceError::Driver(message),
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
            assert_eq!(Failure::from(error.clone()).into_device_error("libplugin.so"), error);
        }
        let broken = Failure::from(DeviceError::Plugin(message())).into_device_error("libplugin.so");
        assert_eq!(broken, DeviceError::Plugin("libplugin.so: why".to_owned()));
        for code in 0..24 {
            let _ = Failure { code: Code(code), chain: Vec::new() }.into_device_error("libplugin.so");
        }
    }
}
