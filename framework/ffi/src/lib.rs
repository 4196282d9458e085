//! The C interface: layouts, plans and code for a compiler that links `libtilewright`.
//!
//! `include/tilewright.h` is generated from this crate, and `docs/embedding.md` shows its use. The rules:
//!
//! - A function that can fail returns a [`tw_error`], or null on success; it writes its result to its last parameter,
//!   `out`, only on success. The receiver of a handle frees it with the function whose name ends in `_destroy`, which
//!   accepts null.
//! - A session may be used from several threads at once, and so may every other handle: handles are immutable. A handle
//!   is destroyed once, when no call uses it any more. Handles outlive the `tw_session` that they came from.
//! - Texts end with a zero byte and are UTF-8; pointers obtained from a handle live as long as the handle.
//! - An output struct begins with `struct_size`, which the caller sets to the size of the struct; fields are only ever
//!   appended, and no bytes beyond that size are written.
//! - Panics do not unwind to the caller, nothing is printed, no signal handler is installed, and sessions share no
//!   state; plugins, and the names of dims that they create, live as long as the process.

#![allow(non_camel_case_types, reason = "the types have the names that C gives them")]
#![allow(unsafe_code, reason = "pointers of the caller are read and written here, each with its reason")]

mod blob;
mod boundary;
mod code;
mod diagnostic;
mod error;
mod handle;
mod layout;
mod names;
mod operation;
mod option;
mod plan;
mod run;
mod session;

pub use blob::{tw_blob, tw_blob_data, tw_blob_destroy, tw_blob_size};
pub use code::{
    tw_code, tw_code_bytes, tw_code_destroy, tw_code_form_name, tw_code_kernel, tw_code_kernel_count, tw_compile,
    tw_compile_plan, tw_kernel,
};
pub use diagnostic::{
    TW_SEVERITY_DEBUG, TW_SEVERITY_ERROR, TW_SEVERITY_INFO, TW_SEVERITY_WARNING, tw_diagnostic, tw_diagnostic_callback,
};
pub use error::{
    TW_ERROR_ARGUMENT, TW_ERROR_COMPILE, TW_ERROR_FAULT, TW_ERROR_INPUT, TW_ERROR_INTERNAL, TW_ERROR_OPTION,
    TW_ERROR_PLUGIN, TW_ERROR_TARGET, TW_ERROR_UNSUPPORTED, tw_error, tw_error_code, tw_error_column, tw_error_destroy,
    tw_error_line, tw_error_message,
};
pub use layout::{
    TW_SIDE_IN, TW_SIDE_OUT, tw_dim, tw_layout, tw_layout_apply, tw_layout_compose, tw_layout_destroy, tw_layout_dim,
    tw_layout_dim_count, tw_layout_direct_sum, tw_layout_equal, tw_layout_invert, tw_layout_invert_and_compose,
    tw_layout_read, tw_layout_write,
};
pub use names::{tw_names, tw_names_at, tw_names_count, tw_names_destroy};
pub use operation::{tw_layout_operation, tw_layout_operations};
pub use option::tw_option;
pub use plan::{
    tw_figures, tw_plan, tw_plan_conversion, tw_plan_destroy, tw_plan_figures, tw_plan_read_stats, tw_plan_stats,
    tw_plan_write,
};
pub use run::{TW_ARGUMENT_BUFFER, TW_ARGUMENT_SCALAR, tw_argument, tw_buffer, tw_launch, tw_run, tw_run_report};
pub use session::{
    tw_session, tw_session_create, tw_session_destroy, tw_session_plugins, tw_session_target, tw_session_targets,
    tw_session_write_target, tw_target,
};

/// The major version of this interface: functions and fields are never removed or changed within one.
pub const TW_ABI_MAJOR: u32 = 1;

/// The minor version of this interface: it counts additions. A host that was built for a lower minor version works.
pub const TW_ABI_MINOR: u32 = 3;

/// Returns the version of the linked library's interface: the major version times 65536, plus the minor version.
/// Available since 1.0.
#[unsafe(no_mangle)]
pub extern "C" fn tw_abi_version() -> u32 {
    TW_ABI_MAJOR << 16 | TW_ABI_MINOR
}

/// Returns the version of Tilewright, such as "0.1.0"; lives as long as the process. Available since 1.0.
#[unsafe(no_mangle)]
pub extern "C" fn tw_version() -> *const std::ffi::c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
