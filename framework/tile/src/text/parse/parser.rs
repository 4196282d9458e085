//! The parser of Triton IR text: its entry point and its state.

use super::forward_refs::ForwardReferences;
use super::names::Scopes;
use crate::op::Dialects;
use crate::{Attribute, Function, FunctionBody, TileModule, TileType};
use std::collections::HashMap;
use std::sync::Arc;
use tilewright_layout::LayoutAliasReader;
use tilewright_layout::text::{Cursor, Parsed};

/// Maximum nesting depth of types, attributes, regions and locations together; deeper nesting is a syntax error.
const MAX_DEPTH: usize = 200;

/// Parses a module with operations of `dialects`. The rules of the operations are not checked here, but by
/// [`crate::verify_module`]. In a region with several blocks, a later block of the text may define a value; the blocks
/// are then reordered so that definitions precede uses.
///
/// ```
/// use tilewright_tile::{op::Dialects, text};
/// let source = "tt.func @twice(%x: f32) -> f32 {\n  %y = arith.addf %x, %x : f32\n  tt.return %y : f32\n}";
/// let module = text::parse_module(source, &Dialects::neutral())?;
/// assert_eq!(module.functions[0].body.as_ref().map(|body| body.op_count()), Some(2));
/// let error = text::parse_module("tt.func @f() { tt.retrun }", &Dialects::neutral()).unwrap_err();
/// assert_eq!(error.to_string(), "1:16: there is no operation `tt.retrun`; did you mean `tt.return`?");
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
///
/// # Errors
/// [`TextError`](tilewright_layout::text::TextError) with the position and the expected text.
pub fn parse_module(text: &str, dialects: &Dialects) -> Parsed<TileModule> {
    Parser::new(text, dialects).module()
}

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) dialects: &'a Dialects,
    pub(super) depth: usize,
    /// The aliases of layouts, which begin with `#`.
    pub(super) layouts: LayoutAliasReader,
    /// The text of every alias that begins with `#`.
    pub(super) attribute_names: HashMap<&'a str, String>,
    /// The layouts and types that have aliases.
    pub(super) aliases: Vec<Attribute>,
    /// The types of the aliases that begin with `!`.
    pub(super) type_names: HashMap<&'a str, TileType>,
    /// Parsed tensor types by their text: a program has few different ones, each many times.
    pub(super) tensors: HashMap<&'a str, TileType>,
    /// The aliases of locations, as text.
    pub(super) locations: HashMap<&'a str, Arc<str>>,
    /// The byte at which each location alias is defined, for aliases that are used before.
    pub(super) location_definitions: HashMap<&'a str, usize>,
    /// The body of the function that is being parsed.
    pub(super) body: FunctionBody,
    pub(super) scopes: Scopes<'a>,
    pub(super) forward_refs: ForwardReferences,
    pub(super) functions: Vec<Function>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, dialects: &'a Dialects) -> Self {
        Self {
            cursor: Cursor::with_comments(text, "//"),
            dialects,
            depth: 0,
            layouts: LayoutAliasReader::default(),
            attribute_names: HashMap::new(),
            aliases: Vec::new(),
            type_names: HashMap::new(),
            tensors: HashMap::new(),
            locations: HashMap::new(),
            location_definitions: HashMap::new(),
            body: FunctionBody::default(),
            scopes: Scopes::default(),
            forward_refs: ForwardReferences::default(),
            functions: Vec::new(),
        }
    }

    /// Parses with `read`, one nesting level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.cursor.error_at(self.cursor.at, format!("nested deeper than {MAX_DEPTH}")));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Parses a comma-separated list up to and including the token `closing`.
    pub(super) fn list<T>(&mut self, closing: &str, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.cursor.skip_if_next(closing) {
            return Ok(items);
        }
        loop {
            items.push(read(self)?);
            if !self.cursor.skip_if_next(",") {
                self.cursor.expect(closing)?;
                return Ok(items);
            }
        }
    }
}
