//! Parses functions.

use super::Parser;
use crate::{Attributes, Function, FunctionBody, FunctionType, Location, TileType, Visibility};
use tilewright_layout::text::Parsed;

/// A declared argument of a function; it has no name if the function has no body.
struct Argument<'a> {
    name: Option<(&'a str, usize)>,
    ty: TileType,
    attributes: Attributes,
}

impl<'a> Parser<'a> {
    /// Parses a function after the word `tt.func`.
    pub(super) fn function(&mut self) -> Parsed<()> {
        let visibility = [Visibility::Public, Visibility::Private, Visibility::Nested];
        let visibility = visibility.into_iter().find(|visibility| self.cursor.skip_if_next(visibility.keyword()));
        self.cursor.skip_blanks();
        let at = self.cursor.at;
        let name = self.symbol()?;
        self.cursor.expect("(")?;
        let arguments = self.list(")", Self::argument)?;
        let results = if self.cursor.skip_if_next("->") { self.function_results()? } else { Vec::new() };
        let attributes = self.attributes_after_keyword()?;
        let body = if self.cursor.is_next("{") { Some(self.body(&arguments)?) } else { None };
        let location = self.location()?;
        let signature = FunctionType {
            arguments: arguments.iter().map(|argument| argument.ty.clone()).collect(),
            results: results.iter().map(|(ty, _)| ty.clone()).collect(),
        };
        self.add_function(
            at,
            Function {
                name,
                visibility: visibility.unwrap_or_default(),
                signature,
                arguments: arguments.into_iter().map(|argument| argument.attributes).collect(),
                results: results.into_iter().map(|(_, attributes)| attributes).collect(),
                attributes,
                body,
                location: Location { at: u32::try_from(at).ok(), ..location },
            },
        )
    }

    /// Adds a function to the module; `at` is the byte offset in the text at which its name starts.
    pub(super) fn add_function(&mut self, at: usize, function: Function) -> Parsed<()> {
        let name = &function.name;
        if self.functions.iter().any(|known| known.name == *name) {
            return Err(self.cursor.error_at(at, format!("`@{name}` is defined twice")));
        }
        self.functions.push(function);
        Ok(())
    }

    /// Parses an argument: `%name: type {attributes} loc(...)`, or the type alone.
    fn argument(&mut self) -> Parsed<Argument<'a>> {
        let mut name = None;
        if self.cursor.peek() == Some('%') {
            let at = self.cursor.at;
            name = Some((self.value_name()?, at));
            self.cursor.expect(":")?;
        }
        let ty = self.ty()?;
        let attributes = self.attributes_if_any()?;
        // The location after an argument belongs to its name, and is not kept.
        self.location()?;
        Ok(Argument { name, ty, attributes })
    }

    fn function_results(&mut self) -> Parsed<Vec<(TileType, Attributes)>> {
        if !self.cursor.skip_if_next("(") {
            return Ok(vec![(self.ty()?, Attributes::default())]);
        }
        self.list(")", |parser| Ok((parser.ty()?, parser.attributes_if_any()?)))
    }

    fn body(&mut self, arguments: &[Argument<'a>]) -> Parsed<FunctionBody> {
        self.body = FunctionBody::default();
        self.scopes.enter(true);
        let entry = self.body.add_block();
        for argument in arguments {
            let Some((name, at)) = argument.name else {
                return Err(self.cursor.expected_token_error("no body, since the arguments have no names"));
            };
            let value = self.body.add_argument(entry, argument.ty.clone());
            self.name_value(name, at, value)?;
        }
        let root = self.body.root();
        self.blocks(root, Some(entry))?;
        self.replace_stand_ins()?;
        Ok(std::mem::take(&mut self.body))
    }
}
