//! Validates finished SPIR-V against those rules of its specification that concern this plugin's output.
//!
//! The loader of the words shares no code with the emitter. An instruction that the checks do not know is a fault, so
//! nothing passes unchecked.

mod capabilities;
mod control;
mod entry;
mod globals;
mod load;
mod operations;

use std::fmt;

use rspirv::binary::Disassemble;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Word;
use thiserror::Error;

/// A rule of SPIR-V that a module violates.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Fault {
    /// The violating instruction as text; `None` if the module as a whole violates the rule.
    pub instruction: Option<String>,
    /// The violated rule, in words.
    pub rule: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.instruction {
            Some(instruction) => write!(f, "`{instruction}`: {}", self.rule),
            None => f.write_str(&self.rule),
        }
    }
}

impl Fault {
    fn of(instruction: &Instruction, rule: impl Into<String>) -> Self {
        Self { instruction: Some(instruction.disassemble()), rule: rule.into() }
    }

    fn module(rule: impl Into<String>) -> Self {
        Self { instruction: None, rule: rule.into() }
    }
}

/// Checks the words of a module.
///
/// # Errors
/// The first [`Fault`] found.
pub fn validate(words: &[u32]) -> Result<(), Fault> {
    let module = load::load(words)?;
    load::check_header(&module, words)?;
    capabilities::check(&module)?;
    let globals = globals::Globals::check(&module)?;
    for function in &module.functions {
        let values = operations::check(&globals, function)?;
        globals.check_function(function)?;
        if !function.blocks.is_empty() {
            control::check(&globals, &values, function)?;
        }
    }
    entry::check(&globals, &module)
}

/// Returns the rule as a fault of the instruction unless `holds`.
fn require(holds: bool, instruction: &Instruction, rule: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::of(instruction, rule)) }
}

/// Returns operand `index` of an instruction as an id.
fn id(instruction: &Instruction, index: usize) -> Result<Word, Fault> {
    let id = instruction.operands.get(index).and_then(Operand::id_ref_any);
    id.ok_or_else(|| Fault::of(instruction, format!("operand {index} is not an id")))
}

/// Returns operand `index` of an instruction as a 32-bit literal.
fn literal(instruction: &Instruction, index: usize) -> Result<u32, Fault> {
    match instruction.operands.get(index) {
        Some(&Operand::LiteralBit32(value)) => Ok(value),
        _ => Err(Fault::of(instruction, format!("operand {index} is no 32-bit literal"))),
    }
}

/// Returns the result id of an instruction.
fn result(instruction: &Instruction) -> Result<Word, Fault> {
    instruction.result_id.ok_or_else(|| Fault::of(instruction, "has no result"))
}

/// Returns the type of an instruction's result.
fn result_type(instruction: &Instruction) -> Result<Word, Fault> {
    instruction.result_type.ok_or_else(|| Fault::of(instruction, "has no result type"))
}
