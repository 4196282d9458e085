//! Checks all that a code generator may rely on.
//!
//! The rules are those of `docs/kernel-ir.md`; [`Violation`] lists them.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{
    Binary, Cast, Element, Kernel, MAX_BLOCKS, MAX_DEPTH, MAX_VALUES, Module, Op, Region, Scope, Space,
    SpecialRegister, Statement, Type, Uniformity, Value, uniformity,
};

/// Where a module breaks a rule. The fault of whoever made the module.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`{}: {violation}", place(*.operation, .name))]
pub struct VerifyError {
    /// The kernel.
    pub kernel: String,
    /// The operation, numbered from zero in the order of the text, as [`Kernel::statements`];
    /// absent where the kernel's head is wrong.
    pub operation: Option<usize>,
    /// The operation's name; empty where the kernel's head is wrong.
    pub name: &'static str,
    /// The rule that is broken.
    pub violation: Violation,
}

fn place(operation: Option<usize>, name: &str) -> String {
    operation.map(|number| format!(", operation {number} ({name})")).unwrap_or_default()
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// A kernel's name is no identifier.
    #[error("a kernel's name must be letters, digits and underscores, not beginning with a digit")]
    KernelName,
    /// Two kernels of one name.
    #[error("another kernel of the module has this name")]
    DuplicateKernel,
    /// An impossible number of lanes.
    #[error("{found} lanes in a warp; expected a power of two from 1 to 64")]
    Lanes {
        /// The number.
        found: u32,
    },
    /// An impossible number of warps.
    #[error("{found} warps in a block; expected 1 to 1024")]
    Warps {
        /// The number.
        found: u32,
    },
    /// An impossible number of blocks.
    #[error("{found} blocks in a cluster; expected 1 to {MAX_BLOCKS}")]
    Blocks {
        /// The number.
        found: u32,
    },
    /// A parameter of a type that cannot be passed.
    #[error("parameter {parameter} is {found}; expected a scalar of 8 bits or more, or ptr.global")]
    ParameterType {
        /// Its number.
        parameter: usize,
        /// Its type.
        found: Type,
    },
    /// The body of a kernel has arguments.
    #[error("the body of a kernel takes no arguments; its parameters are values 0, 1, ... already")]
    BodyArguments,
    /// The alignment of a shared buffer.
    #[error("shared buffer {buffer} has alignment {found}; expected a power of two")]
    SharedAlignment {
        /// The buffer's number.
        buffer: usize,
        /// Its alignment.
        found: u32,
    },
    /// More shared memory than addresses reach.
    #[error("{found} bytes of shared memory; expected at most 2147483647, which offsets can reach")]
    SharedBytes {
        /// How many.
        found: u64,
    },
    /// A value's number is too high to index tables with.
    #[error("value %{}; numbers must be below {MAX_VALUES}", .value.0)]
    ValueNumber {
        /// The value.
        value: Value,
    },
    /// A value is defined again.
    #[error("%{} is defined a second time; every value is defined once", .value.0)]
    DefinedTwice {
        /// The value.
        value: Value,
    },
    /// A vector of an impossible number of elements.
    #[error("%{} is a vector of {found}; expected a power of two from 2 to 64", .value.0)]
    VectorCount {
        /// The value.
        value: Value,
        /// The number of its elements.
        found: u32,
    },
    /// A value is used where it isn't defined.
    #[error("%{} is not defined here; values are visible after their definition, to the end of its region", .value.0)]
    NotVisible {
        /// The value.
        value: Value,
    },
    /// An operand of the wrong type.
    #[error("operand %{} is {found}; expected {expected}", .value.0)]
    Operand {
        /// The operand.
        value: Value,
        /// Its type.
        found: Type,
        /// What the operation takes.
        expected: String,
    },
    /// The wrong number of results.
    #[error("{found} results; expected {expected}")]
    ResultCount {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A result of the wrong type.
    #[error("result %{} is {found}; expected {expected}", .value.0)]
    Result {
        /// The result.
        value: Value,
        /// Its type.
        found: Type,
        /// What the operation gives.
        expected: String,
    },
    /// A constant with bits that its element does not have.
    #[error("constant {bits:#x} does not fit into the elements of {ty}")]
    Constant {
        /// The bits.
        bits: u64,
        /// The type of the constant.
        ty: Type,
    },
    /// An axis that no grid has.
    #[error("axis {found} of the grid; expected 0, 1 or 2")]
    Axis {
        /// The axis.
        found: u8,
    },
    /// A shared buffer that the kernel does not have.
    #[error("shared buffer {found}; the kernel has {count}")]
    SharedBuffer {
        /// The number asked for.
        found: u32,
        /// How many there are.
        count: usize,
    },
    /// A vector packed of an impossible number of elements.
    #[error("{found} elements packed; expected a power of two from 2 to 64")]
    PackCount {
        /// How many.
        found: usize,
    },
    /// An element that a vector doesn't have.
    #[error("element {found} of {ty}")]
    ElementIndex {
        /// Which.
        found: u32,
        /// The vector.
        ty: Type,
    },
    /// A byte that two `i32`s don't have.
    #[error("selector {found:#06x}; every nibble must be 0 to 7")]
    Selector {
        /// The selector.
        found: u16,
    },
    /// A bit that lane indices don't have.
    #[error("lanes that differ by {found}; expected a power of two below {lanes}, the lanes of a warp")]
    Lane {
        /// The bit, as its power of two.
        found: u32,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// Lanes of an exchange that differ by a number that no two lanes of a warp differ by.
    #[error("lanes differ by {found}; expected 1 to one less than the {lanes} lanes of a warp")]
    LaneXor {
        /// The number.
        found: u32,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// An alignment that is no power of two.
    #[error("alignment {found}; expected a power of two")]
    Alignment {
        /// The alignment.
        found: u32,
    },
    /// An instruction without a name.
    #[error("the instruction's name is empty; expected the name of a row of the target's table")]
    InstructionName,
    /// A vendor instruction that does not fit its row.
    #[error("instruction `{name}`: {message}")]
    Instruction {
        /// The row's name.
        name: String,
        /// What does not fit.
        message: String,
    },
    /// Regions nested too deep.
    #[error("regions nest deeper than {MAX_DEPTH}")]
    TooDeep,
    /// A region doesn't end in `yield`.
    #[error("region {region} does not end in yield")]
    YieldMissing {
        /// Which of the operation's regions, from zero.
        region: usize,
    },
    /// A `yield` that does not end a region of an operation.
    #[error("yield stands only at the end of the regions of operations")]
    YieldMisplaced,
    /// A `yield` of the wrong number of values.
    #[error("{found} values yielded; expected {expected}")]
    YieldCount {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A region with the wrong arguments.
    #[error("region {region} takes ({found}); expected ({expected})")]
    RegionArguments {
        /// Which of the operation's regions, from zero.
        region: usize,
        /// The types of its arguments.
        found: String,
        /// What they should be.
        expected: String,
    },
    /// A collective under control that is not uniform over its scope.
    #[error("stands under control that may differ between the {scope}; all of them must reach it together")]
    DivergentControl {
        /// Between whom control may differ: `lanes of a warp`, `warps of a block` or `blocks of a cluster`.
        scope: &'static str,
    },
}

/// Checks a module.
///
/// # Errors
/// The first broken rule, with the kernel and operation that break it.
pub fn verify(module: &Module) -> Result<(), VerifyError> {
    let mut names = BTreeSet::new();
    for kernel in &module.kernels {
        if !names.insert(kernel.name.as_str()) {
            return Err(head_error(kernel, Violation::DuplicateKernel));
        }
        verify_structure(kernel)?;
        verify_collectives(kernel)?;
    }
    Ok(())
}

/// Checks everything but that collectives stand under uniform control, which the emulator finds
/// out by running.
pub(crate) fn verify_structure(kernel: &Kernel) -> Result<(), VerifyError> {
    verify_head(kernel).map_err(|violation| head_error(kernel, violation))?;
    let mut checker = Checker { kernel, definitions: Vec::new(), next: 0, current: None, depth: 0 };
    for (number, parameter) in kernel.parameters.iter().enumerate() {
        checker.define(Value(number as u32), parameter.ty)?;
    }
    checker.region(&kernel.body, None)
}

fn head_error(kernel: &Kernel, violation: Violation) -> VerifyError {
    VerifyError { kernel: kernel.name.clone(), operation: None, name: "", violation }
}

fn verify_head(kernel: &Kernel) -> Result<(), Violation> {
    let launch = kernel.launch;
    if !super::text::is_identifier(&kernel.name) {
        return Err(Violation::KernelName);
    }
    if !launch.lanes.is_power_of_two() || launch.lanes > 64 {
        return Err(Violation::Lanes { found: launch.lanes });
    }
    if launch.warps == 0 || launch.warps > 1024 {
        return Err(Violation::Warps { found: launch.warps });
    }
    if launch.blocks == 0 || launch.blocks > MAX_BLOCKS {
        return Err(Violation::Blocks { found: launch.blocks });
    }
    for (number, parameter) in kernel.parameters.iter().enumerate() {
        let passable = match parameter.ty {
            Type::Scalar(element) => element != Element::I1,
            Type::Vector(..) => false,
            Type::Pointer(space) => space == Space::Global,
        };
        if !passable {
            return Err(Violation::ParameterType { parameter: number, found: parameter.ty });
        }
    }
    for (number, buffer) in kernel.shared.iter().enumerate() {
        if !buffer.alignment.is_power_of_two() {
            return Err(Violation::SharedAlignment { buffer: number, found: buffer.alignment });
        }
    }
    if kernel.shared_bytes() > i32::MAX as u64 {
        return Err(Violation::SharedBytes { found: kernel.shared_bytes() });
    }
    if !kernel.body.arguments.is_empty() {
        return Err(Violation::BodyArguments);
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Definition {
    None,
    Visible(Type),
    /// Its region has ended.
    Hidden,
}

struct Checker<'a> {
    kernel: &'a Kernel,
    /// By the value's number.
    definitions: Vec<Definition>,
    /// The number of the next operation.
    next: usize,
    /// The operation being checked.
    current: Option<(usize, &'static str)>,
    depth: usize,
}

type Checked = Result<(), VerifyError>;

impl Checker<'_> {
    fn error(&self, violation: Violation) -> VerifyError {
        VerifyError {
            kernel: self.kernel.name.clone(),
            operation: self.current.map(|(number, _)| number),
            name: self.current.map_or("", |(_, name)| name),
            violation,
        }
    }

    fn require(&self, holds: bool, violation: impl FnOnce() -> Violation) -> Checked {
        if holds { Ok(()) } else { Err(self.error(violation())) }
    }

    fn define(&mut self, value: Value, ty: Type) -> Checked {
        self.require(value.0 < MAX_VALUES, || Violation::ValueNumber { value })?;
        if let Type::Vector(_, count) = ty {
            self.require(is_vector_count(count), || Violation::VectorCount { value, found: count })?;
        }
        let number = value.0 as usize;
        if self.definitions.len() <= number {
            self.definitions.resize(number + 1, Definition::None);
        }
        let free = matches!(self.definitions[number], Definition::None);
        self.require(free, || Violation::DefinedTwice { value })?;
        self.definitions[number] = Definition::Visible(ty);
        Ok(())
    }

    fn type_of(&self, value: Value) -> Result<Type, VerifyError> {
        match self.definitions.get(value.0 as usize) {
            Some(Definition::Visible(ty)) => Ok(*ty),
            _ => Err(self.error(Violation::NotVisible { value })),
        }
    }

    /// Checks a region; `yields` are the types that it must yield, none for the body of a kernel.
    fn region(&mut self, region: &Region, yields: Option<&[Type]>) -> Checked {
        self.require(self.depth <= MAX_DEPTH, || Violation::TooDeep)?;
        self.depth += 1;
        for &(value, ty) in &region.arguments {
            self.define(value, ty)?;
        }
        for (index, statement) in region.statements.iter().enumerate() {
            let outer = self.current.replace((self.next, statement.op.name()));
            self.next += 1;
            let last = index + 1 == region.statements.len();
            match (&statement.op, yields) {
                (Op::Yield { values }, Some(types)) if last => self.yielded(values, types)?,
                (Op::Yield { .. }, _) => return Err(self.error(Violation::YieldMisplaced)),
                (op, _) => self.operation(op, &statement.results)?,
            }
            self.results(statement)?;
            self.current = outer;
        }
        self.depth -= 1;
        self.hide(region);
        Ok(())
    }

    fn hide(&mut self, region: &Region) {
        let defined = region.statements.iter().flat_map(|statement| &statement.results);
        for (value, _) in region.arguments.iter().chain(defined) {
            self.definitions[value.0 as usize] = Definition::Hidden;
        }
    }

    fn results(&mut self, statement: &Statement) -> Checked {
        let count = statement.results.len();
        let expected = match &statement.op {
            Op::If { .. } | Op::For { .. } | Op::Instruction { .. } => count,
            Op::Swap { .. } => 2,
            op => usize::from(op.has_single_result()),
        };
        self.require(count == expected, || Violation::ResultCount { found: count, expected })?;
        statement.results.iter().try_for_each(|&(value, ty)| self.define(value, ty))
    }

    fn yielded(&mut self, values: &[Value], types: &[Type]) -> Checked {
        let counts = Violation::YieldCount { found: values.len(), expected: types.len() };
        self.require(values.len() == types.len(), || counts)?;
        values.iter().zip(types).try_for_each(|(&value, &ty)| self.operand(value, ty))
    }

    fn operand(&self, value: Value, expected: Type) -> Checked {
        let found = self.type_of(value)?;
        let violation = || Violation::Operand { value, found, expected: expected.to_string() };
        self.require(found == expected, violation)
    }

    fn operand_that(&self, value: Value, expected: &str, fits: impl Fn(Type) -> bool) -> Result<Type, VerifyError> {
        let found = self.type_of(value)?;
        self.require(fits(found), || Violation::Operand { value, found, expected: expected.to_owned() })?;
        Ok(found)
    }

    fn result(&self, results: &[(Value, Type)], expected: Type) -> Checked {
        self.result_that(results, &expected.to_string(), |found| found == expected)
    }

    /// Checks the type of the first result; that there is one alone is checked elsewhere.
    fn result_that(&self, results: &[(Value, Type)], expected: &str, fits: impl Fn(Type) -> bool) -> Checked {
        let Some(&(value, found)) = results.first() else { return Ok(()) };
        self.require(fits(found), || Violation::Result { value, found, expected: expected.to_owned() })
    }

    fn operation(&mut self, op: &Op, results: &[(Value, Type)]) -> Checked {
        match op {
            Op::Constant { bits } => self.constant(*bits, results),
            Op::Special(register) => self.special(*register, results),
            Op::SharedAddress { buffer } => {
                let count = self.kernel.shared.len();
                let violation = || Violation::SharedBuffer { found: *buffer, count };
                self.require((*buffer as usize) < count, violation)?;
                self.result(results, Type::Pointer(Space::Shared))
            }
            Op::ClusterAddress { pointer, block } => {
                self.operand(*pointer, Type::Pointer(Space::Shared))?;
                self.operand(*block, INDEX)?;
                self.result(results, Type::Pointer(Space::Cluster))
            }
            Op::Unary { a, .. } => {
                let ty = self.operand_that(*a, "a floating-point type", is_float)?;
                self.result(results, ty)
            }
            Op::Binary { op, a, b } => self.binary(*op, *a, *b, results),
            Op::Compare { a, b, .. } => {
                let ty = self.operand_that(*a, "an integer of 8 bits or more", is_wide_integer)?;
                self.operand(*b, ty)?;
                self.result(results, Type::of(Element::I1, ty.count()))
            }
            Op::Select { condition, a, b } => {
                self.operand(*condition, BOOL)?;
                let ty = self.type_of(*a)?;
                self.operand(*b, ty)?;
                self.result(results, ty)
            }
            Op::Cast { op, a } => self.cast(*op, *a, results),
            Op::Pack { elements } => self.pack(elements, results),
            Op::Extract { vector, index } => self.extract(*vector, *index, results),
            Op::PermuteBytes { a, b, selector, alternative } => {
                self.operand(*a, INDEX)?;
                self.operand(*b, INDEX)?;
                self.selector(*selector)?;
                if let Some((condition, other)) = alternative {
                    self.operand(*condition, BOOL)?;
                    self.selector(*other)?;
                }
                self.result(results, INDEX)
            }
            Op::Advance { pointer, bytes } => {
                let ty = self.operand_that(*pointer, "a pointer", |ty| matches!(ty, Type::Pointer(_)))?;
                let integer = |ty| matches!(ty, Type::Scalar(Element::I32 | Element::I64));
                self.operand_that(*bytes, "i32 or i64", integer)?;
                self.result(results, ty)
            }
            Op::Load { pointer, predicate, alignment, .. } => {
                self.access(*pointer, *predicate, *alignment)?;
                self.result_that(results, IN_MEMORY, is_in_memory)
            }
            Op::Store { pointer, value, predicate, alignment, .. } => {
                self.access(*pointer, *predicate, *alignment)?;
                self.operand_that(*value, IN_MEMORY, is_in_memory).map(|_| ())
            }
            Op::Exchange { value, lane, .. } => {
                let ty = self.operand_that(*value, WORD, is_word)?;
                self.operand(*lane, INDEX)?;
                self.result(results, ty)
            }
            Op::ExchangeXor { value, mask, .. } => {
                let ty = self.operand_that(*value, WORD, is_word)?;
                let lanes = self.kernel.launch.lanes;
                self.require(*mask != 0 && *mask < lanes, || Violation::LaneXor { found: *mask, lanes })?;
                self.result(results, ty)
            }
            Op::Swap { a, b, lane, .. } => {
                let ty = self.operand_that(*a, WORD, is_word)?;
                self.operand(*b, ty)?;
                let lanes = self.kernel.launch.lanes;
                self.require(lane.is_power_of_two() && *lane < lanes, || Violation::Lane { found: *lane, lanes })?;
                results.iter().try_for_each(|&result| self.result(&[result], ty))
            }
            Op::Barrier { .. } => Ok(()),
            Op::Instruction { name, operands } => {
                self.require(!name.is_empty(), || Violation::InstructionName)?;
                operands.iter().try_for_each(|&value| self.type_of(value).map(|_| ()))
            }
            Op::If { condition, then, otherwise } => {
                self.operand(*condition, BOOL)?;
                let types: Vec<_> = results.iter().map(|&(_, ty)| ty).collect();
                self.inner_region(0, then, &[], &types)?;
                self.inner_region(1, otherwise, &[], &types)
            }
            Op::For { from, to, step, carried, body } => self.for_loop([*from, *to, *step], carried, body, results),
            Op::Yield { .. } => Err(self.error(Violation::YieldMisplaced)),
        }
    }

    fn selector(&self, selector: u16) -> Checked {
        let nibbles = (0..4).all(|nibble| selector >> (4 * nibble) & 0xf < 8);
        self.require(nibbles, || Violation::Selector { found: selector })
    }

    fn constant(&self, bits: u64, results: &[(Value, Type)]) -> Checked {
        self.result_that(results, "a scalar or vector", |ty| ty.element().is_some())?;
        let Some((ty, element)) = results.first().and_then(|&(_, ty)| Some((ty, ty.element()?))) else {
            return Ok(());
        };
        let fits = element.bits() == 64 || bits >> element.bits() == 0;
        self.require(fits, || Violation::Constant { bits, ty })
    }

    fn special(&self, register: SpecialRegister, results: &[(Value, Type)]) -> Checked {
        if let SpecialRegister::Program(axis) = register {
            self.require(axis < 3, || Violation::Axis { found: axis })?;
        }
        self.result(results, INDEX)
    }

    fn binary(&self, op: Binary, a: Value, b: Value, results: &[(Value, Type)]) -> Checked {
        let ty = if op.is_float() {
            self.operand_that(a, "a floating-point type", is_float)?
        } else if op.is_bitwise() {
            self.operand_that(a, "an integer", is_integer)?
        } else {
            self.operand_that(a, "an integer of 8 bits or more", is_wide_integer)?
        };
        self.operand(b, ty)?;
        self.result(results, ty)
    }

    fn cast(&self, op: Cast, a: Value, results: &[(Value, Type)]) -> Checked {
        if op == Cast::Bits {
            let has_bits = |ty: Type| ty.element().is_some_and(|element| element != Element::I1);
            let from = self.operand_that(a, "a scalar or vector, not of i1", has_bits)?;
            let expected = format!("a scalar or vector of {} bits, not of i1", from.bits());
            return self.result_that(results, &expected, |ty| has_bits(ty) && ty.bits() == from.bits());
        }
        let (taken, given): (_, fn(Type) -> bool) = match op {
            Cast::ExtendF | Cast::RoundF => ("a floating-point type", is_float),
            Cast::FloatS | Cast::FloatU => ("an integer, not i1", is_wide_integer),
            _ => ("an integer", is_integer),
        };
        let from = self.operand_that(a, taken, given)?;
        let wanted = match op {
            Cast::Truncate => format!("integer(s) narrower than {from}"),
            Cast::FloatS | Cast::FloatU => "float(s)".to_owned(),
            Cast::ExtendF => format!("float(s) wider than {from}"),
            Cast::RoundF => format!("float(s) narrower than {from}"),
            _ => format!("integer(s) wider than {from}"),
        };
        let goes = |to: Type| from.element().zip(to.element()).is_some_and(|(from, to)| op.goes(from, to));
        let expected = format!("{} {wanted}", from.count());
        self.result_that(results, &expected, |to| to.count() == from.count() && goes(to))
    }

    fn pack(&self, elements: &[Value], results: &[(Value, Type)]) -> Checked {
        let found = elements.len();
        let first = elements.first().filter(|_| u32::try_from(found).is_ok_and(is_vector_count));
        let Some(&first) = first else { return Err(self.error(Violation::PackCount { found })) };
        let ty = self.operand_that(first, "a scalar", |ty| matches!(ty, Type::Scalar(_)))?;
        elements.iter().try_for_each(|&value| self.operand(value, ty))?;
        let vector = ty.element().map_or(ty, |element| Type::Vector(element, found as u32));
        self.result(results, vector)
    }

    fn extract(&self, vector: Value, index: u32, results: &[(Value, Type)]) -> Checked {
        let ty = self.operand_that(vector, "a vector", |ty| matches!(ty, Type::Vector(..)))?;
        self.require(index < ty.count(), || Violation::ElementIndex { found: index, ty })?;
        self.result(results, ty.element().map_or(ty, Type::Scalar))
    }

    fn access(&self, pointer: Value, predicate: Option<Value>, alignment: u32) -> Checked {
        self.operand_that(pointer, "a pointer", |ty| matches!(ty, Type::Pointer(_)))?;
        predicate.map_or(Ok(()), |predicate| self.operand(predicate, BOOL))?;
        self.require(alignment.is_power_of_two(), || Violation::Alignment { found: alignment })
    }

    fn for_loop(&mut self, bounds: [Value; 3], carried: &[Value], body: &Region, results: &[(Value, Type)]) -> Checked {
        bounds.into_iter().try_for_each(|bound| self.operand(bound, INDEX))?;
        let types: Vec<_> = carried.iter().map(|&value| self.type_of(value)).collect::<Result<_, _>>()?;
        let counts = Violation::ResultCount { found: results.len(), expected: types.len() };
        self.require(results.len() == types.len(), || counts)?;
        for (&(value, found), &expected) in results.iter().zip(&types) {
            self.require(found == expected, || Violation::Result { value, found, expected: expected.to_string() })?;
        }
        let arguments: Vec<_> = std::iter::once(INDEX).chain(types.iter().copied()).collect();
        self.inner_region(0, body, &arguments, &types)
    }

    fn inner_region(&mut self, number: usize, region: &Region, arguments: &[Type], yields: &[Type]) -> Checked {
        let found: Vec<_> = region.arguments.iter().map(|&(_, ty)| ty).collect();
        let violation =
            || Violation::RegionArguments { region: number, found: listed(&found), expected: listed(arguments) };
        self.require(found == arguments, violation)?;
        let ends = matches!(region.statements.last(), Some(Statement { op: Op::Yield { .. }, .. }));
        self.require(ends, || Violation::YieldMissing { region: number })?;
        self.region(region, Some(yields))
    }
}

/// An `i1`.
const BOOL: Type = Type::Scalar(Element::I1);

/// An `i32`.
const INDEX: Type = Type::Scalar(Element::I32);

const WORD: &str = "a scalar of 32 bits";

fn is_word(ty: Type) -> bool {
    matches!(ty, Type::Scalar(element) if element.bits() == 32)
}

const IN_MEMORY: &str = "a scalar or vector of elements of 8 bits or more";

fn is_in_memory(ty: Type) -> bool {
    ty.element().is_some_and(|element| element != Element::I1)
}

fn is_float(ty: Type) -> bool {
    ty.element().is_some_and(Element::is_float)
}

fn is_integer(ty: Type) -> bool {
    ty.element().is_some_and(|element| !element.is_float())
}

fn is_wide_integer(ty: Type) -> bool {
    is_integer(ty) && is_in_memory(ty)
}

fn is_vector_count(count: u32) -> bool {
    count.is_power_of_two() && (2..=64).contains(&count)
}

fn listed(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

/// Checks that every collective stands under control that is uniform over its scope.
fn verify_collectives(kernel: &Kernel) -> Result<(), VerifyError> {
    let mut walk = ControlWalk { levels: uniformity(kernel), next: 0 };
    walk.region(&kernel.body, Uniformity::ClusterUniform).map_err(|(operation, name, scope)| VerifyError {
        kernel: kernel.name.clone(),
        operation: Some(operation),
        name,
        violation: Violation::DivergentControl { scope },
    })
}

struct ControlWalk {
    levels: Vec<Uniformity>,
    next: usize,
}

impl ControlWalk {
    fn level(&self, value: Value) -> Uniformity {
        self.levels.get(value.0 as usize).copied().unwrap_or(Uniformity::Varying)
    }

    fn region(&mut self, region: &Region, control: Uniformity) -> Result<(), (usize, &'static str, &'static str)> {
        for statement in &region.statements {
            let number = self.next;
            self.next += 1;
            let allowed = match &statement.op {
                Op::Barrier { scope: Scope::Cluster, .. } => Uniformity::ClusterUniform,
                Op::Barrier { scope: Scope::Block, .. } => Uniformity::BlockUniform,
                Op::Barrier { scope: Scope::Warp, .. }
                | Op::Exchange { .. }
                | Op::ExchangeXor { .. }
                | Op::Swap { .. }
                | Op::Instruction { .. } => Uniformity::Uniform,
                _ => Uniformity::Varying,
            };
            if control > allowed {
                let scope = match control {
                    Uniformity::Varying => "lanes of a warp",
                    Uniformity::Uniform => "warps of a block",
                    Uniformity::BlockUniform | Uniformity::ClusterUniform => "blocks of a cluster",
                };
                return Err((number, statement.op.name(), scope));
            }
            let inner = match &statement.op {
                Op::If { condition, .. } => control.join(self.level(*condition)),
                Op::For { from, to, step, .. } => {
                    control.join(self.level(*from)).join(self.level(*to)).join(self.level(*step))
                }
                _ => control,
            };
            for region in statement.op.regions() {
                self.region(region, inner)?;
            }
        }
        Ok(())
    }
}
