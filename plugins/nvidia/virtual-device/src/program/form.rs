//! Rows of the instruction table, and opcodes that are matched against them.

use tilewright_target::{Instruction, nearest};

use super::operands::Operands;
use super::types::Type;
use crate::machine::Operation;

/// What one lane computes of at most four operands.
pub(crate) type Compute = Box<dyn Fn([u64; 4]) -> u64 + Send + Sync>;

/// A row: what begins an opcode, which modifiers and types may follow it, what it does.
pub(crate) struct Row {
    /// The opcode's first words: `add`, `shfl.sync`.
    pub(crate) name: &'static str,
    /// Modifiers that may follow, in any order.
    pub(crate) modifiers: &'static str,
    /// Types that may follow.
    pub(crate) types: &'static str,
    pub(crate) meaning: Meaning,
}

/// The operation of an opcode with its operands; or what is wrong, in words.
type Decoded = Result<Box<dyn Operation>, String>;

/// What a row does.
pub(crate) enum Meaning {
    /// Each lane computes its result from so many operands; `None` where there is no such combination of modifiers and
    /// types.
    Lanes(usize, fn(&Form<'_>) -> Option<Compute>),
    /// Something of another kind.
    Warp(fn(&Form<'_>, &mut Operands<'_>) -> Decoded),
}

/// An opcode that fits a row.
pub(crate) struct Form<'a> {
    pub(crate) opcode: &'a str,
    pub(crate) words: Vec<&'a str>,
    pub(crate) types: Vec<Type>,
    /// The target's instructions.
    pub(crate) instructions: &'a [Instruction],
}

impl<'a> Form<'a> {
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.words.contains(&modifier)
    }

    /// The first type; where an opcode has none, 32 bits.
    pub(crate) fn ty(&self) -> Type {
        self.types.first().copied().or(Type::named("b32")).unwrap_or(Type {
            class: super::Class::Bits,
            bits: 32,
            parts: 1,
        })
    }

    /// The modifier that something is known of.
    pub(crate) fn find<T>(&self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.words.iter().find_map(|word| known(word))
    }

    /// The row of an opcode, and what follows its name.
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
            return Err(format!("the instruction `{opcode}` is not known here{near}"));
        };
        let mut form = Form { opcode, words: Vec::new(), types: Vec::new(), instructions };
        for word in opcode[row.name.len()..].split('.').filter(|word| !word.is_empty()) {
            if row.types.split(' ').any(|known| known == word) {
                form.types.push(Type::named(word).ok_or_else(|| format!("`{word}` is no type"))?);
            } else if row.modifiers.split(' ').any(|known| known == word || is_hint(known, word)) {
                form.words.push(word);
            } else {
                let known = row.modifiers.split(' ').chain(row.types.split(' ')).filter(|known| !known.is_empty());
                let near = nearest(word, known.clone()).map(|near| format!("; the nearest is `{near}`"));
                let near = near.unwrap_or_else(|| format!("; known are {}", known.collect::<Vec<_>>().join(", ")));
                return Err(format!("`{word}` is not known here of `{}` (in `{opcode}`){near}", row.name));
            }
        }
        Ok((row, form))
    }

    /// What is said where modifiers and types do not go together.
    pub(crate) fn unknown(&self) -> String {
        format!("`{}`: these modifiers and types together are not known here", self.opcode)
    }
}

/// Hints are known by what comes before `::`, and written `L1::` in the table; shapes by how they begin: `m64n*`.
fn is_hint(known: &str, word: &str) -> bool {
    let begins = if known.ends_with("::") { Some(known) } else { known.strip_suffix('*') };
    begins.is_some_and(|begin| word.starts_with(begin))
}
