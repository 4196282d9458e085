//! Builds functions.

use crate::attribute::{Attribute, Attributes};
use crate::body::{Block, Body, Location, Region, Value};
use crate::module::{Function, Visibility};
use crate::op::Dialects;
use crate::types::{FunctionType, TileType};

/// Makes a function; operations are added at the end of a block that can be changed.
#[derive(Debug)]
pub struct FunctionBuilder<'d> {
    pub(super) dialects: &'d Dialects,
    function: Function,
    pub(crate) body: Body,
    /// Where operations are added.
    pub(crate) block: Block,
    /// Where the operations that are added come from.
    pub(crate) location: Location,
}

impl<'d> FunctionBuilder<'d> {
    /// A public function of these arguments that gives nothing.
    #[must_use]
    pub fn new(dialects: &'d Dialects, name: &str, arguments: Vec<TileType>) -> Self {
        let mut body = Body::default();
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

    /// A function that is told what another is, with its arguments, and does nothing yet.
    pub(crate) fn like(dialects: &'d Dialects, other: &Function) -> Self {
        let mut builder = Self::new(dialects, &other.name, other.signature.arguments.clone());
        builder.function = Function { body: None, ..other.clone() };
        builder
    }

    /// Where the operations that are added from here on come from.
    pub fn located(&mut self, location: Location) {
        self.location = location;
    }

    /// What was made so far.
    #[must_use]
    pub fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }

    /// The block that operations are added to.
    pub(crate) fn block(&self) -> Block {
        self.block
    }

    /// A region of one block, which operations are added to from here on, and the block that they were added to before.
    pub(crate) fn enter_region(&mut self, arguments: Vec<TileType>) -> (Region, Block) {
        let region = self.body.add_region();
        let block = self.body.add_block();
        self.body.append_block(region, block);
        for ty in arguments {
            self.body.add_argument(block, ty);
        }
        (region, std::mem::replace(&mut self.block, block))
    }

    /// Says what the function gives.
    #[must_use]
    pub fn results(mut self, results: Vec<TileType>) -> Self {
        self.function.results = vec![Attributes::default(); results.len()];
        self.function.signature.results = results;
        self
    }

    /// Tells an argument something, such as by what its value can be divided.
    pub fn argument_attribute(&mut self, argument: usize, name: &str, value: impl Into<Attribute>) {
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
        self.body.ty(value)
    }

    /// Says what the text is to call a value.
    pub fn name(&mut self, value: Value, name: &str) {
        self.body.set_name(value, name);
    }

    /// A new block at the end of the function, with arguments of these types.
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

    /// Adds what follows at the end of this block.
    pub fn at(&mut self, block: Block) {
        self.block = block;
    }

    /// The function.
    #[must_use]
    pub fn finish(self) -> Function {
        Function { body: Some(self.body), ..self.function }
    }
}
