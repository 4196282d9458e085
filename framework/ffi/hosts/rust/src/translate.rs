//! Translates the language to tile IR, operation by operation: a kernel with a pointer for each input, a pointer for
//! each assigned name, and the number of elements, a multiple of 16.

use std::collections::BTreeMap;

use tilewright::tile::name::{arith, tt};
use tilewright::tile::{
    Attribute, BuildError, DenseElements, Dialects, FloatType, FunctionBuilder, TileModule, TileType, TileViolation,
    Value, verify_module,
};

use crate::language::{ElementwiseExpression, ElementwiseProgram};

/// Returns the names that are read before they are assigned, then the assigned names, each once.
fn find_argument_names(program: &ElementwiseProgram) -> Vec<String> {
    let (mut inputs, mut outputs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, expression) in &program.lines {
        let mut read = Vec::new();
        collect_names(expression, &mut read);
        for name in read {
            if !inputs.contains(&name) && !outputs.contains(&name) {
                inputs.push(name);
            }
        }
        if !outputs.contains(name) {
            outputs.push(name.clone());
        }
    }
    inputs.retain(|name| !outputs.contains(name));
    inputs.into_iter().chain(outputs).collect()
}

fn collect_names(expression: &ElementwiseExpression, found: &mut Vec<String>) {
    match expression {
        ElementwiseExpression::Name(name) => found.push(name.clone()),
        ElementwiseExpression::Number(_) => {}
        ElementwiseExpression::Both(_, left, right) => {
            collect_names(left, found);
            collect_names(right, found);
        }
    }
}

/// Translates a program to a module of tile IR.
pub fn translate_to_tile_ir(
    program: &ElementwiseProgram,
    dialects: &Dialects,
) -> Result<TileModule, Box<dyn std::error::Error>> {
    let arguments = find_argument_names(program);
    let pointer = TileType::pointer(TileType::Float(FloatType::F32));
    let types = arguments.iter().map(|_| pointer.clone()).chain([TileType::integer(32)]).collect();
    let mut function = FunctionBuilder::new(dialects, "tile", types);
    for argument in 0..=arguments.len() {
        function.set_argument_attribute(argument, "tt.divisibility", 16);
    }
    let mut translation = ElementwiseTranslator::begin(function, program.tile)?;
    let values = translation.function.arguments().to_vec();
    translation.bases = arguments.into_iter().zip(values).collect();
    for (name, expression) in &program.lines {
        let value = translation.value(expression)?;
        translation.known.insert(name.clone(), value);
    }
    for name in program.lines.iter().map(|(name, _)| name) {
        translation.store(name)?;
    }
    translation.function.build_op(tt::RETURN).build()?;
    let module = TileModule { functions: vec![translation.function.finish()], ..TileModule::default() };
    verify_module(&module).map_err(|violation: TileViolation| violation.to_string())?;
    Ok(module)
}

struct ElementwiseTranslator<'d> {
    function: FunctionBuilder<'d>,
    tile: u64,
    /// The element index of each position of a tile, and whether the element exists.
    offsets: Value,
    mask: Value,
    bases: BTreeMap<String, Value>,
    known: BTreeMap<String, Value>,
}

impl<'d> ElementwiseTranslator<'d> {
    fn begin(mut function: FunctionBuilder<'d>, tile: u32) -> Result<Self, BuildError> {
        let i32s = TileType::tensor([u64::from(tile)], TileType::integer(32), None);
        let count = *function.arguments().last().unwrap_or(&function.arguments()[0]);
        let size = i64::from(tile);
        let axis = Attribute::Keyword("x".into());
        let program =
            function.build_op(tt::GET_PROGRAM_ID).attribute("axis", axis).result(TileType::integer(32)).value()?;
        let size_value = function.add_constant(Attribute::integer(size, TileType::integer(32)))?;
        let first = function.build_op(arith::MULI).operand(program).operand(size_value).value()?;
        let end = Attribute::integer(size, TileType::integer(32));
        let range = function
            .build_op(tt::MAKE_RANGE)
            .attribute("start", 0)
            .attribute("end", end)
            .result(i32s.clone())
            .value()?;
        let firsts = function.build_op(tt::SPLAT).operand(first).result(i32s.clone()).value()?;
        let offsets = function.build_op(arith::ADDI).operand(firsts).operand(range).value()?;
        let counts = function.build_op(tt::SPLAT).operand(count).result(i32s).value()?;
        let less = Attribute::Keyword("slt".into());
        let mask =
            function.build_op(arith::CMPI).attribute("predicate", less).operand(offsets).operand(counts).value()?;
        Ok(Self { function, tile: u64::from(tile), offsets, mask, bases: BTreeMap::new(), known: BTreeMap::new() })
    }

    /// Returns the pointers to the elements of the tensor with this name.
    fn pointers(&mut self, name: &str) -> Result<Value, BuildError> {
        let base = self.bases[name];
        let pointers = TileType::tensor([self.tile], self.function.ty(base).clone(), None);
        let bases = self.function.build_op(tt::SPLAT).operand(base).result(pointers).value()?;
        self.function.build_op(tt::ADDPTR).operand(bases).operand(self.offsets).value()
    }

    fn number(&mut self, number: f32) -> Result<Value, BuildError> {
        let ty = TileType::tensor([self.tile], TileType::Float(FloatType::F32), None);
        let elements = [u64::from(number.to_bits())].into();
        self.function.add_constant(Attribute::Dense(DenseElements { ty, elements }))
    }

    fn value(&mut self, expression: &ElementwiseExpression) -> Result<Value, BuildError> {
        match expression {
            ElementwiseExpression::Number(number) => self.number(*number),
            ElementwiseExpression::Name(name) => self.named(name),
            ElementwiseExpression::Both(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let operation = match operator {
                    '+' => arith::ADDF,
                    '-' => arith::SUBF,
                    _ => arith::MULF,
                };
                self.function.build_op(operation).operand(left).operand(right).value()
            }
        }
    }

    /// Returns the value assigned to a name, or the loaded input of that name; an input is loaded once.
    fn named(&mut self, name: &str) -> Result<Value, BuildError> {
        if let Some(value) = self.known.get(name) {
            return Ok(*value);
        }
        let (pointers, zero) = (self.pointers(name)?, self.number(0.0)?);
        let load = self
            .function
            .build_op(tt::LOAD)
            .operand(pointers)
            .operands("mask", &[self.mask])
            .operands("other", &[zero]);
        let value = load.value()?;
        self.known.insert(name.to_owned(), value);
        Ok(value)
    }

    fn store(&mut self, name: &str) -> Result<(), BuildError> {
        let pointers = self.pointers(name)?;
        let (value, mask) = (self.known[name], self.mask);
        self.function.build_op(tt::STORE).operand(pointers).operand(value).operands("mask", &[mask]).build()?;
        Ok(())
    }
}
