//! Parses MLIR's generic form: `"name"(%a, %b)[^block] <{properties}> ({regions}) {attributes} : (types) -> types`.

use super::Parser;
use super::draft::{Draft, Used};
use crate::op::OperandGroup;
use crate::{Attribute, Op};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    /// Parses an operation in the generic form, after its name in quotes.
    pub(super) fn generic(&mut self, mut draft: Draft) -> Parsed<Op> {
        self.cursor.expect("(")?;
        let operands = self.list(")", Self::used)?;
        if self.cursor.takes("[") {
            self.list("]", |parser| {
                parser.cursor.skip_blanks();
                let at = parser.cursor.at;
                let name = parser.block_name()?;
                let block = parser.block(name, at);
                draft.successors.push((block, 0));
                Ok(())
            })?;
        }
        if self.cursor.takes("<") {
            let properties = self.dictionary()?;
            self.cursor.expect(">")?;
            self.add_attributes(&mut draft, properties)?;
        }
        if self.cursor.takes("(") {
            draft.regions = self.list(")", |parser| parser.region(&[]))?;
        }
        let attributes = self.attributes_if_any()?;
        self.add_attributes(&mut draft, attributes)?;
        self.cursor.expect(":")?;
        let signature = self.signature()?;
        self.group_operands(&mut draft, operands)?;
        self.distribute_operands(&mut draft, signature.arguments)?;
        self.distribute_results(&mut draft, signature.results)?;
        if !draft.definition.regions.allows(draft.regions.len()) {
            let message = format!("`{}` has {} regions", draft.definition.name, draft.regions.len());
            return Err(self.cursor.error(draft.at, message));
        }
        self.finish(draft)
    }

    /// Divides the operands of an operation among the groups of its definition: by `operandSegmentSizes`; otherwise the
    /// only variadic group takes the rest, or optional groups take one each, in order.
    fn group_operands(&mut self, draft: &mut Draft, operands: Vec<Used>) -> Parsed<()> {
        let rows = &draft.definition.operands;
        draft.attributes.remove("resultSegmentSizes");
        let sizes = match draft.attributes.remove("operandSegmentSizes") {
            Some(Attribute::Array(_, sizes)) => sizes.into_iter().map(|size| size as usize).collect::<Vec<_>>(),
            _ => OperandGroup::divide(rows, operands.len()).unwrap_or_default(),
        };
        let total = sizes.iter().try_fold(0usize, |total, size| total.checked_add(*size));
        if sizes.len() != rows.len() || total != Some(operands.len()) {
            let message =
                format!("{} operands cannot be split into the operands of `{}`", operands.len(), draft.definition.name);
            return Err(self.cursor.error(draft.at, message));
        }
        let mut operands = operands.into_iter();
        draft.operands = sizes.iter().map(|size| operands.by_ref().take(*size).collect()).collect();
        // Block arguments have groups of their own.
        let groups = draft.operands.iter().map(Vec::len);
        let along: Vec<usize> = groups.skip(rows.len().saturating_sub(draft.successors.len())).collect();
        for ((_, count), along) in draft.successors.iter_mut().zip(along) {
            *count = along;
        }
        Ok(())
    }
}
