//! The functions of the HIP runtime library that the plugin calls, and the names of HIP's error codes.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_float, c_int, c_uint, c_void};

use libloading::Library;
use tilewright_plugin::DeviceError;

/// File names of the HIP runtime library, the newest major version first. The name without a version comes with the
/// development package.
const NAMES: [&str; 4] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// An error code of HIP, `hipError_t`.
pub(super) type Code = c_int;
/// The error code of success, `hipSuccess`.
const SUCCESS: Code = 0;
/// The error code `hipErrorOutOfMemory`: device memory is exhausted.
pub(super) const OUT_OF_MEMORY: Code = 2;
/// The error code `hipErrorNoDevice`: the machine has no device.
pub(super) const NO_DEVICE: Code = 100;
/// The error code `hipErrorInvalidDevice`, which `hipInit` of version 5 returns on a machine without devices.
pub(super) const INVALID_DEVICE: Code = 101;
/// The error code `hipErrorNoBinaryForGpu`: the code object is for another GPU.
pub(super) const NO_BINARY: Code = 209;
/// Directions of `hipMemcpy` (`hipMemcpyKind`): from the host to a device (`TO_DEVICE`), or back (`TO_HOST`).
pub(super) const TO_DEVICE: c_int = 1;
pub(super) const TO_HOST: c_int = 2;

/// A handle of the runtime: a module, function, stream, event or device buffer.
pub(super) type Object = *mut c_void;

macro_rules! functions {
    ($($(#[$doc:meta])* $field:ident: $symbol:literal = fn($($argument:ty),*);)*) => {
        /// The loaded functions of the library, named by purpose, with the signatures of the HIP API reference.
        pub(super) struct Functions {
            $($(#[$doc])* pub(super) $field: unsafe extern "C" fn($($argument),*) -> Code,)*
            error_name: unsafe extern "C" fn(Code) -> *const c_char,
            properties: unsafe extern "C" fn(*mut c_void, c_int) -> Code,
            // The last field: the functions above point into it.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Result<Self, libloading::Error> {
                // SAFETY: the signatures are those of the HIP API reference, which has kept them since version 4.2
                // (the library's symbols carry it).
                unsafe {
                    $(let $field = *library.get($symbol)?;)*
                    let error_name = *library.get(b"hipGetErrorName")?;
                    // From major version 6 on, the name without a suffix returns the struct of version 5.
                    let properties = match library.get(b"hipGetDevicePropertiesR0600") {
                        Ok(newer) => *newer,
                        Err(_) => *library.get(b"hipGetDeviceProperties")?,
                    };
                    Ok(Self { $($field,)* error_name, properties, _library: library })
                }
            }
        }
    };
}

functions! {
    init: b"hipInit" = fn(c_uint);
    device_count: b"hipGetDeviceCount" = fn(*mut c_int);
    /// Selects the current device of the calling thread.
    set_device: b"hipSetDevice" = fn(c_int);
    device_name: b"hipDeviceGetName" = fn(*mut c_char, c_int, c_int);
    driver_version: b"hipDriverGetVersion" = fn(*mut c_int);
    allocate: b"hipMalloc" = fn(*mut Object, usize);
    free: b"hipFree" = fn(Object);
    /// Fills device memory with a byte value. Arguments: address, value, number of bytes.
    fill: b"hipMemset" = fn(Object, c_int, usize);
    /// Copies bytes and waits until they are copied. Arguments: destination, source, number of bytes, direction.
    copy: b"hipMemcpy" = fn(Object, *const c_void, usize, c_int);
    load: b"hipModuleLoadData" = fn(*mut Object, *const c_void);
    unload: b"hipModuleUnload" = fn(Object);
    function: b"hipModuleGetFunction" = fn(*mut Object, Object, *const c_char);
    /// Launches a kernel. Arguments: function, grid (3), block (3), bytes of dynamic shared memory, stream, addresses
    /// of the kernel's arguments, extra options.
    launch: b"hipModuleLaunchKernel" = fn(Object, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Object, *mut *mut c_void, *mut *mut c_void);
    synchronize: b"hipDeviceSynchronize" = fn();
    event_create: b"hipEventCreate" = fn(*mut Object);
    event_destroy: b"hipEventDestroy" = fn(Object);
    event_record: b"hipEventRecord" = fn(Object, Object);
    /// Writes the time between two events in milliseconds.
    elapsed: b"hipEventElapsedTime" = fn(*mut c_float, Object, Object);
}

/// Buffer for a `hipDeviceProp_t`, several times larger than that struct in any version.
#[repr(C, align(16))]
struct Properties([u8; 1 << 14]);

impl Functions {
    /// Opens the HIP runtime library and looks up its functions.
    ///
    /// # Errors
    /// [`DeviceError::NoRuntime`] if the library cannot be opened or lacks a function.
    pub(super) fn open() -> Result<Self, DeviceError> {
        // SAFETY: the library's initialisers are the vendor's; the system loader's search path applies.
        let opened = NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        let missing = "libamdhip64.so cannot be opened; it comes with ROCm (rocm-hip-runtime), and version 5 in Debian's \
                       package libamdhip64-5";
        let library = opened.ok_or_else(|| DeviceError::NoRuntime(missing.to_owned()))?;
        Self::of(library).map_err(|error| DeviceError::NoRuntime(format!("libamdhip64.so is too old: {error}")))
    }

    /// Returns an error that names the call unless the code is `hipSuccess`.
    pub(super) fn check(&self, call: &str, code: Code) -> Result<(), DeviceError> {
        if code == SUCCESS { Ok(()) } else { Err(DeviceError::Driver(self.describe_error(call, code))) }
    }

    /// Returns an error message with the name of the failed call and of its error code.
    pub(super) fn describe_error(&self, call: &str, code: Code) -> String {
        // SAFETY: the function takes any code, and returns a text that lives as long as the library, or null.
        let name = unsafe {
            let name = (self.error_name)(code);
            if name.is_null() { "an unknown code".into() } else { CStr::from_ptr(name).to_string_lossy() }
        };
        format!("{call} gave {name} ({code})")
    }

    /// Returns the architecture of a device, such as `gfx90a`.
    ///
    /// The name's offset in the device properties differs between major versions of HIP, so it is searched for: it is
    /// the only text in the properties that starts with `gfx`. A suffix after a colon, which describes the device's
    /// configuration, is dropped.
    pub(super) fn architecture(&self, device: c_int) -> Result<String, DeviceError> {
        let mut properties = Box::new(Properties([0; 1 << 14]));
        // SAFETY: the function writes the properties of this version, which fit into the buffer.
        let code = unsafe { (self.properties)((&raw mut *properties).cast(), device) };
        self.check("hipGetDeviceProperties", code)?;
        Ok(architecture_in(&properties.0).unwrap_or_default())
    }
}

fn architecture_in(bytes: &[u8]) -> Option<String> {
    let start = bytes.windows(4).position(|window| window[0] == 0 && &window[1..] == b"gfx")? + 1;
    let name = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
    Some(name.map(|&byte| char::from(byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::architecture_in;

    #[test]
    fn an_architecture_is_found_wherever_it_lies() {
        let mut properties = b"AMD Instinct MI250X\0\0\0\x40\0\0".to_vec();
        properties.extend_from_slice(b"\0gfx90a:sramecc+:xnack-\0\0\x01");
        assert_eq!(architecture_in(&properties).as_deref(), Some("gfx90a"));
        assert_eq!(architecture_in(b"a gfx card\0\0"), None);
        assert_eq!(architecture_in(b""), None);
    }
}
