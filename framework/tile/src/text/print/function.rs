//! Prints functions.

use std::fmt::{self, Write as _};

use super::names::Names;
use super::{Layouts, Printer};
use crate::attribute::write_symbol;
use crate::{Attributes, Function, FunctionBody, Region};

pub(super) fn write(function: &Function, layouts: &Layouts, out: &mut String) -> fmt::Result {
    let empty = FunctionBody::default();
    let body = function.body.as_ref().unwrap_or(&empty);
    let mut printer = Printer { body, layouts, names: Names::new(body), out, depth: 1 };
    printer.names.enter();
    printer.indent();
    printer.out.push_str("tt.func ");
    if !function.visibility.keyword().is_empty() {
        write!(printer.out, "{} ", function.visibility.keyword())?;
    }
    write_symbol(printer.out, &function.name)?;
    printer.arguments(function)?;
    printer.results(function)?;
    if !function.attributes.is_empty() {
        printer.out.push_str(" attributes ");
        printer.attributes(&function.attributes)?;
    }
    if let Some(body) = &function.body {
        printer.out.push_str(" {\n");
        printer.blocks(body.root(), false, false)?;
        printer.indent();
        printer.out.push('}');
    }
    printer.out.push_str(&function.location.suffix());
    printer.out.push('\n');
    Ok(())
}

impl Printer<'_> {
    fn attributes(&mut self, attributes: &Attributes) -> fmt::Result {
        let layouts = self.layouts;
        attributes.write(self.out, &|layout, f| layouts.write(layout, f))
    }

    fn attributes_of(&mut self, all: &[Attributes], index: usize) -> fmt::Result {
        match all.get(index).filter(|attributes| !attributes.is_empty()) {
            Some(attributes) => {
                self.out.push(' ');
                self.attributes(attributes)
            }
            None => Ok(()),
        }
    }

    fn arguments(&mut self, function: &Function) -> fmt::Result {
        let entry = self.body.blocks(self.body.root()).first().copied();
        self.out.push('(');
        for (index, ty) in function.signature.arguments.iter().enumerate() {
            self.out.push_str(if index > 0 { ", " } else { "" });
            let argument = entry.and_then(|entry| self.body.arguments(entry).get(index).copied());
            if let Some(argument) = argument {
                let name = self.names.define_values(self.body, &[argument]);
                write!(self.out, "{name}: ")?;
            }
            let ty = self.ty(ty);
            self.out.push_str(&ty);
            self.attributes_of(&function.arguments, index)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn results(&mut self, function: &Function) -> fmt::Result {
        let results = &function.signature.results;
        if results.is_empty() {
            return Ok(());
        }
        self.out.push_str(" -> ");
        let bare = results.len() == 1 && function.results.iter().all(Attributes::is_empty);
        self.out.push_str(if bare { "" } else { "(" });
        for (index, ty) in results.iter().enumerate() {
            self.out.push_str(if index > 0 { ", " } else { "" });
            let ty = self.ty(ty);
            self.out.push_str(&ty);
            self.attributes_of(&function.results, index)?;
        }
        self.out.push_str(if bare { "" } else { ")" });
        Ok(())
    }

    /// Prints the blocks of a region, whose scope of names is open, one operation per line. The first block has a label
    /// if `labelled`. If `implied`, the terminator of a single block is omitted if it has no operands.
    pub(super) fn blocks(&mut self, region: Region, labelled: bool, implied: bool) -> fmt::Result {
        let body = self.body;
        let blocks = body.blocks(region);
        // Blocks are ordered so that definitions precede uses.
        for (block_index, block) in blocks.iter().enumerate() {
            if block_index > 0 || labelled {
                self.indent();
                write!(self.out, "^bb{block_index}")?;
                self.label_arguments(*block)?;
                self.out.push_str(":\n");
            }
            let ops = body.ops(*block);
            let last = ops.last().map(|op| body.op(*op)).filter(|last| {
                last.definition.traits.terminator && last.operands.is_empty() && last.attributes.is_empty()
            });
            let written = ops.len() - usize::from(implied && blocks.len() == 1 && last.is_some());
            self.depth += 1;
            ops[..written].iter().try_for_each(|op| self.operation(*op, region))?;
            self.depth -= 1;
        }
        Ok(())
    }

    fn label_arguments(&mut self, block: crate::Block) -> fmt::Result {
        let arguments = self.body.arguments(block);
        if arguments.is_empty() {
            return Ok(());
        }
        self.out.push('(');
        for (index, argument) in arguments.iter().enumerate() {
            let name = self.names.define_values(self.body, &[*argument]);
            let ty = self.ty(self.body.value_type(*argument));
            write!(self.out, "{}{name}: {ty}", if index > 0 { ", " } else { "" })?;
        }
        self.out.push(')');
        Ok(())
    }
}
