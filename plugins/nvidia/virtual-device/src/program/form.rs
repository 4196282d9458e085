//! Rows of the table of PTX instructions, and matching of opcodes against them.

use tilewright_target::{Instruction, find_similar_name};

use super::operands::Operands;
use super::types::Type;
use crate::machine::{Compute, Operation};

/// A row of the table of PTX instructions: an opcode's name, its permitted modifiers and types, and its semantics.
pub(crate) struct Row {
    /// First words of the opcode, such as `add` or `shfl.sync`.
    pub(crate) name: &'static str,
    /// Permitted modifiers after the name, in any order, separated by spaces. `*` or `::` at the end makes one a
    /// prefix.
    pub(crate) modifiers: &'static str,
    /// Permitted types after the name, separated by spaces.
    pub(crate) types: &'static str,
    pub(crate) semantics: Semantics,
}

/// The executable operation of an instruction, or an error message.
type Decoded = Result<Box<dyn Operation>, String>;

/// How the instructions of a row are decoded to operations.
pub(crate) enum Semantics {
    /// Each lane computes its result alone, from this many operands. The function returns the computation, or `None`
    /// for an invalid combination of modifiers and types.
    Lanes(usize, fn(&Form<'_>) -> Option<Compute>),
    /// As `Lanes`, for an operation on each bit: a byte of the result depends only on this byte of the operands.
    Bitwise(usize, fn(&Form<'_>) -> Option<Compute>),
    /// Any other operation of a warp. The function decodes an opcode and its operands.
    Warp(fn(&Form<'_>, &mut Operands<'_>) -> Decoded),
}

/// An opcode that matches a row of the table of PTX instructions, split into modifiers (`words`) and types.
pub(crate) struct Form<'a> {
    pub(crate) opcode: &'a str,
    pub(crate) words: Vec<&'a str>,
    pub(crate) types: Vec<Type>,
    /// The target's instruction table, which has the layouts of MMAs and of matrix moves.
    pub(crate) instructions: &'a [Instruction],
}

impl<'a> Form<'a> {
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.words.contains(&modifier)
    }

    /// Returns the first type in the opcode; `b32` if the opcode has none.
    pub(crate) fn ty(&self) -> Type {
        self.types.first().copied().or(Type::named("b32")).unwrap_or(Type {
            class: super::Class::Bits,
            bits: 32,
            element_count: 1,
        })
    }

    /// Returns the first result of `known` over the opcode's modifiers that is not `None`.
    pub(crate) fn find<T>(&self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.words.iter().find_map(|word| known(word))
    }

    /// Finds the row of the table that an opcode matches, and splits the opcode. Returns an error message if no row
    /// matches.
    pub(super) fn matched(
        rows: &'static [&'static [Row]],
        instructions: &'a [Instruction],
        opcode: &'a str,
    ) -> Result<(&'static Row, Self), String> {
        let begins =
            |row: &&Row| opcode.strip_prefix(row.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let Some(row) = rows.iter().copied().flatten().filter(begins).max_by_key(|row| row.name.len()) else {
            let first = opcode.split('.').next().unwrap_or(opcode);
            let near = find_similar_name(first, rows.iter().copied().flatten().map(|row| row.name));
            let near = near.map(|name| format!("; the nearest that is known is `{name}`")).unwrap_or_default();
            return Err(format!("the instruction `{opcode}` is not supported{near}"));
        };
        let mut form = Form { opcode, words: Vec::new(), types: Vec::new(), instructions };
        for word in opcode[row.name.len()..].split('.').filter(|word| !word.is_empty()) {
            if row.types.split(' ').any(|known| known == word) {
                form.types.push(Type::named(word).ok_or_else(|| format!("`{word}` is not a type"))?);
            } else if row.modifiers.split(' ').any(|known| known == word || is_hint(known, word)) {
                form.words.push(word);
            } else {
                let known = row.modifiers.split(' ').chain(row.types.split(' ')).filter(|known| !known.is_empty());
                let near = find_similar_name(word, known.clone()).map(|near| format!("; the nearest is `{near}`"));
                let near = near.unwrap_or_else(|| format!("; known are {}", known.collect::<Vec<_>>().join(", ")));
                return Err(format!("`{word}` is not supported for `{}` (in `{opcode}`){near}", row.name));
            }
        }
        Ok((row, form))
    }

    /// Whether the instruction acquires what other multiprocessors have written. `ptxas` invalidates the first-level cache
    /// then (`CCTL.IVALL`).
    pub(crate) fn acquires_beyond_block(&self) -> bool {
        let acquires =
            self.opcode.starts_with("membar") || ["acquire", "acq_rel", "sc"].iter().any(|word| self.has(word));
        acquires && !self.has("cta")
    }

    /// Returns the error message for an invalid combination of modifiers and types.
    pub(crate) fn unknown(&self) -> String {
        format!("`{}`: this combination of modifiers and types is not supported", self.opcode)
    }
}

/// Whether the modifier `word` matches `known`, an entry of the instruction table that permits all modifiers with a
/// prefix: `L1::` permits all cache hints of L1, `m64n*` all shapes with M = 64.
fn is_hint(known: &str, word: &str) -> bool {
    let begins = if known.ends_with("::") { Some(known) } else { known.strip_suffix('*') };
    begins.is_some_and(|begin| word.starts_with(begin))
}
