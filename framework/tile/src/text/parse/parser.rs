//! Parses Triton IR text.

use super::late::ForwardReferences;
use super::names::Scopes;
use crate::op::Dialects;
use crate::{Body, Function, TileModule, TileType};
use std::collections::HashMap;
use std::sync::Arc;
use tilewright_layout::LayoutNames;
use tilewright_layout::text::{Cursor, Parsed};

/// Types, attributes, regions and locations may nest this deep together.
const MAX_DEPTH: usize = 200;

/// The module that a text describes, in operations of these dialects. Whether it keeps the rules of its operations
/// is for [`crate::verify`]; types are as the text says. Values are defined before they are used, or, where
/// a region has several blocks, in a later one; the blocks are then put in an order in which values are defined before.
///
/// ```
/// use tilewright_tile::{op::Dialects, text};
/// let source = "tt.func @twice(%x: f32) -> f32 {\n  %y = arith.addf %x, %x : f32\n  tt.return %y : f32\n}";
/// let module = text::parse(source, &Dialects::neutral())?;
/// assert_eq!(module.functions[0].body.as_ref().map(|body| body.op_count()), Some(2));
/// let error = text::parse("tt.func @f() { tt.retrun }", &Dialects::neutral()).unwrap_err();
/// assert_eq!(error.to_string(), "1:16: there is no operation `tt.retrun`; did you mean `tt.return`?");
/// # Ok::<(), tilewright_layout::text::TextError>(())
/// ```
///
/// # Errors
/// [`TextError`](tilewright_layout::text::TextError) with the place and what was expected there.
pub fn parse(text: &str, dialects: &Dialects) -> Parsed<TileModule> {
    Parser::new(text, dialects).module()
}

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) dialects: &'a Dialects,
    pub(super) depth: usize,
    /// What names stand for that begin with `#`, as far as they are layouts.
    pub(super) layouts: LayoutNames,
    /// The same, as text.
    pub(super) attribute_names: HashMap<&'a str, String>,
    /// What names stand for that begin with `!`.
    pub(super) type_names: HashMap<&'a str, TileType>,
    /// Tensor types by how they are written, since few are written often.
    pub(super) tensors: HashMap<&'a str, TileType>,
    /// What names of locations stand for, as text.
    pub(super) locations: HashMap<&'a str, Arc<str>>,
    /// Where the definitions of locations lie that follow their use.
    pub(super) late_locations: HashMap<&'a str, usize>,
    /// The function being read.
    pub(super) body: Body,
    pub(super) scopes: Scopes<'a>,
    pub(super) late: ForwardReferences,
    pub(super) functions: Vec<Function>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, dialects: &'a Dialects) -> Self {
        Self {
            cursor: Cursor::with_comments(text, "//"),
            dialects,
            depth: 0,
            layouts: LayoutNames::default(),
            attribute_names: HashMap::new(),
            type_names: HashMap::new(),
            tensors: HashMap::new(),
            locations: HashMap::new(),
            late_locations: HashMap::new(),
            body: Body::default(),
            scopes: Scopes::default(),
            late: ForwardReferences::default(),
            functions: Vec::new(),
        }
    }

    /// Reads what is nested one deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.cursor.error(self.cursor.at, format!("nested deeper than {MAX_DEPTH}")));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Things between commas, up to a closing token, which is taken.
    pub(super) fn list<T>(&mut self, closing: &str, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.cursor.takes(closing) {
            return Ok(items);
        }
        loop {
            items.push(read(self)?);
            if !self.cursor.takes(",") {
                self.cursor.expect(closing)?;
                return Ok(items);
            }
        }
    }
}
