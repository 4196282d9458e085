//! One kernel: its entry point, its values, and the statements of its regions.

use std::collections::HashMap;

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, ExecutionMode, ExecutionModel, FunctionControl, Op, Word};
use tilewright_kernel::{
    Element, Kernel, MathFunction, MemorySpace, Op as KernelOp, Region, SpecialRegister, Statement, Type, Value,
};
use tilewright_plugin::{CompileError, issued_row};
use tilewright_target::InstructionKind;

use super::Machine;
use super::emit::{Emitter, backend};
use super::header::{MAX_NAME, check_header};
use super::held::{Held, check_type, invalid, unsupported};
use super::memory::Access;
use super::ordered::Ordered;

/// Regions may nest this deep.
const MAX_DEPTH: usize = 128;

/// The least alignment of shared memory: the widest access of a lane.
const SHARED_ALIGNMENT: u32 = 16;

/// A kernel being lowered.
pub(super) struct Lowering<'a> {
    pub(super) emitter: &'a mut Emitter,
    machine: Machine<'a>,
    kernel: &'a Kernel,
    /// The values that are visible where the lowering stands.
    values: HashMap<Value, Held>,
    /// Their numbers, in the order of definition.
    visible: Vec<Value>,
    /// Inputs that the kernel reads.
    inputs: Vec<Word>,
    /// Byte offsets of the shared buffers.
    offsets: Vec<u64>,
    shared: Option<Word>,
    depth: usize,
}

/// Appends a kernel to the module.
pub(super) fn lower<'a>(
    machine: Machine<'a>,
    emitter: &'a mut Emitter,
    kernel: &'a Kernel,
) -> Result<(), CompileError> {
    let mut lowering = Lowering {
        emitter,
        machine,
        kernel,
        values: HashMap::new(),
        visible: Vec::new(),
        inputs: Vec::new(),
        offsets: Vec::new(),
        shared: None,
        depth: 0,
    };
    let lowered =
        check_header(machine, kernel).and_then(|()| lowering.reserve_shared()).and_then(|()| lowering.function());
    lowered.map_err(|error| at(error, &format!("kernel `{}`", kernel.name)))
}

/// Puts the place in front of a message.
fn at(error: CompileError, place: &str) -> CompileError {
    match error {
        CompileError::Invalid(message) => CompileError::Invalid(format!("{place}: {message}")),
        CompileError::Unsupported(message) => CompileError::Unsupported(format!("{place}: {message}")),
        CompileError::Backend(message) => CompileError::Backend(format!("{place}: {message}")),
        other => other,
    }
}

/// A statement as a place: what it defines, the first of many, and its operation.
fn place(statement: &Statement) -> String {
    let shown = statement.results.iter().take(4).map(|(value, ty)| format!("%{}: {ty}", value.0));
    let mut results = shown.collect::<Vec<_>>().join(", ");
    if statement.results.len() > 4 {
        results.push_str(", ...");
    }
    if !results.is_empty() {
        results.push_str(" = ");
    }
    format!("`{results}{}`", statement.op.name())
}

impl Lowering<'_> {
    fn reserve_shared(&mut self) -> Result<(), CompileError> {
        let (offsets, bytes) = self.kernel.shared_offsets();
        let most = self.machine.description.shared.static_bytes;
        if bytes > u64::from(most) {
            return Err(invalid(format!("{bytes} bytes of shared memory; the target has {most}")));
        }
        if !self.kernel.shared.is_empty() {
            let alignments = self.kernel.shared.iter().map(|buffer| buffer.alignment);
            let alignment = alignments.fold(SHARED_ALIGNMENT, u32::max);
            // An array has at least one element, a buffer may have none.
            self.shared = Some(self.emitter.shared_variable(bytes.max(1) as u32, alignment));
        }
        self.offsets = offsets;
        Ok(())
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
        for (index, (&word, parameter)) in (0..).zip(words.iter().zip(&kernel.parameters)) {
            let held = self.received(word, parameter.ty)?;
            self.define(Value(index), held)?;
        }
        self.body(&kernel.body)?;
        self.emitter.effect(Op::Return, Vec::new())?;
        self.emitter.declare_arrays()?;
        let builder = self.emitter.builder();
        builder.end_function().map_err(backend)?;
        self.entry_point(function);
        Ok(())
    }

    /// Booleans cannot be passed to a kernel; they come as bytes.
    fn parameter_type(&mut self, ty: Type) -> Word {
        self.emitter.part_type(if ty == Type::Scalar(Element::I1) { Type::Scalar(Element::I8) } else { ty })
    }

    fn received(&mut self, word: Word, ty: Type) -> Result<Held, CompileError> {
        let boolean = ty == Type::Scalar(Element::I1);
        let word = if boolean { self.emitter.lowest_bit(Element::I8, 1, word)? } else { word };
        Ok(Held::new(ty, vec![word]))
    }

    /// Names are for people; one that would not print is left out.
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
        // Each product and sum is rounded by itself.
        builder.execution_mode(function, ExecutionMode::ContractionOff, []);
    }

    // Values.

    /// The value of this number.
    pub(super) fn get(&self, value: Value) -> Result<Held, CompileError> {
        let held = self.values.get(&value).cloned();
        held.ok_or_else(|| invalid(format!("value %{} is used where it is not defined", value.0)))
    }

    /// The id of a scalar of the given element.
    pub(super) fn scalar(&self, value: Value, element: Element) -> Result<Word, CompileError> {
        self.get(value)?.expect(Type::Scalar(element))?.scalar()
    }

    pub(super) fn define(&mut self, value: Value, held: Held) -> Result<(), CompileError> {
        if self.values.insert(value, held).is_some() {
            return Err(invalid(format!("value %{} is defined twice", value.0)));
        }
        self.visible.push(value);
        Ok(())
    }

    /// Runs `f` one region deeper; what it defines is forgotten afterwards.
    pub(super) fn scoped<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        if self.depth == MAX_DEPTH {
            return Err(unsupported(format!("regions nested more than {MAX_DEPTH} deep")));
        }
        let outside = self.visible.len();
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        for value in self.visible.drain(outside..) {
            self.values.remove(&value);
        }
        result
    }

    // Statements.

    fn body(&mut self, body: &Region) -> Result<(), CompileError> {
        for statement in &body.statements {
            self.statement(statement)?;
        }
        Ok(())
    }

    /// Lowers a nested region up to the values that it yields.
    pub(super) fn region(&mut self, region: &Region) -> Result<Vec<Held>, CompileError> {
        let Some((Statement { op: KernelOp::Yield { values }, results }, statements)) = region.statements.split_last()
        else {
            return Err(invalid("a region does not end with a yield"));
        };
        if !results.is_empty() {
            return Err(invalid("a yield has results"));
        }
        for statement in statements {
            self.statement(statement)?;
        }
        values.iter().map(|&value| self.get(value)).collect()
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), CompileError> {
        self.lower_statement(statement).map_err(|error| at(error, &place(statement)))
    }

    fn lower_statement(&mut self, statement: &Statement) -> Result<(), CompileError> {
        for &(_, ty) in &statement.results {
            check_type(ty)?;
        }
        match &statement.op {
            KernelOp::If { condition, then, otherwise } => {
                self.if_else(*condition, then, otherwise, &statement.results)
            }
            KernelOp::For { from, to, step, carried, body } => {
                self.for_loop([*from, *to, *step], carried, body, &statement.results)
            }
            KernelOp::While { carried, body } => self.while_loop(carried, body, &statement.results),
            op => self.plain(op, &statement.results),
        }
    }

    /// A statement without regions.
    fn plain(&mut self, op: &KernelOp, results: &[(Value, Type)]) -> Result<(), CompileError> {
        if let KernelOp::Instruction { name, operands } = op {
            return self.instruction(name, operands, results);
        }
        match (op.has_single_result(), results) {
            _ if matches!(op, KernelOp::Swap { .. } | KernelOp::Assembly { .. }) => {
                Err(unsupported(format!("operation `{}`", op.name())))
            }
            (true, &[(value, ty)]) => {
                let held = self.result(op, ty)?;
                held.expect(ty)?;
                self.define(value, held)
            }
            (false, []) => self.effect(op),
            _ => Err(invalid(format!("{} results", results.len()))),
        }
    }

    fn result(&mut self, op: &KernelOp, ty: Type) -> Result<Held, CompileError> {
        match op {
            KernelOp::Constant { bits } => self.constant(ty, *bits),
            KernelOp::Special(register) => self.special(*register),
            KernelOp::SharedAddress { buffer } => self.shared_address(*buffer),
            KernelOp::Load { pointer, predicate, offset, alignment } => {
                let access = (*pointer, *offset, *alignment);
                self.predicated(*predicate, Some(ty), |this| this.load(access, ty).map(Some))?
                    .ok_or_else(|| invalid("a load without result"))
            }
            KernelOp::AtomicRmw { op, pointer, value, predicate, order, scope } => {
                let how = Ordered { order: *order, scope: *scope };
                self.predicated(*predicate, Some(ty), |this| this.atomic_rmw(*op, *pointer, *value, how).map(Some))?
                    .ok_or_else(|| invalid("an atomic operation without result"))
            }
            KernelOp::AtomicCompareExchange { pointer, expected, value, predicate, order, scope } => {
                let how = Ordered { order: *order, scope: *scope };
                let change = |this: &mut Self| this.atomic_compare_exchange(*pointer, *expected, *value, how).map(Some);
                self.predicated(*predicate, Some(ty), change)?
                    .ok_or_else(|| invalid("an atomic operation without result"))
            }
            KernelOp::Exchange { kind, value, lane, issuers } => {
                let (value, lane) = (self.get(*value)?, self.get(*lane)?);
                self.emitter.exchange(*kind, &value, &lane, *issuers)
            }
            KernelOp::ExchangeXor { value, mask, issuers } => {
                let value = self.get(*value)?;
                self.emitter.exchange_xor(&value, *mask, *issuers)
            }
            _ => self.computed(op, ty),
        }
    }

    /// What follows from the operands alone.
    fn computed(&mut self, op: &KernelOp, ty: Type) -> Result<Held, CompileError> {
        let operands = op.operands().into_iter().map(|value| self.get(value)).collect::<Result<Vec<_>, _>>()?;
        match (op, operands.as_slice()) {
            (KernelOp::Unary { op, .. }, [a]) => self.emitter.unary(*op, a),
            (KernelOp::Binary { op, .. }, [a, b]) => self.emitter.binary(*op, a, b),
            (KernelOp::FMulAdd { .. }, [a, b, c]) => self.emitter.f_mul_add(a, b, c),
            (KernelOp::Compare { op, .. }, [a, b]) => self.emitter.compare(*op, a, b),
            (KernelOp::Math { function, .. }, [a]) if self.has_function(*function, a) => {
                self.emitter.math(*function, a)
            }
            (KernelOp::Math { function, .. }, _) => {
                Err(unsupported(format!("`{}` is no operation of this target: expand it before", function.name())))
            }
            (KernelOp::Select { .. }, [condition, a, b]) => self.emitter.select(condition, a, b),
            (KernelOp::Same { .. }, [a]) => Ok(a.clone()),
            (KernelOp::Cast { op, .. }, [a]) => self.emitter.cast(*op, a, ty),
            (KernelOp::Pack { .. }, elements) => self.emitter.pack(elements, ty),
            (KernelOp::Extract { index, .. }, [vector]) => self.emitter.extract_element(vector, *index),
            (KernelOp::PermuteBytes { selector, .. }, [a, b]) => self.emitter.permute_bytes(a, b, *selector),
            (KernelOp::PermuteBytes { selector, alternative: Some((_, other)), .. }, [a, b, condition]) => {
                let (chosen, usual) =
                    (self.emitter.permute_bytes(a, b, *other)?, self.emitter.permute_bytes(a, b, *selector)?);
                self.emitter.select(condition, &chosen, &usual)
            }
            (KernelOp::Advance { .. }, [pointer, bytes]) => self.emitter.advance(pointer, bytes),
            (other, _) => Err(unsupported(format!("operation `{}`", other.name()))),
        }
    }

    fn has_function(&self, function: MathFunction, a: &Held) -> bool {
        let element = a.ty.element().map_or("", Element::name);
        self.machine.description.function(function.name(), element).is_some()
    }

    fn effect(&mut self, op: &KernelOp) -> Result<(), CompileError> {
        match op {
            KernelOp::Store { pointer, value, predicate, offset, alignment } => {
                let access = (*pointer, *offset, *alignment);
                self.predicated(*predicate, None, |this| this.store(access, *value).map(|()| None)).map(drop)
            }
            KernelOp::Barrier { scope, issuers } => self.emitter.barrier(*scope, *issuers),
            KernelOp::Fence { scope } => self.fence(*scope),
            // Nothing can end a kernel or print here, and what comes before has written all when it begins.
            KernelOp::Assert { .. } | KernelOp::Print { .. } => {
                op.operands().into_iter().try_for_each(|value| self.get(value).map(drop))
            }
            KernelOp::GridDependency { .. } => Ok(()),
            KernelOp::Yield { .. } => Err(invalid("a yield that ends no region")),
            other => Err(unsupported(format!("operation `{}`", other.name()))),
        }
    }

    fn instruction(&mut self, name: &str, operands: &[Value], results: &[(Value, Type)]) -> Result<(), CompileError> {
        let held = operands.iter().map(|&value| self.get(value)).collect::<Result<Vec<_>, _>>()?;
        let given: Vec<Type> = held.iter().map(|held| held.ty).collect();
        let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
        let row = issued_row(self.machine.instructions, name, self.kernel.launch, &given, &types)?;
        if row.kind == InstructionKind::Prefetch {
            return self.emitter.prefetch(row, &held);
        }
        let &[(result, ty)] = results else {
            return Err(unsupported(format!("instruction `{name}` has no code")));
        };
        let value = match row.kind {
            InstructionKind::GlobalMove => self.emitter.block_read(row, &held, ty)?,
            _ => self.emitter.instruction(row, &held, ty)?,
        };
        self.define(result, value)
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Result<Held, CompileError> {
        let width = ty.element().map_or(ty.bits(), Element::bits);
        if width < 64 && bits >> width != 0 {
            return Err(invalid(format!("{bits:#x} has more than {width} bits")));
        }
        if ty == Type::Pointer(MemorySpace::Global) {
            let address = self.emitter.constant_value(Type::Scalar(Element::I64), bits);
            return self.emitter.bits(&address, ty);
        }
        Ok(self.emitter.constant_value(ty, bits))
    }

    fn special(&mut self, register: SpecialRegister) -> Result<Held, CompileError> {
        let i32 = Type::Scalar(Element::I32);
        let word = match register {
            SpecialRegister::Lane => self.input(BuiltIn::SubgroupLocalInvocationId, Element::I32, 1)?,
            SpecialRegister::Warp => self.input(BuiltIn::SubgroupId, Element::I32, 1)?,
            SpecialRegister::Program(axis @ 0..=2) => self.along(BuiltIn::WorkgroupId, axis)?,
            SpecialRegister::Programs(axis @ 0..=2) => self.along(BuiltIn::NumWorkgroups, axis)?,
            SpecialRegister::Block => return Err(unsupported("blocks of clusters: work-groups form none")),
            SpecialRegister::Program(axis) | SpecialRegister::Programs(axis) => {
                return Err(invalid(format!("axis {axis}; a grid has axes 0 to 2")));
            }
        };
        Ok(Held::new(i32, vec![word]))
    }

    /// What an input says along an axis: numbers of work-groups are as wide as addresses.
    fn along(&mut self, which: BuiltIn, axis: u8) -> Result<Word, CompileError> {
        let (wide, narrow) = (self.emitter.element_type(Element::I64, 1), self.emitter.element_type(Element::I32, 1));
        let all = self.input(which, Element::I64, 3)?;
        let one = self.emitter.extract(wide, all, u32::from(axis))?;
        self.emitter.value(Op::UConvert, narrow, [one])
    }

    /// The kernel's shared memory, where it has any.
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

    fn shared_address(&mut self, buffer: u32) -> Result<Held, CompileError> {
        let offset = self.offsets.get(buffer as usize).copied();
        let offset = offset.ok_or_else(|| invalid(format!("there is no shared buffer {buffer}")))?;
        Ok(self.emitter.constant_value(Type::Pointer(MemorySpace::Shared), offset))
    }

    fn load(&mut self, (pointer, offset, alignment): (Value, i32, u32), ty: Type) -> Result<Held, CompileError> {
        let pointer = self.get(pointer)?;
        self.emitter.load(&Access { pointer: &pointer, offset, alignment, shared: self.shared }, ty)
    }

    fn store(&mut self, (pointer, offset, alignment): (Value, i32, u32), value: Value) -> Result<(), CompileError> {
        let (pointer, value) = (self.get(pointer)?, self.get(value)?);
        self.emitter.store(&Access { pointer: &pointer, offset, alignment, shared: self.shared }, &value)
    }
}
