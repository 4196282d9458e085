//! The PTX dialect of the LLVM translation: kernel attributes, thread indices, shuffles, barriers and vendor
//! instructions.

use tilewright_kernel::{
    BarrierAction, Cast, CollectiveScope, Element, Kernel, MathFunction, MemoryScope, MemorySpace, RegisterChange, Type,
};
use tilewright_llvm::values::{BasicValueEnum, IntValue, PointerValue};
use tilewright_llvm::{
    AtomicUpdate, Emitter, KernelDeclaration, LlvmTarget, PredicatedAccess, SharedMemoryDeclaration, TargetDialect,
    TensorMapDeclaration, no_clusters_error, unsupported_cast_error, unsupported_math_function_error,
};
use tilewright_plugin::codegen::static_shared_bytes;
use tilewright_plugin::{CompileError, find_and_check_instruction};
use tilewright_target::{Instruction, Optimization, OptimizationSet, TargetDescription};

use super::capability::capability;
use super::segment::{SegmentLane, strip_mask};
use super::{chained_dots, conversion, instruction, load_loops, predicated, spills};

/// LLVM's number of the calling convention `ptx_kernel`.
const PTX_KERNEL: u32 = 71;

/// Number of lanes of a warp.
const WARP: u32 = 32;

/// Mask with every lane of a warp.
const ALL_LANES: u32 = u32::MAX;

/// Returns the form of a `CUtensorMap` parameter: 128 opaque bytes, aligned to 64, which stay in parameter memory.
fn map_form() -> TensorMapDeclaration {
    TensorMapDeclaration {
        bytes: 128,
        alignment: 64,
        attributes: vec![("nvvm.grid_constant".to_owned(), String::new())],
    }
}

/// Copies an integer by empty inline assembly, so that LLVM does not know its value; `None` if no register has its
/// width.
fn hide_from_llvm<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    value: IntValue<'ctx>,
) -> Result<Option<IntValue<'ctx>>, CompileError> {
    let constraints = match value.get_type().get_bit_width() {
        16 => "=h,0",
        32 => "=r,0",
        64 => "=l,0",
        _ => return Ok(None),
    };
    let hidden = emit.pure_assembly("", constraints, &[value.into()], &[value.get_type().into()])?;
    hidden.first().map(|&copy| emit.expect_integer_result("assembly", Some(copy))).transpose()
}

/// The PTX dialect: the target-specific part of the translation of kernel IR to LLVM IR.
pub(super) struct Ptx<'a> {
    pub(super) target: &'a TargetDescription,
    pub(super) rows: &'a [Instruction],
    /// Least PTX version, times ten, that the module's instructions need; `None` if LLVM's default version suffices.
    pub(super) version: Option<u32>,
    /// Whether a kernel uses tensor memory, so that thread synchronization needs `tcgen05` fences around it.
    pub(super) tensor: bool,
    /// Whether a kernel has MMAs of warp groups, during which `ptxas` must know which branches are uniform.
    pub(super) groups: bool,
    /// The optimizations that are disabled.
    pub(super) disabled: OptimizationSet,
}

impl Ptx<'_> {
    /// Returns an error if the target has no clusters, which came with compute capability 9.0.
    fn require_clusters(&self) -> Result<(), CompileError> {
        if self.target.limits.blocks_per_cluster > 1 { Ok(()) } else { Err(no_clusters_error()) }
    }

    /// Whether an optimization is enabled.
    fn enables(&self, optimization: Optimization) -> bool {
        !self.disabled.contains(optimization)
    }

    /// Returns the number of resident blocks that a kernel of `lanes` lanes and `bytes` bytes of shared memory states;
    /// `None` if it states none.
    fn resident_blocks(&self, kernel: &Kernel, lanes: u32, bytes: u64) -> Option<u32> {
        if !self.enables(Optimization::ResidentBlocks) {
            return None;
        }
        load_loops::resident_blocks(kernel, lanes, self.target)
            .or_else(|| chained_dots::resident_blocks(kernel, lanes, bytes, self.target))
            .or_else(|| spills::resident_blocks(kernel, self.target))
    }
}

impl TargetDialect for Ptx<'_> {
    fn llvm_target(&self) -> LlvmTarget {
        LlvmTarget {
            triple: "nvptx64-nvidia-cuda".to_owned(),
            cpu: self.target.architecture.clone(),
            // Without a feature `+ptxNN`, LLVM takes the lowest PTX version that supports the processor.
            features: self.version.map(|version| format!("+ptx{version}")).unwrap_or_default(),
            global: 1,
            shared: 3,
            cluster: Some(7),
        }
    }

    fn kernel(&self, kernel: &Kernel) -> Result<KernelDeclaration, CompileError> {
        if kernel.launch.lanes != WARP {
            let message = format!("kernel `{}`: warps of {} lanes; there are {WARP}", kernel.name, kernel.launch.lanes);
            return Err(CompileError::Unsupported(message));
        }
        let (lanes, bytes) = (WARP * kernel.launch.warps, static_shared_bytes(kernel)?);
        let mut attributes = vec![("nvvm.reqntid".to_owned(), format!("{lanes},1,1"))];
        if kernel.launch.registers > 0 {
            attributes.push(("nvvm.maxnreg".to_owned(), kernel.launch.registers.to_string()));
        } else if let Some(blocks) = self.resident_blocks(kernel, lanes, bytes) {
            attributes.push(("nvvm.minctasm".to_owned(), blocks.to_string()));
        }
        if kernel.launch.blocks > 1 {
            attributes.push(("nvvm.cluster_dim".to_owned(), format!("{},1,1", kernel.launch.blocks)));
        }
        // If a kernel needs more bytes than static shared memory may have, it uses dynamic shared memory, whose size
        // the launch passes.
        let fixed = bytes <= u64::from(self.target.shared.static_bytes);
        Ok(KernelDeclaration {
            calling_convention: PTX_KERNEL,
            attributes,
            metadata: Vec::new(),
            protected: false,
            map: Some(map_form()),
            shared: if fixed { SharedMemoryDeclaration::Static } else { SharedMemoryDeclaration::Dynamic },
        })
    }

    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let lane = emit.call_i32_intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", &[])?;
        emit.and(lane, WARP - 1)
    }

    fn thread_index<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<Option<IntValue<'ctx>>, CompileError> {
        emit.call_i32_intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", &[]).map(Some)
    }

    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let lane = emit.call_i32_intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", &[])?;
        emit.shift_right(lane, WARP.trailing_zeros())
    }

    /// Hides the index from LLVM, which would replace a comparison of `thread >> 5` by one of the thread's index.
    /// `ptxas` finds that the former is uniform in a warp, but not that the latter is, and would let each MMA of a warp
    /// group wait for the one before it.
    fn compared_warp<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        warp: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        if self.groups { hide_from_llvm(emit, warp)?.map_or(Ok(warp), Ok) } else { Ok(warp) }
    }

    fn block_index<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let axis = ["x", "y", "z"][usize::from(axis) % 3];
        emit.call_i32_intrinsic(&format!("llvm.nvvm.read.ptx.sreg.ctaid.{axis}"), &[])
    }

    fn grid_size<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let axis = ["x", "y", "z"][usize::from(axis) % 3];
        emit.call_i32_intrinsic(&format!("llvm.nvvm.read.ptx.sreg.nctaid.{axis}"), &[])
    }

    fn memory_scope(&self, scope: MemoryScope) -> &'static str {
        match scope {
            MemoryScope::Block => "block",
            MemoryScope::Device => "device",
            MemoryScope::System => "",
        }
    }

    fn atomic<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        atomic: &AtomicUpdate<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        super::atomic::emit(emit, &self.target.architecture, atomic)
    }

    fn predicated_load<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        access: &PredicatedAccess<'ctx>,
        other: BasicValueEnum<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        match self.enables(Optimization::PredicatedAccesses) {
            true => predicated::load(emit, access, other),
            false => Ok(None),
        }
    }

    fn predicated_store<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        access: &PredicatedAccess<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> Result<bool, CompileError> {
        Ok(self.enables(Optimization::PredicatedAccesses) && predicated::store(emit, access, value)?)
    }

    fn math<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        function: MathFunction,
        element: Element,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let listed = self.target.find_native_function(function.name(), element.name()).is_some();
        match (function, element, operands) {
            (MathFunction::Exp2, Element::F32, &[a]) if listed => {
                emit.call_intrinsic_overloaded_by_operand("llvm.nvvm.ex2.approx.ftz", a)
            }
            (MathFunction::Rsqrt, Element::F32, &[a]) if listed => {
                emit.call_value_intrinsic("llvm.nvvm.rsqrt.approx.ftz.f", &[a])
            }
            (MathFunction::Sqrt, Element::F32, &[a]) if listed => {
                emit.call_value_intrinsic("llvm.nvvm.sqrt.approx.ftz.f", &[a])
            }
            (MathFunction::Div, Element::F32, &[a, b]) if listed => {
                emit.call_value_intrinsic("llvm.nvvm.div.full", &[a, b])
            }
            _ => Err(unsupported_math_function_error(function, element)),
        }
    }

    fn uniform_in_warp<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        // ptxas keeps the result of a shuffle from one lane in a uniform register.
        let text = "shfl.sync.idx.b32 $0, $1, 0, 31, -1;";
        first_integer(&emit.pure_assembly(text, "=r,r", &[value.into()], &[value.get_type().into()])?)
    }

    fn shared_address<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let results = [emit.llvm_type(Type::Scalar(Element::I32))?];
        first_integer(&emit.pure_assembly("cvt.u32.u64 $0, $1;", "=r,l", &[pointer.into()], &results)?)
    }

    fn carried<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        ty: Type,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        if ty != Type::Pointer(MemorySpace::Global) || !self.enables(Optimization::PointerInduction) {
            return Ok(value);
        }
        let hidden = emit.pure_assembly("", "=l,0", &[value], &[value.get_type()])?;
        hidden.first().copied().ok_or_else(|| CompileError::Backend("assembly without a result".to_owned()))
    }

    fn contracts_additions(&self) -> bool {
        true
    }

    fn splits_vectors(&self) -> bool {
        true
    }

    fn adds_invariant_offsets_first(&self) -> bool {
        true
    }

    /// Disables LLVM's unrolling of loops with a trip count at run time, because `ptxas` unrolls them so that several
    /// loads are in flight. In a loop with stores, disables all unrolling: each load waits for the store before it,
    /// which may be to the same address.
    fn loop_property(&self, stores: bool) -> Option<&'static str> {
        let is_rolled = stores || !self.enables(Optimization::LoopUnrolling);
        Some(if is_rolled { "llvm.loop.unroll.disable" } else { "llvm.loop.unroll.runtime.disable" })
    }

    /// Any divisor is allowed, since PTX `div` and `rem` have some result for each.
    fn opaque_divisor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        divisor: IntValue<'ctx>,
        _is_scalar: bool,
    ) -> Result<Option<IntValue<'ctx>>, CompileError> {
        hide_from_llvm(emit, divisor)
    }

    /// `ptxas` moves the upper half of a word to a register before it extends the half.
    fn extends_bf16_in_words(&self) -> bool {
        true
    }

    fn integer_before_bf16<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        integer: BasicValueEnum<'ctx>,
        is_signed: bool,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        let is_needed = capability(&self.target.architecture) < conversion::BF16_OF_INTEGERS;
        is_needed.then(|| conversion::round_integer_before_bf16(emit, integer, is_signed)).transpose()
    }

    fn convert_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        cast: Cast,
        operand: (Type, BasicValueEnum<'ctx>),
        to: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let listed = [to, operand.0].into_iter().filter_map(Type::element).find(|element| element.is_float());
        match listed.and_then(|wide| self.target.find_native_function(cast.name(), wide.name())) {
            Some(_) => conversion::emit(emit, cast, operand, to),
            None => Err(unsupported_cast_error(cast, operand.0, to)),
        }
    }

    fn print<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        format: &str,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<(), CompileError> {
        emit.print_values("vprintf", format, values)
    }

    /// Accepts any text, because LLVM does not parse PTX; `ptxas` reports errors later.
    fn check_assembly(&self, _text: &str) -> Result<(), CompileError> {
        Ok(())
    }

    /// Emits `griddepcontrol` (programmatic dependent launch), which exists from compute capability 9.0 on; nothing for
    /// older targets.
    fn grid_dependency(&self, emit: &Emitter<'_, '_>, wait: bool) -> Result<(), CompileError> {
        if capability(&self.target.architecture) < 90 {
            return Ok(());
        }
        let name = if wait { "llvm.nvvm.griddepcontrol.wait" } else { "llvm.nvvm.griddepcontrol.launch.dependents" };
        emit.call_intrinsic(name, &[], &[]).map(|_| ())
    }

    fn shuffle<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        // The last operand has the last source lane of a segment, and, from bit 8 on, the bits that number segments.
        let (lane, segments) = match SegmentLane::find(lane) {
            Some(SegmentLane { kept, ones }) => (emit.i32(ones), kept),
            None => (strip_mask(lane), 0),
        };
        let bounds = emit.i32(segments << 8 | (WARP - 1));
        emit.call_i32_intrinsic("llvm.nvvm.shfl.sync.idx.i32", &[emit.i32(ALL_LANES), value, lane, bounds])
    }

    fn shuffle_xor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        mask: u32,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let last = emit.i32(WARP - 1);
        emit.call_i32_intrinsic("llvm.nvvm.shfl.sync.bfly.i32", &[emit.i32(ALL_LANES), value, emit.i32(mask), last])
    }

    fn barrier(&self, emit: &Emitter<'_, '_>, scope: CollectiveScope) -> Result<(), CompileError> {
        // All these barriers order the memory accesses of their lanes: `barrier.cluster.arrive` releases and
        // `barrier.cluster.wait` acquires.
        let calls = match scope {
            CollectiveScope::Warp => vec![("llvm.nvvm.bar.warp.sync", Some(emit.i32(ALL_LANES)))],
            CollectiveScope::Block => vec![("llvm.nvvm.barrier.cta.sync.aligned.all", Some(emit.i32(0)))],
            CollectiveScope::Cluster => {
                self.require_clusters()?;
                vec![
                    ("llvm.nvvm.barrier.cluster.arrive.aligned", None),
                    ("llvm.nvvm.barrier.cluster.wait.aligned", None),
                ]
            }
        };
        // Tensor memory accesses of one warp are ordered without a fence.
        self.emit_fenced_sync(emit, [scope != CollectiveScope::Warp; 2], || {
            calls.into_iter().try_for_each(|(intrinsic, operand)| {
                emit.call_intrinsic(intrinsic, &[], operand.map(Into::into).as_slice()).map(|_| ())
            })
        })
    }

    fn named_barrier(&self, emit: &Emitter<'_, '_>, number: u32, lanes: u32) -> Result<(), CompileError> {
        self.indexed_barrier(emit, BarrierAction::Sync, emit.i32(number).into(), lanes)
    }

    fn indexed_barrier<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        action: BarrierAction,
        number: BasicValueEnum<'ctx>,
        lanes: u32,
    ) -> Result<(), CompileError> {
        let (name, waits) = match action {
            BarrierAction::Sync => ("llvm.nvvm.barrier.cta.sync.aligned.count", true),
            BarrierAction::Arrive => ("llvm.nvvm.barrier.cta.arrive.aligned.count", false),
        };
        self.emit_fenced_sync(emit, [true, waits], || {
            emit.call_intrinsic(name, &[], &[number, emit.i32(lanes).into()]).map(|_| ())
        })
    }

    fn set_max_registers(
        &self,
        emit: &Emitter<'_, '_>,
        change: RegisterChange,
        registers: u32,
    ) -> Result<(), CompileError> {
        let name = match change {
            RegisterChange::Release => "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
            RegisterChange::Acquire => "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32",
        };
        emit.call_intrinsic(name, &[], &[emit.i32(registers).into()]).map(|_| ())
    }

    fn block_in_cluster<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        self.require_clusters()?;
        emit.call_i32_intrinsic("llvm.nvvm.read.ptx.sreg.cluster.ctarank", &[])
    }

    fn cluster_address<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        pointer: PointerValue<'ctx>,
        block: IntValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        self.require_clusters()?;
        let intrinsic = "llvm.nvvm.mapa.shared.cluster";
        let address = emit.call_intrinsic(intrinsic, &[], &[pointer.into(), block.into()])?;
        address.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{intrinsic}` has no result")))
    }

    fn byte_selector(&self, bytes: [u8; 4]) -> u32 {
        bytes.iter().rev().fold(0, |selector, &byte| selector << 4 | u32::from(byte))
    }

    fn permute_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        selector: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        emit.call_i32_intrinsic("llvm.nvvm.prmt", &[a, b, selector])
    }

    fn instruction<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        name: &str,
        operands: &[(Type, BasicValueEnum<'ctx>)],
        results: &[Type],
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        let types: Vec<Type> = operands.iter().map(|&(ty, _)| ty).collect();
        let row = find_and_check_instruction(self.rows, name, emit.launch(), &types, results)?;
        instruction::emit(emit, row, operands, results)
    }
}

/// Returns the only result of inline assembly, an integer.
fn first_integer<'ctx>(results: &[BasicValueEnum<'ctx>]) -> Result<IntValue<'ctx>, CompileError> {
    match results {
        [BasicValueEnum::IntValue(integer)] => Ok(*integer),
        _ => Err(CompileError::Backend("assembly without an integer result".to_owned())),
    }
}
