//! Writing a program anew with neutral words.

use crate::op::name::{tt, ub};
use std::collections::HashMap;

use super::plain;
use super::write::Writer;
use super::{Imports, Meaning};
use crate::op::Dialects;
use crate::transform::{Copier, Rewrite, Rewritten, each_function, rewritten, violation};
use crate::{Attribute, Attributes, Function, Op, Operation, TileModule, TileType, TileViolation, Value, Values};
use tilewright_target::nearest;

/// A program in which what the tables know is said in neutral words. Assembly that no table has stays, and so do
/// operations without a row.
///
/// # Errors
/// A [`TileViolation`] at an operation that the tables refuse, with the reason; at a library function that they don't know.
pub fn import(module: &TileModule, imports: &Imports, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let mut rewrite = Importing { imports, dialects, module: &module.attributes, remembered: HashMap::new() };
        rewritten(function, dialects, &mut rewrite)
    })
}

struct Importing<'i> {
    imports: &'i Imports,
    dialects: &'i Dialects,
    module: &'i Attributes,
    /// By what stands for them, the operations that say what it is.
    remembered: HashMap<Value, Op>,
}

impl<'i> Importing<'i> {
    fn meaning(&self, function: &Function, operation: &Operation) -> Result<Option<&'i Meaning>, TileViolation> {
        let text = |name: &str| operation.attributes.get(name).and_then(Attribute::as_text).unwrap_or_default();
        match operation.name() {
            tt::EXTERN_ELEMENTWISE => {
                let symbol = text("symbol");
                self.imports.functions.get(symbol).map(Some).ok_or_else(|| {
                    let known = self.imports.functions();
                    let meant = nearest(symbol, known).map(|name| format!("; did you mean `{name}`?"));
                    let message = format!("no import table has `{symbol}`{}", meant.unwrap_or_default());
                    TileViolation::of(function, operation, message)
                })
            }
            tt::ELEMENTWISE_INLINE_ASM => Ok(self.imports.assembly.get(text("asm_string").trim())),
            name => Ok(self.imports.operations.get(name)),
        }
    }
}

impl Rewrite for Importing<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let operation = copier.from.op(op);
        let Some(meaning) = self.meaning(copier.function, operation)? else { return Ok(false) };
        refuse(meaning, operation).map_err(|message| violation(copier, op, message))?;
        let around = plain::around(self.module, copier.from, op);
        let writer = Writer { dialects: self.dialects, module: &around, op };
        if let Some(term) = &meaning.remember {
            let key = writer.operands(copier, term);
            self.remembered.extend(key.first().map(|key| (*key, op)));
            return Ok(true);
        }
        let having = meaning.having.iter().find(|(name, _)| has(operation, name));
        let terms = having.map_or(&meaning.terms, |(_, terms)| terms);
        let mut given = match &meaning.when {
            Some(when) => writer.when(copier, when, terms)?,
            None if matches!(&terms[..], [term] if term.is_recall()) => self.recall(copier, op)?,
            None => writer.terms(copier, terms)?,
        };
        // What is done when it is there gives no tokens.
        for &result in operation.results.get(given.len()..).unwrap_or_default() {
            if !matches!(copier.from.ty(result), TileType::Token) {
                break;
            }
            given.push(copier.to.op(ub::POISON).result(TileType::Token).value()?);
        }
        if given.len() < operation.results.len() {
            return Err(violation(copier, op, "the import table gives nothing for its results"));
        }
        copier.bind_all(&operation.results, &given);
        Ok(true)
    }
}

impl Importing<'_> {
    /// What was remembered for an operand, of the type that is asked for here.
    fn recall(&self, copier: &mut Copier<'_, '_, '_>, op: Op) -> Rewritten<Values> {
        let operation = copier.from.op(op);
        let key = operation.operands.first().map(|value| copier.value(*value));
        let Some(said) = key.and_then(|key| self.remembered.get(&key)).copied() else {
            return Err(violation(copier, op, "what it stands for is not said in this function before"));
        };
        let meaning = self.imports.operations.get(copier.from.op(said).name());
        let terms = meaning.map_or(&[][..], |meaning| &meaning.terms);
        let writer = Writer { dialects: self.dialects, module: self.module, op: said };
        writer.terms_as(copier, terms, op)
    }
}

fn refuse(meaning: &Meaning, operation: &Operation) -> Result<(), String> {
    if let Some(reason) = &meaning.refused {
        return Err(format!("it has no neutral meaning: {reason}"));
    }
    match meaning.unless.iter().find(|(name, _)| has(operation, name)) {
        Some((name, reason)) => Err(format!("with `{name}` it has no neutral meaning: {reason}")),
        None => Ok(()),
    }
}

/// Whether an operation has operands of a group, or an attribute.
fn has(operation: &Operation, name: &str) -> bool {
    let operands = operation.definition.operand_group(name).map(|group| operation.operand_group(group));
    operands.is_some_and(|operands| !operands.is_empty()) || operation.attributes.get(name).is_some()
}
