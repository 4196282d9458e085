//! Parses the module and the definitions outside of functions: aliases of attributes, types and locations.

use super::Parser;
use crate::types::LayoutAttribute;
use crate::{Attribute, Attributes, Location, TileModule};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    pub(super) fn module(&mut self) -> Parsed<TileModule> {
        self.find_location_definitions();
        self.definitions()?;
        let mut module = TileModule { rules: self.dialects.verify_rules().clone(), ..TileModule::default() };
        if self.cursor.skip_if_next("module") || self.cursor.skip_if_next("builtin.module") {
            (module.attributes, module.location) = self.module_after_keyword()?;
        } else if self.cursor.skip_if_next("\"builtin.module\"") {
            (module.attributes, module.location) = self.generic_module()?;
        }
        self.definitions()?;
        while !self.cursor.is_at_end() {
            self.any_function()?;
            self.definitions()?;
        }
        module.functions = std::mem::take(&mut self.functions);
        module.aliases = std::mem::take(&mut self.aliases);
        Ok(module)
    }

    /// Parses a module after its keyword: `@name attributes {...} {functions}`.
    fn module_after_keyword(&mut self) -> Parsed<(Attributes, Location)> {
        if self.cursor.skip_if_next("@") {
            self.cursor.read_name_after_sigil("the name of the module")?;
        }
        let attributes = self.attributes_after_keyword()?;
        self.cursor.expect("{")?;
        self.functions_in_braces()?;
        Ok((attributes, self.location()?))
    }

    /// Parses functions up to and including a closing brace.
    pub(super) fn functions_in_braces(&mut self) -> Parsed<()> {
        self.definitions()?;
        while !self.cursor.skip_if_next("}") {
            self.any_function()?;
            self.definitions()?;
        }
        Ok(())
    }

    /// Parses a function, or a module whose functions become functions of the enclosing module.
    fn any_function(&mut self) -> Parsed<()> {
        if self.cursor.skip_if_next("module") || self.cursor.skip_if_next("builtin.module") {
            return self.nested(Self::module_after_keyword).map(drop);
        }
        if self.cursor.skip_if_next("tt.func") {
            return self.function();
        }
        if self.cursor.skip_if_next("\"tt.func\"") {
            return self.generic_function();
        }
        Err(self.cursor.expected_token_error("a function: `tt.func`"))
    }

    /// Parses definitions of aliases, `#name = ...` and `!name = ...`, and skips resource sections.
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
        let name = self.cursor.read_name_after_sigil("a name")?;
        self.cursor.expect("=")?;
        self.cursor.skip_blanks();
        let value_at = self.cursor.at;
        if self.cursor.is_next("loc") {
            if let Some(text) = self.location()?.written {
                self.locations.insert(name, text);
            }
            return Ok(());
        }
        if self.attribute_names.contains_key(name) {
            return Err(self.cursor.error_at(start, format!("`#{name}` is defined twice")));
        }
        if self.cursor.peek() == Some('#') {
            self.cursor.at += 1;
            self.cursor.read_name_after_sigil("an attribute")?;
            if self.cursor.rest().starts_with('<') {
                self.cursor.read_balanced("<")?;
            }
        } else {
            self.attribute()?;
        }
        let end = self.cursor.at;
        let text = self.expanded(&self.cursor.text()[value_at..end], value_at)?;
        if text.starts_with('#')
            && let Ok((mut spec, read)) = self.layouts.read_layout(self.cursor.text(), value_at)
            && read == end
        {
            self.dialects.remove_layout_defaults(&mut spec);
            self.aliases.push(Attribute::Layout(LayoutAttribute::new(spec, text.clone())));
        }
        self.attribute_names.insert(name, text);
        // An alias is a layout if its text is parsed as one; an error only means that it is another attribute.
        let _ = self.layouts.read_alias_definition(self.cursor.text(), start);
        Ok(())
    }

    fn type_definition(&mut self) -> Parsed<()> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let name = self.cursor.read_name_after_sigil("a name")?;
        self.cursor.expect("=")?;
        let ty = self.ty()?;
        self.aliases.push(Attribute::Type(ty.clone()));
        match self.type_names.insert(name, ty) {
            None => Ok(()),
            Some(_) => Err(self.cursor.error_at(start, format!("`!{name}` is defined twice"))),
        }
    }

    /// Skips a resource section `{-# ... #-}`, which is for other tools.
    fn resources(&mut self) -> Parsed<()> {
        match self.cursor.rest().find("#-}") {
            Some(end) => {
                self.cursor.at += end + "#-}".len();
                Ok(())
            }
            None => Err(self.cursor.error_at(self.cursor.at, "`{-#` is never closed")),
        }
    }

    /// Parses the attributes before a body: `attributes {...}`.
    pub(super) fn attributes_after_keyword(&mut self) -> Parsed<Attributes> {
        if self.cursor.skip_if_next("attributes") { self.dictionary() } else { Ok(Attributes::default()) }
    }

    /// Parses an optional attribute dictionary in braces; none if the braces are those of a region.
    pub(super) fn attributes_if_any(&mut self) -> Parsed<Attributes> {
        if self.cursor.is_next("{") { self.dictionary() } else { Ok(Attributes::default()) }
    }
}
