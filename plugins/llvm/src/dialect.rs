//! What a vendor says about a target: data for LLVM, and how special operations are spelled.

use tilewright_kernel::{
    Atomic, Element, Kernel, MathFunction, MemoryOrder, MemoryScope, MemorySpace, Queue, Scope, Type,
};
use tilewright_plugin::CompileError;
use tilewright_target::{Completion, Instruction};

use crate::Emitter;
use crate::values::{BasicValueEnum, IntValue, PointerValue};

/// Names by which LLVM knows a target, and its address spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlvmTarget {
    /// The target triple.
    pub triple: String,
    /// The processor.
    pub cpu: String,
    /// Features of all kernels, `+a,-b`; a kernel can add to them by its attributes.
    pub features: String,
    /// Number of the address space of global memory.
    pub global: u16,
    /// Number of the address space of shared memory.
    pub shared: u16,
    /// Number of the address space of the shared memories of a cluster, where there are clusters.
    pub cluster: Option<u16>,
}

/// How LLVM is told that a function is a kernel, and what of its launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelForm {
    /// LLVM's number of the calling convention.
    pub calling_convention: u32,
    /// Function attributes by name.
    pub attributes: Vec<(String, String)>,
    /// Function metadata: a node of 32-bit constants under each name.
    pub metadata: Vec<(String, Vec<u32>)>,
    /// Whether the symbol cannot be replaced by another image's (ELF's protected visibility).
    pub protected: bool,
    /// How shared memory is asked for.
    pub shared: SharedForm,
    /// How maps of tensors are passed, where they are.
    pub map: Option<MapForm>,
}

/// How a map of a tensor is passed to a kernel: by value, as so many bytes that only the host's encoder knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapForm {
    /// How many.
    pub bytes: u32,
    /// They begin at a multiple of so many bytes.
    pub alignment: u32,
    /// Attributes of the parameter by name.
    pub attributes: Vec<(String, String)>,
}

/// How a kernel asks for its shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedForm {
    /// The code object says how much.
    Static,
    /// The launch says how much; the kernel only names where it begins.
    Dynamic,
}

/// An operation that reads, changes and writes a scalar in one step.
#[derive(Debug, Clone, Copy)]
pub struct AtomicUpdate<'ctx> {
    /// Which.
    pub op: Atomic,
    /// The memory.
    pub space: MemorySpace,
    /// Where.
    pub pointer: PointerValue<'ctx>,
    /// Of what element the value is.
    pub element: Element,
    /// What the operation takes.
    pub value: BasicValueEnum<'ctx>,
    /// How it orders other accesses.
    pub order: MemoryOrder,
    /// Among whom.
    pub scope: MemoryScope,
}

/// A target as its vendor describes it.
///
/// The hooks append instructions with the given [`Emitter`]. Lanes and warps are counted along the
/// first axis of the block, the only one used.
pub trait Dialect {
    /// Names for LLVM.
    fn machine(&self) -> LlvmTarget;

    /// What LLVM must know of a kernel.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for a launch that the target cannot do.
    fn kernel(&self, kernel: &Kernel) -> Result<KernelForm, CompileError>;

    /// Index of the lane in its warp, `i32`.
    ///
    /// # Errors
    /// [`CompileError`].
    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError>;

    /// Index of the warp in its block, `i32`, in a form that the code generator sees to be uniform
    /// where it cares.
    ///
    /// # Errors
    /// [`CompileError`].
    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError>;

    /// Index of the block along axis 0, 1 or 2 of the grid, `i32`.
    ///
    /// # Errors
    /// [`CompileError`].
    fn program<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError>;

    /// How many blocks the grid has along axis 0, 1 or 2, `i32`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where nobody tells.
    fn programs<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Err(CompileError::Unsupported(format!("the size of the grid along axis {axis} is not known on this target")))
    }

    /// LLVM's name of a synchronisation scope of this target; of the system the empty one.
    fn memory_scope(&self, scope: MemoryScope) -> &'static str {
        let _ = scope;
        ""
    }

    /// What the vendor's code generator is promised of memory that atomic operations on it reach, by names of empty
    /// metadata.
    fn atomic_annotations(&self, space: MemorySpace, scope: MemoryScope) -> &'static [&'static str] {
        let _ = (space, scope);
        &[]
    }

    /// An atomic operation as the vendor writes it; nothing where LLVM's own instruction says all of it.
    ///
    /// # Errors
    /// [`CompileError`].
    fn atomic<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        atomic: &AtomicUpdate<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, atomic);
        Ok(None)
    }

    /// A function that the target says its hardware has, of scalars.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for others: they are to be expanded before.
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

    /// Prints values by a format as C's `printf` takes it, in which integers of 32 and 64 bits and `double`s stand;
    /// nothing where kernels cannot print.
    ///
    /// # Errors
    /// [`CompileError`].
    fn print<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        format: &str,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<(), CompileError> {
        let _ = (emit, format, values);
        Ok(())
    }

    /// Whether the text may be this vendor's assembly; code generators that see more refuse it later.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for another's.
    fn check_assembly(&self, text: &str) -> Result<(), CompileError> {
        let _ = text;
        Err(CompileError::Unsupported("assembly of another vendor".to_owned()))
    }

    /// Waits for kernels before this one in its stream, or lets those after it begin; nothing where they do not overlap.
    ///
    /// # Errors
    /// [`CompileError`].
    fn grid_dependency(&self, emit: &Emitter<'_, '_>, wait: bool) -> Result<(), CompileError> {
        let _ = (emit, wait);
        Ok(())
    }

    /// The `i32` that the lane number `lane` offers as `value`.
    ///
    /// # Errors
    /// [`CompileError`].
    fn exchange<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError>;

    /// The `i32` that the lane whose index differs in the bits of `mask` offers as `value`.
    ///
    /// # Errors
    /// [`CompileError`].
    fn exchange_xor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        mask: u32,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let across = emit.xor(self.lane(emit)?, emit.i32(mask))?;
        self.exchange(emit, value, across)
    }

    /// `a` and `b` after lanes that differ in the bit `lane` of their index (a power of two) have traded
    /// as `Op::Swap` says; for targets that describe such an exchange.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where the target cannot.
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

    /// A barrier that makes writes to shared memory before it visible after it.
    ///
    /// # Errors
    /// [`CompileError`].
    fn barrier(&self, emit: &Emitter<'_, '_>, scope: Scope) -> Result<(), CompileError>;

    /// A barrier of as many lanes of whole warps as come to the one of this number, which makes writes to shared memory before it
    /// visible after it.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where the warps of a block meet all together or not at all.
    fn group_barrier(&self, emit: &Emitter<'_, '_>, number: u32, lanes: u32) -> Result<(), CompileError> {
        let _ = (emit, number, lanes);
        Err(no_group_barriers())
    }

    /// A value as one that the queue gives: what instructions of the queue may take as their accumulator.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where nothing completes on the queue.
    fn pend<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        value: (Type, BasicValueEnum<'ctx>),
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, value);
        Err(no_queue(queue))
    }

    /// The queue on which the instruction of this name completes; at once where there is none.
    fn queue_of(&self, name: &str) -> Option<Queue> {
        let _ = name;
        None
    }

    /// Closes a group of what the warp has issued on a queue.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where nothing completes on the queue.
    fn commit(&self, emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
        let _ = emit;
        Err(no_queue(queue))
    }

    /// Waits until at most `outstanding` of the latest groups are unfinished; each group of the kernel has at
    /// least `least` instructions.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where nothing completes on the queue.
    fn wait(&self, emit: &Emitter<'_, '_>, queue: Queue, outstanding: u32, least: u32) -> Result<(), CompileError> {
        let _ = (emit, outstanding, least);
        Err(no_queue(queue))
    }

    /// Values that an instruction on the queue gave, with the types that they have after the wait that was just written:
    /// nothing may read their registers before it.
    ///
    /// # Errors
    /// [`CompileError`].
    fn awaited<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        values: &[(Type, BasicValueEnum<'ctx>)],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, queue);
        Ok(values.iter().map(|&(_, value)| value).collect())
    }

    /// Makes eight bytes of shared memory an mbarrier of so many arrivals, by one lane of the warp.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there are no mbarriers, or none of so many arrivals.
    fn mbarrier_init<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        arrivals: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, arrivals);
        Err(no_mbarriers())
    }

    /// The warp arrives once at an mbarrier, after all that its lanes did before; its phase expects so many more bytes.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there are no mbarriers, or none that expect so many bytes.
    fn mbarrier_arrive<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        bytes: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, bytes);
        Err(no_mbarriers())
    }

    /// Every lane waits until the mbarrier's phase of this parity, an `i32`, has completed.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there are no mbarriers.
    fn mbarrier_wait<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        phase: IntValue<'ctx>,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer, phase);
        Err(no_mbarriers())
    }

    /// Lets what the warp has issued on a queue since its last commit arrive at an mbarrier when it has finished.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where nothing on the queue arrives at mbarriers.
    fn mbarrier_commit<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        queue: Queue,
        pointer: PointerValue<'ctx>,
    ) -> Result<(), CompileError> {
        let _ = (emit, pointer);
        Err(no_queue(queue))
    }

    /// Allots columns of tensor memory, by the warp, and writes the address of the first to shared memory.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there is no tensor memory.
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

    /// Gives columns of tensor memory back; the address is an `i32`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there is no tensor memory.
    fn tensor_free<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        address: IntValue<'ctx>,
        columns: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, address, columns);
        Err(no_tensor_memory())
    }

    /// Orders plain stores to shared memory before what other proxies do there later; nothing where there is one
    /// proxy.
    ///
    /// # Errors
    /// [`CompileError`].
    fn proxy_fence(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        let _ = emit;
        Ok(())
    }

    /// Index of the block in its cluster, `i32`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there are no clusters.
    fn block<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Err(no_clusters())
    }

    /// Where a pointer to shared memory is in the memory of block number `block` of the cluster, as a
    /// pointer of [`LlvmTarget::cluster`].
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] where there are no clusters.
    fn cluster_address<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        block: IntValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, pointer, block);
        Err(no_clusters())
    }

    /// A word by which [`Dialect::permute_bytes`] is told that byte `bytes[i]`, below 8, becomes byte `i`.
    fn byte_selector(&self, bytes: [u8; 4]) -> u32;

    /// Four bytes of eight: 0 to 3 are those of `a`, 4 to 7 those of `b`, chosen by one of this
    /// dialect's selectors.
    ///
    /// # Errors
    /// [`CompileError`].
    fn permute_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        selector: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError>;

    /// A row of the vendor's instruction table. `operands` come with their types; there must be one
    /// result for each of `results`, of that type.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for a row that has no code generation, [`CompileError::Invalid`]
    /// for operands that do not fit the row.
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

/// What a target says to a function that its hardware lacks.
#[must_use]
pub fn no_function(function: MathFunction, element: Element) -> CompileError {
    let (function, element) = (function.name(), element.name());
    CompileError::Unsupported(format!("`{function}` of {element} is no operation of this target: expand it before"))
}

/// What a target without clusters says to what is only in them.
#[must_use]
pub fn no_clusters() -> CompileError {
    CompileError::Unsupported("there are no clusters of blocks on this target".to_owned())
}

/// What a target says to mbarriers that it does not have.
#[must_use]
pub fn no_mbarriers() -> CompileError {
    CompileError::Unsupported("there are no mbarriers that count bytes on this target".to_owned())
}

/// What a target says to warps of a block that meet without the others.
fn no_group_barriers() -> CompileError {
    CompileError::Unsupported("warps of a block meet all together on this target, not some of them".to_owned())
}

/// What a target says to tensor memory that it does not have.
#[must_use]
pub fn no_tensor_memory() -> CompileError {
    CompileError::Unsupported("there is no tensor memory on this target".to_owned())
}

/// What a target says to a queue on which it completes nothing.
#[must_use]
pub fn no_queue(queue: Queue) -> CompileError {
    CompileError::Unsupported(format!("nothing completes on the queue `{}` on this target", queue.name()))
}

/// The queue on which the row of this name completes; for [`Dialect::queue_of`].
#[must_use]
pub fn queue_of(rows: &[Instruction], name: &str) -> Option<Queue> {
    match rows.iter().find(|row| row.name == name)?.completion {
        Completion::Queue(queue) => Some(queue),
        _ => None,
    }
}
