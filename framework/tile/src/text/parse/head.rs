//! Parses the module and the definitions outside of functions: aliases of attributes, types and locations.

use std::sync::Arc;

use super::Parser;
use crate::{Attributes, Location, TileModule};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Parsed<TileModule> {
        self.find_location_definitions();
        self.definitions()?;
        let mut module = TileModule::default();
        if self.cursor.takes("module") || self.cursor.takes("builtin.module") {
            if self.cursor.takes("@") {
                self.cursor.name_after_sigil("the name of the module")?;
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

    /// Parses functions up to and including a closing brace.
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

    /// Parses alias definitions, `#name = ...` and `!name = ...`.
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
        let name = self.cursor.name_after_sigil("a name")?;
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
            self.cursor.name_after_sigil("an attribute")?;
            if self.cursor.rest().starts_with('<') {
                self.cursor.balanced("<")?;
            }
        } else {
            self.attribute()?;
        }
        let end = self.cursor.at;
        let text = self.expanded(&self.cursor.text()[value_at..end], value_at)?;
        self.attribute_names.insert(name, text);
        // An alias with the syntax of a layout is a layout; errors only mean that it is another attribute.
        let _ = self.layouts.define(self.cursor.text(), start);
        Ok(())
    }

    fn type_definition(&mut self) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.name_after_sigil("a name")?;
        self.cursor.expect("=")?;
        let ty = self.ty()?;
        match self.type_names.insert(name, ty) {
            None => Ok(()),
            Some(_) => Err(self.cursor.error(start, format!("`!{name}` is defined twice"))),
        }
    }

    /// Skips a resource section `{-# ... #-}`, which is for other tools.
    fn resources(&mut self) -> Parsed<()> {
        match self.cursor.rest().find("#-}") {
            Some(end) => {
                self.cursor.at += end + "#-}".len();
                Ok(())
            }
            None => Err(self.cursor.error(self.cursor.at, "`{-#` is never closed")),
        }
    }

    /// Records where location aliases are defined, which may follow their use: `#loc1 = loc(...)` at the start of a
    /// line.
    fn find_location_definitions(&mut self) {
        let text = self.cursor.text();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let definition = line.strip_prefix('#').and_then(|line| line.split_once('='));
            if let Some((name, value)) = definition.filter(|(_, value)| value.trim_start().starts_with("loc(")) {
                let value_at = at + line.len() - value.len() + (value.len() - value.trim_start().len());
                self.location_definitions.insert(name.trim(), value_at + "loc".len());
            }
            at += line.len();
        }
    }

    /// Replaces the aliases in the text of a location, `(...)`.
    pub(super) fn resolved(&mut self, text: &'a str, at: usize) -> Parsed<Arc<str>> {
        self.nested(|parser| {
            let mut out = String::new();
            let mut rest = text;
            while let Some(start) = unquoted_name(rest) {
                out.push_str(&rest[..start]);
                let after = &rest[start + 1..];
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
        let Some((name, location)) =
            self.location_definitions.get_key_value(name).map(|(name, location)| (*name, *location))
        else {
            return Err(self.cursor.error(at, format!("`#{name}` is not defined")));
        };
        let mut aside = self.cursor;
        aside.at = location;
        let text = aside.balanced("(")?;
        let text = self.resolved(text, location)?;
        self.locations.insert(name, Arc::clone(&text));
        Ok(inner(&text).into())
    }

    /// Parses the attributes before a body: `attributes {...}`.
    pub(super) fn attributes_after_keyword(&mut self) -> Parsed<Attributes> {
        if self.cursor.takes("attributes") { self.dictionary() } else { Ok(Attributes::default()) }
    }

    /// Parses an optional attribute dictionary in braces; none if the braces are those of a region.
    pub(super) fn attributes_if_any(&mut self) -> Parsed<Attributes> {
        if self.cursor.sees("{") { self.dictionary() } else { Ok(Attributes::default()) }
    }
}

/// Maximum length of a location's text after its aliases are replaced.
const MAX_LOCATION: usize = 1 << 16;

/// The text of a location that is nested in another, without its own parentheses.
fn inner(text: &str) -> &str {
    text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text)
}

/// The offset of the first `#` outside of quotes; `None` if there is none.
fn unquoted_name(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    text.char_indices().find_map(|(index, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return Some(index),
            _ => {}
        }
        None
    })
}

impl Location {
    /// The location as text, ` loc(...)`, to append to the construct that it belongs to.
    pub(crate) fn suffix(&self) -> String {
        self.written.as_ref().map(|written| format!(" loc{written}")).unwrap_or_default()
    }
}
