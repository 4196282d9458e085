//! Declarations of the functions of the Level Zero loader, their structs, and their result codes.
//!
//! The declarations are written by hand for version 1.0 of the specification. Later versions with the same major number
//! add structs that are chained by `pNext`, but never change these structs.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

use libloading::Library;
use tilewright_plugin::DeviceError;

/// A result code, `ze_result_t`.
pub(super) type Code = u32;
/// The result code of success, `ZE_RESULT_SUCCESS`.
const SUCCESS: Code = 0;
/// The result code of an incomplete event or command, `ZE_RESULT_NOT_READY`.
pub(super) const NOT_READY: Code = 1;
/// The result code of exhausted device memory, `ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY`.
pub(super) const OUT_OF_DEVICE_MEMORY: Code = 0x7000_0003;
/// The result code of a size beyond the device's limits, `ZE_RESULT_ERROR_UNSUPPORTED_SIZE`.
pub(super) const UNSUPPORTED_SIZE: Code = 0x7800_0009;
/// The result code `ZE_RESULT_ERROR_UNINITIALIZED`, which `zeInit` returns if no driver has a device.
pub(super) const UNINITIALIZED: Code = 0x7800_0001;

/// A handle of a driver's object, such as a device or a module.
pub(super) type Object = *mut c_void;

/// The fields with which every struct begins: the struct's type (`ze_structure_type_t`), and a pointer to the next
/// struct of its chain.
#[repr(C)]
pub(super) struct Head {
    what: u32,
    next: *const c_void,
}

impl Head {
    /// Returns the head of a struct of this type, without a chained struct.
    pub(super) fn of(what: What) -> Self {
        Self { what: what as u32, next: std::ptr::null() }
    }
}

/// The types of structs that this plugin passes, with their codes in `ze_structure_type_t`.
#[derive(Clone, Copy)]
pub(super) enum What {
    DriverProperties = 0x1,
    DeviceProperties = 0x3,
    ComputeProperties = 0x4,
    Context = 0xd,
    Queue = 0xe,
    EventPool = 0x10,
    Event = 0x11,
    DeviceMemory = 0x15,
    Module = 0x1b,
    Kernel = 0x1d,
}

/// Properties of a driver, `ze_driver_properties_t`.
#[repr(C)]
pub(super) struct DriverProperties {
    pub(super) head: Head,
    pub(super) uuid: [u8; 16],
    pub(super) version: u32,
}

/// Properties of a device, `ze_device_properties_t`.
#[repr(C)]
pub(super) struct DeviceProperties {
    pub(super) head: Head,
    /// The kind of the device, `ze_device_type_t`; see [`GPU`].
    pub(super) kind: u32,
    pub(super) vendor: u32,
    pub(super) device: u32,
    pub(super) flags: u32,
    pub(super) subdevice: u32,
    pub(super) clock: u32,
    pub(super) most_memory: u64,
    pub(super) most_contexts: u32,
    pub(super) most_priority: u32,
    pub(super) threads: u32,
    pub(super) width: u32,
    pub(super) units: u32,
    pub(super) subslices: u32,
    pub(super) slices: u32,
    /// Length of one tick of the device's clock in nanoseconds.
    pub(super) tick: u64,
    pub(super) timestamp_bits: u32,
    pub(super) kernel_timestamp_bits: u32,
    pub(super) uuid: [u8; 16],
    pub(super) name: [u8; 256],
}

/// Device type of a GPU, `ZE_DEVICE_TYPE_GPU`.
pub(super) const GPU: u32 = 1;

/// Limits of a device on kernels, `ze_device_compute_properties_t`.
#[repr(C)]
pub(super) struct ComputeProperties {
    pub(super) head: Head,
    pub(super) most_lanes: u32,
    pub(super) most_along: [u32; 3],
    pub(super) most_blocks: [u32; 3],
    pub(super) shared_bytes: u32,
    pub(super) warp_sizes: u32,
    pub(super) warp_size: [u32; 8],
}

/// Description of a context to create, `ze_context_desc_t`.
#[repr(C)]
pub(super) struct ContextDescription {
    pub(super) head: Head,
    pub(super) flags: u32,
}

/// Description of a command queue to create, `ze_command_queue_desc_t`.
#[repr(C)]
pub(super) struct QueueDescription {
    pub(super) head: Head,
    pub(super) ordinal: u32,
    pub(super) index: u32,
    pub(super) flags: u32,
    pub(super) mode: u32,
    pub(super) priority: u32,
}

/// Mode `ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS`: each call returns only after its command has completed.
pub(super) const SYNCHRONOUS: u32 = 1;

/// Description of an event pool to create, `ze_event_pool_desc_t`.
#[repr(C)]
pub(super) struct EventPoolDescription {
    pub(super) head: Head,
    pub(super) flags: u32,
    pub(super) count: u32,
}

/// Flags of an event pool: its events are visible to the host and record the times of kernels
/// (`ZE_EVENT_POOL_FLAG_HOST_VISIBLE` and `ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP`).
pub(super) const VISIBLE_WITH_TIMES: u32 = 1 | 4;

/// Description of an event to create, `ze_event_desc_t`.
#[repr(C)]
pub(super) struct EventDescription {
    pub(super) head: Head,
    pub(super) index: u32,
    pub(super) signal: u32,
    pub(super) wait: u32,
}

/// Scope flag of an event: memory effects of the command become visible to the host (`ZE_EVENT_SCOPE_FLAG_HOST`).
pub(super) const HOST_SCOPE: u32 = 4;

/// Description of device memory to allocate, `ze_device_mem_alloc_desc_t`.
#[repr(C)]
pub(super) struct MemoryDescription {
    pub(super) head: Head,
    pub(super) flags: u32,
    pub(super) ordinal: u32,
}

/// Description of a module to create, `ze_module_desc_t`.
#[repr(C)]
pub(super) struct ModuleDescription {
    pub(super) head: Head,
    /// The format of the code, `ze_module_format_t`; 0 is SPIR-V.
    pub(super) format: u32,
    pub(super) bytes: usize,
    pub(super) code: *const u8,
    pub(super) options: *const c_char,
    pub(super) constants: *const c_void,
}

/// Description of a kernel to create, `ze_kernel_desc_t`.
#[repr(C)]
pub(super) struct KernelDescription {
    pub(super) head: Head,
    pub(super) flags: u32,
    pub(super) name: *const c_char,
}

/// Start and end of a kernel in ticks, `ze_kernel_timestamp_result_t`: by the device's clock, then (`context`) by the
/// context's clock.
#[repr(C)]
#[derive(Default)]
pub(super) struct Times {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) context: [u64; 2],
}

// Sizes and offsets as in Intel's C header, on machines with 64-bit addresses.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<DriverProperties>() == 40);
    assert!(size_of::<DeviceProperties>() == 368);
    assert!(offset_of!(DeviceProperties, tick) == 80 && offset_of!(DeviceProperties, name) == 112);
    assert!(size_of::<ComputeProperties>() == 88 && offset_of!(ComputeProperties, warp_size) == 52);
    assert!(size_of::<ContextDescription>() == 24);
    assert!(size_of::<QueueDescription>() == 40);
    assert!(size_of::<EventPoolDescription>() == 24);
    assert!(size_of::<EventDescription>() == 32);
    assert!(size_of::<MemoryDescription>() == 24);
    assert!(size_of::<ModuleDescription>() == 56);
    assert!(size_of::<KernelDescription>() == 32);
    assert!(size_of::<Times>() == 32);
};

macro_rules! functions {
    ($($field:ident: $symbol:literal = fn($($argument:ty),*);)*) => {
        /// The loaded functions of the loader, named by purpose, with the signatures of the specification.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> Code,)*
            // Last, so that it is dropped after the functions.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Result<Self, libloading::Error> {
                // SAFETY: the signatures are those of the specification.
                unsafe { Ok(Self { $($field: *library.get($symbol)?,)* _library: library }) }
            }
        }
    };
}

functions! {
    init: b"zeInit" = fn(u32);
    drivers: b"zeDriverGet" = fn(*mut u32, *mut Object);
    driver_properties: b"zeDriverGetProperties" = fn(Object, *mut DriverProperties);
    devices: b"zeDeviceGet" = fn(Object, *mut u32, *mut Object);
    device_properties: b"zeDeviceGetProperties" = fn(Object, *mut DeviceProperties);
    compute_properties: b"zeDeviceGetComputeProperties" = fn(Object, *mut ComputeProperties);
    context_create: b"zeContextCreate" = fn(Object, *const ContextDescription, *mut Object);
    context_destroy: b"zeContextDestroy" = fn(Object);
    list_create: b"zeCommandListCreateImmediate" = fn(Object, Object, *const QueueDescription, *mut Object);
    list_destroy: b"zeCommandListDestroy" = fn(Object);
    memory_create: b"zeMemAllocDevice" = fn(Object, *const MemoryDescription, usize, usize, Object, *mut Object);
    memory_free: b"zeMemFree" = fn(Object, Object);
    copy: b"zeCommandListAppendMemoryCopy" = fn(Object, *mut c_void, *const c_void, usize, Object, u32, *mut Object);
    fill: b"zeCommandListAppendMemoryFill" = fn(Object, Object, *const c_void, usize, usize, Object, u32, *mut Object);
    module_create: b"zeModuleCreate" = fn(Object, Object, *const ModuleDescription, *mut Object, *mut Object);
    module_destroy: b"zeModuleDestroy" = fn(Object);
    log_text: b"zeModuleBuildLogGetString" = fn(Object, *mut usize, *mut c_char);
    log_destroy: b"zeModuleBuildLogDestroy" = fn(Object);
    kernel_create: b"zeKernelCreate" = fn(Object, *const KernelDescription, *mut Object);
    kernel_destroy: b"zeKernelDestroy" = fn(Object);
    kernel_block: b"zeKernelSetGroupSize" = fn(Object, u32, u32, u32);
    kernel_argument: b"zeKernelSetArgumentValue" = fn(Object, u32, usize, *const c_void);
    launch: b"zeCommandListAppendLaunchKernel" = fn(Object, Object, *const [u32; 3], Object, u32, *mut Object);
    pool_create: b"zeEventPoolCreate" = fn(Object, *const EventPoolDescription, u32, *mut Object, *mut Object);
    pool_destroy: b"zeEventPoolDestroy" = fn(Object);
    event_create: b"zeEventCreate" = fn(Object, *const EventDescription, *mut Object);
    event_destroy: b"zeEventDestroy" = fn(Object);
    event_times: b"zeEventQueryKernelTimestamp" = fn(Object, *mut Times);
}

impl Functions {
    /// Opens the loader and looks up its functions.
    ///
    /// # Errors
    /// [`DeviceError::NoRuntime`] if the library cannot be opened or lacks a function.
    pub(super) fn open() -> Result<Self, DeviceError> {
        // SAFETY: the library's initialisers are the loader's; it is found by the system's loader.
        let opened = unsafe { Library::new("libze_loader.so.1") };
        let missing = "libze_loader.so.1 cannot be opened; it is in Debian's package libze1, and a driver in \
                       intel-opencl-icd or libze-intel-gpu1";
        let library = opened.map_err(|_| DeviceError::NoRuntime(missing.to_owned()))?;
        Self::of(library).map_err(|error| DeviceError::NoRuntime(format!("libze_loader.so.1 is too old: {error}")))
    }
}

/// Returns an error that names the call unless the code is `ZE_RESULT_SUCCESS`.
pub(super) fn check(call: &str, code: Code) -> Result<(), DeviceError> {
    if code == SUCCESS { Ok(()) } else { Err(DeviceError::Driver(error_text(call, code))) }
}

/// Returns an error text: the call and its result code, with the code's meaning if [`NAMES`] has it.
pub(super) fn error_text(call: &str, code: Code) -> String {
    let name = NAMES.iter().find(|(known, _)| *known == code).map_or("an unknown code", |(_, name)| name);
    format!("{call} gave {name} ({code:#x})")
}

/// Meanings of the result codes, for error messages.
const NAMES: [(Code, &str); 17] = [
    (NOT_READY, "not ready"),
    (0x7000_0001, "device lost"),
    (0x7000_0002, "out of host memory"),
    (OUT_OF_DEVICE_MEMORY, "out of device memory"),
    (0x7000_0004, "module build failure"),
    (0x7000_0005, "module link failure"),
    (0x7001_0000, "insufficient permissions"),
    (0x7002_0000, "dependency unavailable"),
    (UNINITIALIZED, "uninitialized"),
    (0x7800_0003, "unsupported feature"),
    (0x7800_0004, "invalid argument"),
    (0x7800_0005, "invalid null handle"),
    (0x7800_0007, "invalid null pointer"),
    (UNSUPPORTED_SIZE, "unsupported size"),
    (0x7800_0011, "invalid kernel name"),
    (0x7800_0013, "invalid group size"),
    (0x7800_0016, "invalid kernel argument size"),
];
