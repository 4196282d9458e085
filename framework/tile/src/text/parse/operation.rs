//! Parses an operation: the names of its results, its name, its format, and its location.

use std::sync::Arc;

use super::Parser;
use super::draft::{Draft, Used};
use crate::{Op, TileType, Value};
use tilewright_layout::text::Parsed;
use tilewright_layout::text::TextError;

/// A name of results before `=`, and the number of results that it names.
struct ResultName<'a> {
    name: &'a str,
    at: usize,
    count: u32,
}

/// The arguments of a region, each as its name and the byte offset of the name, and the initial values of these
/// arguments.
type Initialised<'a> = (Vec<(&'a str, usize)>, Vec<Used>);

impl<'a> Parser<'a> {
    /// Parses an operation of a block.
    pub(super) fn operation(&mut self) -> Parsed<Op> {
        self.nested(|parser| {
            let names = parser.result_names()?;
            let op = parser.unnamed_operation()?;
            parser.location_of(op)?;
            parser.name_results(op, &names)?;
            Ok(op)
        })
    }

    fn unnamed_operation(&mut self) -> Parsed<Op> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        if self.cursor.peek() == Some('"') {
            let name = self.cursor.read_quoted("the name of an operation")?;
            let draft = self.draft(&name, at)?;
            return self.generic(draft);
        }
        let name = self.cursor.expect_word("an operation")?;
        let draft = self.draft(name, at)?;
        let definition = Arc::clone(&draft.definition);
        match &definition.format {
            Some(format) => {
                let draft = self.formatted(draft, format)?;
                self.finish(draft)
            }
            None => {
                let message = format!("`{name}` has no custom syntax: expected `\"{name}\"(...)`");
                Err(self.cursor.error_at(at, message))
            }
        }
    }

    fn draft(&self, name: &str, at: usize) -> Parsed<Draft> {
        match self.dialects.find_definition(name) {
            Some(definition) => Ok(Draft::new(Arc::clone(definition), at)),
            None => {
                let error = self.cursor.error_at(at, format!("there is no operation `{name}`"));
                Err(match self.dialects.similar_operation_name(name) {
                    Some(known) => error.with_hint(format!("did you mean `{known}`?")),
                    None => error.with_hint("a dialect file can add it"),
                })
            }
        }
    }

    fn result_names(&mut self) -> Parsed<Vec<ResultName<'a>>> {
        let mut names = Vec::new();
        if self.cursor.peek() != Some('%') {
            return Ok(names);
        }
        loop {
            let at = self.cursor.at;
            let name = self.value_name()?;
            let count = if self.cursor.skip_if_next(":") {
                self.cursor.read_decimal("how many results there are")?
            } else {
                1
            };
            names.push(ResultName { name, at, count });
            if !self.cursor.skip_if_next(",") {
                self.cursor.expect("=")?;
                return Ok(names);
            }
            self.cursor.skip_blanks();
        }
    }

    fn name_results(&mut self, op: Op, names: &[ResultName<'a>]) -> Parsed<()> {
        let results = self.body.op(op).results.clone();
        let named: u64 = names.iter().map(|name| u64::from(name.count)).sum();
        let first = names.first().map_or(self.body.op(op).location.at.unwrap_or(0) as usize, |name| name.at);
        // Unused results need no names.
        if named != results.len() as u64 && !names.is_empty() {
            let name = self.body.op(op).name().to_owned();
            let message = format!("`{name}` has {} results, and {named} are named", results.len());
            return Err(self.cursor.error_at(first, message));
        }
        let mut start = 0;
        for name in names {
            let end = start + name.count as usize;
            let Some(value) = results.get(start).copied() else {
                return Err(self.cursor.error_at(name.at, "a name stands for at least one result"));
            };
            if !self.scopes.define_values(name.name, value, name.count) {
                return Err(self.cursor.error_at(name.at, format!("`%{}` is defined twice", name.name)));
            }
            for value in &results[start..end] {
                self.body.set_name(*value, name.name);
            }
            start = end;
        }
        Ok(())
    }

    /// Parses the name of a value, `%name`, without a result index.
    pub(super) fn value_name(&mut self) -> Parsed<&'a str> {
        self.cursor.expect("%")?;
        self.cursor.read_name_after_sigil("the name of a value")
    }

    /// Parses a use of a value: `%name` or `%name#1`.
    pub(super) fn used(&mut self) -> Parsed<Used> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let name = self.value_name()?;
        let result_index: Option<u32> = if self.cursor.rest().starts_with('#')
            && self.cursor.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            self.cursor.at += 1;
            Some(self.cursor.read_decimal("the number of a result")?)
        } else {
            None
        };
        match self.scopes.find_value(name) {
            Some(named) => Ok(Used { value: self.chosen(name, result_index, at, named)?, at }),
            None => self.forward_use(name, result_index, at).ok_or_else(|| self.undefined(name, at)),
        }
    }

    /// Selects the value with the index `result_index` among the values that share a name; without an index, the first.
    ///
    /// `at` is the byte at which the value is used.
    pub(super) fn chosen(
        &self,
        name: &str,
        result_index: Option<u32>,
        at: usize,
        (first, count): (Value, u32),
    ) -> Parsed<Value> {
        // A name that several results share means the first one if it has no index.
        let result_index = result_index.unwrap_or(0);
        if result_index >= count {
            return Err(self.cursor.error_at(at, format!("`%{name}` stands for {count} results only")));
        }
        Ok(Value(first.0 + result_index))
    }

    pub(super) fn undefined(&self, name: &str, at: usize) -> TextError {
        let error = self.cursor.error_at(at, format!("`%{name}` is not defined before"));
        let nearest = tilewright_target::find_similar_name(name, self.scopes.visible_value_names());
        nearest.iter().fold(error, |error, known| error.with_hint(format!("did you mean `%{known}`?")))
    }

    /// Parses comma-separated uses of values, possibly none.
    pub(super) fn used_list(&mut self) -> Parsed<Vec<Used>> {
        let mut used = Vec::new();
        while self.cursor.peek() == Some('%') {
            used.push(self.used()?);
            let before = self.cursor.at;
            if !(self.cursor.skip_if_next(",") && self.cursor.peek() == Some('%')) {
                self.cursor.at = before;
                return Ok(used);
            }
        }
        Ok(used)
    }

    /// Parses arguments of a region with their initial values: `(%name = %value, ...)`.
    pub(super) fn initialised(&mut self) -> Parsed<Initialised<'a>> {
        self.cursor.expect("(")?;
        let pairs = self.list(")", |parser| {
            parser.cursor.skip_blanks();
            let at = parser.cursor.at;
            let name = parser.value_name()?;
            parser.cursor.expect("=")?;
            Ok(((name, at), parser.used()?))
        })?;
        Ok(pairs.into_iter().unzip())
    }

    /// Parses a comma-separated list of types without brackets.
    pub(super) fn type_list(&mut self) -> Parsed<Vec<TileType>> {
        let mut types = vec![self.ty()?];
        while self.cursor.skip_if_next(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// Parses an optional location after an operation, and sets it.
    pub(super) fn location_of(&mut self, op: Op) -> Parsed<()> {
        let written = self.location()?.written;
        self.body.op_mut(op).location.written = written;
        Ok(())
    }
}
