//! Code generation for AMD GPUs: kernel IR through LLVM to AMDGCN assembly and linked code objects.
//!
//! Output forms (of `CompileOptions`): `Intermediate` is LLVM IR, `Assembly` is AMDGCN assembly, `Object` is a code
//! object (ELF) of LLVM's default version for the processor.

mod buffer;
mod conversion;
mod dpp;
mod instruction;
mod order;
mod sink;

use tilewright_kernel::{
    Cast, CollectiveScope, Element, Kernel, MathFunction, MemoryScope, MemorySpace, Module, Op, Queue, Type,
};
use tilewright_llvm::values::{BasicValueEnum, IntValue};
use tilewright_llvm::{
    AsynchronousDialect, Emitter, FenceOrdering, KernelDeclaration, LlvmOutputKind, LlvmTarget, PredicatedAccess,
    SharedMemoryDeclaration, TargetDialect, find_completion_queue, unsupported_cast_error,
    unsupported_completion_queue_error, unsupported_math_function_error,
};
use tilewright_plugin::codegen::{check_compilable_as_device_functions, check_limits, list_kernel_launch_metadata};
use tilewright_plugin::{Artifact, CodeFormat, CodePayload, CompileError, CompileOptions, find_and_check_instruction};
use tilewright_target::{Instruction, Optimization, OptimizationSet, ShuffleKind, ShufflePrimitive, TargetDescription};

use crate::object;

/// LLVM's number of the calling convention `amdgpu_kernel`.
const AMDGPU_KERNEL: u32 = 91;

/// Compiles a kernel-IR module for a target, to the output forms that the options request.
pub(crate) fn compile(
    target: &TargetDescription,
    rows: &[Instruction],
    module: &Module,
    options: &CompileOptions,
) -> Result<Artifact, CompileError> {
    check_limits(target, module)?;
    let dialect = Amdgcn { target, rows, disabled: options.disabled };
    let module = &sink::sink_operand_computations(module);
    let mut forms = Vec::new();
    for emit in &options.emit {
        match emit {
            CodeFormat::Intermediate => forms.push(LlvmOutputKind::Intermediate),
            CodeFormat::Assembly => forms.push(LlvmOutputKind::Assembly),
            CodeFormat::Object => forms.push(LlvmOutputKind::Object),
            CodeFormat::Functions => {
                check_compilable_as_device_functions(target, module)?;
                forms.push(LlvmOutputKind::Functions);
            }
            _ => {}
        }
    }
    let foreign = has_assembly(module);
    if foreign && !forms.contains(&LlvmOutputKind::Object) {
        // LLVM validates inline assembly only when it assembles an object.
        forms.push(LlvmOutputKind::Object);
    }
    let code = tilewright_llvm::compile_module(&dialect, module, options.optimisation, &forms);
    let code = code.map_err(|error| if foreign { refused_assembly(error) } else { error })?;
    let mut payloads = Vec::new();
    let mut add = |form, format: &str, bytes| {
        payloads.push(CodePayload { form, format: format.to_owned(), bytes, may_differ: false })
    };
    if let Some(text) = code.intermediate {
        add(CodeFormat::Intermediate, "ll", text.into_bytes());
    }
    if let Some(text) = code.assembly {
        add(CodeFormat::Assembly, "s", text);
    }
    if let Some(object) = code.object.filter(|_| options.emit.contains(&CodeFormat::Object)) {
        add(CodeFormat::Object, "hsaco", object::link(&object)?);
    }
    if let Some(bitcode) = code.functions {
        add(CodeFormat::Functions, "bc", bitcode);
    }
    let has_object = payloads.iter().any(|payload| payload.form == CodeFormat::Object);
    let accepted_by = has_object.then(|| "LLVM's assembler and linker".to_owned());
    Ok(Artifact { payloads, kernels: list_kernel_launch_metadata(module, rows)?, accepted_by })
}

/// Whether a kernel of the module has inline assembly, which may be another vendor's.
fn has_assembly(module: &Module) -> bool {
    let statements = module.kernels.iter().flat_map(Kernel::statements);
    statements.into_iter().any(|statement| matches!(statement.op, Op::Assembly { .. }))
}

/// Turns an assembler error into [`CompileError::Unsupported`]. Used for modules with inline assembly, which may be
/// another vendor's.
fn refused_assembly(error: CompileError) -> CompileError {
    match error {
        CompileError::Backend(message) => {
            CompileError::Unsupported(format!("assembly that this target does not support: {message}"))
        }
        other => other,
    }
}

/// The AMDGCN dialect: the target-specific part of the translation of kernel IR to LLVM IR.
struct Amdgcn<'a> {
    target: &'a TargetDescription,
    rows: &'a [Instruction],
    disabled: OptimizationSet,
}

impl Amdgcn<'_> {
    /// Returns the number of lanes of the processor's vector units: 64, or 32 on processors that execute a wave of 64
    /// lanes as two halves.
    fn native_lanes(&self) -> u32 {
        if self.target.architecture.starts_with("gfx9") { 64 } else { 32 }
    }

    /// Whether masked accesses go through buffer descriptors, whose format differs on processors with 32 native lanes.
    fn has_buffers(&self) -> bool {
        self.native_lanes() == 64 && !self.disabled.contains(Optimization::PredicatedAccesses)
    }

    /// Whether the processor supports kernels with this many lanes in a warp (wave).
    fn has_lanes(&self, lanes: u32) -> bool {
        let has_wave64 = self.native_lanes() == 32 && !self.target.architecture.starts_with("gfx125");
        lanes == self.native_lanes() || has_wave64 && lanes == 64
    }
}

impl AsynchronousDialect for Amdgcn<'_> {
    fn queue_of(&self, name: &str) -> Option<Queue> {
        find_completion_queue(self.rows, name)
    }

    /// Emits nothing: loads to LDS complete in order, and a wait counts loads, so a group needs no commit instruction.
    fn commit(&self, _emit: &Emitter<'_, '_>, queue: Queue) -> Result<(), CompileError> {
        if queue == Queue::Copies { Ok(()) } else { Err(unsupported_completion_queue_error(queue)) }
    }

    /// Waits until at most `outstanding` groups are in flight. The hardware counts loads, and each group has at least
    /// `min_outstanding` of them, so up to `outstanding * min_outstanding` loads may stay in flight. Loads issued after
    /// the groups only make the wait longer than necessary.
    fn wait(
        &self,
        emit: &Emitter<'_, '_>,
        queue: Queue,
        outstanding: u32,
        min_outstanding: u32,
    ) -> Result<(), CompileError> {
        if queue != Queue::Copies {
            return Err(unsupported_completion_queue_error(queue));
        }
        let loads = emit.i32(order::loads_outstanding(outstanding.saturating_mul(min_outstanding)));
        emit.call_intrinsic("llvm.amdgcn.s.waitcnt", &[], &[loads.into()])?;
        emit.fence(FenceOrdering::Acquire, "wavefront", order::SHARED_ONLY)
    }
}

impl TargetDialect for Amdgcn<'_> {
    fn llvm_target(&self) -> LlvmTarget {
        LlvmTarget {
            triple: "amdgcn-amd-amdhsa".to_owned(),
            cpu: self.target.architecture.clone(),
            features: String::new(),
            global: 1,
            shared: 3,
            cluster: None,
        }
    }

    fn loop_property(&self, _stores: bool) -> Option<&'static str> {
        self.disabled.contains(Optimization::LoopUnrolling).then_some("llvm.loop.unroll.disable")
    }

    fn kernel(&self, kernel: &Kernel) -> Result<KernelDeclaration, CompileError> {
        let lanes = kernel.launch.lanes * kernel.launch.warps;
        if !self.has_lanes(kernel.launch.lanes) {
            let (lanes, processor) = (kernel.launch.lanes, &self.target.architecture);
            return Err(CompileError::Unsupported(format!(
                "kernel `{}`: {processor} has no warps of {lanes} lanes",
                kernel.name
            )));
        }
        let attribute = |name: &str, value: String| (name.to_owned(), value);
        let mut attributes = vec![
            attribute("amdgpu-flat-work-group-size", format!("{lanes},{lanes}")),
            attribute("uniform-work-group-size", "true".to_owned()),
        ];
        if self.native_lanes() == 32 {
            attributes.push(attribute("target-cpu", self.target.architecture.clone()));
            attributes.push(attribute("target-features", format!("+wavefrontsize{}", kernel.launch.lanes)));
        }
        Ok(KernelDeclaration {
            calling_convention: AMDGPU_KERNEL,
            attributes,
            metadata: vec![("reqd_work_group_size".to_owned(), vec![lanes, 1, 1])],
            protected: true,
            shared: SharedMemoryDeclaration::Static,
            map: None,
        })
    }

    fn lane<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        // `mbcnt` counts the set mask bits below this lane, which is the lane's index if all bits are set.
        let all = emit.i32(u32::MAX);
        let low = emit.call_i32_intrinsic("llvm.amdgcn.mbcnt.lo", &[all, emit.i32(0)])?;
        if emit.launch().lanes <= 32 { Ok(low) } else { emit.call_i32_intrinsic("llvm.amdgcn.mbcnt.hi", &[all, low]) }
    }

    /// Emits the warp's index at the start of the kernel, because LLVM moves neither `readfirstlane` nor operations on
    /// its result out of a loop.
    fn warp<'ctx>(&self, emit: &Emitter<'_, 'ctx>) -> Result<IntValue<'ctx>, CompileError> {
        let emit = emit.at_kernel_start()?;
        let item = emit.call_i32_intrinsic("llvm.amdgcn.workitem.id.x", &[])?;
        let warp = emit.shift_right(item, emit.launch().lanes.trailing_zeros())?;
        let name = "llvm.amdgcn.readfirstlane";
        emit.expect_integer_result(name, emit.call_intrinsic(name, &[warp.get_type().into()], &[warp.into()])?)
    }

    fn block_index<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        let axis = ["x", "y", "z"][usize::from(axis) % 3];
        emit.call_i32_intrinsic(&format!("llvm.amdgcn.workgroup.id.{axis}"), &[])
    }

    fn grid_size<'ctx>(&self, emit: &Emitter<'_, 'ctx>, axis: u8) -> Result<IntValue<'ctx>, CompileError> {
        // The implicit arguments of a kernel begin with the three block counts of the grid (LLVM, AMDGPU usage, code
        // object V5, hidden_block_count_x).
        let name = "llvm.amdgcn.implicitarg.ptr";
        match emit.call_intrinsic(name, &[], &[])? {
            Some(BasicValueEnum::PointerValue(hidden)) => emit.load_i32(hidden, 4 * u32::from(axis)),
            _ => Err(CompileError::Backend(format!("LLVM's intrinsic `{name}` does not return a pointer"))),
        }
    }

    fn memory_scope(&self, scope: MemoryScope) -> &'static str {
        match scope {
            MemoryScope::Block => "workgroup",
            MemoryScope::Device => "agent",
            MemoryScope::System => "",
        }
    }

    /// Returns LLVM annotations that permit hardware float atomics, which may flush subnormals. They apply to block and
    /// device scope, since only an atomic of system scope may access memory that other devices or the host use during
    /// the kernel.
    fn atomic_annotations(&self, space: MemorySpace, scope: MemoryScope) -> &'static [&'static str] {
        match (space, scope) {
            (MemorySpace::Global, MemoryScope::Block | MemoryScope::Device) => {
                &["amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory", "amdgpu.ignore.denormal.mode"]
            }
            _ => &[],
        }
    }

    fn predicated_load<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        access: &PredicatedAccess<'ctx>,
        other: BasicValueEnum<'ctx>,
    ) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
        if self.has_buffers() { buffer::load(emit, access, other) } else { Ok(None) }
    }

    fn predicated_store<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        access: &PredicatedAccess<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> Result<bool, CompileError> {
        Ok(self.has_buffers() && buffer::store(emit, access, value)?)
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
            // LLVM adds code around the instruction so that subnormals are handled exactly.
            (MathFunction::Exp2, Element::F32, &[a]) if listed => {
                emit.call_intrinsic_overloaded_by_operand("llvm.exp2", a)
            }
            (MathFunction::Log2, Element::F32, &[a]) if listed => {
                emit.call_intrinsic_overloaded_by_operand("llvm.log2", a)
            }
            (MathFunction::Rsqrt, Element::F32, &[a]) if listed => {
                emit.scale_if_subnormal(a.into_float_value(), [2f64.powi(24), 2f64.powi(12)], |a| {
                    emit.call_intrinsic_overloaded_by_operand("llvm.amdgcn.rsq", a)
                })
            }
            _ => Err(unsupported_math_function_error(function, element)),
        }
    }

    fn convert_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        cast: Cast,
        operand: (Type, BasicValueEnum<'ctx>),
        to: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let listed = to.element().and_then(|wide| self.target.find_native_function(cast.name(), wide.name()));
        if listed.is_some() {
            conversion::emit(emit, cast, operand, to)
        } else {
            Err(unsupported_cast_error(cast, operand.0, to))
        }
    }

    /// Hides a loop-carried global pointer from LLVM's strength reduction by an intrinsic that returns its operand, and
    /// that LLVM removes after strength reduction.
    fn carried<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        ty: Type,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        match ty {
            Type::Pointer(MemorySpace::Global) => {
                emit.call_intrinsic_overloaded_by_operand("llvm.strip.invariant.group", value)
            }
            _ => Ok(value),
        }
    }

    /// Emits a barrier of LLVM's scheduler, where the end of the branch's block has been.
    fn keep_loads_before(&self, emit: &Emitter<'_, '_>) -> Result<(), CompileError> {
        emit.call_wait("llvm.amdgcn.sched.barrier", order::NOTHING_CROSSES)
    }

    /// Accepts any text, since LLVM's assembler validates it.
    fn check_assembly(&self, _text: &str) -> Result<(), CompileError> {
        Ok(())
    }

    fn shuffle<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        lane: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let address = emit.shift_left(lane, 2)?;
        let near = emit.call_i32_intrinsic("llvm.amdgcn.ds.bpermute", &[address, value])?;
        if emit.launch().lanes == self.native_lanes() {
            return Ok(near);
        }
        // On processors with 32 native lanes, `ds_bpermute` in a wave of 64 reads only within each half. So the shuffle
        // also reads values that were swapped between the halves, and selects by the source lane's half.
        let name = "llvm.amdgcn.permlane64";
        let swapped =
            emit.expect_integer_result(name, emit.call_intrinsic(name, &[value.get_type().into()], &[value.into()])?)?;
        let far = emit.call_i32_intrinsic("llvm.amdgcn.ds.bpermute", &[address, swapped])?;
        let other_half = emit.and(emit.xor(lane, self.lane(emit)?)?, 32)?;
        emit.select_if_zero(other_half, near, far)
    }

    fn shuffle_xor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: IntValue<'ctx>,
        mask: u32,
    ) -> Result<IntValue<'ctx>, CompileError> {
        let listed = self.target.lane_xors(u32::BITS).contains(u64::from(mask));
        match dpp::across(mask, self.native_lanes()) {
            Some(across) if listed => across.emit(emit, value),
            None if listed => {
                // The swap gives every lane its own value and that of lane `i ^ mask`; the select takes the latter.
                let [from_below, from_above] = self.swap(emit, value, value, mask)?;
                let is_above = emit.and(self.lane(emit)?, mask)?;
                emit.select_if_zero(is_above, from_above, from_below)
            }
            _ => self.shuffle(emit, value, emit.xor(self.lane(emit)?, emit.i32(mask))?),
        }
    }

    fn swap<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        lane: u32,
    ) -> Result<[IntValue<'ctx>; 2], CompileError> {
        let row = |row: &&ShufflePrimitive| row.kind == ShuffleKind::Swap && row.lanes.contains(&lane);
        if !self.target.shuffles.iter().any(|found| row(&found)) {
            let processor = &self.target.architecture;
            return Err(CompileError::Unsupported(format!("{processor} does not swap lanes that differ by {lane}")));
        }
        if let Some(swapped) = dpp::emit_swap(emit, [a, b], lane, self.native_lanes())? {
            return Ok(swapped);
        }
        // Both flags are off: source lanes are all active and in bounds.
        let [fetch_inactive, bound_control] = [false, false].map(|flag| emit.i1(flag));
        emit.call_pair_intrinsic(&format!("llvm.amdgcn.permlane{lane}.swap"), &[a, b, fetch_inactive, bound_control])
    }

    fn barrier(&self, emit: &Emitter<'_, '_>, scope: CollectiveScope) -> Result<(), CompileError> {
        order::barrier(emit, &self.target.architecture, scope)
    }

    fn fence(&self, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<(), CompileError> {
        order::fence(self, emit, scope)
    }

    fn release(&self, emit: &Emitter<'_, '_>, scope: MemoryScope) -> Result<bool, CompileError> {
        order::release(self, emit, scope, "release").map(|()| true)
    }

    /// Hides the divisor by assembly without text. Code for divisions has no undefined results.
    fn opaque_divisor<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        divisor: IntValue<'ctx>,
        is_scalar: bool,
    ) -> Result<Option<IntValue<'ctx>>, CompileError> {
        let constraints = match (divisor.get_type().get_bit_width(), is_scalar) {
            (32 | 64, true) => "=s,0",
            (16 | 32 | 64, false) => "=v,0",
            _ => return Ok(None),
        };
        let hidden = emit.pure_assembly("", constraints, &[divisor.into()], &[divisor.get_type().into()])?;
        hidden.first().map(|&copy| emit.expect_integer_result("assembly", Some(copy))).transpose()
    }

    fn byte_selector(&self, bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(bytes)
    }

    fn permute_bytes<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        selector: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, CompileError> {
        // `v_perm` numbers the bytes of its second operand 0 to 3, and those of its first operand 4 to 7.
        emit.call_i32_intrinsic("llvm.amdgcn.perm", &[b, a, selector])
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
