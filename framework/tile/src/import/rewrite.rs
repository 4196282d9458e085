//! Rewrites programs to neutral operations.

use crate::op::name::{tt, ub};
use std::collections::HashMap;

use super::assembly::{self, Statement};
use super::image::{Images, expand_images};
use super::plain;
use super::replacement::has;
use super::write::ReplacementWriter;
use super::{ForeignOpReplacements, Replacement};
use crate::op::Dialects;
use crate::transform::{IrCloner, Rewrite, Rewritten, each_function, rewrite_function, violation};
use crate::{Attribute, Attributes, Function, Op, Operation, TileModule, TileType, TileViolation, Value, Values};
use tilewright_target::find_similar_name;

/// Replaces foreign operations (vendor operations and calls of library functions) by neutral ones from the tables.
/// Inline assembly that no table has is kept, and so are operations that no table names.
///
/// # Errors
/// A [`TileViolation`] at an operation that the tables reject, with the reason, or at a call of an unknown library
/// function.
pub fn replace_vendor_operations(
    module: &TileModule,
    imports: &ForeignOpReplacements,
    dialects: &Dialects,
) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let (function, images) = expand_images(function.clone(), imports)?;
        let module = &module.attributes;
        let mut rewrite = Importing { imports, dialects, module, images, remembered: HashMap::new() };
        rewrite_function(&function, dialects, &mut rewrite)
    })
}

struct Importing<'i> {
    imports: &'i ForeignOpReplacements,
    dialects: &'i Dialects,
    module: &'i Attributes,
    images: Images,
    /// For each value of the new function that a foreign operation initializes, this foreign operation.
    remembered: HashMap<Value, Op>,
}

impl<'i> Importing<'i> {
    fn replacement(
        &self,
        function: &Function,
        operation: &Operation,
    ) -> Result<Option<&'i Replacement>, TileViolation> {
        let text = |name: &str| operation.attributes.get(name).and_then(Attribute::as_text).unwrap_or_default();
        match operation.name() {
            tt::EXTERN_ELEMENTWISE => {
                let symbol = text("symbol");
                self.imports.functions.get(symbol).map(Some).ok_or_else(|| {
                    let known = self.imports.function_names();
                    let meant = find_similar_name(symbol, known).map(|name| format!("; did you mean `{name}`?"));
                    let message = format!("no import table has `{symbol}`{}", meant.unwrap_or_default());
                    TileViolation::of(function, operation, message)
                })
            }
            name => Ok(self.imports.operations.get(name)),
        }
    }
}

impl Rewrite for Importing<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let operation = cloner.from.op(op);
        if operation.name() == tt::ELEMENTWISE_INLINE_ASM {
            return self.replace_assembly(cloner, op);
        }
        let Some(replacement) = self.replacement(cloner.function, operation)? else { return Ok(false) };
        refuse(replacement, operation).map_err(|message| violation(cloner, op, message))?;
        let around = plain::around(self.module, cloner.from, op);
        let writer =
            ReplacementWriter { dialects: self.dialects, module: &around, images: &self.images, op, operands: None };
        if let Some(term) = &replacement.remember {
            let key = writer.operands_of_term(cloner, term);
            self.remembered.extend(key.first().map(|key| (*key, op)));
            return Ok(true);
        }
        let terms = replacement.terms_for(operation);
        let given = match &replacement.when {
            Some(when) => writer.emit_if(cloner, when, terms)?,
            None if matches!(terms, [term] if term.is_recall_of_earlier_op()) => self.recall(cloner, op)?,
            None => writer.emit_terms(cloner, terms)?,
        };
        let mut given = given.into_iter().peekable();
        for &result in &operation.results {
            let is_token = matches!(cloner.from.value_type(result), TileType::Token);
            let fits = |value: &Value| !is_token || matches!(cloner.to.ty(*value), TileType::Token);
            let value = match given.next_if(fits) {
                Some(value) => value,
                // The replacement is synchronous, so any value will do for its async tokens: they are poison.
                None if is_token => cloner.to.build_op(ub::POISON).result(TileType::Token).value()?,
                None => return Err(violation(cloner, op, "the import table has nothing for its results")),
            };
            cloner.bind(result, value);
        }
        Ok(true)
    }
}

impl Importing<'_> {
    /// Emits the functions of the instructions of inline assembly. Returns false, and emits nothing, if a table lacks an
    /// instruction.
    fn replace_assembly(&self, cloner: &mut IrCloner<'_, '_, '_>, op: Op) -> Rewritten<bool> {
        let Some(statements) = assembly::statements_of(cloner.from, op, self.imports) else { return Ok(false) };
        let operation = cloner.from.op(op);
        let types = cloner.types_of(&operation.results);
        let word = types[0].with_element(TileType::integer(32));
        let mut registers: HashMap<&str, Value> = HashMap::new();
        for Statement { replacement, destination, sources } in &statements {
            let mut values = Vec::new();
            for source in sources {
                values.push(match source {
                    assembly::Source::Operand(index) => cloner.clone_of(operation.operands[*index]),
                    assembly::Source::Number(bits) => {
                        cloner.to.add_constant(Attribute::of_bits(u64::from(*bits), word.clone()))?
                    }
                    assembly::Source::Register(name) => registers[name],
                });
            }
            let writer = ReplacementWriter {
                dialects: self.dialects,
                module: self.module,
                images: &self.images,
                op,
                operands: Some(&values),
            };
            let result = assembly::result_index(destination).map_or(&word, |index| &types[index]);
            let emitted = writer.emit_terms_of_types(cloner, &replacement.terms, std::slice::from_ref(result))?;
            let value = emitted.first().copied();
            let value = value.ok_or_else(|| violation(cloner, op, "the import table has nothing for its results"))?;
            registers.insert(destination, value);
        }
        for (index, &result) in operation.results.iter().enumerate() {
            let name = format!("${index}");
            cloner.bind(result, registers[name.as_str()]);
        }
        Ok(true)
    }

    /// Emits the replacement of the earlier operation that initialized the operand of `op`; its results have the types
    /// of the results of `op`.
    fn recall(&self, cloner: &mut IrCloner<'_, '_, '_>, op: Op) -> Rewritten<Values> {
        let operation = cloner.from.op(op);
        let key = operation.operands.first().map(|value| cloner.clone_of(*value));
        let Some(recalled) = key.and_then(|key| self.remembered.get(&key)).copied() else {
            return Err(violation(cloner, op, "no operation before it in this function initializes its operand"));
        };
        let replacement = self.imports.operations.get(cloner.from.op(recalled).name());
        let terms = replacement.map_or(&[][..], |replacement| &replacement.terms);
        let writer = ReplacementWriter {
            dialects: self.dialects,
            module: self.module,
            images: &self.images,
            op: recalled,
            operands: None,
        };
        writer.emit_terms_as(cloner, terms, op)
    }
}

fn refuse(replacement: &Replacement, operation: &Operation) -> Result<(), String> {
    if let Some(reason) = &replacement.refused {
        return Err(format!("it has no neutral meaning: {reason}"));
    }
    match replacement.unless.iter().find(|(name, _)| has(operation, name)) {
        Some((name, reason)) => Err(format!("with `{name}` it has no neutral meaning: {reason}")),
        None => Ok(()),
    }
}
