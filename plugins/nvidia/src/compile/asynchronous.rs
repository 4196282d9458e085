//! Asynchronous operations in PTX: groups of copies and MMAs, mbarriers, tensor memory, and the fence of the async proxy.

use tilewright_kernel::{Kernel, Queue, Type};
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_llvm::{
    AsynchronousDialect, Emitter, find_completion_queue, no_mbarriers_error, no_tensor_memory_error,
    unsupported_completion_queue_error,
};
use tilewright_plugin::CompileError;

use super::ptx::Ptx;
use super::{bulk, group, mbarrier, tensor};

impl Ptx<'_> {
    /// Returns an error if the target has no mbarriers that count bytes and no async proxy; both came with compute
    /// capability 9.0.
    fn require_mbarriers(&self) -> Result<(), CompileError> {
        if self.target.shared.asynchronous_proxy { Ok(()) } else { Err(no_mbarriers_error()) }
    }

    /// Returns an error if the target has no tensor memory.
    fn require_tensor_memory(&self) -> Result<(), CompileError> {
        if self.target.tensor.is_some() { Ok(()) } else { Err(no_tensor_memory_error()) }
    }

    /// Emits a thread synchronization by calling `synchronise`. If a kernel of the module uses tensor memory, also
    /// emits the `tcgen05` fences that `[before, after]` requests around it.
    pub(super) fn emit_fenced_sync(
        &self,
        emit: &Emitter<'_, '_>,
        [before, after]: [bool; 2],
        synchronise: impl FnOnce() -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        if self.tensor && before {
            tensor::emit_fence_before_sync(emit)?;
        }
        synchronise()?;
        if self.tensor && after { tensor::emit_fence_after_sync(emit) } else { Ok(()) }
    }
}

impl AsynchronousDialect for Ptx<'_> {
    fn ready_token<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        (ty, value): (Type, BasicValueEnum<'ctx>),
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        match queue {
            Queue::Mma => group::emit_accumulator_fence(emit, (ty, value)),
            other => Err(unsupported_completion_queue_error(other)),
        }
    }

    fn queue_of(&self, name: &str) -> Option<Queue> {
        find_completion_queue(self.rows, name)
    }

    fn commit(&self, emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
        match queue {
            Queue::Copies => emit.call_intrinsic("llvm.nvvm.cp.async.commit.group", &[], &[]).map(|_| ()),
            Queue::Mma => group::commit(emit),
            Queue::Bulk => self
                .require_mbarriers()
                .map_err(|_| unsupported_completion_queue_error(queue))
                .and_then(|()| bulk::commit(emit)),
            Queue::BulkReads => Err(unsupported_completion_queue_error(queue)),
            // `tcgen05.wait` waits for all loads or all stores of tensor memory, so these queues have no groups to
            // commit.
            Queue::TensorLoads | Queue::TensorStores => self.require_tensor_memory(),
        }
    }

    fn wait(
        &self,
        emit: &Emitter<'_, '_>,
        queue: Queue,
        outstanding: u32,
        _min_outstanding: u32,
    ) -> Result<(), CompileError> {
        match queue {
            Queue::Copies => {
                emit.call_intrinsic("llvm.nvvm.cp.async.wait.group", &[], &[emit.i32(outstanding).into()]).map(|_| ())
            }
            Queue::Mma => group::wait(emit, outstanding),
            Queue::Bulk | Queue::BulkReads => self
                .require_mbarriers()
                .map_err(|_| unsupported_completion_queue_error(queue))
                .and_then(|()| bulk::wait(emit, outstanding, queue == Queue::BulkReads)),
            Queue::TensorLoads | Queue::TensorStores => {
                self.require_tensor_memory()?;
                tensor::wait(emit, queue)
            }
        }
    }

    fn after_wait<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        _queue: Queue,
        values: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        group::emit_registers_after_wait(emit, values)
    }

    fn mbarrier_init<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        arrivals: u32,
    ) -> Result<(), CompileError> {
        self.require_mbarriers()?;
        mbarrier::init(emit, pointer, arrivals)
    }

    fn mbarrier_arrive<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        bytes: u32,
    ) -> Result<(), CompileError> {
        self.require_mbarriers()?;
        self.emit_fenced_sync(emit, [true, false], || mbarrier::arrive(emit, pointer, bytes))
    }

    fn mbarrier_wait<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        phase: IntValue<'ctx>,
    ) -> Result<(), CompileError> {
        self.require_mbarriers()?;
        self.emit_fenced_sync(emit, [false, true], || mbarrier::wait(emit, pointer, phase))
    }

    fn mbarrier_invalidate<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        self.require_mbarriers()?;
        mbarrier::invalidate(emit, pointer)
    }

    fn mbarrier_commit<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        self.require_mbarriers()?;
        match queue {
            Queue::Mma if self.target.tensor.is_some() => tensor::commit(emit, pointer),
            other => Err(unsupported_completion_queue_error(other)),
        }
    }

    fn tensor_allocate<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        columns: u32,
        kernel: &Kernel,
    ) -> Result<(), CompileError> {
        self.require_tensor_memory()?;
        tensor::allocate(emit, pointer, columns, tensor::allots_once(kernel))
    }

    fn tensor_free<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        address: IntValue<'ctx>,
        columns: u32,
    ) -> Result<(), CompileError> {
        self.require_tensor_memory()?;
        tensor::free(emit, address, columns)
    }

    fn proxy_fence(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        match self.target.shared.asynchronous_proxy {
            true => emit.call_intrinsic("llvm.nvvm.fence.proxy.async.shared_cta", &[], &[]).map(|_| ()),
            false => Ok(()),
        }
    }
}
