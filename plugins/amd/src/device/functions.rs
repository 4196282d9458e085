//! The functions of the vendor's runtime library that are used, and what their codes mean.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_float, c_int, c_uint, c_void};

use libloading::Library;
use tilewright_plugin::DeviceError;

/// Names of the library, newest major version first; the plain name is a development kit's.
const NAMES: [&str; 4] = ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// `hipError_t`.
pub(super) type Code = c_int;
/// `hipSuccess`.
const SUCCESS: Code = 0;
/// `hipErrorOutOfMemory`.
pub(super) const OUT_OF_MEMORY: Code = 2;
/// `hipErrorNoDevice`.
pub(super) const NO_DEVICE: Code = 100;
/// `hipErrorInvalidDevice`: what version 5 says to `hipInit` where there is no device.
pub(super) const INVALID_DEVICE: Code = 101;
/// `hipErrorNoBinaryForGpu`.
pub(super) const NO_BINARY: Code = 209;
/// `hipMemcpyKind`: from the host to a device, and back.
pub(super) const TO_DEVICE: c_int = 1;
pub(super) const TO_HOST: c_int = 2;

/// An object of the runtime.
pub(super) type Object = *mut c_void;

macro_rules! functions {
    ($($(#[$doc:meta])* $field:ident: $symbol:literal = fn($($argument:ty),*);)*) => {
        /// The functions, by what they do. Each is as the HIP API reference declares it.
        pub(super) struct Functions {
            $($(#[$doc])* pub(super) $field: unsafe extern "C" fn($($argument),*) -> Code,)*
            error_name: unsafe extern "C" fn(Code) -> *const c_char,
            properties: unsafe extern "C" fn(*mut c_void, c_int) -> Code,
            // Last: the functions above are in it.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Result<Self, libloading::Error> {
                // SAFETY: the signatures are those of the HIP API reference, which has kept them since version 4.2
                // (the library's symbols carry it).
                unsafe {
                    $(let $field = *library.get($symbol)?;)*
                    let error_name = *library.get(b"hipGetErrorName")?;
                    // From major version 6 on the old name stands for the old struct.
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
    /// Makes a device this thread's.
    set_device: b"hipSetDevice" = fn(c_int);
    device_name: b"hipDeviceGetName" = fn(*mut c_char, c_int, c_int);
    driver_version: b"hipDriverGetVersion" = fn(*mut c_int);
    allocate: b"hipMalloc" = fn(*mut Object, usize);
    free: b"hipFree" = fn(Object);
    /// Sets bytes to a value.
    fill: b"hipMemset" = fn(Object, c_int, usize);
    /// Copies from the second to the first, and waits.
    copy: b"hipMemcpy" = fn(Object, *const c_void, usize, c_int);
    load: b"hipModuleLoadData" = fn(*mut Object, *const c_void);
    unload: b"hipModuleUnload" = fn(Object);
    function: b"hipModuleGetFunction" = fn(*mut Object, Object, *const c_char);
    /// Function, grid, block, bytes of shared memory at run time, stream, arguments by address, extra.
    launch: b"hipModuleLaunchKernel" = fn(Object, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Object, *mut *mut c_void, *mut *mut c_void);
    synchronize: b"hipDeviceSynchronize" = fn();
    event_create: b"hipEventCreate" = fn(*mut Object);
    event_destroy: b"hipEventDestroy" = fn(Object);
    event_record: b"hipEventRecord" = fn(Object, Object);
    /// Milliseconds between two events.
    elapsed: b"hipEventElapsedTime" = fn(*mut c_float, Object, Object);
}

/// Room for the properties of a device: several times what they take in any version.
#[repr(C, align(16))]
struct Properties([u8; 1 << 14]);

impl Functions {
    /// Opens the library.
    ///
    /// # Errors
    /// [`DeviceError::NoRuntime`] with what is missing, and how to get it.
    pub(super) fn open() -> Result<Self, DeviceError> {
        // SAFETY: the library's initialisers are the vendor's; it is looked up where the system's loader does.
        let opened = NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        let missing = "libamdhip64.so cannot be opened; it comes with ROCm (rocm-hip-runtime), and version 5 in Debian's \
                       package libamdhip64-5";
        let library = opened.ok_or_else(|| DeviceError::NoRuntime(missing.to_owned()))?;
        Self::of(library).map_err(|error| DeviceError::NoRuntime(format!("libamdhip64.so is too old: {error}")))
    }

    /// An error where the code is not that of success.
    pub(super) fn check(&self, call: &str, code: Code) -> Result<(), DeviceError> {
        if code == SUCCESS { Ok(()) } else { Err(DeviceError::Driver(self.said(call, code))) }
    }

    /// The call and the name of its code.
    pub(super) fn said(&self, call: &str, code: Code) -> String {
        // SAFETY: the function takes any code, and gives a text that lives as long as the library, or null.
        let name = unsafe {
            let name = (self.error_name)(code);
            if name.is_null() { "an unknown code".into() } else { CStr::from_ptr(name).to_string_lossy() }
        };
        format!("{call} gave {name} ({code})")
    }

    /// The architecture of a device, such as `gfx90a`.
    ///
    /// Where its name lies in the properties changed between major versions; it is the only text in them that begins
    /// with `gfx`. What follows a colon says how the device is set up.
    pub(super) fn architecture(&self, device: c_int) -> Result<String, DeviceError> {
        let mut properties = Box::new(Properties([0; 1 << 14]));
        // SAFETY: the function writes the properties of this version, which are smaller than the room for them.
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
