//! Reads modules from text: kernels, statements and what they are made of; `operation` has the operations.

mod operation;

use std::str::FromStr;

use super::token::{Placed, Token, tokens};
use super::{ParseError, is_identifier};
use crate::{
    Element, Extent, Kernel, Launch, MAX_DEPTH, MappedRows, Module, Outside, Parameter, Region, SharedBuffer, Space,
    Statement, TensorMap, Type, Value,
};
use tilewright_target::Mix;

/// The module that the text describes; whether it keeps the rules is for [`crate::verify`].
///
/// # Errors
/// [`ParseError`] with the place and what was expected there.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let mut module = Module::default();
    while *parser.peek() != Token::End {
        module.kernels.push(parser.kernel()?);
    }
    Ok(module)
}

struct Parser<'a> {
    /// Never empty: [`Token::End`] is last.
    tokens: &'a [Placed],
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, ParseError>;

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    fn error<T>(&self, message: String) -> Parsed<T> {
        let Placed { line, column, .. } = self.tokens[self.at];
        Err(ParseError { line, column, message })
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.error(format!("found {}, expected {what}", self.peek().described()))
    }

    /// Steps over the token just looked at; the end stays.
    fn step(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn take_mark(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.step();
        }
        found
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        if self.take_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(found) if found == word);
        if found {
            self.step();
        }
        found
    }

    fn keyword(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn number<T: FromStr + TryFrom<u64>>(&mut self, what: &str) -> Parsed<T> {
        let number = match self.peek() {
            Token::Word(word) => unsigned(word),
            _ => None,
        };
        match number.map(T::try_from) {
            Some(Ok(number)) => {
                self.step();
                Ok(number)
            }
            Some(Err(_)) => self.error(format!("{} is too large for {what}", self.peek().described())),
            None => self.expected(what),
        }
    }

    fn name(&mut self, what: &str) -> Parsed<String> {
        let name = match self.peek() {
            Token::Word(word) if is_identifier(word) => word.clone(),
            Token::Quoted(text) => text.clone(),
            _ => return self.expected(what),
        };
        self.step();
        Ok(name)
    }

    /// One of a few words.
    fn one_of<T: Copy>(&mut self, what: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Parsed<T> {
        let found = match self.peek() {
            Token::Word(word) => all.iter().copied().find(|&variant| name(variant) == word),
            _ => None,
        };
        let Some(found) = found else {
            let names: Vec<_> = all.iter().map(|&variant| name(variant)).collect();
            return self.expected(&format!("{what}: {}", names.join(", ")));
        };
        self.step();
        Ok(found)
    }

    fn ty(&mut self) -> Parsed<Type> {
        let ty = match self.peek() {
            Token::Word(word) => type_named(word),
            _ => None,
        };
        let Some(ty) = ty else { return self.expected("a type, as `i32`, `4xf16` or `ptr.shared`") };
        self.step();
        Ok(ty)
    }

    fn value(&mut self) -> Parsed<Value> {
        let Token::Value(number) = *self.peek() else { return self.expected("a value, as `%3`") };
        self.step();
        Ok(Value(number))
    }

    /// Whether the next token stands on the line of the last one; what a statement may leave out
    /// does not begin on another line.
    fn on_same_line(&self) -> bool {
        self.at > 0 && self.tokens[self.at].line == self.tokens[self.at - 1].line
    }

    /// Values with commas between them, none where none follows.
    fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut values = Vec::new();
        if self.on_same_line() && matches!(self.peek(), Token::Value(_)) {
            values.push(self.value()?);
            while self.take_mark(',') {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    fn next_value(&mut self) -> Parsed<Value> {
        self.mark(',')?;
        self.value()
    }

    fn typed_value(&mut self) -> Parsed<(Value, Type)> {
        let value = self.value()?;
        self.mark(':')?;
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
        let blocks = if self.take_word("blocks") { self.number("a number of blocks")? } else { 1 };
        self.mark('{')?;
        let shared = self.shared_buffers()?;
        let body = Region { arguments: Vec::new(), statements: self.statements()? };
        Ok(Kernel { name, launch: Launch { lanes, warps, blocks }, parameters, shared, body })
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.mark('(')?;
        let mut parameters = Vec::new();
        while !self.take_mark(')') {
            if !parameters.is_empty() {
                self.mark(',')?;
            }
            if *self.peek() != Token::Value(parameters.len() as u32) {
                return self.expected(&format!("`%{}`, parameters being numbered from zero", parameters.len()));
            }
            self.step();
            let name = self.name("the name of the parameter")?;
            self.mark(':')?;
            let ty = self.ty()?;
            let map = if ty == Type::TensorMap { Some(self.tensor_map()?) } else { None };
            let rows = if map.is_some() && self.take_word("rows") { Some(self.mapped_rows()?) } else { None };
            parameters.push(Parameter { name, ty, map, rows });
        }
        Ok(parameters)
    }

    /// What a parameter maps: `16 bits box 64 x 8 mix 3 0x70 outside zeros`.
    fn tensor_map(&mut self) -> Parsed<TensorMap> {
        let element_bits = self.number("the width of an element")?;
        self.keyword("bits")?;
        self.keyword("box")?;
        let mut box_sizes = vec![self.number("a size of the box")?];
        while self.take_word("x") {
            box_sizes.push(self.number("a size of the box")?);
        }
        let mix = match self.take_word("mix") {
            true => Mix { shift: self.number("a shift")?, mask: self.number("a mask")? },
            false => Mix::default(),
        };
        self.keyword("outside")?;
        let outside = self.one_of("what is outside", Outside::ALL, Outside::name)?;
        Ok(TensorMap { element_bits, box_sizes, mix, outside })
    }

    /// What the tensor of a map follows from, behind `rows`: `of %0 by 1 x %4`.
    fn mapped_rows(&mut self) -> Parsed<MappedRows> {
        self.keyword("of")?;
        let pointer = self.parameter_number()?;
        self.keyword("by")?;
        let mut strides = vec![self.extent()?];
        while self.take_word("x") {
            strides.push(self.extent()?);
        }
        Ok(MappedRows { pointer, strides })
    }

    fn extent(&mut self) -> Parsed<Extent> {
        match self.peek() {
            Token::Value(_) => self.parameter_number().map(Extent::Parameter),
            _ => self.number("a number of elements").map(Extent::Number),
        }
    }

    fn parameter_number(&mut self) -> Parsed<u32> {
        match *self.peek() {
            Token::Value(number) => {
                self.step();
                Ok(number)
            }
            _ => self.expected("a parameter"),
        }
    }

    fn shared_buffers(&mut self) -> Parsed<Vec<SharedBuffer>> {
        let mut buffers = Vec::new();
        while self.take_word("shared") {
            let at = self.at;
            if self.number::<usize>("the number of the buffer")? != buffers.len() {
                self.at = at;
                return self.expected(&format!("`{}`, buffers being numbered from zero", buffers.len()));
            }
            self.mark(':')?;
            let bytes = self.number("a number of bytes")?;
            self.keyword("bytes")?;
            self.keyword("align")?;
            let alignment = self.number("an alignment")?;
            let at = if self.take_word("at") { Some(self.number("an address")?) } else { None };
            buffers.push(SharedBuffer { bytes, alignment, at });
        }
        Ok(buffers)
    }

    /// The statements up to and with the closing brace.
    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while !self.take_mark('}') {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn region(&mut self) -> Parsed<Region> {
        if self.depth == MAX_DEPTH {
            return self.error(format!("regions nest deeper than {MAX_DEPTH}"));
        }
        let mut arguments = Vec::new();
        if self.take_mark('(') {
            arguments.push(self.typed_value()?);
            while self.take_mark(',') {
                arguments.push(self.typed_value()?);
            }
            self.mark(')')?;
        }
        self.mark('{')?;
        self.depth += 1;
        let statements = self.statements()?;
        self.depth -= 1;
        Ok(Region { arguments, statements })
    }

    /// A string in quotes.
    fn quoted(&mut self, what: &str) -> Parsed<String> {
        let Token::Quoted(text) = self.peek().clone() else { return self.expected(&format!("{what} in quotes")) };
        self.step();
        Ok(text)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let mut results = Vec::new();
        if matches!(self.peek(), Token::Value(_)) {
            results.push(self.typed_value()?);
            while self.take_mark(',') {
                results.push(self.typed_value()?);
            }
            self.mark('=')?;
        }
        let op = self.op()?;
        Ok(Statement { results, op })
    }
}

/// A number in decimal or, after `0x`, hexadecimal.
fn unsigned(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn element_named(name: &str) -> Option<Element> {
    Element::ALL.into_iter().find(|element| element.name() == name)
}

fn type_named(word: &str) -> Option<Type> {
    if let Some(space) = word.strip_prefix("ptr.") {
        return Space::ALL.into_iter().find(|candidate| candidate.name() == space).map(Type::Pointer);
    }
    if let Some(awaited) = word.strip_prefix("pending.") {
        return type_named(awaited).filter(|ty| ty.element().is_some()).map(Type::pending);
    }
    if word == "map" {
        return Some(Type::TensorMap);
    }
    match word.split_once('x') {
        Some((count, element)) => Some(Type::Vector(element_named(element)?, count.parse().ok()?)),
        None => element_named(word).map(Type::Scalar),
    }
}
