//! Lowers one kernel: its entry point, its values, and the statements of its regions.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, ExecutionMode, ExecutionModel, FunctionControl, Op, Word};
use tilewright_kernel::{Element, Kernel, MathFunction, MemorySpace, Op as KernelOp, SpecialRegister, Type, Value};
use tilewright_plugin::codegen::{
    ValueMap, generate_body, invalid_module_error, prefix_error_with_kernel_name, unsupported_kernel_error,
};
use tilewright_plugin::{CompileError, find_and_check_instruction};
use tilewright_target::InstructionKind;

use super::CompileTarget;
use super::emit::{Emitter, backend};
use super::emitted::{EmittedValue, check_type};
use super::memory::Access;
use super::ordered::Ordered;

/// Maximum bytes of a debug name, so that it fits in one SPIR-V instruction.
const MAX_NAME: usize = 1024;

/// Maximum number of parameters of a SPIR-V function.
const MAX_PARAMETERS: usize = 255;

/// Minimum alignment of shared memory in bytes: the size of a lane's widest access.
const SHARED_ALIGNMENT: u32 = 16;

/// The state of the lowering of one kernel.
pub(super) struct Lowering<'a> {
    pub(super) emitter: &'a mut Emitter,
    target: CompileTarget<'a>,
    kernel: &'a Kernel,
    pub(super) values: ValueMap<EmittedValue>,
    /// Ids of the built-in input variables that the kernel reads, which its entry point must list.
    inputs: Vec<Word>,
    /// For each shared buffer of the kernel, its byte offset in shared memory.
    offsets: Vec<u64>,
    shared: Option<Word>,
}

/// Appends a kernel to the SPIR-V module.
pub(super) fn lower<'a>(
    target: CompileTarget<'a>,
    emitter: &'a mut Emitter,
    kernel: &'a Kernel,
) -> Result<(), CompileError> {
    let mut lowering = Lowering {
        emitter,
        target,
        kernel,
        values: ValueMap::default(),
        inputs: Vec::new(),
        offsets: Vec::new(),
        shared: None,
    };
    lowering.lower().map_err(|error| prefix_error_with_kernel_name(error, kernel))
}

impl Lowering<'_> {
    fn lower(&mut self) -> Result<(), CompileError> {
        let kernel = self.kernel;
        if kernel.name.len() > MAX_NAME {
            return Err(unsupported_kernel_error(format!("names have at most {MAX_NAME} letters here")));
        }
        if kernel.parameters.len() > MAX_PARAMETERS {
            return Err(unsupported_kernel_error(format!(
                "{} parameters; there can be {MAX_PARAMETERS}",
                kernel.parameters.len()
            )));
        }
        for parameter in &kernel.parameters {
            check_type(parameter.ty)?;
        }
        self.reserve_shared();
        self.function()
    }

    fn reserve_shared(&mut self) {
        let (offsets, bytes) = self.kernel.shared_offsets();
        if !self.kernel.shared.is_empty() {
            let alignments = self.kernel.shared.iter().map(|buffer| buffer.alignment);
            let alignment = alignments.fold(SHARED_ALIGNMENT, u32::max);
            // A SPIR-V array needs at least one element, even if all buffers are empty.
            self.shared = Some(self.emitter.shared_variable(bytes.max(1) as u32, alignment));
        }
        self.offsets = offsets;
    }

    fn function(&mut self) -> Result<(), CompileError> {
        let kernel = self.kernel;
        let types: Vec<Word> = kernel.parameters.iter().map(|parameter| self.parameter_type(parameter.ty)).collect();
        let void = self.emitter.void();
        let function_type = self.emitter.function_type(void, &types);
        let builder = self.emitter.builder();
        let function = builder.begin_function(void, None, FunctionControl::NONE, function_type).map_err(backend)?;
        let words = types.iter().map(|&ty| builder.function_parameter(ty)).collect::<Result<Vec<_>, _>>();
        let words = words.map_err(backend)?;
        self.name(function, &kernel.name);
        for (&word, parameter) in words.iter().zip(&kernel.parameters) {
            self.name(word, &parameter.name);
        }
        let entry = self.emitter.label();
        self.emitter.begin_block(entry)?;
        let received = words.iter().zip(&kernel.parameters);
        let received = received.map(|(&word, parameter)| self.received(word, parameter.ty));
        let parameters = received.collect::<Result<Vec<_>, _>>()?;
        generate_body(self, kernel, parameters)?;
        self.emitter.effect(Op::Return, Vec::new())?;
        self.emitter.declare_arrays()?;
        let builder = self.emitter.builder();
        builder.end_function().map_err(backend)?;
        self.entry_point(function);
        Ok(())
    }

    /// Returns the SPIR-V type of a kernel parameter of type `ty`. A boolean is passed as a byte, because SPIR-V
    /// kernels cannot have boolean parameters.
    fn parameter_type(&mut self, ty: Type) -> Word {
        self.emitter.id_type(if ty == Type::Scalar(Element::I1) { Type::Scalar(Element::I8) } else { ty })
    }

    fn received(&mut self, word: Word, ty: Type) -> Result<EmittedValue, CompileError> {
        let boolean = ty == Type::Scalar(Element::I1);
        let word = if boolean { self.emitter.lowest_bit(Element::I8, 1, word)? } else { word };
        Ok(EmittedValue::new(ty, vec![word]))
    }

    /// Emits the debug name of an id; omitted if the name is empty, too long or not printable.
    fn name(&mut self, id: Word, name: &str) {
        if name.len() <= MAX_NAME && !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic()) {
            self.emitter.builder().name(id, name);
        }
    }

    fn entry_point(&mut self, function: Word) {
        let (lanes, warps) = (self.kernel.launch.lanes, self.kernel.launch.warps);
        self.emitter.need(Capability::SubgroupDispatch);
        let builder = self.emitter.builder();
        builder.entry_point(ExecutionModel::Kernel, function, self.kernel.name.as_str(), &self.inputs);
        builder.execution_mode(function, ExecutionMode::LocalSize, [lanes * warps, 1, 1]);
        builder.execution_mode(function, ExecutionMode::SubgroupSize, [lanes]);
        // Without contraction, each multiplication and addition is rounded separately, as the kernel IR requires.
        builder.execution_mode(function, ExecutionMode::ContractionOff, []);
    }

    // Values.

    /// Returns the emitted value of a value of the kernel IR.
    pub(super) fn get(&self, value: Value) -> Result<EmittedValue, CompileError> {
        self.values.get(value)
    }

    /// Returns the id of a value that must be a scalar of type `element`; an error otherwise.
    pub(super) fn scalar(&self, value: Value, element: Element) -> Result<Word, CompileError> {
        self.values.get_typed(value, Type::Scalar(element))?.scalar()
    }

    // Operations.

    /// Emits an operation that has no nested regions, and returns its results.
    pub(super) fn append(
        &mut self,
        op: &KernelOp,
        results: &[(Value, Type)],
    ) -> Result<Vec<EmittedValue>, CompileError> {
        match (op, results) {
            (KernelOp::Instruction { name, operands }, _) => self.instruction(name, operands, results),
            (op, &[(_, ty)]) if op.has_single_result() => Ok(vec![self.result(op, ty)?]),
            (op, _) => self.effect(op).map(|()| Vec::new()),
        }
    }

    fn result(&mut self, op: &KernelOp, ty: Type) -> Result<EmittedValue, CompileError> {
        match op {
            KernelOp::Constant { bits } => self.constant(ty, *bits),
            KernelOp::Unspecified {} => Ok(self.emitter.unspecified_value(ty)),
            KernelOp::Special(register) => self.special(*register),
            KernelOp::Clock { counter } => self.emitter.clock(*counter),
            KernelOp::SharedAddress { buffer } => self.shared_address(*buffer),
            KernelOp::Load { pointer, predicate, offset, alignment, other } => {
                let access = (*pointer, *offset, *alignment);
                let other = other.map(|other| self.get(other)).transpose()?;
                self.predicated_or(*predicate, Some(ty), other, |this| this.load(access, ty).map(Some))?
                    .ok_or_else(|| invalid_module_error("a load without result"))
            }
            KernelOp::AtomicRmw { op, pointer, value, predicate, order, scope } => {
                let how = Ordered { order: *order, scope: *scope };
                self.predicated(*predicate, Some(ty), |this| this.atomic_rmw(*op, *pointer, *value, how).map(Some))?
                    .ok_or_else(|| invalid_module_error("an atomic operation without result"))
            }
            KernelOp::AtomicCompareExchange { pointer, expected, value, predicate, order, scope } => {
                let how = Ordered { order: *order, scope: *scope };
                let change = |this: &mut Self| this.atomic_compare_exchange(*pointer, *expected, *value, how).map(Some);
                self.predicated(*predicate, Some(ty), change)?
                    .ok_or_else(|| invalid_module_error("an atomic operation without result"))
            }
            KernelOp::Shuffle { kind, value, lane, issuers } => {
                let (value, lane) = (self.get(*value)?, self.get(*lane)?);
                self.emitter.shuffle(*kind, &value, &lane, *issuers)
            }
            KernelOp::ShuffleXor { value, mask, issuers } => {
                let value = self.get(*value)?;
                self.emitter.shuffle_xor(&value, *mask, *issuers)
            }
            _ => self.computed(op, ty),
        }
    }

    /// Emits an operation without side effects, whose result depends only on its operands.
    fn computed(&mut self, op: &KernelOp, ty: Type) -> Result<EmittedValue, CompileError> {
        let operands = self.values.get_all(&op.operands())?;
        match (op, operands.as_slice()) {
            (KernelOp::Unary { op, .. }, [a]) => self.emitter.unary(*op, a),
            (KernelOp::Binary { op, .. }, [a, b]) => self.emitter.binary(*op, a, b),
            (KernelOp::Fma { .. }, [a, b, c]) => self.emitter.fma(a, b, c),
            (KernelOp::Compare { op, .. }, [a, b]) => self.emitter.compare(*op, a, b),
            (KernelOp::Math { function, .. }, [a]) if self.has_function(*function, a) => {
                self.emitter.math(*function, a)
            }
            (KernelOp::Math { function, .. }, _) => Err(unsupported_kernel_error(format!(
                "`{}` is not an operation of this target: expand it before",
                function.name()
            ))),
            (KernelOp::Select { .. }, [condition, a, b]) => self.emitter.select(condition, a, b),
            (KernelOp::Cast { op, .. }, [a]) => self.emitter.cast(*op, a, ty),
            (KernelOp::Pack { .. }, elements) => self.emitter.pack(elements, ty),
            (KernelOp::Extract { index, .. }, [vector]) => self.emitter.extract_element(vector, *index),
            (KernelOp::PermuteBytes { selector, .. }, [a, b]) => self.emitter.permute_bytes(a, b, *selector),
            (KernelOp::PermuteBytes { selector, alternative: Some((_, other)), .. }, [a, b, condition]) => {
                let (chosen, usual) =
                    (self.emitter.permute_bytes(a, b, *other)?, self.emitter.permute_bytes(a, b, *selector)?);
                self.emitter.select(condition, &chosen, &usual)
            }
            (KernelOp::PtrAdd { .. }, [pointer, bytes]) => self.emitter.ptr_add(pointer, bytes),
            (other, _) => Err(unsupported_kernel_error(format!("operation `{}`", other.name()))),
        }
    }

    fn has_function(&self, function: MathFunction, a: &EmittedValue) -> bool {
        let element = a.ty.element().map_or("", Element::name);
        self.target.description.find_native_function(function.name(), element).is_some()
    }

    fn effect(&mut self, op: &KernelOp) -> Result<(), CompileError> {
        match op {
            KernelOp::Store { pointer, value, predicate, offset, alignment } => {
                let access = (*pointer, *offset, *alignment);
                self.predicated(*predicate, None, |this| this.store(access, *value).map(|()| None)).map(drop)
            }
            KernelOp::Barrier { scope, issuers } => self.emitter.barrier(*scope, *issuers),
            KernelOp::Fence { scope } => self.fence(*scope),
            // Kernels cannot abort or print here. A grid dependency needs no code, because consecutive launches do not
            // overlap.
            KernelOp::Assert { .. } | KernelOp::Print { .. } => {
                op.operands().into_iter().try_for_each(|value| self.get(value).map(drop))
            }
            KernelOp::GridDependency { .. } => Ok(()),
            other => Err(unsupported_kernel_error(format!("operation `{}`", other.name()))),
        }
    }

    fn instruction(
        &mut self,
        name: &str,
        operands: &[Value],
        results: &[(Value, Type)],
    ) -> Result<Vec<EmittedValue>, CompileError> {
        let emitted = self.values.get_all(operands)?;
        let given: Vec<Type> = emitted.iter().map(|emitted| emitted.ty).collect();
        let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
        let row = find_and_check_instruction(self.target.instructions, name, self.kernel.launch, &given, &types)?;
        if row.kind == InstructionKind::Prefetch {
            return self.emitter.prefetch(row, &emitted).map(|()| Vec::new());
        }
        let &[(_, ty)] = results else {
            return Err(unsupported_kernel_error(format!("instruction `{name}` has no code")));
        };
        let value = match row.kind {
            InstructionKind::GlobalMove => self.emitter.block_read(row, &emitted, ty)?,
            _ => self.emitter.instruction(row, &emitted, ty)?,
        };
        Ok(vec![value])
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Result<EmittedValue, CompileError> {
        let width = ty.element().map_or(ty.bits(), Element::bits);
        if width < 64 && bits >> width != 0 {
            return Err(invalid_module_error(format!("{bits:#x} has more than {width} bits")));
        }
        if ty == Type::Pointer(MemorySpace::Global) {
            let address = self.emitter.constant_value(Type::Scalar(Element::I64), bits);
            return self.emitter.bits(&address, ty);
        }
        Ok(self.emitter.constant_value(ty, bits))
    }

    fn special(&mut self, register: SpecialRegister) -> Result<EmittedValue, CompileError> {
        let i32 = Type::Scalar(Element::I32);
        let word = match register {
            SpecialRegister::Lane => self.input(BuiltIn::SubgroupLocalInvocationId, Element::I32, 1)?,
            SpecialRegister::Warp => self.input(BuiltIn::SubgroupId, Element::I32, 1)?,
            SpecialRegister::Program(axis @ 0..=2) => self.along(BuiltIn::WorkgroupId, axis)?,
            SpecialRegister::Programs(axis @ 0..=2) => self.along(BuiltIn::NumWorkgroups, axis)?,
            SpecialRegister::Block => {
                return Err(unsupported_kernel_error("blocks of clusters: work-groups form none"));
            }
            SpecialRegister::Program(axis) | SpecialRegister::Programs(axis) => {
                return Err(invalid_module_error(format!("axis {axis}; a grid has axes 0 to 2")));
            }
        };
        Ok(EmittedValue::new(i32, vec![word]))
    }

    /// Emits the component along `axis` (0 to 2) of a built-in input such as the work-group id, as a 32-bit integer;
    /// the built-in itself has 64 bits.
    fn along(&mut self, which: BuiltIn, axis: u8) -> Result<Word, CompileError> {
        let (wide, narrow) = (self.emitter.element_type(Element::I64, 1), self.emitter.element_type(Element::I32, 1));
        let all = self.input(which, Element::I64, 3)?;
        let one = self.emitter.extract(wide, all, u32::from(axis))?;
        self.emitter.value(Op::UConvert, narrow, [one])
    }

    /// Returns the id of the kernel's variable in shared memory; `None` if the kernel uses no shared memory.
    pub(super) fn shared(&self) -> Option<Word> {
        self.shared
    }

    fn input(&mut self, which: BuiltIn, element: Element, count: u32) -> Result<Word, CompileError> {
        let ty = self.emitter.element_type(element, count);
        let variable = self.emitter.input(which, ty);
        if !self.inputs.contains(&variable) {
            self.inputs.push(variable);
        }
        self.emitter.with_operands(Op::Load, ty, vec![Operand::IdRef(variable)])
    }

    fn shared_address(&mut self, buffer: u32) -> Result<EmittedValue, CompileError> {
        let offset = self.offsets.get(buffer as usize).copied();
        let offset = offset.ok_or_else(|| invalid_module_error(format!("there is no shared buffer {buffer}")))?;
        Ok(self.emitter.constant_value(Type::Pointer(MemorySpace::Shared), offset))
    }

    fn load(
        &mut self,
        (pointer, offset, alignment): (Value, i32, u32),
        ty: Type,
    ) -> Result<EmittedValue, CompileError> {
        let pointer = self.get(pointer)?;
        self.emitter.load(&Access { pointer: &pointer, offset, alignment, shared: self.shared }, ty)
    }

    fn store(&mut self, (pointer, offset, alignment): (Value, i32, u32), value: Value) -> Result<(), CompileError> {
        let (pointer, value) = (self.get(pointer)?, self.get(value)?);
        self.emitter.store(&Access { pointer: &pointer, offset, alignment, shared: self.shared }, &value)
    }
}
