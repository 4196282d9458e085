//! Reads an operation: its results' names, its name, what follows, and where it comes from.

use std::sync::Arc;

use super::Parser;
use super::draft::{Draft, Used};
use crate::{Location, Op, TileType, Value};
use tilewright_layout::text::Parsed;
use tilewright_layout::text::TextError;

/// A name before `=`, and for how many results it stands.
struct ResultName<'a> {
    name: &'a str,
    at: usize,
    count: u32,
}

/// Names of arguments with their places, and what each begins with.
type Initialised<'a> = (Vec<(&'a str, usize)>, Vec<Used>);

impl<'a> Parser<'a> {
    /// An operation of a block.
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
            let name = self.cursor.quoted("the name of an operation")?;
            let draft = self.draft(&name, at)?;
            return self.generic(draft);
        }
        let name = self.cursor.word("an operation")?;
        let draft = self.draft(name, at)?;
        let definition = Arc::clone(&draft.definition);
        match &definition.format {
            Some(format) => {
                let draft = self.formatted(draft, format)?;
                self.finish(draft)
            }
            None => {
                let message = format!("`{name}` has no form of its own: expected `\"{name}\"(...)`");
                Err(self.cursor.error(at, message))
            }
        }
    }

    fn draft(&self, name: &str, at: usize) -> Parsed<Draft> {
        match self.dialects.get(name) {
            Some(definition) => Ok(Draft::new(Arc::clone(definition), at)),
            None => {
                let error = self.cursor.error(at, format!("there is no operation `{name}`"));
                Err(match self.dialects.nearest(name) {
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
            let count = if self.cursor.takes(":") { self.cursor.decimal("how many results there are")? } else { 1 };
            names.push(ResultName { name, at, count });
            if !self.cursor.takes(",") {
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
        // Results that nobody uses need no names.
        if named != results.len() as u64 && !names.is_empty() {
            let name = self.body.op(op).name().to_owned();
            let message = format!("`{name}` gives {} results, and {named} are named", results.len());
            return Err(self.cursor.error(first, message));
        }
        let mut start = 0;
        for name in names {
            let end = start + name.count as usize;
            let Some(value) = results.get(start).copied() else {
                return Err(self.cursor.error(name.at, "a name stands for one result at least"));
            };
            if !self.scopes.define(name.name, value, name.count) {
                return Err(self.cursor.error(name.at, format!("`%{}` is defined twice", name.name)));
            }
            for value in &results[start..end] {
                self.body.set_name(*value, name.name);
            }
            start = end;
        }
        Ok(())
    }

    /// `%name`, without the number of a result.
    pub(super) fn value_name(&mut self) -> Parsed<&'a str> {
        self.cursor.expect("%")?;
        self.cursor.suffix("the name of a value")
    }

    /// `%name` or `%name#1`.
    pub(super) fn used(&mut self) -> Parsed<Used> {
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let name = self.value_name()?;
        let place: Option<u32> = if self.cursor.rest().starts_with('#')
            && self.cursor.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            self.cursor.at += 1;
            Some(self.cursor.decimal("the number of a result")?)
        } else {
            None
        };
        match self.scopes.value(name) {
            Some(named) => Ok(Used { value: self.chosen(name, place, at, named)?, at }),
            None => self.late_use(name, place, at).ok_or_else(|| self.undefined(name, at)),
        }
    }

    /// One of the values that a name stands for: the only one, or the one of this number.
    pub(super) fn chosen(
        &self,
        name: &str,
        place: Option<u32>,
        at: usize,
        (first, count): (Value, u32),
    ) -> Parsed<Value> {
        if place.is_none() && count != 1 {
            return Err(self.cursor.error(at, format!("`%{name}` stands for {count} results: expected `%{name}#0`")));
        }
        let place = place.unwrap_or(0);
        if place >= count {
            return Err(self.cursor.error(at, format!("`%{name}` stands for {count} results only")));
        }
        Ok(Value(first.0 + place))
    }

    pub(super) fn undefined(&self, name: &str, at: usize) -> TextError {
        let error = self.cursor.error(at, format!("`%{name}` is not defined before"));
        let nearest = tilewright_target::nearest(name, self.scopes.names());
        nearest.iter().fold(error, |error, known| error.with_hint(format!("did you mean `%{known}`?")))
    }

    /// Values with commas between, as many as there are.
    pub(super) fn used_list(&mut self) -> Parsed<Vec<Used>> {
        let mut used = Vec::new();
        while self.cursor.peek() == Some('%') {
            used.push(self.used()?);
            let before = self.cursor.at;
            if !(self.cursor.takes(",") && self.cursor.peek() == Some('%')) {
                self.cursor.at = before;
                return Ok(used);
            }
        }
        Ok(used)
    }

    /// `name = %value` with commas between, in brackets: arguments of a region and what they begin with.
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

    /// `: %value`'s types, or what else is a list of types without brackets.
    pub(super) fn type_list(&mut self) -> Parsed<Vec<TileType>> {
        let mut types = vec![self.ty()?];
        while self.cursor.takes(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// ` loc(...)`, where it stands after an operation.
    pub(super) fn location_of(&mut self, op: Op) -> Parsed<()> {
        let written = self.location()?.written;
        self.body.op_mut(op).location.written = written;
        Ok(())
    }

    /// A location, if one stands here.
    pub(super) fn location(&mut self) -> Parsed<Location> {
        if !self.cursor.sees("loc") {
            return Ok(Location::default());
        }
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        self.cursor.at += "loc".len();
        let text = self.cursor.balanced("(")?;
        Ok(Location { at: u32::try_from(at).ok(), written: Some(self.resolved(text, at)?) })
    }
}
