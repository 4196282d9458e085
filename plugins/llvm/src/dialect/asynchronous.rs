//! The part of a dialect for asynchronous work: queues of instructions, mbarriers, tensor memory, and the fences between
//! plain accesses and those of hardware units.

use tilewright_kernel::{Kernel, Queue, Type};
use tilewright_plugin::CompileError;
use tilewright_target::{Completion, Instruction};

use super::errors::{no_mbarriers_error, no_tensor_memory_error, unsupported_completion_queue_error};
use crate::Emitter;
use crate::values::{BasicValueEnum, IntValue, PointerValue};

/// Emission of asynchronous operations. By default a target has none: each method returns an error that names the missing
/// hardware, or emits nothing if there is nothing to wait for.
pub trait AsynchronousDialect {
    /// Converts a plain value to the form of a completed result of a queue (asynchronous operations of one kind), so
    /// that an instruction of the queue can use it as accumulator.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if no instruction completes on the queue.
    fn ready_token<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        value: (Type, BasicValueEnum<'ctx>),
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, value);
        Err(unsupported_completion_queue_error(queue))
    }

    /// Returns the queue (asynchronous operations of one kind, which a wait covers) of an instruction; `None` if the
    /// instruction is synchronous.
    fn queue_of(&self, name: &str) -> Option<Queue> {
        let _ = name;
        None
    }

    /// Emits a commit: the instructions that the warp has issued on a queue since its last commit become one group.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if no instruction completes on the queue.
    fn commit(&self, emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
        let _ = emit;
        Err(unsupported_completion_queue_error(queue))
    }

    /// Emits a wait until at most `outstanding` of the queue's latest groups are in flight. Every group of the kernel
    /// has at least `min_outstanding` instructions, for hardware that counts instructions instead of groups.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if no instruction completes on the queue.
    fn wait(
        &self,
        emit: &Emitter<'_, '_>,
        queue: Queue,
        outstanding: u32,
        min_outstanding: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, outstanding, min_outstanding);
        Err(unsupported_completion_queue_error(queue))
    }

    /// Converts results of a queue's instructions to plain values, right after the wait for them. The emitted code must
    /// keep LLVM from reading the results' registers before the wait.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn after_wait<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        values: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, queue);
        Ok(values.iter().map(|&(_, value)| value).collect())
    }

    /// Emits the initialization, by one lane of the warp, of an mbarrier in the eight bytes of shared memory at
    /// `pointer`. Each of its phases needs `arrivals` arrivals.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers, or they cannot count so many arrivals.
    fn mbarrier_init<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        arrivals: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, arrivals);
        Err(no_mbarriers_error())
    }

    /// Emits one arrival of the warp at an mbarrier, after all earlier memory accesses of the warp's lanes. It also
    /// adds `bytes` to the number of bytes of bulk copies for which the current phase waits.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers, or they cannot expect so many bytes.
    fn mbarrier_arrive<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        bytes: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, bytes);
        Err(no_mbarriers_error())
    }

    /// Emits a wait of every lane until the phase of the mbarrier with parity `phase` (an `i32`) has completed.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers.
    fn mbarrier_wait<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        phase: IntValue<'ctx>,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, phase);
        Err(no_mbarriers_error())
    }

    /// Emits the invalidation of an mbarrier by one lane of the warp, so that its bytes can be used for other data.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers.
    fn mbarrier_invalidate<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer);
        Err(no_mbarriers_error())
    }

    /// Emits a commit of the warp's instructions on a queue to an mbarrier: the mbarrier gets an arrival when they
    /// complete.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the queue's instructions cannot arrive at mbarriers.
    fn mbarrier_commit<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer);
        Err(unsupported_completion_queue_error(queue))
    }

    /// Emits the allocation of `columns` columns of tensor memory by a whole warp. The address of the first column is
    /// written to shared memory at `pointer`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no tensor memory.
    fn tensor_allocate<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        columns: u32,
        kernel: &Kernel,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, columns, kernel);
        Err(no_tensor_memory_error())
    }

    /// Emits the release of `columns` columns of tensor memory; `address` (an `i32`) is the address of the first.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no tensor memory.
    fn tensor_free<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        address: IntValue<'ctx>,
        columns: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, address, columns);
        Err(no_tensor_memory_error())
    }

    /// Emits a proxy fence, which orders earlier plain stores to shared memory before later accesses by hardware units
    /// such as copy engines. Emits nothing if the target needs no such fence.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn proxy_fence(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        let _ = emit;
        Ok(())
    }
}

/// Returns the queue of the asynchronous instruction `name` in the instruction table `rows`; `None` if the instruction
/// is synchronous or unknown. Dialects implement [`AsynchronousDialect::queue_of`] with it.
#[must_use]
pub fn find_completion_queue(rows: &[Instruction], name: &str) -> Option<Queue> {
    match rows.iter().find(|row| row.name == name)?.completion {
        Completion::Queue(queue) => Some(queue),
        _ => None,
    }
}
