//! Code generation that all plugins share: the walk over a kernel's body, the map of generated values, and checks of a
//! module's signatures and launch sizes. A plugin implements [`CodeGenerator`] and calls [`generate_body`].

mod errors;
mod generator;
mod limits;
mod signature;
mod values;
mod walk;

pub use errors::{invalid_module_error, prefix_error_with_kernel_name, unsupported_kernel_error};
pub use generator::CodeGenerator;
pub use limits::{
    check_compilable_as_device_functions, check_limits, list_kernel_launch_metadata, static_shared_bytes,
};
pub use signature::check_kernel_signatures;
pub use values::{TypedValue, ValueMap};
pub use walk::generate_body;
