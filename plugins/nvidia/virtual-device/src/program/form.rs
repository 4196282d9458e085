//! The form of a row of the instruction table, and the matching of opcodes against rows.

use tilewright_target::{Instruction, nearest};

use super::operands::Operands;
use super::types::Type;
use crate::machine::Operation;

/// A function that computes a lane's result from at most four operands.
pub(crate) type Compute = Box<dyn Fn([u64; 4]) -> u64 + Send + Sync>;

/// A row of the instruction table: an opcode's name, its possible modifiers and types, and its semantics.
pub(crate) struct Row {
    /// First words of the opcode, such as `add` or `shfl.sync`.
    pub(crate) name: &'static str,
    /// Modifiers that may follow the name in any order, separated by blanks.
    pub(crate) modifiers: &'static str,
    /// Types that may follow the name, separated by blanks.
    pub(crate) types: &'static str,
    pub(crate) semantics: Semantics,
}

/// The operation of a decoded instruction, or an error message.
type Decoded = Result<Box<dyn Operation>, String>;

/// The semantics of a row of the instruction table: how its instructions are decoded.
pub(crate) enum Semantics {
    /// Each lane computes its result from this many operands. The function returns `None` for an invalid combination of
    /// modifiers and types.
    Lanes(usize, fn(&Form<'_>) -> Option<Compute>),
    /// Any other operation of a warp; the function decodes an opcode and its operands.
    Warp(fn(&Form<'_>, &mut Operands<'_>) -> Decoded),
}

/// An opcode that matches a row of the instruction table, split into its modifiers and types.
pub(crate) struct Form<'a> {
    pub(crate) opcode: &'a str,
    pub(crate) words: Vec<&'a str>,
    pub(crate) types: Vec<Type>,
    /// The target's instruction table, which has the layouts of matrix instructions.
    pub(crate) instructions: &'a [Instruction],
}

impl<'a> Form<'a> {
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.words.contains(&modifier)
    }

    /// Returns the first type of the opcode; a type of 32 bits if the opcode has none.
    pub(crate) fn ty(&self) -> Type {
        self.types.first().copied().or(Type::named("b32")).unwrap_or(Type {
            class: super::Class::Bits,
            bits: 32,
            element_count: 1,
        })
    }

    /// Returns `known` of the first modifier of the opcode for which `known` is not `None`; `None` if there is no such
    /// modifier.
    pub(crate) fn find<T>(&self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.words.iter().find_map(|word| known(word))
    }

    /// Matches an opcode against the rows of the instruction table; an error message if no row matches.
    pub(super) fn matched(
        rows: &'static [&'static [Row]],
        instructions: &'a [Instruction],
        opcode: &'a str,
    ) -> Result<(&'static Row, Self), String> {
        let begins =
            |row: &&Row| opcode.strip_prefix(row.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let Some(row) = rows.iter().copied().flatten().filter(begins).max_by_key(|row| row.name.len()) else {
            let first = opcode.split('.').next().unwrap_or(opcode);
            let near = nearest(first, rows.iter().copied().flatten().map(|row| row.name));
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
                let near = nearest(word, known.clone()).map(|near| format!("; the nearest is `{near}`"));
                let near = near.unwrap_or_else(|| format!("; known are {}", known.collect::<Vec<_>>().join(", ")));
                return Err(format!("`{word}` is not supported for `{}` (in `{opcode}`){near}", row.name));
            }
        }
        Ok((row, form))
    }

    /// Returns the error message for modifiers and types that do not go together.
    pub(crate) fn unknown(&self) -> String {
        format!("`{}`: this combination of modifiers and types is not supported", self.opcode)
    }
}

/// Whether the modifier `word` matches the pattern `known` of the instruction table. Patterns can be prefixes: `L1::`
/// of cache hints, `m64n*` of shapes.
fn is_hint(known: &str, word: &str) -> bool {
    let begins = if known.ends_with("::") { Some(known) } else { known.strip_suffix('*') };
    begins.is_some_and(|begin| word.starts_with(begin))
}
