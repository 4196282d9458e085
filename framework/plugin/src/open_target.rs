//! A target that a plugin library in this process created.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::abi::TargetHandle;
use super::plugin_functions::Functions;

/// A target of a plugin library; it is destroyed after the last call on it.
pub(super) struct OpenTarget {
    pub(super) functions: Arc<Functions>,
    pub(super) handle: *mut TargetHandle,
}

// SAFETY: the interface allows concurrent calls on one target from any thread.
unsafe impl Send for OpenTarget {}
// SAFETY: as above.
unsafe impl Sync for OpenTarget {}

impl OpenTarget {
    pub(super) fn handle(&self) -> *const TargetHandle {
        self.handle
    }

    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }
}

impl Drop for OpenTarget {
    fn drop(&mut self) {
        // SAFETY: created by `target_create` of the same table and destroyed only here.
        unsafe { (self.functions.target_destroy)(self.handle) }
    }
}
