//! Parses structured control flow.

use crate::op::name::scf;
use std::sync::Arc;

use super::Parser;
use super::draft::Draft;
use crate::{Attribute, Operation, Region, TileType};
use tilewright_layout::text::Parsed;

/// Name of the terminator that the text of a region may omit.
const YIELD: &str = scf::YIELD;

impl Parser<'_> {
    /// Parses an `scf.for` after its name: `%i = %from to %to step %step iter_args(%a = %b) -> (types) : type {...}`.
    pub(super) fn counted_loop(&mut self, draft: &mut Draft) -> Parsed<()> {
        if self.cursor.skip_if_next("unsigned") {
            draft.attributes.set("unsignedCmp", Attribute::Unit);
        }
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let counter = self.value_name()?;
        for (group, word) in ["=", "to", "step"].into_iter().enumerate() {
            self.cursor.expect(word)?;
            draft.operands[group] = vec![self.used()?];
        }
        let mut arguments = vec![(counter, at)];
        let mut types = Vec::new();
        if self.cursor.skip_if_next("iter_args") {
            let (names, initial) = self.initialised()?;
            arguments.extend(names);
            draft.operands[3] = initial;
            self.cursor.expect("->")?;
            types = self.result_types()?;
        }
        let counted = if self.cursor.skip_if_next(":") { self.ty()? } else { TileType::Index };
        if types.len() + 1 != arguments.len() {
            let message = format!("{} types for {} values", types.len(), arguments.len() - 1);
            return Err(self.cursor.error_at(draft.at, message));
        }
        for group in 0..3 {
            draft.types.operands[group] = Some(vec![counted.clone()]);
        }
        draft.types.operands[3] = Some(types.clone());
        let all = std::iter::once(counted).chain(types.iter().cloned());
        let arguments: Vec<_> = arguments.into_iter().zip(all).collect();
        draft.types.results[0] = Some(types);
        let region = self.region(&arguments)?;
        self.end_region(region)?;
        draft.regions.push(region);
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)
    }

    /// Parses an `scf.if` after its name: `%condition -> (types) {...} else {...}`.
    pub(super) fn branches(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.operands[0] = vec![self.used()?];
        draft.types.operands[0] = Some(vec![TileType::BOOLEAN]);
        draft.types.results[0] = Some(if self.cursor.skip_if_next("->") { self.result_types()? } else { Vec::new() });
        let then = self.region(&[])?;
        self.end_region(then)?;
        let otherwise = if self.cursor.skip_if_next("else") {
            let region = self.region(&[])?;
            self.end_region(region)?;
            region
        } else {
            self.body.add_region()
        };
        draft.regions = vec![then, otherwise];
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)
    }

    /// Parses an `scf.while` after its name: `(%a = %b) : (types) -> (types) {...} do {...} attributes {...}`.
    pub(super) fn conditional_loop(&mut self, draft: &mut Draft) -> Parsed<()> {
        let mut names = Vec::new();
        if self.cursor.is_next("(") {
            let (arguments, initial) = self.initialised()?;
            names = arguments;
            draft.operands[0] = initial;
        }
        self.cursor.expect(":")?;
        let signature = self.signature()?;
        if signature.arguments.len() != names.len() {
            let message = format!("{} types for {} values", signature.arguments.len(), names.len());
            return Err(self.cursor.error_at(draft.at, message));
        }
        let arguments: Vec<_> = names.into_iter().zip(signature.arguments.iter().cloned()).collect();
        draft.types.operands[0] = Some(signature.arguments);
        draft.types.results[0] = Some(signature.results);
        draft.regions.push(self.region(&arguments)?);
        self.cursor.expect("do")?;
        let after = self.region(&[])?;
        self.end_region(after)?;
        draft.regions.push(after);
        let given = self.attributes_after_keyword()?;
        self.add_attributes(draft, given)
    }

    /// Parses an `scf.index_switch` after its name: `%number {...} -> types case 2 {...} default {...}`.
    pub(super) fn region_switch(&mut self, draft: &mut Draft) -> Parsed<()> {
        draft.operands[0] = vec![self.used()?];
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)?;
        draft.types.results[0] =
            Some(if self.cursor.skip_if_next("->") { self.type_list_or_bracketed()? } else { Vec::new() });
        let mut cases = Vec::new();
        let mut regions = Vec::new();
        while self.cursor.skip_if_next("case") {
            let literal = self.literal()?;
            match self.typed(literal, TileType::integer(64))? {
                Attribute::Number(number) => cases.push(number.bits),
                _ => return Err(self.cursor.expected_token_error("an integer")),
            }
            let region = self.region(&[])?;
            self.end_region(region)?;
            regions.push(region);
        }
        self.cursor.expect("default")?;
        let default = self.region(&[])?;
        self.end_region(default)?;
        draft.regions = std::iter::once(default).chain(regions).collect();
        draft.attributes.set("cases", Attribute::Array(TileType::integer(64), cases));
        Ok(())
    }

    /// Parses an `scf.execute_region` after its name: `-> types {...}`.
    pub(super) fn execute(&mut self, draft: &mut Draft) -> Parsed<()> {
        if self.cursor.skip_if_next("no_inline") {
            draft.attributes.set("no_inline", Attribute::Unit);
        }
        draft.types.results[0] =
            Some(if self.cursor.skip_if_next("->") { self.type_list_or_bracketed()? } else { Vec::new() });
        // Newer versions of MLIR write `no_inline` after the types.
        if self.cursor.skip_if_next("no_inline") {
            draft.attributes.set("no_inline", Attribute::Unit);
        }
        let region = self.region(&[])?;
        self.end_region(region)?;
        draft.regions.push(region);
        let given = self.attributes_if_any()?;
        self.add_attributes(draft, given)
    }

    fn type_list_or_bracketed(&mut self) -> Parsed<Vec<TileType>> {
        if self.cursor.is_next("(") { self.result_types() } else { self.type_list() }
    }

    /// Appends an `scf.yield` to a region whose text omits the terminator.
    fn end_region(&mut self, region: Region) -> Parsed<()> {
        let block = match self.body.blocks(region).last() {
            Some(block) => *block,
            None => {
                let block = self.body.add_block();
                self.body.append_block(region, block);
                block
            }
        };
        let last = self.body.ops(block).last();
        if last.is_some_and(|last| self.body.op(*last).definition.traits.terminator) {
            return Ok(());
        }
        let Some(definition) = self.dialects.find_definition(YIELD) else {
            return Err(self
                .cursor
                .error_at(self.cursor.at, format!("there is no operation `{YIELD}` to end this region")));
        };
        let mut operation = Operation::new(Arc::clone(definition));
        operation.group_sizes = definition.operands.iter().map(|_| 0).collect();
        let op = self.body.add_op(operation, []);
        self.body.append_op(block, op);
        Ok(())
    }
}
