//! Parses modules and functions in MLIR's generic form.

use super::Parser;
use crate::{Attribute, Attributes, Function, FunctionBody, Location, TileType, Visibility};
use tilewright_layout::text::Parsed;

impl Parser<'_> {
    /// Parses a module after the name `"builtin.module"`: `() <{...}> ({...}) {...} : () -> ()`.
    pub(super) fn generic_module(&mut self) -> Parsed<(Attributes, Location)> {
        self.cursor.expect("(")?;
        self.cursor.expect(")")?;
        let mut attributes = self.properties()?;
        attributes.remove("sym_name");
        self.cursor.expect("(")?;
        self.cursor.expect("{")?;
        if self.cursor.skip_if_next("^") {
            self.cursor.read_name_after_sigil("the name of a block")?;
            self.cursor.expect(":")?;
        }
        self.functions_in_braces()?;
        self.cursor.expect(")")?;
        for (name, value) in self.attributes_if_any()?.iter() {
            attributes.set(name, value.clone());
        }
        self.no_types()?;
        Ok((attributes, self.location()?))
    }

    /// Parses a function after the name `"tt.func"`: `() <{function_type = ..., sym_name = ...}> ({...}) {...} : () ->
    /// ()`.
    pub(super) fn generic_function(&mut self) -> Parsed<()> {
        let at = self.cursor.at;
        self.cursor.expect("(")?;
        self.cursor.expect(")")?;
        let mut properties = self.properties()?;
        self.cursor.expect("(")?;
        let body = self.generic_body()?;
        self.cursor.expect(")")?;
        for (name, value) in self.attributes_if_any()?.iter() {
            properties.set(name, value.clone());
        }
        self.no_types()?;
        let location = self.location()?;
        let missing = |what: &str| self.cursor.error_at(at, format!("`tt.func` lacks its attribute `{what}`"));
        let Some(Attribute::Type(TileType::Function(signature))) = properties.remove("function_type") else {
            return Err(missing("function_type"));
        };
        let Some(Attribute::Text(name)) = properties.remove("sym_name") else { return Err(missing("sym_name")) };
        let visibility = properties.remove("sym_visibility");
        let visibility = [Visibility::Public, Visibility::Private, Visibility::Nested]
            .into_iter()
            .find(|known| visibility.as_ref().and_then(Attribute::as_text) == Some(known.keyword()));
        let arguments = dictionaries(properties.remove("arg_attrs"), signature.arguments.len());
        let results = dictionaries(properties.remove("res_attrs"), signature.results.len());
        let function = Function {
            name,
            visibility: visibility.unwrap_or_default(),
            signature: (*signature).clone(),
            arguments,
            results,
            attributes: properties,
            body,
            location: Location { at: u32::try_from(at).ok(), ..location },
        };
        self.add_function(at, function)
    }

    /// Parses optional properties: `<{...}>`.
    fn properties(&mut self) -> Parsed<Attributes> {
        if !self.cursor.skip_if_next("<") {
            return Ok(Attributes::default());
        }
        let properties = self.dictionary()?;
        self.cursor.expect(">")?;
        Ok(properties)
    }

    /// Parses a region in braces; `None` if it is empty, as in a declaration.
    fn generic_body(&mut self) -> Parsed<Option<FunctionBody>> {
        self.body = FunctionBody::default();
        self.scopes.enter(true);
        let root = self.body.root();
        self.blocks(root, None)?;
        self.replace_stand_ins()?;
        let body = std::mem::take(&mut self.body);
        Ok(Some(body).filter(|body| !body.blocks(body.root()).is_empty()))
    }

    /// Parses the type of an operation without operands and results: `: () -> ()`.
    fn no_types(&mut self) -> Parsed<()> {
        ["(", ")", "->", "(", ")"].into_iter().try_fold(self.cursor.expect(":")?, |(), token| self.cursor.expect(token))
    }
}

/// Converts a list attribute to `count` dictionaries; an entry without a dictionary in the list becomes an empty one.
fn dictionaries(list: Option<Attribute>, count: usize) -> Vec<Attributes> {
    let mut all = vec![Attributes::default(); count];
    if let Some(Attribute::List(items)) = list {
        for (slot_attributes, item) in all.iter_mut().zip(items) {
            if let Attribute::Dictionary(attributes) = item {
                *slot_attributes = attributes;
            }
        }
    }
    all
}
