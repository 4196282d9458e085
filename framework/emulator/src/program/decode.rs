//! Decodes a kernel into steps that warps execute.

use super::step::{Access, Atomic, Bounds, Copied, Instruction, Print, Step};
use crate::rounding::AccumulatorType;
use std::collections::HashMap;
use tilewright_kernel::{self as kernel, Cast, Element, Kernel, MemorySpace, Op, Region, Statement, Type, Value};
use tilewright_target::{Direction, RoundingMode, TargetDescription};

/// A kernel decoded into steps, and the sizes that its execution needs.
pub(crate) struct Program<'a> {
    pub(crate) steps: Vec<Step<'a>>,
    /// For each step, the index of its operation, as in [`tilewright_kernel::Kernel::statements`].
    pub(crate) numbers: Vec<u32>,
    /// Number of registers (64-bit words) of a warp's register file.
    pub(crate) registers: usize,
    /// The registers of each constant, as (first register, number of registers, bits of the constant).
    pub(crate) constants: Vec<(usize, usize, u64)>,
    pub(crate) parameters: Vec<usize>,
}

/// Location of a kernel value: its registers in the register file of a warp, from the register `at` on.
#[derive(Clone, Copy)]
struct Location {
    at: usize,
    ty: Type,
    /// Index of the shared buffer that a pointer points into; `None` if unknown.
    buffer: Option<u32>,
}

struct Decoder<'a> {
    target: &'a TargetDescription,
    lanes: usize,
    shared_offsets: Vec<u64>,
    locations: HashMap<Value, Location>,
    next_operation: u32,
    program: Program<'a>,
}

/// Decodes a kernel whose structure has been verified.
pub(crate) fn decode<'a>(kernel: &'a Kernel, target: &'a TargetDescription) -> Program<'a> {
    let program =
        Program { steps: Vec::new(), numbers: Vec::new(), registers: 0, constants: Vec::new(), parameters: Vec::new() };
    let lanes = kernel.launch.lanes as usize;
    let shared_offsets = kernel.shared_offsets().0;
    let mut decoder = Decoder { target, lanes, shared_offsets, locations: HashMap::new(), next_operation: 0, program };
    for (number, parameter) in kernel.parameters.iter().enumerate() {
        let at = decoder.allocate(Value(number as u32), parameter.ty);
        decoder.program.parameters.push(at);
    }
    decoder.statements(&kernel.body);
    decoder.program
}

impl<'a> Decoder<'a> {
    fn location(&self, value: Value) -> Location {
        // A verified kernel uses only values that it has defined, so the default is never used.
        self.locations.get(&value).copied().unwrap_or(Location { at: 0, ty: Type::Scalar(Element::I1), buffer: None })
    }

    fn at(&self, value: Value) -> usize {
        self.location(value).at
    }

    fn width(&self, ty: Type) -> usize {
        ty.element_count() as usize * self.lanes
    }

    fn allocate(&mut self, value: Value, ty: Type) -> usize {
        let at = self.program.registers;
        self.program.registers += self.width(ty);
        self.locations.insert(value, Location { at, ty, buffer: None });
        at
    }

    fn push(&mut self, operation: u32, step: Step<'a>) -> usize {
        self.program.steps.push(step);
        self.program.numbers.push(operation);
        self.program.steps.len() - 1
    }

    fn statements(&mut self, region: &'a Region) {
        for statement in &region.statements {
            let operation = self.next_operation;
            self.next_operation += 1;
            match &statement.op {
                Op::If { condition, then, otherwise } => self.branch(operation, statement, *condition, then, otherwise),
                Op::For { from, to, step, carried, body } => {
                    self.for_loop(operation, statement, [*from, *to, *step], carried, body);
                }
                Op::While { carried, body } => self.while_loop(operation, statement, carried, body),
                Op::Yield { .. } => {}
                op => self.operation(operation, op, &statement.results),
            }
        }
    }

    fn operation(&mut self, operation: u32, op: &'a Op, results: &'a [(Value, Type)]) {
        let Some(&(result, ty)) = results.first().filter(|_| op.has_single_result()) else {
            return self.effect(operation, op, results);
        };
        if let Some(location) = self.shared_location(op, ty) {
            self.locations.insert(result, location);
            return;
        }
        let to = self.allocate(result, ty);
        let n = self.width(ty);
        if let Some(bits) = self.constant_bits(op, ty) {
            self.program.constants.push((to, n, bits));
        } else {
            let step = self.computation(op, ty, to, n);
            self.push(operation, step);
        }
        let buffer = self.buffer_of(op);
        self.locations.insert(result, Location { at: to, ty, buffer });
    }

    /// Returns the registers of a result that shares its operand's registers; `None` if the result needs its own.
    fn shared_location(&self, op: &Op, ty: Type) -> Option<Location> {
        match op {
            Op::Extract { vector, index } => {
                Some(Location { at: self.at(*vector) + *index as usize * self.lanes, ty, buffer: None })
            }
            Op::Cast { op: Cast::ExtendU, a } => Some(Location { ty, ..self.location(*a) }),
            Op::Cast { op: Cast::Bits, a } if self.location(*a).ty.element_count() == ty.element_count() => {
                Some(Location { ty, ..self.location(*a) })
            }
            _ => None,
        }
    }

    fn constant_bits(&self, op: &Op, ty: Type) -> Option<u64> {
        match op {
            Op::Constant { bits } => Some(*bits),
            // All bits set: NaN in every floating-point type, so that a test sees a use.
            Op::Unspecified {} => ty.element().map(|element| u64::MAX >> (64 - element.bits())),
            Op::SharedAddress { buffer } => self.shared_offsets.get(*buffer as usize).copied(),
            _ => None,
        }
    }

    /// Returns the index of the shared buffer that the resulting pointer points into; `None` if unknown.
    fn buffer_of(&self, op: &Op) -> Option<u32> {
        match op {
            Op::SharedAddress { buffer } => Some(*buffer),
            Op::PtrAdd { pointer, .. }
            | Op::ClusterAddress { pointer, .. }
            | Op::AssumeUniform { value: pointer, .. } => self.location(*pointer).buffer,
            Op::Select { a, b, .. } => {
                self.location(*a).buffer.filter(|_| self.location(*a).buffer == self.location(*b).buffer)
            }
            _ => None,
        }
    }

    fn computation(&self, op: &Op, ty: Type, to: usize, n: usize) -> Step<'a> {
        match op {
            Op::Clock { .. } => Step::Clock { to },
            Op::Special(register) => Step::Special { register: *register, to },
            Op::Unary { op, a } => match ty.element() {
                Some(element) if element.is_float() => Step::FloatUnary { op: *op, element, a: self.at(*a), to, n },
                _ => Step::IntegerUnary { op: *op, bits: element_bits(ty), a: self.at(*a), to, n },
            },
            Op::Math { function, operands } => {
                let at = |index: usize| operands.get(index).map_or(0, |&operand| self.at(operand));
                let (a, b) = (at(0), at(function.operand_count() - 1));
                Step::Function { function: *function, element: ty.element().unwrap_or(Element::F32), a, b, to, n }
            }
            Op::Binary { op, a, b } => {
                let (a, b) = (self.at(*a), self.at(*b));
                match ty.element() {
                    Some(element) if element.is_float() => Step::Float { op: *op, element, a, b, to, n },
                    _ => Step::Integer { op: *op, bits: element_bits(ty), a, b, to, n },
                }
            }
            Op::Fma { a, b, c } => {
                let sum = ty
                    .element()
                    .and_then(|element| AccumulatorType::named(element.name()))
                    .unwrap_or(AccumulatorType::F32);
                Step::Fma { sum, multiplicands: [self.at(*a), self.at(*b)], c: self.at(*c), to, n }
            }
            Op::Compare { op, a, b } => {
                let (of, a, b) = (self.location(*a).ty, self.at(*a), self.at(*b));
                match of.element() {
                    Some(element) if element.is_float() => Step::FloatCompare { op: *op, element, a, b, to, n },
                    _ => Step::Compare { op: *op, bits: element_bits(of), a, b, to, n },
                }
            }
            Op::Select { condition, a, b } => {
                Step::Select { condition: self.at(*condition), a: self.at(*a), b: self.at(*b), to, n }
            }
            Op::ReadyToken { queue, value } => {
                Step::ReadyToken { queue: *queue, value: Copied { from: self.at(*value), to, n } }
            }
            Op::AssumeUniform { value, .. } => Step::AssumeUniform { value: self.at(*value), to, n },
            Op::Cast { op, a } => self.cast(*op, self.location(*a), ty, to, n),
            Op::Pack { elements } => Step::Pack { elements: elements.iter().map(|&e| self.at(e)).collect(), to },
            Op::PermuteBytes { a, b, selector, alternative } => {
                let alternative = alternative.map(|(condition, other)| (self.at(condition), other));
                Step::PermuteBytes { a: self.at(*a), b: self.at(*b), selector: *selector, alternative, to }
            }
            Op::PtrAdd { pointer, bytes } => {
                let bytes_bits = self.location(*bytes).ty.bits();
                let mask = crate::arithmetic::mask(ty.bits());
                Step::PtrAdd { pointer: self.at(*pointer), bytes: self.at(*bytes), bytes_bits, mask, to }
            }
            Op::ClusterAddress { pointer, block } => {
                Step::ClusterAddress { pointer: self.at(*pointer), block: self.at(*block), to }
            }
            Op::Shuffle { value, lane, .. } => Step::Shuffle { value: self.at(*value), lane: self.at(*lane), to },
            Op::ShuffleXor { value, mask, .. } => Step::ShuffleXor { value: self.at(*value), mask: *mask as usize, to },
            Op::Load { pointer, predicate, offset, alignment, other } => {
                let step = self.access(Direction::Load, ty, to, (*pointer, *predicate, *offset, *alignment));
                let other = other.map(|other| self.at(other));
                if let Step::Access(access) = step { Step::Access(Access { other, ..access }) } else { step }
            }
            Op::AtomicRmw { op, pointer, value, predicate, .. } => {
                self.atomic(*op, ty, to, (*pointer, None, *value, *predicate))
            }
            Op::AtomicCompareExchange { pointer, expected, value, predicate, .. } => {
                self.atomic(kernel::Atomic::Exchange, ty, to, (*pointer, Some(*expected), *value, *predicate))
            }
            // Not reached: no other operation has a single result.
            _ => Step::Pack { elements: Vec::new(), to },
        }
    }

    fn cast(&self, op: Cast, from: Location, ty: Type, to: usize, n: usize) -> Step<'a> {
        let (from_bits, to_bits) = (element_bits(from.ty), element_bits(ty));
        let (a, mask) = (from.at, crate::arithmetic::mask(to_bits));
        match op {
            Cast::Truncate | Cast::ExtendU => Step::Truncate { mask, a, to, n },
            Cast::ExtendS => Step::ExtendSign { from_bits, mask, a, to, n },
            Cast::FloatS | Cast::FloatU | Cast::ExtendF | Cast::RoundF | Cast::RoundZ => {
                let element = |ty: Type| ty.element().unwrap_or(Element::I1);
                let signed = op == Cast::FloatS;
                let rounding = if op == Cast::RoundZ { RoundingMode::Zero } else { RoundingMode::NearestEven };
                Step::Convert { from: element(from.ty), signed, element: element(ty), rounding, a, to, n }
            }
            Cast::IntS | Cast::IntU => {
                let (from, signed) = (from.ty.element().unwrap_or(Element::F32), op == Cast::IntS);
                Step::ToInteger { from, signed, bits: to_bits, a, to, n }
            }
            Cast::ExtendE4m3
            | Cast::ExtendE5m2
            | Cast::ExtendFp8Fnuz
            | Cast::ExtendBf8Fnuz
            | Cast::RoundE4m3
            | Cast::RoundE5m2 => {
                let element = |ty: Type| ty.element().filter(|element| element.is_float());
                let wide = element(from.ty).or(element(ty)).unwrap_or(Element::F32);
                Step::ConvertByte { cast: op, wide, a, to, n }
            }
            Cast::Bits => Step::Regroup { from_bits, to_bits, a, to, to_count: ty.element_count() as usize },
        }
    }

    fn access(
        &self,
        direction: Direction,
        ty: Type,
        value: usize,
        (pointer, predicate, offset, alignment): (Value, Option<Value>, i32, u32),
    ) -> Step<'a> {
        let location = self.location(pointer);
        let Type::Pointer(space) = location.ty else { return Step::Pack { elements: Vec::new(), to: value } };
        Step::Access(Access {
            direction,
            space,
            pointer: location.at,
            predicate: predicate.map(|predicate| self.at(predicate)),
            other: None,
            offset,
            alignment,
            element_bytes: element_bits(ty) as usize / 8,
            count: ty.element_count() as usize,
            value,
            row: self
                .target
                .find_bank_row(direction, ty.bits())
                .filter(|row| space != MemorySpace::Global && row.bank_bytes > 0),
            buffer: location.buffer,
        })
    }

    fn atomic(
        &self,
        op: kernel::Atomic,
        ty: Type,
        to: usize,
        (pointer, expected, value, predicate): (Value, Option<Value>, Value, Option<Value>),
    ) -> Step<'a> {
        let location = self.location(pointer);
        let (Type::Pointer(space), Some(element)) = (location.ty, ty.element()) else {
            return Step::Pack { elements: Vec::new(), to };
        };
        Step::Atomic(Atomic {
            op,
            element,
            count: ty.element_count() as usize,
            space,
            pointer: location.at,
            expected: expected.map(|expected| self.at(expected)),
            value: self.at(value),
            predicate: predicate.map(|predicate| self.at(predicate)),
            to,
            buffer: location.buffer,
        })
    }

    fn effect(&mut self, operation: u32, op: &'a Op, results: &'a [(Value, Type)]) {
        let step = match op {
            Op::Store { pointer, value, predicate, offset, alignment } => {
                let location = self.location(*value);
                self.access(Direction::Store, location.ty, location.at, (*pointer, *predicate, *offset, *alignment))
            }
            Op::Barrier { scope, .. } => Step::Barrier(*scope),
            Op::NamedBarrier { number, warps } => Step::NamedBarrier { number: *number, warps: *warps },
            Op::IndexedBarrier { action, number, warps } => {
                Step::IndexedBarrier { action: *action, number: self.at(*number), warps: *warps }
            }
            Op::SetMaxRegisters { change, registers } => {
                Step::SetMaxRegisters { change: *change, registers: *registers }
            }
            Op::Swap { a, b, lane, .. } => {
                let [Some(first), Some(second)] = [0, 1].map(|index| results.get(index)) else { return };
                let from = (self.at(*a), self.at(*b));
                let to = [first, second].map(|&(value, ty)| self.allocate(value, ty));
                Step::Swap { a: from.0, b: from.1, lane: *lane as usize, to }
            }
            Op::Commit { queue } => Step::Commit(*queue),
            Op::Wait { queue, outstanding, values } => {
                let results = results.iter().map(|&(value, ty)| (self.allocate(value, ty), self.width(ty)));
                let results: Vec<_> = results.collect();
                let copied = |(&value, (to, n)): (&Value, (usize, usize))| Copied { from: self.at(value), to, n };
                let values = values.iter().zip(results).map(copied).collect();
                Step::Wait { queue: *queue, outstanding: *outstanding, values }
            }
            Op::MbarrierInit { pointer, arrivals } => {
                Step::MbarrierInit { pointer: self.at(*pointer), arrivals: *arrivals }
            }
            Op::MbarrierArrive { pointer, bytes } => Step::MbarrierArrive { pointer: self.at(*pointer), bytes: *bytes },
            Op::MbarrierWait { pointer, phase } => {
                Step::MbarrierWait { pointer: self.at(*pointer), phase: self.at(*phase) }
            }
            Op::MbarrierInvalidate { pointer } => Step::MbarrierInvalidate { pointer: self.at(*pointer) },
            Op::MbarrierCommit { queue, pointer } => Step::MbarrierCommit { queue: *queue, pointer: self.at(*pointer) },
            Op::TensorAllocate { pointer, columns } => {
                Step::TensorAllocate { pointer: self.at(*pointer), columns: *columns }
            }
            Op::TensorFree { address, columns } => Step::TensorFree { address: self.at(*address), columns: *columns },
            Op::ProxyFence {} => Step::ProxyFence,
            Op::Assert { condition, message, predicate } => {
                let predicate = predicate.map(|predicate| self.at(predicate));
                Step::Assert { condition: self.at(*condition), predicate, message }
            }
            Op::Print { prefix, hex, values, index } => {
                let values = values.iter().map(|&value| (self.at(value), self.location(value).ty)).collect();
                let index = index.as_ref().map(|index| index.iter().map(|&value| self.at(value)).collect());
                Step::Print(Print { prefix, hex: *hex, values, index })
            }
            Op::Assembly { text, .. } => {
                results.iter().for_each(|&(value, ty)| _ = self.allocate(value, ty));
                Step::Assembly(text)
            }
            Op::Instruction { name, operands } => {
                let operands = operands.iter().map(|&value| (self.at(value), self.location(value).ty)).collect();
                let results = results.iter().map(|&(value, ty)| (self.allocate(value, ty), ty)).collect();
                Step::Instruction(Instruction { name, operands, results })
            }
            // The emulator executes memory accesses immediately and in order, and kernels one after another, so
            // operations that only order them are no steps.
            _ => return,
        };
        self.push(operation, step);
    }

    /// Returns the register copies at the boundary of a region: each value goes to the registers that start at its
    /// entry of `to`.
    fn copies(&self, values: &[Value], to: &[usize]) -> Vec<Copied> {
        let copied = |(&value, &to): (&Value, &usize)| Copied {
            from: self.at(value),
            to,
            n: self.width(self.location(value).ty),
        };
        values.iter().zip(to).map(copied).collect()
    }

    fn yielded_buffer(&self, region: &Region, index: usize) -> Option<u32> {
        self.location(*region.yielded_values().get(index)?).buffer
    }

    fn branch(
        &mut self,
        operation: u32,
        statement: &Statement,
        condition: Value,
        then: &'a Region,
        otherwise: &'a Region,
    ) {
        let to: Vec<_> = statement.results.iter().map(|&(value, ty)| self.allocate(value, ty)).collect();
        let branch = self.push(operation, Step::Branch { condition: self.at(condition), otherwise: 0 });
        self.statements(then);
        let copies = self.copies(then.yielded_values(), &to);
        let middle = self.push(operation, Step::Otherwise { copies, end: 0 });
        self.statements(otherwise);
        let copies = self.copies(otherwise.yielded_values(), &to);
        let join = self.push(operation, Step::Join { copies });
        if let Step::Branch { otherwise, .. } = &mut self.program.steps[branch] {
            *otherwise = middle + 1;
        }
        if let Step::Otherwise { end, .. } = &mut self.program.steps[middle] {
            *end = join + 1;
        }
        for (index, &(value, ty)) in statement.results.iter().enumerate() {
            let buffer = self.yielded_buffer(then, index);
            let buffer = buffer.filter(|_| buffer == self.yielded_buffer(otherwise, index));
            self.locations.insert(value, Location { at: to[index], ty, buffer });
        }
    }

    fn for_loop(
        &mut self,
        operation: u32,
        statement: &Statement,
        [from, to, step]: [Value; 3],
        carried: &[Value],
        body: &'a Region,
    ) {
        let locations: Vec<_> = body.arguments.iter().map(|&(value, ty)| self.allocate(value, ty)).collect();
        let [index, arguments @ ..] = locations.as_slice() else { return };
        let bounds = Bounds { index: *index, to: self.at(to), step: self.at(step) };
        let copies = self.copies(carried, arguments);
        let enter = self.push(operation, Step::Enter { bounds, from: self.at(from), copies, end: 0 });
        self.statements(body);
        let copies = self.copies(body.yielded_values(), arguments);
        let repeat = self.push(operation, Step::Repeat { bounds, copies, body: enter + 1 });
        if let Step::Enter { end, .. } = &mut self.program.steps[enter] {
            *end = repeat + 1;
        }
        // The arguments of a lane that leaves the loop keep the values that it yielded last, so they are the loop's
        // results.
        for (&(value, ty), &at) in statement.results.iter().zip(arguments) {
            self.locations.insert(value, Location { at, ty, buffer: None });
        }
    }

    fn while_loop(&mut self, operation: u32, statement: &Statement, carried: &[Value], body: &'a Region) {
        let arguments: Vec<_> = body.arguments.iter().map(|&(value, ty)| self.allocate(value, ty)).collect();
        let copies = self.copies(carried, &arguments);
        let enter = self.push(operation, Step::EnterWhile { copies });
        self.statements(body);
        let [condition, values @ ..] = body.yielded_values() else { return };
        let copies = self.copies(values, &arguments);
        let condition = self.at(*condition);
        self.push(operation, Step::RepeatWhile { condition, copies, body: enter + 1 });
        // The arguments of a lane that leaves the loop keep the values that it yielded last, so they are the loop's
        // results.
        for (&(value, ty), at) in statement.results.iter().zip(arguments) {
            self.locations.insert(value, Location { at, ty, buffer: None });
        }
    }
}

/// Returns the number of bits of an element of a type; for a pointer, of an address.
fn element_bits(ty: Type) -> u32 {
    ty.element().map_or(ty.bits(), Element::bits)
}
