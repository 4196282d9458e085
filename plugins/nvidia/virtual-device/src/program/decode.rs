//! Decodes the statements of a kernel to an executable program.

use tilewright_target::Instruction as InstructionRow;

use super::flow::{Follows, reconvergence_points};
use super::form::{Form, Semantics};
use super::inline::inline_calls;
use super::operands::{Operands, RegisterFile};
use super::scope::{Entity, Labels, Scope};
use super::types::Type;
use super::{Addresses, Parameter, Program, Step};
use crate::machine::{Compute, Lanes, Leaves, Operation, PartialLanes, PtxSpace};
use crate::rows::{ROWS, defined_elements};
use crate::text::{Instruction, Kernel, PtxError, PtxModule, Statement, Variable};

/// Decodes a kernel of a module to a program. `addresses` has the addresses of the module's global variables;
/// `instructions` is the target's instruction table.
///
/// # Errors
/// [`PtxError`] with the line of an unknown or invalid statement.
pub(crate) fn program(
    module: &PtxModule,
    kernel: &Kernel,
    addresses: &Addresses,
    instructions: &[InstructionRow],
) -> Result<Program, PtxError> {
    let body = inline_calls(module, &kernel.body)?;
    let mut decoder = Decoder::new(&body, addresses, instructions);
    decoder.scope.open();
    let (parameters, parameter_bytes) = decoder.parameters(kernel)?;
    for variable in module.variables.iter().filter(|variable| variable.space == "shared") {
        decoder.variable(variable)?;
    }
    body.iter().try_for_each(|statement| decoder.statement(statement))?;
    decoder.finish(kernel, parameters, parameter_bytes)
}

struct Decoder<'a> {
    scope: Scope,
    labels: Labels,
    addresses: &'a Addresses,
    instructions: &'a [InstructionRow],
    register_file: RegisterFile,
    steps: Vec<Step>,
    /// Indices of the scopes around the current statement, the innermost last, and the number of scopes opened so far.
    open: Vec<usize>,
    opened: usize,
    shared: u64,
    /// Variables in dynamic shared memory, with the alignment of each in bytes.
    dynamic: Vec<(String, u64)>,
    local: u64,
}

impl<'a> Decoder<'a> {
    fn new(body: &[Statement], addresses: &'a Addresses, instructions: &'a [InstructionRow]) -> Self {
        Self {
            scope: Scope::default(),
            labels: Labels::of(body),
            addresses,
            instructions,
            register_file: RegisterFile::default(),
            steps: Vec::new(),
            open: Vec::new(),
            opened: 0,
            shared: 0,
            dynamic: Vec::new(),
            local: 0,
        }
    }

    fn parameters(&mut self, kernel: &Kernel) -> Result<(Vec<Parameter>, u64), PtxError> {
        let (mut all, mut end) = (Vec::new(), 0u64);
        for variable in &kernel.parameters {
            let bytes = bytes(variable)?;
            let offset = end.next_multiple_of(variable.alignment);
            end = offset + bytes;
            all.push(Parameter { offset, bytes });
            let entity = Entity::Memory { space: PtxSpace::Parameter, address: offset };
            self.scope.declare(variable.name.clone(), entity);
        }
        Ok((all, end))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), PtxError> {
        match statement {
            Statement::Open => {
                self.scope.open();
                self.open.push(self.opened);
                self.opened += 1;
            }
            Statement::Close => {
                self.scope.close();
                self.open.pop();
            }
            Statement::Registers { line, ty, name, count } => self.registers(*line, ty, name, *count)?,
            Statement::Variable(variable) => self.variable(variable)?,
            // A register that LLVM leaves undefined on purpose may be read; it holds zero.
            Statement::Undefined(name) => self.undefined(name),
            Statement::Alias { line, name, of } => {
                let unknown = || PtxError::new(*line, format!("`{of}` is not a parameter"));
                let entity = self.scope.find(of).ok_or_else(unknown)?;
                self.scope.declare(name.clone(), entity);
            }
            Statement::Instruction(instruction) => self.instruction(instruction)?,
            Statement::Label { .. } | Statement::Targets { .. } => {}
        }
        Ok(())
    }

    fn registers(&mut self, line: u32, ty: &str, name: &str, count: Option<u32>) -> Result<(), PtxError> {
        let known = Type::named(ty).ok_or_else(|| PtxError::new(line, format!("`.{ty}` is not a register type")))?;
        let bits = known.width();
        if bits > 64 {
            return Err(PtxError::new(line, format!("registers of {bits} bits are not supported; at most 64")));
        }
        let first = self.register_file.registers;
        let total = first.checked_add(count.unwrap_or(1)).filter(|&total| total <= MOST_REGISTERS);
        let message = || format!("a kernel must not have more than {MOST_REGISTERS} registers");
        self.register_file.registers = total.ok_or_else(|| PtxError::new(line, message()))?;
        match count {
            Some(count) => self.scope.declare_numbered(name.to_owned(), first, count, bits),
            None => self.scope.declare(name.to_owned(), Entity::Register { index: first, bits }),
        }
        Ok(())
    }

    fn variable(&mut self, variable: &Variable) -> Result<(), PtxError> {
        let unknown = || PtxError::new(variable.line, format!("a kernel has no variables of `.{}`", variable.space));
        let (space, end) = match variable.space.as_str() {
            "shared" => (PtxSpace::Shared, &mut self.shared),
            // Variables that hold call parameters are in local memory, too.
            "local" | "param" => (PtxSpace::Local, &mut self.local),
            _ => return Err(unknown()),
        };
        if variable.elements.is_none() {
            self.dynamic.push((variable.name.clone(), variable.alignment));
            // Variables of dynamic shared memory get their addresses after all static ones; until then they have a
            // placeholder address.
            let entity = Entity::Memory { space, address: DYNAMIC };
            self.scope.declare(variable.name.clone(), entity);
            return Ok(());
        }
        let address = end.next_multiple_of(variable.alignment);
        *end = address + bytes(variable)?;
        self.scope.declare(variable.name.clone(), Entity::Memory { space, address });
        Ok(())
    }

    fn undefined(&mut self, name: &str) {
        if let Some(Entity::Register { index, .. }) = self.scope.find(name) {
            self.register_file.undefined.push(index);
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        let wrong = |message: String| PtxError::new(instruction.line, message);
        let (row, form) = Form::matched(ROWS, self.instructions, &instruction.opcode).map_err(wrong)?;
        let mut operands = Operands {
            instruction,
            scope: &self.scope,
            labels: &self.labels,
            block: self.open.last().copied().unwrap_or(0),
            addresses: self.addresses,
            register_file: &mut self.register_file,
        };
        let operation = match row.semantics {
            Semantics::Lanes(count, computes) => lanes(&form, &mut operands, (count, computes), |ty| ty),
            Semantics::Bitwise(count, computes) => lanes(&form, &mut operands, (count, computes), Type::packed_bytes),
            Semantics::Warp(reads) => reads(&form, &mut operands),
        };
        let operation = operation.map_err(wrong)?;
        let guard = match &instruction.guard {
            None => None,
            Some(guard) => Some((operands.guard(&guard.name).map_err(wrong)?, guard.negated)),
        };
        self.steps.push(Step { guard, operation, line: instruction.line, opcode: instruction.opcode.clone() });
        Ok(())
    }

    fn finish(
        mut self,
        kernel: &Kernel,
        parameters: Vec<Parameter>,
        parameter_bytes: u64,
    ) -> Result<Program, PtxError> {
        let alignment = self.dynamic.iter().map(|(_, alignment)| *alignment).max().unwrap_or(1);
        let shared_bytes = self.shared.next_multiple_of(alignment);
        let count = self.steps.len() as u32;
        let follows: Vec<Follows> = self
            .steps
            .iter()
            .map(|step| Follows {
                targets: step.operation.targets().iter().map(|&target| target.min(count)).collect(),
                falls_through: step.guard.is_some() || step.operation.leaves() == Leaves::Never,
                ends: step.operation.leaves() == Leaves::Ends,
            })
            .collect();
        // A constant near the placeholder is an address in dynamic shared memory; here it gets its final value.
        let constant = |(&value, &register): (&u64, &u32)| {
            let dynamic = value.wrapping_sub(DYNAMIC).wrapping_add(DYNAMIC_REACH) < 2 * DYNAMIC_REACH;
            (register, if dynamic { value.wrapping_sub(DYNAMIC).wrapping_add(shared_bytes) } else { value })
        };
        let constants = self.register_file.constants.iter().map(constant).collect();
        let undefined = std::mem::take(&mut self.register_file.undefined);
        Ok(Program {
            name: kernel.name.clone(),
            launch_registers: kernel.launch_registers,
            parameters,
            parameter_bytes,
            reconvergence: reconvergence_points(&follows),
            steps: self.steps,
            registers: self.register_file.registers,
            constants,
            specials: self.register_file.specials.iter().map(|(&special, &register)| (register, special)).collect(),
            undefined,
            shared_bytes,
            local_bytes: self.local,
        })
    }
}

/// Placeholder for the address of dynamic shared memory until the size of all static variables is known.
const DYNAMIC: u64 = 0x7d79_6e61_6d69_6300;

/// A constant within this distance in bytes of the placeholder is an address in dynamic shared memory.
const DYNAMIC_REACH: u64 = 1 << 20;

/// Maximum registers of a kernel; each register takes 256 bytes of host memory in every warp.
const MOST_REGISTERS: u32 = 1 << 17;

fn bytes(variable: &Variable) -> Result<u64, PtxError> {
    let elements = variable.elements.ok_or_else(|| {
        PtxError::new(
            variable.line,
            format!("the size of `{}` is not known: only shared memory may be so", variable.name),
        )
    })?;
    Ok(elements * variable.element_bytes)
}

/// Decodes an instruction with `count` source operands whose lanes compute independently. `computes` returns the
/// function that a lane applies to the operands, or `None` if it does not support the opcode. `elements` returns the
/// packed type whose elements the operation computes independently.
fn lanes(
    form: &Form<'_>,
    operands: &mut Operands<'_>,
    (count, computes): (usize, fn(&Form<'_>) -> Option<Compute>),
    elements: fn(Type) -> Type,
) -> Result<Box<dyn Operation>, String> {
    operands.expect(count + 1..=count + 1)?;
    let compute = computes(form).ok_or_else(|| form.unknown())?;
    let ty = form.types.last().copied().unwrap_or(form.ty());
    let to = operands.destination(0)?;
    let from = (1..=count).map(|index| operands.source(index, ty)).collect::<Result<Vec<_>, _>>()?;
    let elements = elements(ty);
    if elements.element_count > 1 {
        return Ok(Box::new(PartialLanes::packed(to, &from, compute, defined_elements(elements, count))));
    }
    Ok(Box::new(Lanes::new(to, &from, compute)))
}
