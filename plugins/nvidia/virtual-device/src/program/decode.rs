//! From the statements of a kernel to its steps.

use tilewright_target::Instruction as InstructionRow;

use super::flow::{Follows, meetings};
use super::form::{Form, Meaning};
use super::operands::{Held, Operands};
use super::scope::{Entity, Labels, Scope};
use super::types::Type;
use super::{Addresses, Parameter, Program, Step};
use crate::machine::{Lanes, Leaves, Operation, PtxSpace};
use crate::rows::ROWS;
use crate::text::{Instruction, Kernel, PtxError, PtxModule, Statement, Variable};

/// The program of a kernel of a module whose variables in global memory lie at these addresses.
///
/// # Errors
/// [`PtxError`], with the line of what is not known, or wrong.
pub(crate) fn program(
    module: &PtxModule,
    kernel: &Kernel,
    addresses: &Addresses,
    instructions: &[InstructionRow],
) -> Result<Program, PtxError> {
    let mut decoder = Decoder::new(&kernel.body, addresses, instructions);
    decoder.scope.open();
    let (parameters, parameter_bytes) = decoder.parameters(kernel)?;
    for variable in module.variables.iter().filter(|variable| variable.space == "shared") {
        decoder.variable(variable)?;
    }
    kernel.body.iter().try_for_each(|statement| decoder.statement(statement))?;
    decoder.finish(kernel, parameters, parameter_bytes)
}

struct Decoder<'a> {
    scope: Scope,
    labels: Labels,
    addresses: &'a Addresses,
    instructions: &'a [InstructionRow],
    held: Held,
    steps: Vec<Step>,
    /// Blocks around the statement, and how many there were so far.
    open: Vec<usize>,
    opened: usize,
    shared: u64,
    /// Variables of shared memory whose size the launch gives: they begin behind all others.
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
            held: Held::default(),
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
            // A register that may hold anything holds zero.
            Statement::Undefined(name) => self.undefined(name),
            Statement::Instruction(instruction) => self.instruction(instruction)?,
            Statement::Label { .. } | Statement::Targets { .. } => {}
        }
        Ok(())
    }

    fn registers(&mut self, line: u32, ty: &str, name: &str, count: Option<u32>) -> Result<(), PtxError> {
        let known = Type::named(ty).ok_or_else(|| PtxError::new(line, format!("`.{ty}` is no type of registers")))?;
        let bits = known.width();
        if bits > 64 {
            return Err(PtxError::new(line, format!("registers of {bits} bits are not known here; 64 is the most")));
        }
        let first = self.held.registers;
        let total = first.checked_add(count.unwrap_or(1)).filter(|&total| total <= MOST_REGISTERS);
        let message = || format!("a kernel with more than {MOST_REGISTERS} registers is not run");
        self.held.registers = total.ok_or_else(|| PtxError::new(line, message()))?;
        match count {
            Some(count) => self.scope.declare_numbered(name.to_owned(), first, count, bits),
            None => self.scope.declare(name.to_owned(), Entity::Register { number: first, bits }),
        }
        Ok(())
    }

    fn variable(&mut self, variable: &Variable) -> Result<(), PtxError> {
        let unknown = || PtxError::new(variable.line, format!("a kernel has no variables of `.{}`", variable.space));
        let (space, end) = match variable.space.as_str() {
            "shared" => (PtxSpace::Shared, &mut self.shared),
            // Those of calls are a lane's own, too.
            "local" | "param" => (PtxSpace::Local, &mut self.local),
            _ => return Err(unknown()),
        };
        if variable.elements.is_none() {
            self.dynamic.push((variable.name.clone(), variable.alignment));
            // They have addresses only once all others have: one that is past all.
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
        if let Some(Entity::Register { number, .. }) = self.scope.find(name) {
            self.held.undefined.push(number);
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
            held: &mut self.held,
        };
        let operation = match row.meaning {
            Meaning::Lanes(count, computes) => lanes(&form, &mut operands, count, computes),
            Meaning::Warp(reads) => reads(&form, &mut operands),
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
        // An address of what the launch gives was taken as a distance from here.
        let constant = |(&value, &register): (&u64, &u32)| {
            let dynamic = value.wrapping_sub(DYNAMIC).wrapping_add(DYNAMIC_REACH) < 2 * DYNAMIC_REACH;
            (register, if dynamic { value.wrapping_sub(DYNAMIC).wrapping_add(shared_bytes) } else { value })
        };
        let constants = self.held.constants.iter().map(constant).collect();
        let undefined = std::mem::take(&mut self.held.undefined);
        Ok(Program {
            name: kernel.name.clone(),
            parameters,
            parameter_bytes,
            meeting: meetings(&follows),
            steps: self.steps,
            registers: self.held.registers,
            constants,
            specials: self.held.specials.iter().map(|(&special, &register)| (register, special)).collect(),
            undefined,
            shared_bytes,
            local_bytes: self.local,
        })
    }
}

/// Stands for the address of shared memory that the launch gives, until it is known.
const DYNAMIC: u64 = 0x7d79_6e61_6d69_6300;

/// Offsets from there are smaller.
const DYNAMIC_REACH: u64 = 1 << 20;

/// A kernel has no more; each takes 256 bytes of every warp.
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

/// An operation of each lane by itself.
fn lanes(
    form: &Form<'_>,
    operands: &mut Operands<'_>,
    count: usize,
    computes: fn(&Form<'_>) -> Option<super::Compute>,
) -> Result<Box<dyn Operation>, String> {
    operands.expect(count + 1..=count + 1)?;
    let compute = computes(form).ok_or_else(|| form.unknown())?;
    let ty = form.types.last().copied().unwrap_or(form.ty());
    let to = operands.place(0)?;
    let from = (1..=count).map(|number| operands.source(number, ty)).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Lanes::new(to, &from, compute)))
}
