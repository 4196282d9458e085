//! Completes parsed operations: checks attributes and operands, infers the types of results.

use super::Parser;
use super::draft::{Draft, Used};
use crate::{Attribute, Op, Operation, Successor, TileType};
use tilewright_layout::text::Parsed;

use std::sync::Arc;

impl Parser<'_> {
    /// Completes an operation whose text has been parsed, and checks that its operands have the types that the text
    /// gives.
    pub(super) fn finish(&mut self, mut draft: Draft) -> Parsed<Op> {
        let counts: Vec<usize> = draft.operands.iter().map(Vec::len).collect();
        draft.types.infer(&draft.definition, &counts);
        self.check_attributes(&mut draft)?;
        self.check_operands(&draft)?;
        let results = self.results(&draft)?;
        let mut operation = Operation::new(Arc::clone(&draft.definition));
        operation.group_sizes = draft.operands.iter().map(|group| group.len() as u32).collect();
        operation.operands = draft.operands.iter().flatten().map(|used| used.value).collect();
        operation.result_groups = results.iter().map(|group| group.len() as u32).collect();
        operation.attributes = draft.attributes;
        operation.regions = draft.regions.into();
        let mut start = operation.operands.len() - draft.successors.iter().map(|(_, count)| count).sum::<usize>();
        for (block, count) in draft.successors {
            operation.successors.push(Successor { block, operands: start..start + count });
            start += count;
        }
        operation.location.at = u32::try_from(draft.at).ok();
        Ok(self.body.add_op(operation, results.into_iter().flatten()))
    }

    /// Removes attributes that equal their default, and reports missing ones.
    fn check_attributes(&self, draft: &mut Draft) -> Parsed<()> {
        for row in &Arc::clone(&draft.definition).attributes {
            match draft.attributes.get(&row.name) {
                None if row.required => {
                    let message = format!("`{}` lacks its attribute `{}`", draft.definition.name, row.name);
                    return Err(self.cursor.error_at(draft.at, message));
                }
                Some(value) if row.default.as_ref() == Some(value) => drop(draft.attributes.remove(&row.name)),
                // A unit attribute that is explicitly false.
                Some(Attribute::Bool(false)) if row.kind == crate::op::AttributeKind::Unit => {
                    drop(draft.attributes.remove(&row.name));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_operands(&mut self, draft: &Draft) -> Parsed<()> {
        let definition = &draft.definition;
        for ((group, used), types) in definition.operands.iter().zip(&draft.operands).zip(&draft.types.operands) {
            if !group.count.allows(used.len()) {
                let message = format!("`{}` has {} of its operand `{}`", definition.name, used.len(), group.name);
                return Err(self.cursor.error_at(draft.at, message));
            }
            let Some(types) = types else { continue };
            if types.len() != used.len() {
                let message = format!("{} types for {} operands `{}`", types.len(), used.len(), group.name);
                return Err(self.cursor.error_at(draft.at, message));
            }
            for (used, ty) in used.iter().zip(types) {
                match self.forward_refs.is_stand_in(used.value) {
                    true => self.forward_refs.record_expected_type(*used, ty.clone()),
                    false => self.check_type(*used, ty)?,
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_type(&self, used: Used, ty: &TileType) -> Parsed<()> {
        let has = self.body.value_type(used.value);
        if has == ty {
            return Ok(());
        }
        Err(self.cursor.error_at(used.at, format!("the value is a `{has}`, and here a `{ty}` is expected")))
    }

    fn results(&self, draft: &Draft) -> Parsed<Vec<Vec<TileType>>> {
        let groups = draft.definition.results.iter().zip(&draft.types.results);
        groups
            .map(|(group, types)| match types {
                Some(types) if group.count.allows(types.len()) => Ok(types.clone()),
                None if group.count.allows(0) => Ok(Vec::new()),
                _ => {
                    let message =
                        format!("the type of the result `{}` of `{}` is missing", group.name, draft.definition.name);
                    Err(self.cursor.error_at(draft.at, message))
                }
            })
            .collect()
    }
}
