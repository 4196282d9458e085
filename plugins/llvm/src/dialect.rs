//! The interface of a vendor's target: names and attributes for LLVM, and the emission of target-specific operations.

use tilewright_kernel::{
    Atomic, Cast, Element, Kernel, MathFunction, MemoryOrder, MemoryScope, MemorySpace, Queue, Scope, Type,
};
use tilewright_plugin::CompileError;
use tilewright_target::{Completion, Instruction};

use crate::values::{BasicValueEnum, IntValue, PointerValue};
use crate::{Emitter, Ordering};

/// The target's names in LLVM, and the numbers of its address spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlvmTarget {
    /// The LLVM target triple.
    pub triple: String,
    /// The processor, such as `sm_90` or `gfx942`.
    pub cpu: String,
    /// Features of all kernels in LLVM's form, such as `+a,-b`; a kernel's attributes can add to them.
    pub features: String,
    /// Number of the address space of global memory.
    pub global: u16,
    /// Number of the address space of shared memory.
    pub shared: u16,
    /// Number of the address space of a cluster's shared memory; `None` if the target has no clusters.
    pub cluster: Option<u16>,
}

/// The declaration of a kernel as an LLVM function: attributes that mark it as a kernel and describe its launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelForm {
    /// LLVM's number of the kernel's calling convention.
    pub calling_convention: u32,
    /// Function attributes of the kernel, as names and values.
    pub attributes: Vec<(String, String)>,
    /// Metadata of the kernel: under each name, one node of 32-bit constants.
    pub metadata: Vec<(String, Vec<u32>)>,
    /// Whether the kernel's symbol has ELF's protected visibility, so that no other image can replace it.
    pub protected: bool,
    /// The form of the kernel's declaration of shared memory.
    pub shared: SharedForm,
    /// The parameter form of tensor maps; `None` if the target has no tensor maps.
    pub map: Option<MapForm>,
}

/// The parameter form of a tensor map: passed by value, as opaque bytes from the host's encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapForm {
    /// Size of the tensor map in bytes.
    pub bytes: u32,
    /// Alignment of the tensor map in bytes.
    pub alignment: u32,
    /// LLVM attributes of the parameter, as names and values.
    pub attributes: Vec<(String, String)>,
}

/// The form of a kernel's declaration of shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedForm {
    /// A static array: the code object contains its size.
    Static,
    /// An array without a size, which the launch gives; the kernel only names its start.
    Dynamic,
}

/// An atomic read-modify-write operation on a scalar in memory.
#[derive(Debug, Clone, Copy)]
pub struct AtomicUpdate<'ctx> {
    /// The read-modify-write operation.
    pub op: Atomic,
    /// The memory space of the address.
    pub space: MemorySpace,
    /// The address of the scalar in memory.
    pub pointer: PointerValue<'ctx>,
    /// Element type of the scalar.
    pub element: Element,
    /// The operand of the operation.
    pub value: BasicValueEnum<'ctx>,
    /// Memory order of the operation.
    pub order: MemoryOrder,
    /// Memory scope within which the operation is atomic and ordered.
    pub scope: MemoryScope,
    /// The predicate, an `i1`: if it is false, nothing is accessed and the old value is zero. `None` means true.
    pub predicate: Option<IntValue<'ctx>>,
}

/// A load or store of a value under a predicate.
#[derive(Debug, Clone, Copy)]
pub struct PredicatedAccess<'ctx> {
    /// The memory space of the address.
    pub space: MemorySpace,
    /// The address without the offset.
    pub pointer: PointerValue<'ctx>,
    /// A constant added to the address, in bytes. The sum is aligned to the width of the value.
    pub offset: i32,
    /// The predicate, an `i1`: nothing is accessed if it is false.
    pub predicate: IntValue<'ctx>,
    /// The type of the value in memory.
    pub ty: Type,
}

/// The target-specific part of the translation of kernel IR to LLVM.
///
/// The methods emit instructions with the given [`Emitter`]. Lanes and warps are counted along the first axis of the
/// block, the only axis that blocks have.
pub trait Dialect {
    /// Returns the target's names in LLVM.
    fn llvm_target(&self) -> LlvmTarget;

    /// Returns the declaration of a kernel as an LLVM function: its attributes and the forms of its parameters.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for a launch that the target does not support.
    fn kernel(&self, kernel: &Kernel) -> Result<KernelForm, CompileError>;

    /// Emits the index of the lane in its warp, `i32`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits the index of the warp in its block, `i32`, in a form that LLVM's uniformity analysis recognizes if the
    /// target needs it.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits the index of the block along axis 0, 1 or 2 of the grid, `i32`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn block_index<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits the number of blocks of the grid along axis 0, 1 or 2, `i32`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target does not provide the grid's size.
    fn grid_size<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Err(CompileError::Unsupported(format!("the size of the grid along axis {axis} is not known on this target")))
    }

    /// Returns LLVM's name of a synchronization scope of this target; empty for the system scope.
    fn memory_scope(&self, scope: MemoryScope) -> &'static str {
        let _ = scope;
        ""
    }

    /// Returns names of metadata nodes without operands that an atomic operation gets. They give LLVM's code generator
    /// guarantees about the accessed memory.
    fn atomic_annotations(&self, space: MemorySpace, scope: MemoryScope) -> &'static [&'static str] {
        let _ = (space, scope);
        &[]
    }

    /// Emits an atomic operation in the vendor's form; `None` if LLVM's own `atomicrmw` expresses it.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn atomic<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        atomic: &AtomicUpdate<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, atomic);
        Ok(None)
    }

    /// Emits a load under a predicate, whose result is `other` if the predicate is false; `None` if the target has no
    /// such instruction, so that the caller emits a branch around the load.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn predicated_load<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        access: &PredicatedAccess<'ctx>,
        other: BasicValueEnum<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, access, other);
        Ok(None)
    }

    /// Emits a store under a predicate; returns false if the target has no such instruction, so that the caller emits a
    /// branch around the store.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn predicated_store<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        access: &PredicatedAccess<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> Result<bool, CompileError> {
        let _ = (emit, access, value);
        Ok(false)
    }

    /// Emits a math function of scalars that the target's hardware provides.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for other functions, which must be expanded before.
    fn math<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        function: MathFunction,
        element: Element,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, operands);
        Err(no_function(function, element))
    }

    /// Emits code at the start of a loop's body, and returns the value that stands for the loop-carried `value` in the
    /// body; the default returns `value` itself. A dialect may so hide an induction variable that is a pointer from
    /// LLVM's strength reduction, which would split it into parts that each access has to add.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn carried<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        ty: Type,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, ty);
        Ok(value)
    }

    /// Emits a cast between an 8-bit floating-point format in bytes and a wider type, of a scalar or of a vector of at
    /// least two elements.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no instruction for it.
    fn convert_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        cast: Cast,
        operand: (Type, BasicValueEnum<'ctx>),
        to: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = emit;
        Err(no_cast(cast, operand.0, to))
    }

    /// Emits a print: `format` is a format as in C's `printf`, and `values` are 32- and 64-bit integers and `double`s.
    /// Emits nothing if the target's kernels cannot print.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn print<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        format: &str,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<(), CompileError> {
        let _ = (emit, format, values);
        Ok(())
    }

    /// Checks that a text may be this vendor's assembly; a later assembler may still reject it.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for another vendor's.
    fn check_assembly(&self, text: &str) -> Result<(), CompileError> {
        let _ = text;
        Err(CompileError::Unsupported("assembly of another vendor".to_owned()))
    }

    /// Emits a wait for the preceding kernels of the stream (`wait`), or a signal that lets the following kernels
    /// start. Emits nothing if the target's kernels do not overlap.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn grid_dependency(&self, emit: &Emitter<'_, '_>, wait: bool) -> Result<(), CompileError> {
        let _ = (emit, wait);
        Ok(())
    }

    /// Emits an indexed shuffle: every lane gets the `i32` `value` of lane `lane`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn shuffle<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits an XOR shuffle: every lane gets the `i32` `value` of the lane whose index differs in the bits of `mask`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn shuffle_xor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        mask: u32,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let across = emit.xor(self.lane(emit)?, emit.i32(mask))?;
        self.shuffle(emit, value, across)
    }

    /// Emits a swap (`Op::Swap`) between lanes whose indices differ in the bit `lane` (a power of two): the `a` of the
    /// lane with the bit set and the `b` of the other lane change places. Only some targets have such a shuffle.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has none.
    fn swap<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        lane: u32,
    ) -> Result<[IntValue<'ctx>; 2], CompileError> {
        let _ = (emit, a, b);
        Err(CompileError::Unsupported(format!("lanes that differ by {lane} do not swap on this target")))
    }

    /// Emits a memory fence: an acquire and release fence of the scope, for all of memory.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn fence(&self, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<(), CompileError> {
        emit.fence(Ordering::AcquireRelease, self.memory_scope(scope), None)
    }

    /// Emits the release of an atomic operation as a fence before it; returns whether it did. Otherwise the atomic
    /// operation itself releases.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn release(&self, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<bool, CompileError> {
        let _ = (emit, scope);
        Ok(false)
    }

    /// Emits a barrier of the scope; writes to shared memory before the barrier are visible after it.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn barrier(&self, emit: &Emitter<'_, '_>, scope: Scope) -> Result<(), CompileError>;

    /// Emits a named barrier of `lanes` lanes of whole warps. The lanes' writes to shared memory before the barrier are
    /// visible after it.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no named barriers.
    fn named_barrier(&self, emit: &Emitter<'_, '_>, number: u32, lanes: u32) -> Result<(), CompileError> {
        let _ = (emit, number, lanes);
        Err(no_group_barriers())
    }

    /// Emits a value as an already complete result of a queue (asynchronous operations of one kind). An instruction of
    /// the queue can then use it as accumulator.
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
        Err(no_queue(queue))
    }

    /// Returns the queue of an asynchronous instruction (the operations that its commits and waits cover); `None` for a
    /// synchronous instruction.
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
        Err(no_queue(queue))
    }

    /// Emits a wait until at most `outstanding` of the queue's latest groups are in flight. Each group of the kernel
    /// has at least `min_outstanding` instructions.
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
        Err(no_queue(queue))
    }

    /// Emits the results of a queue's instructions as plain values, right after the wait for them. The form must keep
    /// LLVM from reading their registers before the wait.
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

    /// Emits the initialization of an mbarrier in eight bytes of shared memory, for `arrivals` arrivals in each phase.
    /// One lane of the warp initializes it.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers, or none with so many arrivals.
    fn mbarrier_init<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        arrivals: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, arrivals);
        Err(no_mbarriers())
    }

    /// Emits one arrival of the warp at an mbarrier, after all earlier accesses of the warp's lanes. The current phase
    /// expects `bytes` further bytes of bulk copies.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers, or none that expect so many bytes.
    fn mbarrier_arrive<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        bytes: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, bytes);
        Err(no_mbarriers())
    }

    /// Emits a wait of every lane until the mbarrier's phase with this parity, an `i32`, has completed.
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
        Err(no_mbarriers())
    }

    /// Emits the invalidation of an mbarrier by one lane of the warp, so that its bytes may be used again.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no mbarriers.
    fn mbarrier_invalidate<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer);
        Err(no_mbarriers())
    }

    /// Emits a commit of the warp's instructions on a queue to an mbarrier: the instructions arrive there when they
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
        Err(no_queue(queue))
    }

    /// Emits the allocation of tensor-memory columns by a whole warp; the address of the first column is written to
    /// shared memory at `pointer`.
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
        Err(no_tensor_memory())
    }

    /// Emits the release of tensor-memory columns; the address of the first column is an `i32`.
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
        Err(no_tensor_memory())
    }

    /// Emits a proxy fence, which orders earlier plain stores to shared memory before later accesses through other
    /// proxies. Emits nothing if the target has one proxy.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn proxy_fence(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        let _ = emit;
        Ok(())
    }

    /// Emits the index of the block in its cluster, `i32`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no clusters.
    fn block_in_cluster<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Err(no_clusters())
    }

    /// Maps a pointer to shared memory to the same offset in block `block` of the cluster. The result is a pointer in
    /// the address space [`LlvmTarget::cluster`].
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no clusters.
    fn cluster_address<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        block: IntValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, pointer, block);
        Err(no_clusters())
    }

    /// Returns the selector with which [`Dialect::permute_bytes`] moves source byte `bytes[i]`, 0 to 7, to result byte
    /// `i`.
    fn byte_selector(&self, bytes: [u8; 4]) -> u32;

    /// Emits a byte permute: four of eight bytes, chosen by a selector of this dialect. Source bytes 0 to 3 are those
    /// of `a`, 4 to 7 those of `b`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn permute_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        selector: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits an instruction of the vendor's table on operands of the given types. The implementation returns one value
    /// for each type in `results`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for an instruction without code generation, [`CompileError::Invalid`] for operands
    /// that do not fit it.
    fn instruction<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        name: &str,
        operands: &[(Type, BasicValueEnum<'ctx>)],
        results: &[Type],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, operands, results);
        Err(CompileError::Unsupported(format!("instruction `{name}` has no code generation on this target")))
    }
}

/// Returns the error for a cast that the target has no instruction for.
#[must_use]
pub fn no_cast(cast: Cast, from: Type, to: Type) -> CompileError {
    CompileError::Unsupported(format!("no instruction for the cast `{}` from {from} to {to}", cast.name()))
}

/// Returns the error for a math function that the hardware lacks.
#[must_use]
pub fn no_function(function: MathFunction, element: Element) -> CompileError {
    let (function, element) = (function.name(), element.name());
    CompileError::Unsupported(format!("`{function}` of {element} is not an operation of this target: expand it before"))
}

/// Returns the error for an operation that needs clusters on a target without clusters.
#[must_use]
pub fn no_clusters() -> CompileError {
    CompileError::Unsupported("there are no clusters of blocks on this target".to_owned())
}

/// Returns the error for an mbarrier operation on a target without mbarriers.
#[must_use]
pub fn no_mbarriers() -> CompileError {
    CompileError::Unsupported("there are no mbarriers that count bytes on this target".to_owned())
}

/// Returns the error for a named barrier on a target without named barriers.
fn no_group_barriers() -> CompileError {
    CompileError::Unsupported(
        "there are no named barriers on this target: a barrier is for all warps of a block".to_owned(),
    )
}

/// Returns the error for a tensor-memory operation on a target without tensor memory.
#[must_use]
pub fn no_tensor_memory() -> CompileError {
    CompileError::Unsupported("there is no tensor memory on this target".to_owned())
}

/// Returns the error for a queue on which no instruction of this target completes.
#[must_use]
pub fn no_queue(queue: Queue) -> CompileError {
    CompileError::Unsupported(format!("no instruction completes on the queue `{}` on this target", queue.name()))
}

/// Returns the queue of the asynchronous instruction with this name in the table `rows`; `None` if the instruction is
/// synchronous or unknown. Serves as implementation of [`Dialect::queue_of`].
#[must_use]
pub fn queue_of(rows: &[Instruction], name: &str) -> Option<Queue> {
    match rows.iter().find(|row| row.name == name)?.completion {
        Completion::Queue(queue) => Some(queue),
        _ => None,
    }
}
