//! Prints an operation: names of results, its name, and its format.

use std::fmt::{self, Write as _};

use super::Printer;
use super::line::Line;
use crate::attribute::write_entries;
use crate::op::AttributeKind;
use crate::{Attribute, Op, Operation, Region, TileType, Value};

impl Printer<'_> {
    /// Prints an operation that is in a block of region `within`, on one or several lines.
    pub(super) fn operation(&mut self, op: Op, within: Region) -> fmt::Result {
        let body = self.body;
        let operation = body.op(op);
        self.indent();
        // Print regions before naming results: inside a region, another value may have the name.
        let start = self.out.len();
        match &operation.definition.format {
            Some(format) => {
                let mut line = Line::default();
                line.push_token(operation.name());
                self.formatted(operation, format, &mut line, within)?;
                self.out.push_str(line.text());
            }
            None => self.generic(operation, within)?,
        }
        self.out.push_str(&operation.location.suffix());
        self.out.push('\n');
        let results = self.result_names(&operation.results);
        if !results.is_empty() {
            self.out.insert_str(start, &format!("{results} = "));
        }
        Ok(())
    }

    /// Names the results of an operation, and returns their text; results with one name are grouped.
    fn result_names(&mut self, results: &[Value]) -> String {
        let same = |a: &Value, b: &Value| self.body.value_name(*a) == self.body.value_name(*b);
        let groups: Vec<&[Value]> = results.chunk_by(same).collect();
        groups.into_iter().map(|group| self.names.define_values(self.body, group)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn used(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.names.print_use(*value)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn types_of(&self, values: &[Value]) -> String {
        self.types(values.iter().map(|value| self.body.value_type(*value)))
    }

    /// The text `(types) -> types` of an operation's operands and results.
    pub(super) fn function_type(&self, operation: &Operation) -> String {
        let results = operation.results.iter().map(|value| self.body.value_type(*value));
        format!("({}) -> {}", self.types_of(&operation.operands), self.result_types(results))
    }

    /// Appends a region in braces to a line; `labelled` and `implied` as for [`Self::blocks`].
    pub(super) fn region(&mut self, region: Region, labelled: bool, implied: bool, line: &mut Line) -> fmt::Result {
        line.push_token("{");
        self.region_after_brace(region, labelled, implied, line)
    }

    /// Appends a region to a line that ends with its opening brace; `labelled` and `implied` as for [`Self::blocks`].
    pub(super) fn region_after_brace(
        &mut self,
        region: Region,
        labelled: bool,
        implied: bool,
        line: &mut Line,
    ) -> fmt::Result {
        line.push_without_space("\n");
        // Flush the line, since the lines of the region follow it.
        let mut inner = std::mem::take(self.out);
        self.names.enter();
        let result = self.blocks(region, labelled, implied);
        self.names.leave();
        std::mem::swap(self.out, &mut inner);
        line.push_without_space(&inner);
        for _ in 0..self.depth {
            line.push_without_space("  ");
        }
        line.push_without_space("}");
        result
    }

    /// Prints an operation in MLIR's generic form: `"name"(%a)[^block] <{...}> ({...}) {...} : (types) -> types`.
    fn generic(&mut self, operation: &Operation, within: Region) -> fmt::Result {
        let mut line = Line::default();
        line.push_token(&format!("\"{}\"({})", operation.name(), self.used(&operation.operands)));
        if !operation.successors.is_empty() {
            let blocks: Vec<_> = operation.successors.iter().map(|to| self.block_name(to.block, within)).collect();
            line.push_without_space(&format!("[{}]", blocks.join(", ")));
        }
        self.properties(operation, &mut line)?;
        if !operation.regions.is_empty() {
            line.push_without_space(" (");
            for (index, region) in operation.regions.iter().enumerate() {
                line.push_without_space(if index > 0 { ", {" } else { "{" });
                let labelled =
                    self.body.blocks(*region).first().is_some_and(|block| !self.body.arguments(*block).is_empty());
                self.region_after_brace(*region, labelled, false, &mut line)?;
            }
            line.push_without_space(")");
        }
        let others: Vec<_> = operation
            .attributes
            .iter()
            .filter(|(name, _)| operation.definition.find_attribute(name).is_none())
            .collect();
        if !others.is_empty() {
            line.push_token(&self.entries(others.into_iter())?);
        }
        line.push_token(":");
        line.push_token(&self.function_type(operation));
        self.out.push_str(line.text());
        Ok(())
    }

    /// Appends the attributes that the definition lists, in `<{...}>`; a keyword is written as its number.
    fn properties(&self, operation: &Operation, line: &mut Line) -> fmt::Result {
        let known = operation.attributes.iter().filter_map(|(name, value)| {
            operation.definition.find_attribute(name)?;
            Some((name, numbered(operation, name, value)))
        });
        let mut known: Vec<_> = known.collect();
        let divided = operation.definition.operands.iter().filter(|group| group.count != crate::op::CountRule::One);
        if divided.count() > 1 {
            let sizes = operation.group_sizes.iter().map(|size| u64::from(*size)).collect();
            known.push(("operandSegmentSizes", Attribute::Array(TileType::integer(32), sizes)));
        }
        if !known.is_empty() {
            let entries = self.entries(known.iter().map(|(name, value)| (*name, value)))?;
            line.push_token(&format!("<{entries}>"));
        }
        Ok(())
    }

    pub(super) fn entries<'e>(
        &self,
        entries: impl Iterator<Item = (&'e str, &'e Attribute)>,
    ) -> Result<String, fmt::Error> {
        let mut text = String::new();
        write_entries(&mut text, entries, &|layout, f| self.layouts.write(layout, f))?;
        Ok(text)
    }

    pub(super) fn attribute(&self, value: &Attribute) -> String {
        let mut text = String::new();
        let _ = value.write(&mut text, &|layout, f| self.layouts.write(layout, f));
        text
    }

    /// The printed name of a block in a region.
    pub(super) fn block_name(&self, block: crate::Block, within: Region) -> String {
        let mut name = String::new();
        let block_index = self.body.blocks(within).iter().position(|other| *other == block);
        let _ = match block_index {
            Some(block_index) => write!(name, "^bb{block_index}"),
            None => write!(name, "^<block {} is elsewhere>", block.index()),
        };
        name
    }
}

/// Converts a keyword attribute to the keyword's number, as the generic form has it.
pub(super) fn numbered(operation: &Operation, name: &str, value: &Attribute) -> Attribute {
    match (operation.definition.find_attribute(name).map(|row| &row.kind), value) {
        (Some(AttributeKind::Keyword(words)), Attribute::Keyword(word)) => match words.get(&**word) {
            Some(code) => Attribute::integer(i64::from(*code), TileType::integer(32)),
            None => value.clone(),
        },
        (Some(AttributeKind::Words(words)), Attribute::Keyword(set)) if !words.is_empty() => {
            let codes = set.split('|').filter_map(|word| words.get(word));
            Attribute::integer(codes.fold(0, |all, code| all | i64::from(*code)), TileType::integer(32))
        }
        _ => value.clone(),
    }
}
