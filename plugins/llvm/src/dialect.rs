//! The interface between the LLVM translation and a vendor's dialect: names and attributes in LLVM, and the emission of
//! target-specific operations.

mod access;
mod asynchronous;
mod declaration;
mod errors;

use tilewright_kernel::{
    BarrierAction, Cast, CollectiveScope, Element, Kernel, MathFunction, MemoryScope, MemorySpace, RegisterChange, Type,
};
use tilewright_plugin::CompileError;

pub use self::access::{AtomicUpdate, PredicatedAccess, ScalarAddress};
pub use self::asynchronous::{AsynchronousDialect, find_completion_queue};
pub use self::declaration::{KernelDeclaration, LlvmTarget, SharedMemoryDeclaration, TensorMapDeclaration};
use self::errors::no_group_barriers;
pub use self::errors::{
    no_clusters_error, no_mbarriers_error, no_tensor_memory_error, unsupported_cast_error,
    unsupported_completion_queue_error, unsupported_math_function_error,
};
use crate::values::{BasicValueEnum, IntValue, PointerValue};
use crate::{Emitter, FenceOrdering};

/// The part of the translation of kernel IR to LLVM IR that differs between targets.
///
/// The methods emit instructions with the given [`Emitter`]. Lanes and warps are counted along the first axis of the
/// block, the only axis that blocks have.
pub trait TargetDialect: AsynchronousDialect {
    /// Returns the names by which LLVM knows the target.
    fn llvm_target(&self) -> LlvmTarget;

    /// Returns the declaration of a kernel as an LLVM function: its attributes and the forms of its parameters.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for a launch that the target does not support.
    fn kernel(&self, kernel: &Kernel) -> Result<KernelDeclaration, CompileError>;

    /// Emits the index of the lane in its warp, `i32`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits the index of the thread in its block, `i32`, if lane and warp are its lower and upper bits in one
    /// register; `None` otherwise.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn thread_index<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<Option<IntValue<'ctx>>, CompileError> {
        let _ = emit;
        Ok(None)
    }

    /// Emits the index of the warp in its block, `i32`. If the target needs it, the value has a form that LLVM's
    /// uniformity analysis recognizes as uniform.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits the index of the warp, `warp`, in the form in which it is compared with a constant.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn compared_warp<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        warp: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Ok(warp)
    }

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

    /// Returns LLVM's name of the synchronization scope for a memory scope; empty for the system scope.
    fn memory_scope(&self, scope: MemoryScope) -> &'static str {
        let _ = scope;
        ""
    }

    /// Returns the names of metadata nodes (without operands) to attach to an atomic operation. They give LLVM's code
    /// generator guarantees about the accessed memory.
    fn atomic_annotations(&self, space: MemorySpace, scope: MemoryScope) -> &'static [&'static str] {
        let _ = (space, scope);
        &[]
    }

    /// Emits an atomic operation in a target-specific form and returns the old value. Returns `None` if the caller
    /// shall emit LLVM's `atomicrmw` instead.
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

    /// Emits a predicated load, whose result is `other` if the predicate is false. Returns `None` if the target has no
    /// such instruction; the caller then emits a branch around a plain load.
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

    /// Emits a predicated store. Returns false if the target has no such instruction; the caller then emits a branch
    /// around a plain store.
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

    /// Emits a math function on scalars for which the target has a hardware instruction.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no instruction for the function; it must then be expanded to
    /// kernel IR before.
    fn math<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        function: MathFunction,
        element: Element,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = (emit, operands);
        Err(unsupported_math_function_error(function, element))
    }

    /// Emits the conversion of a pointer to shared memory to an `i32`. A dialect whose pointers are wider than 32 bits
    /// can override it to hide the pointer from LLVM, which would otherwise compute with the wider integer.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn shared_address<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        emit.shared_address(pointer)
    }

    /// Emits code at the start of a loop's body, and returns the value that stands for the loop-carried `value` in the
    /// body; by default `value` itself. A dialect can use it to hide an induction variable that is a pointer from
    /// LLVM's strength reduction. That pass would otherwise split the pointer into a base and an offset, which each
    /// access has to add.
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

    /// Emits code behind loads from global memory that end a branch, such as the prefetches of a loop. If LLVM removes
    /// the branch, it may move the loads towards their uses, behind the work that hides their latency; a dialect can
    /// keep them here. By default, emits nothing.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn keep_loads_before(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        let _ = emit;
        Ok(())
    }

    /// Whether LLVM may contract sums and differences. Nothing contracts them, because it may not contract products;
    /// LLVM writes them without a rounding mode to PTX.
    fn contracts_additions(&self) -> bool {
        false
    }

    /// Whether vectors without instructions are taken apart: predicates of comparisons, which code generation packs into
    /// masks, and bytes that are converted to floats.
    fn splits_vectors(&self) -> bool {
        false
    }

    /// Whether the part of an offset that a loop does not change is added to the pointer before the loop. Each distinct
    /// sum takes a 64-bit register of the lane.
    fn adds_invariant_offsets_first(&self) -> bool {
        false
    }

    /// Returns the LLVM property of a loop whose number of iterations is not constant, such as
    /// `llvm.loop.unroll.disable`; `None` for no property. `stores` is true if the loop stores to global memory.
    fn loop_property(&self, stores: bool) -> Option<&'static str> {
        let _ = stores;
        None
    }

    /// Emits a copy of `divisor` whose value LLVM does not know. LLVM assumes that a divisor is not zero and that a
    /// signed quotient does not overflow; if it does not know the divisor, it cannot simplify code by this assumption.
    /// Returns `None` if the hardware's division may be undefined for these operands too, so that the caller has to
    /// avoid them. `is_scalar` is true if the divisor is equal in all lanes, and LLVM finds that it is.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn opaque_divisor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        divisor: IntValue<'ctx>,
        is_scalar: bool,
    ) -> Result<Option<IntValue<'ctx>>, CompileError> {
        let _ = (emit, divisor, is_scalar);
        Ok(None)
    }

    /// Whether `bf16` numbers are extended by a shift or a mask of the 32-bit word that holds them. Otherwise LLVM
    /// selects the instructions.
    fn extends_bf16_in_words(&self) -> bool {
        false
    }

    /// Emits the conversion of a 32-bit integer, signed or not, to an `f32` number that rounds to `bf16` as the integer
    /// does; `None` if LLVM selects instructions that convert integers to `bf16`.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    fn integer_before_bf16<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        integer: BasicValueEnum<'ctx>,
        is_signed: bool,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let _ = (emit, integer, is_signed);
        Ok(None)
    }

    /// Emits a cast between an 8-bit floating-point format in bytes and a wider type, of a scalar or of a vector of at
    /// least two elements.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no instruction for the cast.
    fn convert_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        cast: Cast,
        operand: (Type, BasicValueEnum<'ctx>),
        to: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let _ = emit;
        Err(unsupported_cast_error(cast, operand.0, to))
    }

    /// Emits a print. `format` is a format string as for C's `printf`, and `values` are 32-bit and 64-bit integers and
    /// doubles. Emits nothing if kernels cannot print on the target.
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

    /// Checks that inline assembly is written for this vendor. The assembler may still reject it later.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] for another vendor's assembly.
    fn check_assembly(&self, text: &str) -> Result<(), CompileError> {
        let _ = text;
        Err(CompileError::Unsupported("assembly of another vendor".to_owned()))
    }

    /// Emits a wait for the preceding kernels of the stream if `wait`, otherwise a signal that lets the following
    /// kernel start. Emits nothing if kernels do not overlap on the target.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn grid_dependency(&self, emit: &Emitter<'_, '_>, wait: bool) -> Result<(), CompileError> {
        let _ = (emit, wait);
        Ok(())
    }

    /// Returns an `i32` that is equal in all lanes of a warp without inactive lanes, in a form that the assembler knows
    /// to be uniform; `value` itself if there is no such form.
    ///
    /// # Errors
    /// [`CompileError::Backend`] if LLVM rejects the instruction.
    fn uniform_in_warp<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Ok(value)
    }

    /// Emits an indexed shuffle: each lane gets the `i32` `value` of the lane with index `lane`.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn shuffle<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError>;

    /// Emits an xor shuffle: lane i gets the `i32` `value` of lane i xor `mask`.
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

    /// Emits a swap (`Op::Swap`) between lanes whose indices differ in the bit `lane` (a power of two). The value `a`
    /// of the lane with the bit set and the value `b` of the lane without it change places. Only some targets have such
    /// a shuffle.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no such shuffle for this bit.
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

    /// Emits a memory fence with acquire and release order in the given scope, for all memory spaces.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn fence(&self, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<(), CompileError> {
        emit.fence(FenceOrdering::AcquireRelease, self.memory_scope(scope), None)
    }

    /// Emits the release part of an atomic operation as a fence before it, and returns true. By default it emits
    /// nothing and returns false: the atomic operation then has the release order itself.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn release(&self, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<bool, CompileError> {
        let _ = (emit, scope);
        Ok(false)
    }

    /// Emits a barrier of the given scope. Writes to shared memory before the barrier are visible after it.
    ///
    /// # Errors
    /// [`CompileError`] if the target cannot emit the operation.
    fn barrier(&self, emit: &Emitter<'_, '_>, scope: CollectiveScope) -> Result<(), CompileError>;

    /// Emits the named barrier with this number, for `lanes` lanes (whole warps). Writes of these lanes to shared
    /// memory before the barrier are visible to them after it.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no named barriers.
    fn named_barrier(&self, emit: &Emitter<'_, '_>, number: u32, lanes: u32) -> Result<(), CompileError> {
        let _ = (emit, number, lanes);
        Err(no_group_barriers())
    }

    /// Emits the named barrier with the number `number`, an `i32`, for `lanes` lanes (whole warps): a wait, or an
    /// arrival without one.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no named barriers.
    fn indexed_barrier<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        action: BarrierAction,
        number: BasicValueEnum<'ctx>,
        lanes: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, action, number, lanes);
        Err(no_group_barriers())
    }

    /// Changes the number of registers of each lane of a warp group to `registers`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if lanes of the target keep the registers of the launch.
    fn set_max_registers(
        &self,
        emit: &Emitter<'_, '_>,
        change: RegisterChange,
        registers: u32,
    ) -> Result<(), CompileError> {
        let _ = (emit, change, registers);
        Err(CompileError::Unsupported("the target's lanes keep the registers of the launch".to_owned()))
    }

    /// Emits the index of the executing block in its cluster, `i32`.
    ///
    /// # Errors
    /// [`CompileError::Unsupported`] if the target has no clusters.
    fn block_in_cluster<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let _ = emit;
        Err(no_clusters_error())
    }

    /// Maps a pointer to shared memory to the same offset in the shared memory of block `block` of the cluster. The
    /// result is a pointer in the address space [`LlvmTarget::cluster`].
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
        Err(no_clusters_error())
    }

    /// Returns the selector for [`TargetDialect::permute_bytes`] that makes result byte `i` the source byte `bytes[i]`
    /// (0 to 7).
    fn byte_selector(&self, bytes: [u8; 4]) -> u32;

    /// Emits a byte permute: the result has four of the eight bytes of `a` and `b`, chosen by a selector in the
    /// dialect's form. Source bytes 0 to 3 are those of `a`, 4 to 7 those of `b`.
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

    /// Emits an instruction of the vendor's instruction table on operands with the given types. The implementation must
    /// return one value for each type in `results`.
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
