//! Inline assembly as statements of known instructions.
//!
//! The text of an assembly language has statements, separated by `;` or line ends: a mnemonic, then the destination and
//! the sources, separated by commas. A statement that reads a special register is an instruction of its own, by its mnemonic
//! and the register (`mov.u64 %globaltimer`). Words that begin with a dot are directives, which declare registers. The results of
//! the operation are `$0`, `$1`, ..., its operands follow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ForeignOpReplacements, Replacement};
use crate::{Attribute, FunctionBody, Op};

/// A statement with the replacement of its instruction.
pub(super) struct Statement<'t> {
    pub replacement: &'t Replacement,
    /// The register that the instruction writes.
    pub destination: &'t str,
    /// The values that it reads.
    pub sources: Vec<Source<'t>>,
}

/// A value that an instruction reads.
pub(super) enum Source<'t> {
    /// The operand of the operation with this index.
    Operand(usize),
    /// The 32 bits of a number.
    Number(u32),
    /// A register that an earlier statement writes.
    Register(&'t str),
}

/// Returns the statements of inline assembly whose registers are one element of 32 bits each, with the replacements of
/// their instructions. Results that no operand determines, such as a clock, may have 64 bits. `None` if no language of the tables has all instructions, or if a statement is no instruction on
/// operands, numbers and registers that earlier statements write, such as a branch or an access to memory.
pub(super) fn statements_of<'t>(
    body: &'t FunctionBody,
    op: Op,
    imports: &'t ForeignOpReplacements,
) -> Option<Vec<Statement<'t>>> {
    let operation = body.op(op);
    let mut values = operation.operands.iter().chain(&operation.results);
    let pack = operation.attributes.get("packed_element").and_then(Attribute::as_integer);
    // A special register has one value, not one for each element.
    let has_special =
        operation.operands.is_empty() && values.clone().all(|&value| body.value_type(value).as_tensor().is_none());
    let has_words = values.all(|&value| match body.value_type(value).element().element_bits() {
        Some(64) => has_special,
        bits => bits == Some(32),
    });
    if pack != Some(1) || !has_words || operation.results.is_empty() {
        return None;
    }
    let text = operation.attributes.get("asm_string").and_then(Attribute::as_text)?;
    let results = operation.results.len();
    let counts = (results, operation.operands.len(), has_special);
    let read = |replacements: &'t Arc<_>| {
        let statements = read_statements(text, counts, replacements)?;
        let written = |index: usize| statements.iter().any(|of| result_index(of.destination) == Some(index));
        (0..results).all(written).then_some(statements)
    };
    imports.assembly.values().find_map(read)
}

/// Returns the index of the result that a register is; `None` for other registers.
pub(super) fn result_index(register: &str) -> Option<usize> {
    register.strip_prefix('$')?.parse().ok()
}

fn read_statements<'t>(
    text: &'t str,
    (results, operands, has_special): (usize, usize, bool),
    replacements: &'t BTreeMap<String, Replacement>,
) -> Option<Vec<Statement<'t>>> {
    let is_outside = |c: char| c.is_whitespace() || "{}".contains(c);
    let lines = text.split([';', '\n']).map(|line| line.trim_matches(is_outside));
    let mut written: BTreeSet<&str> = BTreeSet::new();
    let mut statements = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('.')) {
        let (mnemonic, rest) = line.split_once(char::is_whitespace)?;
        let mut registers = rest.split(',').map(str::trim);
        let destination = registers.next()?;
        let source = |register: &'t str| match result_index(register) {
            Some(index) if index >= results => (index < results + operands).then(|| Source::Operand(index - results)),
            _ if written.contains(register) => Some(Source::Register(register)),
            _ => number_bits(register).map(Source::Number),
        };
        let special = registers
            .clone()
            .next()
            .filter(|register| has_special && register.starts_with('%') && !written.contains(register));
        let named = special.map_or_else(|| mnemonic.to_owned(), |register| format!("{mnemonic} {register}"));
        let sources = registers.skip(usize::from(special.is_some())).map(source).collect::<Option<Vec<_>>>()?;
        let is_register = destination.chars().all(|c| c.is_ascii_alphanumeric() || "_%$".contains(c));
        if !is_register || result_index(destination).is_some_and(|index| index >= results) {
            return None;
        }
        let replacement = replacements.get(&named).filter(|found| found.refused.is_none())?;
        statements.push(Statement { replacement, destination, sources });
        written.insert(destination);
    }
    Some(statements)
}

/// Returns the 32 bits of an integer: decimal, hexadecimal (`0x1F`), or the hexadecimal bits of a float (`0f3F800000`).
fn number_bits(text: &str) -> Option<u32> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let hexadecimal = ["0x", "0X", "0f", "0F"].into_iter().find_map(|prefix| digits.strip_prefix(prefix));
    let bits = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { bits.wrapping_neg() } else { bits })
}
