//! Reads what stands around functions: names of attributes, types and locations, and the module.

use std::sync::Arc;

use super::Parser;
use crate::{Attributes, Location, TileModule};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Parsed<TileModule> {
        self.find_late_locations();
        self.definitions()?;
        let mut module = TileModule::default();
        if self.cursor.takes("module") || self.cursor.takes("builtin.module") {
            if self.cursor.takes("@") {
                self.cursor.suffix("the name of the module")?;
            }
            if self.cursor.takes("attributes") {
                module.attributes = self.dictionary()?;
            }
            self.cursor.expect("{")?;
            self.functions_in_braces()?;
            module.location = self.location()?;
        } else if self.cursor.takes("\"builtin.module\"") {
            (module.attributes, module.location) = self.generic_module()?;
        }
        self.definitions()?;
        while !self.cursor.is_at_end() {
            self.any_function()?;
            self.definitions()?;
        }
        module.functions = std::mem::take(&mut self.functions);
        Ok(module)
    }

    /// Functions up to a brace, which is taken.
    pub(super) fn functions_in_braces(&mut self) -> Parsed<()> {
        self.definitions()?;
        while !self.cursor.takes("}") {
            self.any_function()?;
            self.definitions()?;
        }
        Ok(())
    }

    fn any_function(&mut self) -> Parsed<()> {
        if self.cursor.takes("tt.func") {
            return self.function();
        }
        if self.cursor.takes("\"tt.func\"") {
            return self.generic_function();
        }
        Err(self.cursor.expected("a function: `tt.func`"))
    }

    /// `#name = ...`, `!name = ...`, as many as there are.
    fn definitions(&mut self) -> Parsed<()> {
        loop {
            match self.cursor.peek() {
                Some('#') => self.attribute_definition()?,
                Some('!') => self.type_definition()?,
                Some('{') if self.cursor.rest().starts_with("{-#") => self.resources()?,
                _ => return Ok(()),
            }
        }
    }

    fn attribute_definition(&mut self) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.suffix("a name")?;
        self.cursor.expect("=")?;
        self.cursor.skip_blanks();
        let value_at = self.cursor.at;
        if self.cursor.sees("loc") {
            self.cursor.at += "loc".len();
            let text = self.cursor.balanced("(")?;
            let text = self.resolved(text, value_at)?;
            self.locations.insert(name, text);
            return Ok(());
        }
        if self.attribute_names.contains_key(name) {
            return Err(self.cursor.error(start, format!("`#{name}` is defined twice")));
        }
        if self.cursor.peek() == Some('#') {
            self.cursor.at += 1;
            self.cursor.suffix("an attribute")?;
            if self.cursor.rest().starts_with('<') {
                self.cursor.balanced("<")?;
            }
        } else {
            self.attribute()?;
        }
        let end = self.cursor.at;
        let text = self.expanded(&self.cursor.text()[value_at..end], value_at)?;
        self.attribute_names.insert(name, text);
        // What is written like a layout may be one; what is not, is none.
        let _ = self.layouts.define(self.cursor.text(), start);
        Ok(())
    }

    fn type_definition(&mut self) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.suffix("a name")?;
        self.cursor.expect("=")?;
        let ty = self.ty()?;
        match self.type_names.insert(name, ty) {
            None => Ok(()),
            Some(_) => Err(self.cursor.error(start, format!("`!{name}` is defined twice"))),
        }
    }

    /// `{-# ... #-}`: data of tools, which says nothing of the program.
    fn resources(&mut self) -> Parsed<()> {
        match self.cursor.rest().find("#-}") {
            Some(end) => {
                self.cursor.at += end + "#-}".len();
                Ok(())
            }
            None => Err(self.cursor.error(self.cursor.at, "`{-#` is never closed")),
        }
    }

    /// Finds the definitions of locations, which may follow their use: `#loc1 = loc(...)` at the start of a line.
    fn find_late_locations(&mut self) {
        let text = self.cursor.text();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let definition = line.strip_prefix('#').and_then(|line| line.split_once('='));
            if let Some((name, value)) = definition.filter(|(_, value)| value.trim_start().starts_with("loc(")) {
                let value_at = at + line.len() - value.len() + (value.len() - value.trim_start().len());
                self.late_locations.insert(name.trim(), value_at + "loc".len());
            }
            at += line.len();
        }
    }

    /// The text of a location, `(...)`, with what its names stand for.
    pub(super) fn resolved(&mut self, text: &'a str, at: usize) -> Parsed<Arc<str>> {
        self.nested(|parser| {
            let mut out = String::new();
            let mut rest = text;
            while let Some(place) = unquoted_name(rest) {
                out.push_str(&rest[..place]);
                let after = &rest[place + 1..];
                let end =
                    after.find(|c: char| !(c.is_ascii_alphanumeric() || "_$.-".contains(c))).unwrap_or(after.len());
                out.push_str(&parser.named_location(&after[..end], at)?);
                rest = &after[end..];
                if out.len() > MAX_LOCATION {
                    return Err(parser.cursor.error(at, format!("a location longer than {MAX_LOCATION} bytes")));
                }
            }
            out.push_str(rest);
            Ok(out.into())
        })
    }

    fn named_location(&mut self, name: &str, at: usize) -> Parsed<Arc<str>> {
        if let Some(known) = self.locations.get(name) {
            return Ok(inner(known).into());
        }
        let Some((name, place)) = self.late_locations.get_key_value(name).map(|(name, place)| (*name, *place)) else {
            return Err(self.cursor.error(at, format!("`#{name}` is not defined")));
        };
        let mut aside = self.cursor;
        aside.at = place;
        let text = aside.balanced("(")?;
        let text = self.resolved(text, place)?;
        self.locations.insert(name, Arc::clone(&text));
        Ok(inner(&text).into())
    }

    /// The attributes before a body: `attributes {...}`.
    pub(super) fn attributes_after_word(&mut self) -> Parsed<Attributes> {
        if self.cursor.takes("attributes") { self.dictionary() } else { Ok(Attributes::default()) }
    }

    /// The attributes in braces, where there are some and no region begins.
    pub(super) fn attributes_if_any(&mut self) -> Parsed<Attributes> {
        if self.cursor.sees("{") { self.dictionary() } else { Ok(Attributes::default()) }
    }
}

/// With its names replaced a location is at most this long.
const MAX_LOCATION: usize = 1 << 16;

/// A location without its own brackets, within another.
fn inner(text: &str) -> &str {
    text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text)
}

/// Where a `#` stands outside of quotes.
fn unquoted_name(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    text.char_indices().find_map(|(place, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return Some(place),
            _ => {}
        }
        None
    })
}

impl Location {
    /// As it stands after what it is of.
    pub(crate) fn suffix(&self) -> String {
        self.written.as_ref().map(|written| format!(" loc{written}")).unwrap_or_default()
    }
}
