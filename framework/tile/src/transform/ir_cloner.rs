//! Clones a function operation by operation, replacing some operations.

use std::collections::HashMap;

use super::rewrite_error::{RewriteError, Rewritten};
use crate::op::Dialects;
use crate::op::name::scf;
use crate::{
    Block, Function, FunctionBody, FunctionBuilder, Location, Op, Region, TileModule, TileType, TileViolation, Value,
    Values,
};

/// A rewrite pattern, for use with [`IrCloner`].
pub(crate) trait Rewrite {
    /// Emits the replacement of operation `op` of `cloner.from`, binds the operation's results, and returns true.
    ///
    /// If it returns false, the caller clones the operation.
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool>;
}

/// Clones operations of one body into another function, and maps values to their clones (MLIR `IRMapping`).
pub(crate) struct IrCloner<'a, 'b, 'd> {
    /// The function whose operations are cloned.
    pub function: &'a Function,
    /// The body of that function.
    pub from: &'a FunctionBody,
    /// The builder of the function that is being written.
    pub to: &'b mut FunctionBuilder<'d>,
    /// The location of the call that is being inlined; the default location if there is no such call.
    pub call: Location,
    values: HashMap<Value, Value>,
    blocks: HashMap<Block, Block>,
}

/// Rewrites the operations of a function.
pub(crate) fn rewrite_function(
    function: &Function,
    dialects: &Dialects,
    rewrite: &mut dyn Rewrite,
) -> Result<Function, TileViolation> {
    let Some(from) = &function.body else { return Ok(function.clone()) };
    let mut to = FunctionBuilder::with_signature_of(dialects, function);
    let mut cloner = IrCloner::new(function, from, &mut to);
    let (root, entry) = (cloner.to.body().root(), cloner.to.block());
    cloner.add_empty_blocks(from.root(), root, 1);
    cloner.fill(from.root(), entry, rewrite)?;
    Ok(to.finish())
}

/// Rewrites each function of a module by `rewrite`; the attributes of the module stay, its aliases are dropped.
pub(crate) fn each_function(
    module: &TileModule,
    rewrite: impl FnMut(&Function) -> Result<Function, TileViolation>,
) -> Result<TileModule, TileViolation> {
    rewrite_each(module, module.functions.iter(), rewrite)
}

/// Rewrites each function of a module that has an operation for which `is_meant` returns true; the others stay as they
/// are.
pub(crate) fn rewrite_functions_with(
    module: &TileModule,
    dialects: &Dialects,
    is_meant: impl Fn(&FunctionBody, Op) -> bool,
    rewrite: &mut dyn Rewrite,
) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let body = function.body.as_ref();
        let has_any = |body: &FunctionBody| body.walk_region(body.root()).iter().any(|&op| is_meant(body, op));
        if body.is_some_and(has_any) { rewrite_function(function, dialects, rewrite) } else { Ok(function.clone()) }
    })
}

/// Returns a module like `module`, but without aliases, whose functions are those of `functions`, rewritten by
/// `rewrite`.
pub(crate) fn rewrite_each<'m>(
    module: &TileModule,
    functions: impl Iterator<Item = &'m Function>,
    rewrite: impl FnMut(&Function) -> Result<Function, TileViolation>,
) -> Result<TileModule, TileViolation> {
    let functions = functions.map(rewrite).collect::<Result<_, _>>()?;
    Ok(TileModule {
        functions,
        attributes: module.attributes.clone(),
        aliases: Vec::new(),
        location: module.location.clone(),
        rules: module.rules.clone(),
    })
}

/// Creates the error for a violation at an operation of the source function.
pub(crate) fn violation(cloner: &IrCloner<'_, '_, '_>, op: Op, message: impl Into<String>) -> RewriteError {
    TileViolation::of(cloner.function, cloner.from.op(op), message).into()
}

impl<'a, 'b, 'd> IrCloner<'a, 'b, 'd> {
    pub fn new(function: &'a Function, from: &'a FunctionBody, to: &'b mut FunctionBuilder<'d>) -> Self {
        Self { function, from, to, call: Location::default(), values: HashMap::new(), blocks: HashMap::new() }
    }

    /// Returns the clone of a value. If no clone is bound, which happens only in invalid programs, it returns the value
    /// itself.
    pub fn clone_of(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    pub fn all(&self, values: &[Value]) -> Values {
        values.iter().map(|value| self.clone_of(*value)).collect()
    }

    /// Binds a value to its clone.
    pub fn bind(&mut self, value: Value, copy: Value) {
        if let Some(name) = self.from.value_name(value)
            && self.to.body().value_name(copy).is_none()
        {
            self.to.body_mut().set_name(copy, name);
        }
        self.values.insert(value, copy);
    }

    pub fn bind_all(&mut self, values: &[Value], copies: &[Value]) {
        values.iter().zip(copies).for_each(|(value, copy)| self.bind(*value, *copy));
    }

    /// Returns the types of values of the source function's body.
    pub fn types_of(&self, values: &[Value]) -> Vec<TileType> {
        values.iter().map(|value| self.from.value_type(*value).clone()).collect()
    }

    /// Clones the operations of `region` into blocks that [`Self::add_empty_blocks`] created; `entry` is the clone of
    /// the first block.
    fn fill(&mut self, region: Region, entry: Block, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        let blocks = self.from.blocks(region);
        let Some(first) = blocks.first() else { return Ok(()) };
        self.blocks.insert(*first, entry);
        let arguments: Values = self.to.body().arguments(entry).into();
        self.bind_all(self.from.arguments(*first), &arguments);
        for block in blocks {
            let Some(copy) = self.blocks.get(block).copied() else { continue };
            let around = self.to.block();
            self.to.set_insertion_block(copy);
            self.clone_block(*block, rewrite)?;
            self.to.set_insertion_block(around);
        }
        Ok(())
    }

    /// Clones a region.
    pub fn clone_region(&mut self, region: Region, rewrite: &mut dyn Rewrite) -> Result<Region, TileViolation> {
        let copy = self.to.body_mut().add_region();
        self.add_empty_blocks(region, copy, 0);
        if let Some(entry) = self.to.body().blocks(copy).first().copied() {
            self.fill(region, entry, rewrite)?;
        }
        Ok(copy)
    }

    /// Adds an empty block to the region `copy` for each block of `region` with an index of at least `from`.
    ///
    /// It binds each block and its arguments to the new block and its arguments.
    pub fn add_empty_blocks(&mut self, region: Region, copy: Region, from: usize) {
        for block in self.from.blocks(region).iter().skip(from) {
            let new_block = self.to.body_mut().add_block();
            self.to.body_mut().append_block(copy, new_block);
            self.blocks.insert(*block, new_block);
            for value in self.from.arguments(*block) {
                let argument = self.to.body_mut().add_argument(new_block, self.from.value_type(*value).clone());
                self.bind(*value, argument);
            }
        }
    }

    /// Clones the operations of a block into the current block.
    pub fn clone_block(&mut self, block: Block, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        self.from.ops(block).iter().try_for_each(|op| self.rewrite_or_clone_op(*op, rewrite))
    }

    /// Rewrites or clones an operation.
    pub fn rewrite_or_clone_op(&mut self, op: Op, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        self.to.set_location(self.from.op(op).location.called_from(&self.call));
        let wrong = |error: RewriteError| error.at(self.function, self.from.op(op));
        if rewrite.rewrite(op, self).map_err(wrong)? { Ok(()) } else { self.plain(op, rewrite) }
    }

    /// Clones an operation that no rewrite replaces; the operations of its regions are rewritten or cloned.
    fn plain(&mut self, op: Op, rewrite: &mut dyn Rewrite) -> Result<(), TileViolation> {
        let regions = &self.from.op(op).regions;
        let regions =
            regions.iter().map(|region| self.clone_region(*region, rewrite)).collect::<Result<Vec<_>, _>>()?;
        self.clone_op_with(op, self.all(&self.from.op(op).operands), regions);
        Ok(())
    }

    /// Clones an operation with other operands and regions, and binds its results.
    pub fn clone_op_with(&mut self, op: Op, operands: Values, regions: Vec<Region>) {
        let operation = self.from.op(op);
        let mut copy = operation.clone();
        copy.operands = operands;
        copy.location = operation.location.called_from(&self.call);
        copy.regions = regions.into();
        for successor in &mut copy.successors {
            successor.block = self.blocks.get(&successor.block).copied().unwrap_or(successor.block);
        }
        let types = self.types_of(&operation.results);
        let block = self.to.block();
        let body = self.to.body_mut();
        let new_op = body.add_op(copy, types);
        body.append_op(block, new_op);
        let results = body.op(new_op).results.clone();
        self.bind_all(&operation.results, &results);
    }

    /// Emits an `scf.if` that yields the values that `then` returns. If the condition is false, the values are
    /// unspecified, and no effect may depend on them.
    pub fn emit_if(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Rewritten<Values>,
    ) -> Rewritten<Values> {
        let (yes, around) = self.to.enter_region(Vec::new());
        let values = then(self)?;
        self.to.build_op(scf::YIELD).operands("results", &values).build()?;
        self.to.set_insertion_block(around);
        let types: Vec<TileType> = values.iter().map(|value| self.to.ty(*value).clone()).collect();
        if types.is_empty() {
            return Ok(self.to.build_op(scf::IF).operand(condition).existing_region(yes).empty_region().values()?);
        }
        let (no, around) = self.to.enter_region(Vec::new());
        let others = types.iter().map(|ty| self.to.unspecified(ty)).collect::<Result<Vec<_>, _>>()?;
        self.to.build_op(scf::YIELD).operands("results", &others).build()?;
        self.to.set_insertion_block(around);
        Ok(self
            .to
            .build_op(scf::IF)
            .operand(condition)
            .existing_region(yes)
            .existing_region(no)
            .results(types)
            .values()?)
    }
}
