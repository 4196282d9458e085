//! The builder of one operation, which infers the types of results that are not given.

use std::sync::Arc;

use super::{BuildError, FunctionBuilder};
use crate::attribute::{Attribute, Attributes};
use crate::body::{Block, FunctionBody, Op, Operation, Region, Successor, Value, Values};
use crate::op::name::arith;
use crate::op::{CountRule, GroupTypes, OpDefinition, TypeExpression, ValueGroup};
use crate::types::TileType;

/// Builds one operation of a function; [`OperationBuilder::build`] appends it to the function's current block.
#[derive(Debug)]
pub struct OperationBuilder<'b, 'd> {
    function: &'b mut FunctionBuilder<'d>,
    definition: Result<Arc<OpDefinition>, BuildError>,
    operands: Vec<Vec<Value>>,
    results: Option<Vec<TileType>>,
    attributes: Attributes,
    regions: Vec<Region>,
    successors: Vec<(Block, Vec<Value>)>,
    error: Option<BuildError>,
}

impl<'d> FunctionBuilder<'d> {
    /// Starts an operation with this name, such as `tt.splat`; operands, attributes and results are added to the
    /// builder.
    pub fn build_op<'b>(&'b mut self, name: &str) -> OperationBuilder<'b, 'd> {
        let definition =
            self.dialects.find_definition(name).cloned().ok_or_else(|| BuildError::UnknownOperation(name.to_owned()));
        OperationBuilder::new(self, definition)
    }

    /// Appends a constant; for a tensor type, one with the same value in all elements.
    ///
    /// # Errors
    /// [`BuildError::UnknownOperation`] if no dialect has `arith.constant`.
    pub fn add_constant(&mut self, value: Attribute) -> Result<Value, BuildError> {
        let ty = value.value_type().unwrap_or(TileType::Index);
        self.build_op(arith::CONSTANT).attribute("value", value).result(ty).value()
    }
}

impl<'b, 'd> OperationBuilder<'b, 'd> {
    fn new(function: &'b mut FunctionBuilder<'d>, definition: Result<Arc<OpDefinition>, BuildError>) -> Self {
        let groups = definition.as_ref().map_or(0, |definition| definition.operands.len());
        Self {
            definition,
            operands: vec![Vec::new(); groups],
            results: None,
            attributes: Attributes::default(),
            regions: Vec::new(),
            successors: Vec::new(),
            error: None,
            function,
        }
    }

    /// Adds an operand to the first operand group of the definition that is still empty or takes any number of
    /// operands.
    #[must_use]
    pub fn operand(mut self, value: Value) -> Self {
        let Ok(definition) = &self.definition else { return self };
        let rows = definition.operands.iter().zip(&mut self.operands);
        let last = rows.enumerate().find(|(_, (row, given))| given.is_empty() || row.count == CountRule::Many);
        match last {
            Some((_, (_, given))) => given.push(value),
            None => self.error = Some(BuildError::TooManyOperands(Arc::clone(&definition.name))),
        }
        self
    }

    /// Appends operands to the operand group with this name.
    #[must_use]
    pub fn operands(mut self, group: &str, values: &[Value]) -> Self {
        let Ok(definition) = &self.definition else { return self };
        match definition.operand_group_index(group) {
            Some(index) => self.operands[index].extend(values),
            None => {
                let operation = Arc::clone(&definition.name);
                self.error = Some(BuildError::UnknownGroup { operation, group: group.to_owned() });
            }
        }
        self
    }

    /// Sets the attribute with this name.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl Into<Attribute>) -> Self {
        self.attributes.set(name, value);
        self
    }

    /// Sets several attributes.
    #[must_use]
    pub(crate) fn attributes<'n>(mut self, attributes: impl IntoIterator<Item = (&'n str, Attribute)>) -> Self {
        attributes.into_iter().for_each(|(name, value)| _ = self.attributes.set(name, value));
        self
    }

    /// Adds the type of the next result; all types must be given if they cannot be inferred from the operands.
    #[must_use]
    pub fn result(mut self, ty: TileType) -> Self {
        self.results.get_or_insert_default().push(ty);
        self
    }

    /// Adds the types of the next results.
    #[must_use]
    pub(crate) fn results(self, types: impl IntoIterator<Item = TileType>) -> Self {
        types.into_iter().fold(self, Self::result)
    }

    /// Adds a region of one block with arguments of these types; `fill` appends its operations.
    #[must_use]
    pub fn region(
        mut self,
        arguments: Vec<TileType>,
        fill: impl FnOnce(&mut FunctionBuilder<'d>, &[Value]) -> Result<(), BuildError>,
    ) -> Self {
        let body = &mut self.function.body;
        let region = body.add_region();
        let block = body.add_block();
        body.append_block(region, block);
        let arguments: Values = arguments.into_iter().map(|ty| body.add_argument(block, ty)).collect();
        let around = std::mem::replace(&mut self.function.block, block);
        if let Err(error) = fill(self.function, &arguments) {
            self.error.get_or_insert(error);
        }
        self.function.block = around;
        self.regions.push(region);
        self
    }

    /// Adds a region that already exists.
    #[must_use]
    pub(crate) fn existing_region(mut self, region: Region) -> Self {
        self.regions.push(region);
        self
    }

    /// Adds a region without blocks.
    #[must_use]
    pub fn empty_region(mut self) -> Self {
        self.regions.push(self.function.body.add_region());
        self
    }

    /// Adds a successor block of a terminator; `along` are the values that it passes as block arguments.
    #[must_use]
    pub fn successor(mut self, block: Block, along: &[Value]) -> Self {
        self.successors.push((block, along.to_vec()));
        self
    }

    /// Appends the operation to the current block.
    ///
    /// # Errors
    /// [`BuildError`] if the operation is unknown, if its operands or results do not match the groups of its
    /// definition, or if a result type cannot be inferred. [`crate::verify_module`] checks the other rules of the
    /// operation.
    pub fn build(self) -> Result<Op, BuildError> {
        self.append().map(|(op, _)| op)
    }

    /// Appends the operation to the current block, and returns its results.
    ///
    /// # Errors
    /// As [`OperationBuilder::build`].
    pub fn values(self) -> Result<Values, BuildError> {
        self.append().map(|(op, body)| body.op(op).results.clone())
    }

    /// Appends the operation to the current block, and returns its only result.
    ///
    /// # Errors
    /// As [`OperationBuilder::build`], and if the operation does not have exactly one result.
    pub fn value(self) -> Result<Value, BuildError> {
        let (op, body) = self.append()?;
        let operation = body.op(op);
        match operation.results[..] {
            [value] => Ok(value),
            _ => {
                let count = operation.results.len();
                Err(BuildError::NotOneResult { operation: Arc::clone(&operation.definition.name), count })
            }
        }
    }

    fn append(self) -> Result<(Op, &'b FunctionBody), BuildError> {
        let Self { function, definition, mut operands, results, attributes, regions, successors, error } = self;
        let definition = definition?;
        if let Some(error) = error {
            return Err(error);
        }
        let types = result_types(&function.body, &definition, &operands, results)?;
        let mut operation = Operation::new(Arc::clone(&definition));
        // The last operand groups have the block arguments, one group for each successor.
        let first = operands.len().saturating_sub(successors.len());
        for (group, (_, along)) in operands.iter_mut().skip(first).zip(&successors) {
            group.extend(along);
        }
        operation.group_sizes = operands.iter().map(|group| group.len() as u32).collect();
        operation.operands = operands.into_iter().flatten().collect();
        let along: usize = successors.iter().map(|(_, along)| along.len()).sum();
        let mut start = operation.operands.len() - along;
        for (block, along) in successors {
            operation.successors.push(Successor { block, operands: start..start + along.len() });
            start += along.len();
        }
        operation.result_groups = types.iter().map(|group| group.len() as u32).collect();
        operation.attributes = attributes;
        operation.regions = regions.into();
        operation.location = function.location.clone();
        for row in &definition.attributes {
            if row.default.is_some() && operation.attributes.get(&row.name) == row.default.as_ref() {
                operation.attributes.remove(&row.name);
            }
        }
        let op = function.body.add_op(operation, types.into_iter().flatten());
        function.body.append_op(function.block, op);
        Ok((op, &function.body))
    }
}

/// Returns the types of each group of results: the types `given` or, if that is `None`, those that the definition's
/// rules infer.
fn result_types(
    body: &FunctionBody,
    definition: &OpDefinition,
    operands: &[Vec<Value>],
    given: Option<Vec<TileType>>,
) -> Result<Vec<Vec<TileType>>, BuildError> {
    if let Some(given) = given {
        let count = given.len();
        let sizes = ValueGroup::divide(&definition.results, count);
        let sizes = sizes.ok_or_else(|| BuildError::WrongResults { operation: Arc::clone(&definition.name), count })?;
        let mut given = given.into_iter();
        return Ok(sizes.into_iter().map(|size| given.by_ref().take(size).collect()).collect());
    }
    let mut types = GroupTypes::new(definition);
    for (types, values) in types.operands.iter_mut().zip(operands) {
        *types = Some(values.iter().map(|value| body.value_type(*value).clone()).collect());
    }
    let counts: Vec<usize> = operands.iter().map(Vec::len).collect();
    types.infer(definition, &counts);
    complete(definition, types).ok_or_else(|| unknown(definition))
}

/// Returns the types of each group of results; `None` if a group that must not be empty has unknown types.
///
/// Rules such as `lhs = result` are also used in reverse: the types of the operands `lhs` are then those of `result`.
fn complete(definition: &OpDefinition, types: GroupTypes) -> Option<Vec<Vec<TileType>>> {
    let groups = definition.results.iter().zip(types.results);
    groups
        .map(|(group, known)| match known {
            Some(known) => Some(known),
            None if group.count.allows(0) => Some(Vec::new()),
            None => {
                // Use a rule `lhs = result` in reverse: the operands `lhs` determine the type of `result`.
                let rule =
                    definition.types.iter().find(|rule| rule.expression == TypeExpression::Same(group.name.clone()))?;
                let source = definition.operand_group_index(&rule.target)?;
                types.operands[source].clone()
            }
        })
        .collect()
}

fn unknown(definition: &OpDefinition) -> BuildError {
    let result = definition.results.first().map_or_else(String::new, |group| group.name.clone());
    BuildError::UnknownType { operation: Arc::clone(&definition.name), result }
}
