//! Parses modules from text: kernels, their headers, regions and statements.

use tilewright_layout::text::Parsed;
use tilewright_target::XorSwizzle;

use super::parser::Parser;
use crate::{
    Element, Kernel, LaunchDerivedTensorMap, LaunchTimeElementCount, MAX_REGION_DEPTH, MemorySpace, Module,
    OutOfBoundsFill, Parameter, Region, SharedBuffer, Statement, StaticLaunchConfig, TensorMap, Type, Value,
};

/// Parses a module; [`crate::verify`] checks its rules.
///
/// # Errors
/// [`TextError`](tilewright_layout::text::TextError) at the first syntax error, with the expected text.
///
/// # Examples
/// ```
/// use tilewright_kernel::text::parse_module;
/// let module = parse_module("kernel empty() lanes 32 warps 4 {}")?;
/// assert_eq!((module.kernels[0].launch.lanes, module.kernels[0].launch.warps), (32, 4));
/// assert_eq!(parse_module(&module.to_string())?, module);
/// assert!(parse_module("kernel empty() lanes 32 {}").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_module(text: &str) -> Parsed<Module> {
    let mut parser = Parser::new(text);
    let mut module = Module::default();
    while !parser.cursor.is_at_end() {
        module.kernels.push(parser.kernel()?);
    }
    Ok(module)
}

impl Parser<'_> {
    fn ty(&mut self) -> Parsed<Type> {
        let token = self.token();
        let ty = type_named(token)
            .ok_or_else(|| self.cursor.expected_token_error("a type, as `i32`, `4xf16` or `ptr.shared`"))?;
        self.consume(token);
        Ok(ty)
    }

    fn typed_value(&mut self) -> Parsed<(Value, Type)> {
        let value = self.value()?;
        self.cursor.expect(":")?;
        Ok((value, self.ty()?))
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        self.keyword("kernel")?;
        let name = self.name("the name of the kernel")?;
        let parameters = self.parameters()?;
        self.keyword("lanes")?;
        let lanes = self.number("a number of lanes")?;
        self.keyword("warps")?;
        let warps = self.number("a number of warps")?;
        let blocks = if self.take_keyword("blocks") { self.number("a number of blocks")? } else { 1 };
        let registers =
            if self.take_keyword("registers") { self.number("a number of registers of a lane")? } else { 0 };
        self.cursor.expect("{")?;
        let shared = self.shared_buffers()?;
        let body = Region { arguments: Vec::new(), statements: self.statements()? };
        Ok(Kernel {
            name,
            launch: StaticLaunchConfig { lanes, warps, blocks, registers },
            parameters,
            shared,
            body,
            locations: Vec::new(),
        })
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.cursor.expect("(")?;
        let mut parameters = Vec::new();
        while !self.cursor.skip_if_next(")") {
            if !parameters.is_empty() {
                self.cursor.expect(",")?;
            }
            self.cursor.skip_blanks();
            let start = self.cursor.at;
            if self.value()? != Value(parameters.len() as u32) {
                let number = parameters.len();
                return Err(self
                    .cursor
                    .error_at(start, format!("expected `%{number}`, parameters being numbered from zero")));
            }
            let name = self.name("the name of the parameter")?;
            self.cursor.expect(":")?;
            let ty = self.ty()?;
            let map = if ty == Type::TensorMap { Some(self.tensor_map()?) } else { None };
            let rows = if map.is_some() && self.take_keyword("rows") { Some(self.mapped_rows()?) } else { None };
            parameters.push(Parameter { name, ty, map, rows });
        }
        Ok(parameters)
    }

    /// Parses a tensor map: `16 bits box 64 x 8 mix 3 0x70 outside zeros`; after `mix` follow the shift and the mask of
    /// the XOR swizzle. An element type follows as `16 bits of "f16"`.
    fn tensor_map(&mut self) -> Parsed<TensorMap> {
        let element_bits = self.number("the width of an element")?;
        self.keyword("bits")?;
        let element = if self.take_keyword("of") { Some(self.name("the name of an element type")?) } else { None };
        self.keyword("box")?;
        let mut box_sizes = vec![self.number("a size of the box")?];
        while self.take_keyword("x") {
            box_sizes.push(self.number("a size of the box")?);
        }
        let swizzle = match self.take_keyword("mix") {
            true => XorSwizzle { shift: self.number("a shift")?, mask: self.number("a mask")? },
            false => XorSwizzle::default(),
        };
        self.keyword("outside")?;
        let outside = self.one_of("what is outside", OutOfBoundsFill::ALL, OutOfBoundsFill::name)?;
        Ok(TensorMap { element_bits, element, box_sizes, swizzle, outside })
    }

    /// Parses the derivation of a tensor map, behind the word `rows`: `of %0 by 1 x %4 sizes %1 x %2`.
    fn mapped_rows(&mut self) -> Parsed<LaunchDerivedTensorMap> {
        self.keyword("of")?;
        let pointer = self.parameter_number()?;
        self.keyword("by")?;
        let strides = self.extents()?;
        let sizes = if self.take_keyword("sizes") { self.extents()? } else { Vec::new() };
        Ok(LaunchDerivedTensorMap { pointer, strides, sizes })
    }

    fn extents(&mut self) -> Parsed<Vec<LaunchTimeElementCount>> {
        let mut extents = vec![self.extent()?];
        while self.take_keyword("x") {
            extents.push(self.extent()?);
        }
        Ok(extents)
    }

    fn extent(&mut self) -> Parsed<LaunchTimeElementCount> {
        match self.is_at_value() {
            true => self.parameter_number().map(LaunchTimeElementCount::Parameter),
            false => self.number("a number of elements").map(LaunchTimeElementCount::Number),
        }
    }

    fn parameter_number(&mut self) -> Parsed<u32> {
        self.value().map(|value| value.0)
    }

    fn shared_buffers(&mut self) -> Parsed<Vec<SharedBuffer>> {
        let mut buffers = Vec::new();
        while self.take_keyword("shared") {
            self.cursor.skip_blanks();
            let start = self.cursor.at;
            if self.number::<usize>("the number of the buffer")? != buffers.len() {
                self.cursor.at = start;
                return Err(self
                    .cursor
                    .expected_token_error(&format!("`{}`, buffers being numbered from zero", buffers.len())));
            }
            self.cursor.expect(":")?;
            let bytes = self.number("a number of bytes")?;
            self.keyword("bytes")?;
            self.keyword("align")?;
            let alignment = self.number("an alignment")?;
            let at = if self.take_keyword("at") { Some(self.number("an address")?) } else { None };
            buffers.push(SharedBuffer { bytes, alignment, at });
        }
        Ok(buffers)
    }

    /// Parses statements up to and including a closing brace.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while !self.cursor.skip_if_next("}") {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    pub(super) fn region(&mut self) -> Parsed<Region> {
        if self.depth == MAX_REGION_DEPTH {
            return Err(self.cursor.error_at(self.cursor.at, format!("regions nest deeper than {MAX_REGION_DEPTH}")));
        }
        let mut arguments = Vec::new();
        if self.cursor.skip_if_next("(") {
            arguments.push(self.typed_value()?);
            while self.cursor.skip_if_next(",") {
                arguments.push(self.typed_value()?);
            }
            self.cursor.expect(")")?;
        }
        self.cursor.expect("{")?;
        self.depth += 1;
        let statements = self.statements()?;
        self.depth -= 1;
        Ok(Region { arguments, statements })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let mut results = Vec::new();
        if self.is_at_value() {
            results.push(self.typed_value()?);
            while self.cursor.skip_if_next(",") {
                results.push(self.typed_value()?);
            }
            self.cursor.expect("=")?;
        }
        let op = self.op()?;
        Ok(Statement::new(results, op))
    }
}

fn type_named(word: &str) -> Option<Type> {
    if let Some(space) = word.strip_prefix("ptr.") {
        return MemorySpace::from_name(space).map(Type::Pointer);
    }
    if let Some(awaited) = word.strip_prefix("pending.") {
        return type_named(awaited).filter(|ty| ty.element().is_some()).map(Type::to_pending);
    }
    if word == "map" {
        return Some(Type::TensorMap);
    }
    match word.split_once('x') {
        Some((count, element)) => Some(Type::Vector(Element::from_name(element)?, count.parse().ok()?)),
        None => Element::from_name(word).map(Type::Scalar),
    }
}
