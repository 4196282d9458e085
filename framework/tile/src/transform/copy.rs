//! Writing a function anew, operation by operation, with other operations in the place of some.

use std::collections::HashMap;

use super::rewrite_error::{RewriteError, Rewritten};
use crate::op::Dialects;
use crate::op::name::scf;
use crate::{Block, Body, Function, FunctionBuilder, Op, Region, TileModule, TileType, TileViolation, Value, Values};

/// What stands in the place of operations.
pub(crate) trait Rewrite {
    /// Adds what stands for an operation of `copier.from`, and binds its results; or does nothing and says no, and the
    /// operation is copied as it is.
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool>;
}

/// Copies of a body's operations, added to a function.
pub(crate) struct Copier<'a, 'b, 'd> {
    /// The function that is copied.
    pub function: &'a Function,
    /// Its body.
    pub from: &'a Body,
    /// What the copies are added to.
    pub to: &'b mut FunctionBuilder<'d>,
    values: HashMap<Value, Value>,
    blocks: HashMap<Block, Block>,
}

/// A function with its operations rewritten.
pub(crate) fn rewritten(
    function: &Function,
    dialects: &Dialects,
    rewrite: &mut dyn Rewrite,
) -> Result<Function, TileViolation> {
    let Some(from) = &function.body else { return Ok(function.clone()) };
    let mut to = FunctionBuilder::like(dialects, function);
    let mut copier = Copier::new(function, from, &mut to);
    let (root, entry) = (copier.to.body().root(), copier.to.block());
    copier.blocks_of(from.root(), root, 1);
    copier.fill(from.root(), entry, rewrite)?;
    Ok(to.finish())
}

/// A module with each function rewritten.
pub(crate) fn each_function(
    module: &TileModule,
    rewrite: impl FnMut(&Function) -> Result<Function, TileViolation>,
) -> Result<TileModule, TileViolation> {
    let functions = module.functions.iter().map(rewrite).collect::<Result<_, _>>()?;
    Ok(TileModule { functions, attributes: module.attributes.clone(), location: module.location.clone() })
}

/// A violation at an operation of the function that is rewritten.
pub(crate) fn violation(copier: &Copier<'_, '_, '_>, op: Op, message: impl Into<String>) -> RewriteError {
    TileViolation::of(copier.function, copier.from.op(op), message).into()
}

impl<'a, 'b, 'd> Copier<'a, 'b, 'd> {
    pub fn new(function: &'a Function, from: &'a Body, to: &'b mut FunctionBuilder<'d>) -> Self {
        Self { function, from, to, values: HashMap::new(), blocks: HashMap::new() }
    }

    /// The copy of a value; itself where it was never bound, which only a program that breaks the rules has.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    pub fn all(&self, values: &[Value]) -> Values {
        values.iter().map(|value| self.value(*value)).collect()
    }

    /// Says what stands for a value.
    pub fn bind(&mut self, value: Value, copy: Value) {
        if let Some(name) = self.from.name(value)
            && self.to.body().name(copy).is_none()
        {
            self.to.body_mut().set_name(copy, name);
        }
        self.values.insert(value, copy);
    }

    pub fn bind_all(&mut self, values: &[Value], copies: &[Value]) {
        values.iter().zip(copies).for_each(|(value, copy)| self.bind(*value, *copy));
    }

    /// The types of values of the body that is copied.
    pub fn types(&self, values: &[Value]) -> Vec<TileType> {
        values.iter().map(|value| self.from.ty(*value).clone()).collect()
    }

    /// Fills a region whose first block is there with the copies of a region's blocks.
    fn fill(&mut self, region: Region, entry: Block, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        let blocks = self.from.blocks(region);
        let Some(first) = blocks.first() else { return Ok(()) };
        self.blocks.insert(*first, entry);
        let arguments: Values = self.to.body().arguments(entry).into();
        self.bind_all(self.from.arguments(*first), &arguments);
        for block in blocks {
            let Some(copy) = self.blocks.get(block).copied() else { continue };
            let around = self.to.block();
            self.to.at(copy);
            self.block(*block, rewrite)?;
            self.to.at(around);
        }
        Ok(())
    }

    /// Copies of a region.
    pub fn region(&mut self, region: Region, rewrite: &mut dyn Rewrite) -> Result<Region, TileViolation> {
        let copy = self.to.body_mut().add_region();
        self.blocks_of(region, copy, 0);
        if let Some(entry) = self.to.body().blocks(copy).first().copied() {
            self.fill(region, entry, rewrite)?;
        }
        Ok(copy)
    }

    /// Empty blocks in `copy` for those of a region from the one of a number on.
    pub fn blocks_of(&mut self, region: Region, copy: Region, from: usize) {
        for block in self.from.blocks(region).iter().skip(from) {
            let made = self.to.body_mut().add_block();
            self.to.body_mut().append_block(copy, made);
            self.blocks.insert(*block, made);
            for value in self.from.arguments(*block) {
                let argument = self.to.body_mut().add_argument(made, self.from.ty(*value).clone());
                self.bind(*value, argument);
            }
        }
    }

    /// Adds copies of a block's operations where operations are added.
    pub fn block(&mut self, block: Block, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        self.from.ops(block).iter().try_for_each(|op| self.op(*op, rewrite))
    }

    /// Adds what stands for an operation.
    pub fn op(&mut self, op: Op, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        self.to.located(self.from.op(op).location.clone());
        let wrong = |error: RewriteError| error.at(self.function, self.from.op(op));
        if rewrite.rewrite(op, self).map_err(wrong)? { Ok(()) } else { self.plain(op, rewrite) }
    }

    /// Adds an operation as it is; what is in its regions is rewritten.
    fn plain(&mut self, op: Op, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        let regions = &self.from.op(op).regions;
        let regions = regions.iter().map(|region| self.region(*region, rewrite)).collect::<Result<Vec<_>, _>>()?;
        self.add(op, self.all(&self.from.op(op).operands), regions);
        Ok(())
    }

    /// Adds an operation like this one, of other operands and regions, and binds its results.
    pub fn add(&mut self, op: Op, operands: Values, regions: Vec<Region>) {
        let operation = self.from.op(op);
        let mut copy = operation.clone();
        copy.operands = operands;
        copy.regions = regions.into();
        for successor in &mut copy.successors {
            successor.block = self.blocks.get(&successor.block).copied().unwrap_or(successor.block);
        }
        let types = self.types(&operation.results);
        let block = self.to.block();
        let body = self.to.body_mut();
        let made = body.add_op(copy, types);
        body.append_op(block, made);
        let results = body.op(made).results.clone();
        self.bind_all(&operation.results, &results);
    }

    /// An `scf.if` that yields the values of `then`; if the condition does not hold, zeros.
    pub fn when(&mut self, condition: Value, then: impl FnOnce(&mut Self) -> Rewritten<Values>) -> Rewritten<Values> {
        let (yes, around) = self.to.enter_region(Vec::new());
        let values = then(self)?;
        self.to.op(scf::YIELD).operands("results", &values).done()?;
        self.to.at(around);
        let types: Vec<TileType> = values.iter().map(|value| self.to.ty(*value).clone()).collect();
        if types.is_empty() {
            return Ok(self.to.op(scf::IF).operand(condition).made_region(yes).empty_region().values()?);
        }
        let (no, around) = self.to.enter_region(Vec::new());
        let zeros = types.iter().map(|ty| self.to.zeros(ty)).collect::<Result<Vec<_>, _>>()?;
        self.to.op(scf::YIELD).operands("results", &zeros).done()?;
        self.to.at(around);
        Ok(self.to.op(scf::IF).operand(condition).made_region(yes).made_region(no).results(types).values()?)
    }
}
