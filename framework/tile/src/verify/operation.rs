//! Checks an operation against its definition (its row in a dialect file).

use super::{CheckResult, OpContext, ensure};
use crate::TileType;
use crate::op::{CountRule, TypeExpression, TypeInferenceRule, ValueGroup};

impl<'a> OpContext<'a> {
    pub(super) fn row(&self) -> CheckResult {
        let definition = &self.operation.definition;
        self.groups(&definition.operands, &self.operation.group_sizes, "operands", |group| {
            self.operation.operand_group(group)
        })?;
        self.groups(&definition.results, &self.operation.result_groups, "results", |group| {
            self.operation.result_group(group)
        })?;
        ensure(definition.regions.allows(self.operation.regions.len()), || {
            format!("it has {} regions, which are not as many as it must have", self.operation.regions.len())
        })?;
        if let Some(missing) =
            definition.attributes.iter().find(|row| row.required && self.operation.attributes.get(&row.name).is_none())
        {
            return Err(format!("its attribute `{}` is missing", missing.name));
        }
        self.inferred_types()?;
        self.elementwise()
    }

    fn groups<'v>(
        &self,
        rows: &[ValueGroup],
        counts: &[u32],
        what: &str,
        values: impl Fn(usize) -> &'v [crate::Value],
    ) -> CheckResult {
        ensure(rows.len() == counts.len(), || {
            format!("its {what} are {} groups, and must be {}", counts.len(), rows.len())
        })?;
        for (index, row) in rows.iter().enumerate() {
            let values = values(index);
            ensure(row.count.allows(values.len()) && values.len() == counts[index] as usize, || {
                let expected = match row.count {
                    CountRule::One => "one",
                    CountRule::Two => "two",
                    CountRule::Zero => "none",
                    CountRule::Optional => "at most one",
                    CountRule::Many => "any number",
                };
                format!("{} {what} `{}`: expected {expected}", values.len(), row.name)
            })?;
            for value in values {
                let ty = self.value_type(*value);
                ensure(row.class.contains(ty), || format!("`{}` is a `{ty}`: expected {}", row.name, row.class))?;
            }
        }
        Ok(())
    }

    /// Checks that the numbers of scalars and tensors have one of the element types that the operation's dialect
    /// allows.
    pub(super) fn element_types(&self) -> CheckResult {
        let definition = &self.operation.definition;
        let operands =
            definition.operands.iter().enumerate().map(|(index, row)| (row, self.operation.operand_group(index)));
        let results =
            definition.results.iter().enumerate().map(|(index, row)| (row, self.operation.result_group(index)));
        operands.chain(results).try_for_each(|(row, values)| {
            values.iter().try_for_each(|value| self.element(row, self.value_type(*value)))
        })
    }

    fn element(&self, row: &ValueGroup, ty: &TileType) -> CheckResult {
        let known = &self.operation.definition.elements;
        let is_number = matches!(ty.element(), TileType::Integer(..) | TileType::Float(_));
        let is_known = known.is_empty() || known.contains(ty.element());
        ensure(is_known || !is_number || !row.class.is_of_values(), || {
            let known: Vec<_> = known.iter().map(TileType::to_string).collect();
            format!("`{}` is a `{ty}`: expected elements of {}", row.name, known.join(", "))
        })
    }

    /// Checks the types of the operation's groups by the type inference rules of its definition.
    fn inferred_types(&self) -> CheckResult {
        self.operation.definition.types.iter().try_for_each(|rule| self.rule(rule))
    }

    /// Checks that the types of the rule's target group are those that the rule derives from other groups.
    pub(super) fn rule(&self, rule: &TypeInferenceRule) -> CheckResult {
        let targets = self.group_types(&rule.target);
        if let TypeExpression::Same(name) = &rule.expression {
            let sources = self.group_types(name);
            // A source group with one value gives the type of all targets; one with several gives a type for each.
            if sources.len() > 1 {
                return ensure(sources == targets, || {
                    format!("the types of `{}` differ from those of `{name}`", rule.target)
                });
            }
        }
        let expected = rule.expression.evaluate(&|name| self.group_types(name).first().map(|ty| (*ty).clone()));
        let Some(expected) = expected else { return Ok(()) };
        if let Some(wrong) = targets.iter().find(|ty| ***ty != expected) {
            return Err(format!("`{}` is a `{wrong}`: expected `{expected}`", rule.target));
        }
        Ok(())
    }

    /// Checks an elementwise operation: all tensors have one shape and one layout, and scalars are not mixed with
    /// tensors.
    fn elementwise(&self) -> CheckResult {
        if !self.operation.definition.traits.elementwise {
            return Ok(());
        }
        let values = self.operation.operands.iter().chain(&self.operation.results);
        let mut types = values.map(|value| self.value_type(*value));
        let Some(first) = types.next() else { return Ok(()) };
        match types.find(|ty| ty.shape() != first.shape() || ty.layout() != first.layout()) {
            None => Ok(()),
            Some(other) => Err(format!("`{first}` and `{other}` differ in shape or layout, which must be one")),
        }
    }
}
