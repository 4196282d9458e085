//! Parses MLIR's generic form: `"name"(%a, %b)[^block] <{properties}> ({regions}) {attributes} : (types) -> types`.

use super::Parser;
use super::draft::{Draft, Used};
use crate::op::{FormatTemplatePiece, OpSpecificFormatPiece, ValueGroup};
use crate::{Attribute, DenseElements, Op, TileType};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    /// Parses an operation in the generic form, after its name in quotes.
    pub(super) fn generic(&mut self, mut draft: Draft) -> Parsed<Op> {
        self.cursor.expect("(")?;
        let operands = self.list(")", Self::used)?;
        if self.cursor.skip_if_next("[") {
            self.list("]", |parser| {
                parser.cursor.skip_blanks();
                let at = parser.cursor.at;
                let name = parser.block_name()?;
                let block = parser.block(name, at);
                draft.successors.push((block, 0));
                Ok(())
            })?;
        }
        if self.cursor.skip_if_next("<") {
            let properties = self.dictionary()?;
            self.cursor.expect(">")?;
            self.add_attributes(&mut draft, properties)?;
        }
        if self.cursor.skip_if_next("(") {
            self.generic_regions(&mut draft)?;
        }
        let attributes = self.attributes_if_any()?;
        self.add_attributes(&mut draft, attributes)?;
        self.cursor.expect(":")?;
        let signature = self.signature()?;
        if !is_specialized(&draft) {
            self.group_operands(&mut draft, operands)?;
            self.distribute_operands(&mut draft, signature.arguments)?;
        }
        match draft.attributes.remove("resultSegmentSizes") {
            Some(Attribute::Array(_, sizes)) => {
                self.distribute_result_segments(&mut draft, &sizes, signature.results)?
            }
            _ => self.distribute_results(&mut draft, signature.results)?,
        }
        if !draft.definition.regions.allows(draft.regions.len()) {
            let message = format!("`{}` has {} regions", draft.definition.name, draft.regions.len());
            return Err(self.cursor.error_at(draft.at, message));
        }
        self.finish(draft)
    }

    /// Parses the regions of an operation after `(`.
    ///
    /// The second region of a `ttg.warp_specialize` contains an operation that has the captures as operands and the
    /// partitions as regions.
    fn generic_regions(&mut self, draft: &mut Draft) -> Parsed<()> {
        if !is_specialized(draft) {
            draft.regions = self.list(")", |parser| parser.region(&[]))?;
            return Ok(());
        }
        draft.regions.push(self.region(&[])?);
        self.cursor.expect(",")?;
        self.cursor.expect("{")?;
        self.cursor.expect(&format!("\"{}.partitions\"", draft.definition.name))?;
        self.cursor.expect("(")?;
        draft.operands[0] = self.list(")", Self::used)?;
        if self.cursor.skip_if_next("<") {
            let properties = self.dictionary()?;
            self.cursor.expect(">")?;
            self.add_attributes(draft, properties)?;
        }
        if self.cursor.skip_if_next("(") {
            draft.regions.extend(self.list(")", |parser| parser.region(&[]))?);
        }
        let attributes = self.attributes_if_any()?;
        self.add_attributes(draft, attributes)?;
        self.cursor.expect(":")?;
        let signature = self.signature()?;
        self.distribute_operands(draft, signature.arguments)?;
        self.location()?;
        self.cursor.expect("}")?;
        self.cursor.expect(")")
    }

    /// Divides the types of all results among the result groups, whose sizes are given.
    fn distribute_result_segments(&self, draft: &mut Draft, sizes: &[u64], types: Vec<TileType>) -> Parsed<()> {
        let total = sizes.iter().try_fold(0u64, |total, size| total.checked_add(*size));
        if sizes.len() != draft.types.results.len() || total != Some(types.len() as u64) {
            let message = format!("{} results cannot be split by `resultSegmentSizes`", types.len());
            return Err(self.cursor.error_at(draft.at, message));
        }
        let mut types = types.into_iter();
        for (size, group) in sizes.iter().zip(&mut draft.types.results) {
            *group = Some(types.by_ref().take(*size as usize).collect());
        }
        Ok(())
    }

    /// Divides the operands of an operation among the groups of its definition.
    ///
    /// The sizes of the groups are in `operandSegmentSizes`; without it, they are those of [`ValueGroup::divide`].
    fn group_operands(&mut self, draft: &mut Draft, operands: Vec<Used>) -> Parsed<()> {
        let rows = &draft.definition.operands;
        let sizes = match draft.attributes.remove("operandSegmentSizes") {
            Some(Attribute::Array(_, sizes)) => sizes.into_iter().map(|size| size as usize).collect::<Vec<_>>(),
            _ => ValueGroup::divide(rows, operands.len()).unwrap_or_default(),
        };
        let total = sizes.iter().try_fold(0usize, |total, size| total.checked_add(*size));
        if sizes.len() != rows.len() || total != Some(operands.len()) {
            let message =
                format!("{} operands cannot be split into the operands of `{}`", operands.len(), draft.definition.name);
            return Err(self.cursor.error_at(draft.at, message));
        }
        let mut operands = operands.into_iter();
        draft.operands = sizes.iter().map(|size| operands.by_ref().take(*size).collect()).collect();
        // The block arguments of each successor are an operand group; these groups are the last ones.
        let groups = draft.operands.iter().map(Vec::len);
        let along: Vec<usize> = match draft.attributes.remove("case_operand_segments") {
            // The last group of a switch has the block arguments of all cases.
            Some(Attribute::Array(_, cases)) => {
                let default = groups.skip(1).take(1);
                default.chain(cases.into_iter().map(|size| size as usize)).collect()
            }
            _ => groups.skip(rows.len().saturating_sub(draft.successors.len())).collect(),
        };
        if let Some(Attribute::Dense(cases)) = draft.attributes.get("case_values") {
            draft.attributes.set("case_values", case_values(cases));
        }
        for ((_, count), along) in draft.successors.iter_mut().zip(along) {
            *count = along;
        }
        Ok(())
    }
}

/// Whether this is `ttg.warp_specialize`: its generic form nests the partition regions (all but the first) in an
/// operation `ttg.warp_specialize.partitions`.
fn is_specialized(draft: &Draft) -> bool {
    matches!(
        draft.definition.format.as_deref(),
        Some([FormatTemplatePiece::Special(OpSpecificFormatPiece::WarpSpecialize), ..])
    )
}

/// Converts the numbers of a switch's cases from the dense attribute of the generic form to a list attribute.
fn case_values(cases: &DenseElements) -> Attribute {
    let count = cases.ty.shape().map_or(0, |shape| shape.iter().product::<u64>());
    let numbers = cases.elements.iter().cycle().take(usize::try_from(count).unwrap_or(0));
    let ty = cases.ty.element();
    Attribute::List(numbers.map(|bits| Attribute::of_bits(*bits, ty.clone())).collect())
}
