//! Objects of a Level Zero driver that are released when dropped.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::functions::{Functions, Object};

/// A context of a driver. All other objects are created in a context, and each keeps its context alive.
pub(super) struct Context {
    pub(super) functions: Arc<Functions>,
    pub(super) object: Object,
}

// SAFETY: Level Zero specification, "Multithreading and concurrency": functions are free-threaded except for concurrent
// calls with one object; an object here is used by one thread at a time.
unsafe impl Send for Context {}
// SAFETY: as above; shared parts of a context are only read.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is alive, and its objects are gone, since each keeps the context alive. A failure has no
        // caller to report to.
        let _ = unsafe { (self.functions.context_destroy)(self.object) };
    }
}

/// The kind of a driver's object, which selects the function that releases the object.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Memory,
    List,
    Module,
    Kernel,
    Pool,
    Event,
}

/// One object of a driver, which is released when dropped.
pub(super) struct Owned {
    object: Object,
    kind: Kind,
    context: Arc<Context>,
}

// SAFETY: see `Context`.
unsafe impl Send for Owned {}

impl Owned {
    /// Takes ownership of an object of a driver; it is released when the result is dropped.
    ///
    /// # Safety
    /// The object must be alive, of this kind, created in this context, and released by nobody else.
    pub(super) unsafe fn of(object: Object, kind: Kind, context: &Arc<Context>) -> Self {
        Self { object, kind, context: Arc::clone(context) }
    }

    pub(super) fn get(&self) -> Object {
        self.object
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let functions = &self.context.functions;
        // SAFETY: the contract of `of`. A failure has no caller to report to.
        let _ = unsafe {
            match self.kind {
                Kind::Memory => (functions.memory_free)(self.context.object, self.object),
                Kind::List => (functions.list_destroy)(self.object),
                Kind::Module => (functions.module_destroy)(self.object),
                Kind::Kernel => (functions.kernel_destroy)(self.object),
                Kind::Pool => (functions.pool_destroy)(self.object),
                Kind::Event => (functions.event_destroy)(self.object),
            }
        };
    }
}
