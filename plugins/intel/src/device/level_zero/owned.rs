//! Objects of a driver, released when they are dropped.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::functions::{Functions, Object};

/// A context: what all other objects of a device are made in.
pub(super) struct Context {
    pub(super) functions: Arc<Functions>,
    pub(super) object: Object,
}

// SAFETY: Level Zero specification, "Multithreading and concurrency": functions are free-threaded but where they take
// one object of several threads at once; an object here is used by one thread at a time.
unsafe impl Send for Context {}
// SAFETY: as before; what is shared of a context is only read.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is alive, and what was made in it is gone: it holds on to the context. Nobody is left who
        // could be told of a failure.
        let _ = unsafe { (self.functions.context_destroy)(self.object) };
    }
}

/// What an object is, and so how it is released.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Memory,
    List,
    Module,
    Kernel,
    Pool,
    Event,
}

/// One object of a driver.
pub(super) struct Owned {
    object: Object,
    kind: Kind,
    context: Arc<Context>,
}

// SAFETY: see `Context`.
unsafe impl Send for Owned {}

impl Owned {
    /// Takes an object over.
    ///
    /// # Safety
    /// It is alive, of this kind, made in this context, and nobody else releases it.
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
        // SAFETY: as `of` asks. Nobody is left who could be told of a failure.
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
