//! Checks that values are defined once and used where visible, and that regions have the right arguments and yields.

use super::violation::{VerifyError, Violation};
use crate::op::TypeSet;
use crate::{Kernel, MAX_REGION_DEPTH, MAX_VALUES, Op, Region, Statement, Type, Value};

#[derive(Clone, Copy)]
enum Definition {
    None,
    Visible(Type),
    /// Defined in a region that has ended.
    Hidden,
}

pub(super) struct Checker<'a> {
    pub(super) kernel: &'a Kernel,
    /// The definition of each value, indexed by value number.
    definitions: Vec<Definition>,
    /// Number of the next operation, in the order of `Kernel::statements`.
    next: usize,
    /// The number and the name of the operation under check; `None` while no operation is checked.
    current: Option<(usize, &'static str)>,
    depth: usize,
}

pub(super) type Checked = Result<(), VerifyError>;

impl<'a> Checker<'a> {
    /// Checks the body of a kernel whose header is verified.
    pub(super) fn check(kernel: &'a Kernel) -> Checked {
        let mut checker = Self { kernel, definitions: Vec::new(), next: 0, current: None, depth: 0 };
        for (number, parameter) in kernel.parameters.iter().enumerate() {
            checker.define(Value(number as u32), parameter.ty)?;
        }
        checker.region(&kernel.body, None)
    }

    pub(super) fn error(&self, violation: Violation) -> VerifyError {
        VerifyError {
            kernel: self.kernel.name.clone(),
            operation: self.current.map(|(number, _)| number),
            name: self.current.map_or("", |(_, name)| name),
            violation,
        }
    }

    pub(super) fn require(&self, holds: bool, violation: impl FnOnce() -> Violation) -> Checked {
        if holds { Ok(()) } else { Err(self.error(violation())) }
    }

    fn define(&mut self, value: Value, ty: Type) -> Checked {
        self.require(value.0 < MAX_VALUES, || Violation::ValueNumber { value })?;
        let is_parameter = (value.0 as usize) < self.kernel.parameters.len();
        self.require(ty != Type::TensorMap || is_parameter, || Violation::MapDefined { value })?;
        let scalar = matches!(ty, Type::Pending(_, 1));
        if let Type::Vector(_, count) | Type::Pending(_, count) = ty {
            self.require(scalar || is_vector_count(count), || Violation::VectorCount { value, found: count })?;
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

    pub(super) fn type_of(&self, value: Value) -> Result<Type, VerifyError> {
        match self.definitions.get(value.0 as usize) {
            Some(Definition::Visible(ty)) => Ok(*ty),
            _ => Err(self.error(Violation::NotVisible { value })),
        }
    }

    /// Checks a region. `yields` has the types that the region must yield; `None` for the body of a kernel, which
    /// yields nothing.
    pub(super) fn region(&mut self, region: &Region, yields: Option<&[Type]>) -> Checked {
        self.require(self.depth <= MAX_REGION_DEPTH, || Violation::TooDeep)?;
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
        let expected = statement.op.result_count().unwrap_or(count);
        self.require(count == expected, || Violation::ResultCount { found: count, expected })?;
        statement.results.iter().try_for_each(|&(value, ty)| self.define(value, ty))
    }

    fn yielded(&mut self, values: &[Value], types: &[Type]) -> Checked {
        let counts = Violation::YieldCount { found: values.len(), expected: types.len() };
        self.require(values.len() == types.len(), || counts)?;
        values.iter().zip(types).try_for_each(|(&value, &ty)| self.operand(value, ty))
    }

    pub(super) fn operand(&self, value: Value, expected: Type) -> Checked {
        let found = self.type_of(value)?;
        let violation = || Violation::Operand { value, found, expected: expected.to_string() };
        self.require(found == expected, violation)
    }

    pub(super) fn operand_that(&self, value: Value, set: TypeSet) -> Result<Type, VerifyError> {
        let found = self.type_of(value)?;
        let violation = || Violation::Operand { value, found, expected: set.expected.to_owned() };
        self.require((set.contains)(found), violation)?;
        Ok(found)
    }

    pub(super) fn result(&self, result: (Value, Type), expected: Type) -> Checked {
        self.result_that(result, &expected.to_string(), |found| found == expected)
    }

    pub(super) fn result_that(
        &self,
        (value, found): (Value, Type),
        expected: &str,
        fits: impl Fn(Type) -> bool,
    ) -> Checked {
        self.require(fits(found), || Violation::Result { value, found, expected: expected.to_owned() })
    }
}

/// Whether a vector type may have this many elements.
pub(super) fn is_vector_count(count: u32) -> bool {
    count.is_power_of_two() && (2..=128).contains(&count)
}
