//! Checks the types of operands and results against the table of operations, and the regions of control flow.

use super::body::{Checked, Checker};
use super::violation::{VerifyError, Violation};
use crate::op::{BOOL, I32, TypeRule};
use crate::{Op, Region, Statement, Type, Value};

impl Checker<'_> {
    pub(super) fn operation(&mut self, op: &Op, results: &[(Value, Type)]) -> Checked {
        op.try_operands(|value, rule| self.operand_by(value, rule))?;
        self.attributes(op, results)?;
        // `Checker::results` checks the number of results.
        results
            .iter()
            .take(op.result_count().unwrap_or(0))
            .try_for_each(|&result| self.result_by(result, op.result_rule()))?;
        match op {
            Op::If { then, otherwise, .. } => {
                let types: Vec<_> = results.iter().map(|&(_, ty)| ty).collect();
                self.inner_region(0, then, &[], &types)?;
                self.inner_region(1, otherwise, &[], &types)
            }
            Op::For { carried, body, .. } => {
                let types = self.carried(carried, results)?;
                let arguments: Vec<_> = std::iter::once(I32).chain(types.iter().copied()).collect();
                self.inner_region(0, body, &arguments, &types)
            }
            Op::While { carried, body } => {
                let types = self.carried(carried, results)?;
                let yields: Vec<_> = std::iter::once(BOOL).chain(types.iter().copied()).collect();
                self.inner_region(0, body, &types, &yields)
            }
            _ => Ok(()),
        }
    }

    fn operand_by(&self, value: Value, rule: TypeRule) -> Checked {
        match rule {
            TypeRule::Any => self.type_of(value).map(|_| ()),
            TypeRule::Is(expected) => self.operand(value, expected),
            TypeRule::OneOf(set) => self.operand_that(value, set).map(|_| ()),
            TypeRule::From(other, map) => self.operand(value, map(self.type_of(other)?)),
        }
    }

    fn result_by(&self, result: (Value, Type), rule: TypeRule) -> Checked {
        match rule {
            TypeRule::Any => Ok(()),
            TypeRule::Is(expected) => self.result(result, expected),
            TypeRule::OneOf(set) => self.result_that(result, set.expected, set.contains),
            TypeRule::From(operand, map) => self.result(result, map(self.type_of(operand)?)),
        }
    }

    /// Returns the types of the values that a loop carries; an error if the results of the loop have other types.
    fn carried(&self, carried: &[Value], results: &[(Value, Type)]) -> Result<Vec<Type>, VerifyError> {
        let types: Vec<_> = carried.iter().map(|&value| self.type_of(value)).collect::<Result<_, _>>()?;
        let counts = Violation::ResultCount { found: results.len(), expected: types.len() };
        self.require(results.len() == types.len(), || counts)?;
        results.iter().zip(&types).try_for_each(|(&result, &expected)| self.result(result, expected))?;
        Ok(types)
    }

    fn inner_region(&mut self, index: usize, region: &Region, arguments: &[Type], yields: &[Type]) -> Checked {
        let found: Vec<_> = region.arguments.iter().map(|&(_, ty)| ty).collect();
        let violation =
            || Violation::RegionArguments { region: index, found: listed(&found), expected: listed(arguments) };
        self.require(found == arguments, violation)?;
        let ends = matches!(region.statements.last(), Some(Statement { op: Op::Yield { .. }, .. }));
        self.require(ends, || Violation::YieldMissing { region: index })?;
        self.region(region, Some(yields))
    }
}

fn listed(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}
