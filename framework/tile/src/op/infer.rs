//! Type inference for the groups of an operation.

use super::{OpDefinition, TypeExpression};
use crate::types::TileType;

/// The types of the values of each operand group and of each result group; `None` for a group whose types are not known
/// yet.
#[derive(Debug, Clone)]
pub(crate) struct GroupTypes {
    pub operands: Vec<Option<Vec<TileType>>>,
    pub results: Vec<Option<Vec<TileType>>>,
}

impl GroupTypes {
    pub fn new(definition: &OpDefinition) -> Self {
        Self { operands: vec![None; definition.operands.len()], results: vec![None; definition.results.len()] }
    }

    fn known(&self, definition: &OpDefinition, name: &str) -> Option<&[TileType]> {
        let operands = definition.operand_group_index(name).and_then(|group| self.operands[group].as_deref());
        operands.or_else(|| self.results[definition.result_group_index(name)?].as_deref())
    }

    /// Infers the types of groups by the rules of a definition.
    ///
    /// `counts` is the number of values in each operand group.
    pub fn infer(&mut self, definition: &OpDefinition, counts: &[usize]) {
        for rule in &definition.types {
            if let Some(group) = definition.operand_group_index(&rule.target) {
                if self.operands[group].is_none() {
                    self.operands[group] = self.apply_rule(definition, &rule.expression, Some(counts[group]));
                }
            } else if let Some(group) = definition.result_group_index(&rule.target)
                && self.results[group].is_none()
            {
                self.results[group] = self.apply_rule(definition, &rule.expression, None);
            }
        }
    }

    /// Returns the types that the expression of a rule gives to a group; `None` if they are not known yet.
    ///
    /// An operand group has `count` values, all of one type. For a result group, `count` is `None`: if the expression
    /// is only the name of a group, the result group has the types of all values of that group; otherwise it has one
    /// value.
    fn apply_rule(
        &self,
        definition: &OpDefinition,
        expression: &TypeExpression,
        count: Option<usize>,
    ) -> Option<Vec<TileType>> {
        if let (TypeExpression::Same(name), None) = (expression, count) {
            return self.known(definition, name).map(<[TileType]>::to_vec);
        }
        let ty = expression.evaluate(&|name| self.known(definition, name)?.first().cloned())?;
        Some(vec![ty; count.unwrap_or(1)])
    }
}
