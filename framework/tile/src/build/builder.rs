//! The builder of a function: its signature, its blocks and the current position.

use crate::attribute::{Attribute, Attributes};
use crate::body::{Block, FunctionBody, Location, Region, Value};
use crate::module::{Function, Visibility};
use crate::op::Dialects;
use crate::types::{FunctionType, TileType};

/// Builds a function; operations are appended to the current block.
#[derive(Debug)]
pub struct FunctionBuilder<'d> {
    pub(super) dialects: &'d Dialects,
    function: Function,
    pub(crate) body: FunctionBody,
    /// The current block: operations are appended to it.
    pub(crate) block: Block,
    /// The source location of appended operations.
    pub(crate) location: Location,
}

impl<'d> FunctionBuilder<'d> {
    /// Starts a public function with arguments of these types and no results.
    #[must_use]
    pub fn new(dialects: &'d Dialects, name: &str, arguments: Vec<TileType>) -> Self {
        let mut body = FunctionBody::default();
        let block = body.add_block();
        body.append_block(body.root(), block);
        for ty in &arguments {
            body.add_argument(block, ty.clone());
        }
        let function = Function {
            name: name.into(),
            visibility: Visibility::Public,
            arguments: vec![Attributes::default(); arguments.len()],
            signature: FunctionType { arguments, results: Vec::new() },
            results: Vec::new(),
            attributes: Attributes::default(),
            body: None,
            location: Location::default(),
        };
        Self { dialects, function, body, block, location: Location::default() }
    }

    /// Starts a function with the name, attributes and arguments of another, and an empty body.
    pub(crate) fn with_signature_of(dialects: &'d Dialects, other: &Function) -> Self {
        let mut builder = Self::new(dialects, &other.name, other.signature.arguments.clone());
        builder.function = Function { body: None, ..other.clone() };
        builder
    }

    /// Sets the source location of operations appended from here on.
    pub fn set_location(&mut self, location: Location) {
        self.location = location;
    }

    /// The body built so far.
    #[must_use]
    pub fn body(&self) -> &FunctionBody {
        &self.body
    }

    pub(crate) fn body_mut(&mut self) -> &mut FunctionBody {
        &mut self.body
    }

    /// Returns the current block: operations are appended to it.
    pub(crate) fn block(&self) -> Block {
        self.block
    }

    /// Creates a region of one block, and makes it the current block; returns the region and the previous current
    /// block.
    pub(crate) fn enter_region(&mut self, arguments: Vec<TileType>) -> (Region, Block) {
        let region = self.body.add_region();
        let block = self.body.add_block();
        self.body.append_block(region, block);
        for ty in arguments {
            self.body.add_argument(block, ty);
        }
        (region, std::mem::replace(&mut self.block, block))
    }

    /// Sets the result types of the function.
    #[must_use]
    pub fn set_result_types(mut self, results: Vec<TileType>) -> Self {
        self.function.results = vec![Attributes::default(); results.len()];
        self.function.signature.results = results;
        self
    }

    /// Sets an attribute of an argument, such as `tt.divisibility`.
    pub fn set_argument_attribute(&mut self, argument: usize, name: &str, value: impl Into<Attribute>) {
        if let Some(attributes) = self.function.arguments.get_mut(argument) {
            attributes.set(name, value);
        }
    }

    /// The arguments of the function.
    #[must_use]
    pub fn arguments(&self) -> &[Value] {
        let entry = self.body.blocks(self.body.root())[0];
        self.body.arguments(entry)
    }

    /// The type of a value.
    #[must_use]
    pub fn ty(&self, value: Value) -> &TileType {
        self.body.value_type(value)
    }

    /// Sets the name of a value in the text.
    pub fn set_name(&mut self, value: Value, name: &str) {
        self.body.set_name(value, name);
    }

    /// Appends a block to the function, with arguments of these types.
    pub fn add_block(&mut self, arguments: Vec<TileType>) -> Block {
        let block = self.body.add_block();
        self.body.append_block(self.body.root(), block);
        for ty in arguments {
            self.body.add_argument(block, ty);
        }
        block
    }

    /// The arguments of a block.
    #[must_use]
    pub fn block_arguments(&self, block: Block) -> &[Value] {
        self.body.arguments(block)
    }

    /// Sets the current block.
    pub fn set_insertion_block(&mut self, block: Block) {
        self.block = block;
    }

    /// Finishes the function.
    #[must_use]
    pub fn finish(self) -> Function {
        Function { body: Some(self.body), ..self.function }
    }
}
