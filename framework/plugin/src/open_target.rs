//! A target that a library in this process made.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::abi::TargetHandle;
use super::plugin_slots::Slots;

/// A target of a library; ended when its last call is done.
pub(super) struct OpenTarget {
    pub(super) slots: Arc<Slots>,
    pub(super) handle: *mut TargetHandle,
}

// SAFETY: the interface allows calls on one target from any thread, several at once.
unsafe impl Send for OpenTarget {}
// SAFETY: as above.
unsafe impl Sync for OpenTarget {}

impl OpenTarget {
    pub(super) fn handle(&self) -> *const TargetHandle {
        self.handle
    }

    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }
}

impl Drop for OpenTarget {
    fn drop(&mut self) {
        // SAFETY: made by `target_create` of the same table and ended only here.
        unsafe { (self.slots.target_destroy)(self.handle) }
    }
}
