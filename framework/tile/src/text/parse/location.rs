//! Parses locations, `loc(...)`: replaces aliases, and normalises blanks and comments.

use std::sync::Arc;

use super::Parser;
use crate::Location;
use tilewright_layout::text::Parsed;

/// Maximum length in bytes of a location's text after its aliases are replaced; a longer one is a syntax error.
const MAX_LOCATION: usize = 1 << 16;

impl<'a> Parser<'a> {
    /// Records where location aliases are defined, which may follow their use: `#loc1 = loc(...)` at the start of a
    /// line.
    pub(super) fn find_location_definitions(&mut self) {
        let text = self.cursor.text();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let definition = line.strip_prefix('#').and_then(|line| line.split_once('='));
            if let Some((name, value)) = definition.filter(|(_, value)| value.trim_start().starts_with("loc(")) {
                let value_at = at + line.len() - value.len() + (value.len() - value.trim_start().len());
                self.location_definitions.insert(name.trim(), value_at);
            }
            at += line.len();
        }
    }

    /// Parses an optional location.
    pub(super) fn location(&mut self) -> Parsed<Location> {
        if !self.cursor.is_next("loc") {
            return Ok(Location::default());
        }
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        self.cursor.at += "loc".len();
        self.cursor.expect("(")?;
        let mut text = "(".to_owned();
        self.location_instance(&mut text)?;
        self.cursor.expect(")")?;
        text.push(')');
        Ok(Location { at: u32::try_from(at).ok(), written: Some(text.into()) })
    }

    /// Parses a location without `loc(...)` around it, and appends its text.
    fn location_instance(&mut self, out: &mut String) -> Parsed<()> {
        self.nested(|parser| match parser.cursor.peek() {
            Some('#') => parser.location_alias(out),
            Some('"') => parser.named_or_file_location(out),
            _ if parser.cursor.skip_if_next("unknown") => {
                out.push_str("unknown");
                Ok(())
            }
            _ if parser.cursor.skip_if_next("callsite") => {
                out.push_str("callsite(");
                parser.cursor.expect("(")?;
                parser.location_instance(out)?;
                parser.cursor.expect("at")?;
                out.push_str(" at ");
                parser.location_instance(out)?;
                out.push(')');
                parser.cursor.expect(")")
            }
            _ if parser.cursor.skip_if_next("fused") => parser.fused_location(out),
            _ => Err(parser
                .cursor
                .expected_token_error("a location: `unknown`, `\"file\":1:2`, `callsite(...)`, `fused[...]`")),
        })
    }

    /// Parses `"name"`, `"name"(location)`, `"file":line:column` or `"file":line:column to line:column`.
    fn named_or_file_location(&mut self, out: &mut String) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.read_quoted("a name")?;
        out.push_str(&self.cursor.text()[start..self.cursor.at]);
        if self.cursor.skip_if_next("(") {
            out.push('(');
            self.location_instance(out)?;
            out.push(')');
            return self.cursor.expect(")");
        }
        if !self.cursor.skip_if_next(":") {
            return Ok(());
        }
        let line: u64 = self.cursor.read_decimal("a line")?;
        self.cursor.expect(":")?;
        let column: u64 = self.cursor.read_decimal("a column")?;
        out.push_str(&format!(":{line}:{column}"));
        if self.cursor.skip_if_next("to") {
            out.push_str(" to ");
            if self.cursor.peek() != Some(':') {
                out.push_str(&self.cursor.read_decimal::<u64>("a line")?.to_string());
            }
            self.cursor.expect(":")?;
            out.push_str(&format!(":{}", self.cursor.read_decimal::<u64>("a column")?));
        }
        Ok(())
    }

    /// Parses a fused location after its keyword: `<metadata>[location, ...]`.
    fn fused_location(&mut self, out: &mut String) -> Parsed<()> {
        out.push_str("fused");
        if self.cursor.skip_if_next("<") {
            out.push_str(&format!("<{}>", self.attribute()?));
            self.cursor.expect(">")?;
        }
        self.cursor.expect("[")?;
        out.push('[');
        let mut first = true;
        self.list("]", |parser| {
            out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            parser.location_instance(out)
        })?;
        out.push(']');
        Ok(())
    }

    /// Parses an alias `#name`, and appends the location that it stands for.
    fn location_alias(&mut self, out: &mut String) -> Parsed<()> {
        let at = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.read_name_after_sigil("the name of a location")?;
        let text = self.named_location(name, at)?;
        out.push_str(bare(&text));
        if out.len() > MAX_LOCATION {
            return Err(self.cursor.error_at(at, format!("a location longer than {MAX_LOCATION} bytes")));
        }
        Ok(())
    }

    /// The text of the location with this alias, `(...)`; its definition may follow the use.
    fn named_location(&mut self, name: &str, at: usize) -> Parsed<Arc<str>> {
        if let Some(known) = self.locations.get(name) {
            return Ok(Arc::clone(known));
        }
        let Some((name, location)) =
            self.location_definitions.get_key_value(name).map(|(name, location)| (*name, *location))
        else {
            return Err(self.cursor.error_at(at, format!("`#{name}` is not defined")));
        };
        let behind = std::mem::replace(&mut self.cursor.at, location);
        let text = self.location()?.written.unwrap_or_default();
        self.cursor.at = behind;
        self.locations.insert(name, Arc::clone(&text));
        Ok(text)
    }
}

/// Removes the parentheses around the text of a location.
fn bare(text: &str) -> &str {
    text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text)
}

impl Location {
    /// Returns the location of an inlined operation: this location, as called from the location `call`.
    pub(crate) fn called_from(&self, call: &Self) -> Self {
        let (Some(own), Some(call)) = (&self.written, &call.written) else {
            return if self.written.is_some() { self.clone() } else { Self { at: self.at, ..call.clone() } };
        };
        let [callee, caller] = [own, call].map(|text| bare(text));
        if callee.len() + caller.len() > MAX_LOCATION {
            return self.clone();
        }
        Self { at: self.at, written: Some(format!("(callsite({callee} at {caller}))").into()) }
    }

    /// The location as text, ` loc(...)`, to append to the construct that it belongs to.
    pub(crate) fn suffix(&self) -> String {
        self.written.as_ref().map(|written| format!(" loc{written}")).unwrap_or_default()
    }
}
