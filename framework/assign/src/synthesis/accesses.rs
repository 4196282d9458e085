//! Accesses of a tensor in shared memory: the instructions that can execute each access, and its assumed number of
//! executions.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use tilewright_tile::op::name::{scf, tt, ttg, tw};

use super::SynthesisError;
use super::model::StepWork;
use crate::dot_plan::{DotPlan, mma_problem, plan_dot};
use crate::layouts::{LayoutCache, first_coordinates, map_coordinates};
use crate::shared_buffer::{MmaRead, bulk_copy_access, mma_operand_access};
use crate::{LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::memory_synthesis::{AccessAlternative, AccessSolution, TensorAccess};
use tilewright_plan::mma::MmaError;
use tilewright_target::Direction;
use tilewright_tile::op_attrs::OPERAND_STAYS_IN_SMEM;
use tilewright_tile::{FunctionBody, Op, Value, ValueOrigin, ValueUses};

/// The properties of a copy that are known before the memory layout is found.
#[derive(Debug, Clone)]
pub(super) struct CopyConstraints {
    /// The copy of the program.
    pub copy: Op,
    /// The text by which the program describes the copy, for messages.
    pub explicit: String,
    /// Number of bytes that are contiguous both in a lane's registers and in global memory; `None` if nothing is known.
    pub bytes: Option<u64>,
    /// The instruction that the program names for the copy; `None` if it names none.
    pub instruction: Option<String>,
}

/// An operation that accesses a tensor in shared memory.
pub(super) struct AccessOp {
    pub op: Op,
    /// The operation of the program that it implements; several do if the loop that repeats the operation has a
    /// prologue.
    pub source: Op,
    /// The text that describes it, for messages.
    pub name: String,
    /// The assumed number of executions.
    pub weight: u64,
    /// The read of an MMA in place; `None` for other accesses.
    pub mma_read: Option<MmaRead>,
}

/// The counts of one access of a tensor in shared memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AccessCounts {
    /// Number of access instructions that a warp issues for one execution of the access.
    pub issued: u64,
    /// Number of shared-memory wavefronts of a warp in one execution of the access.
    pub wavefronts: u64,
    /// Number of byte permutes of a lane that pack or unpack the registers of the access.
    pub permutes: u64,
    /// Whether an instruction of the target's table implements the access. A copy from global memory is asynchronous
    /// only then.
    pub by_row: bool,
}

impl From<&AccessSolution> for AccessCounts {
    fn from(served: &AccessSolution) -> Self {
        let AccessSolution { issued, wavefronts, permutes, .. } = *served;
        Self { issued, wavefronts, permutes, by_row: served.instruction.is_some() }
    }
}

impl AccessCounts {
    /// Returns the work of a warp for one execution of the access.
    pub(super) fn work(self, direction: Direction) -> StepWork {
        let all = StepWork { shared_accesses: self.issued, arithmetic: self.permutes, ..StepWork::default() };
        match direction {
            Direction::Load => StepWork { wavefronts_loaded: self.wavefronts, ..all },
            Direction::Store => StepWork { wavefronts_stored: self.wavefronts, ..all },
        }
    }
}

/// Returns the allocation in shared memory that contains the buffer `value`; if `value` is an allocation itself,
/// `value`.
pub(super) fn allocation(body: &FunctionBody, value: Value) -> Value {
    match body.value_origin(value) {
        ValueOrigin::Result(op, _)
            if matches!(body.op(op).name(), ttg::MEMDESC_INDEX | ttg::MEMDESC_REINTERPRET | ttg::MEMDESC_SUBSLICE) =>
        {
            allocation(body, body.op(op).operands[0])
        }
        _ => value,
    }
}

/// Whether `value` is a part of a buffer, at constant offsets.
pub(super) fn is_part(body: &FunctionBody, value: Value) -> bool {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return false };
    match body.op(op).name() {
        ttg::MEMDESC_SUBSLICE => true,
        ttg::MEMDESC_INDEX | ttg::MEMDESC_REINTERPRET => is_part(body, body.op(op).operands[0]),
        _ => false,
    }
}

/// Returns the number of buffers of the allocation that contains the buffer `value`; `None` if `value` is an allocation
/// itself.
pub(super) fn buffer_count(body: &FunctionBody, value: Value) -> Option<u64> {
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
    let source = || body.op(op).operands[0];
    match body.op(op).name() {
        ttg::MEMDESC_INDEX => body.value_type(source()).shape()?.first().copied(),
        ttg::MEMDESC_REINTERPRET | ttg::MEMDESC_SUBSLICE => buffer_count(body, source()),
        _ => None,
    }
}

/// The uses of the values of a body, and its operations in the order of the program.
pub(super) struct AccessIndex {
    uses: ValueUses,
    /// For each operation, its position in pre-order and its assumed number of executions.
    ops: HashMap<Op, (usize, u64)>,
}

impl AccessIndex {
    pub(super) fn of(body: &FunctionBody) -> Self {
        let weighted = weighted(body).into_iter().enumerate();
        let ops = weighted.map(|(position, (op, weight))| (op, (position, weight))).collect();
        Self { uses: ValueUses::of(body), ops }
    }

    /// Returns the operations with this name whose first operand is one of `values`, in the order of the program.
    fn selections(&self, body: &FunctionBody, values: &[Value], name: &str) -> Vec<Op> {
        let uses = values.iter().flat_map(|value| self.uses.of_value(*value));
        let selects = |(op, operand): &&(Op, usize)| *operand == 0 && body.op(*op).name() == name;
        self.in_order(uses.filter(selects).map(|(op, _)| *op))
    }

    /// Returns the operations that use or define one of `values`, in the order of the program.
    fn users_and_makers(&self, body: &FunctionBody, values: &[Value]) -> Vec<Op> {
        let users = values.iter().flat_map(|value| self.uses.of_value(*value)).map(|(op, _)| *op);
        let makers = values.iter().filter_map(|value| match body.value_origin(*value) {
            ValueOrigin::Result(op, _) => Some(op),
            ValueOrigin::Argument(..) => None,
        });
        self.in_order(users.chain(makers))
    }

    fn in_order(&self, ops: impl Iterator<Item = Op>) -> Vec<Op> {
        let positions: BTreeMap<usize, Op> = ops.filter_map(|op| Some((self.ops.get(&op)?.0, op))).collect();
        positions.into_values().collect()
    }

    /// Returns the allocation `tensor`, followed by the buffers that the program selects from it by an index.
    pub(super) fn buffers(&self, body: &FunctionBody, tensor: Value) -> Vec<Value> {
        let selected = self.selections(body, &[tensor], ttg::MEMDESC_INDEX);
        std::iter::once(tensor).chain(selected.into_iter().map(|op| body.op(op).results[0])).collect()
    }

    /// Returns the parts of buffers that the program selects by constant offsets, in the order of the program.
    pub(super) fn parts(&self, body: &FunctionBody, buffers: &[Value]) -> Vec<Value> {
        let (mut found, mut open) = (Vec::new(), buffers.to_vec());
        while !open.is_empty() {
            let selected = self.selections(body, &open, ttg::MEMDESC_SUBSLICE);
            open = selected.iter().map(|op| body.op(*op).results[0]).collect();
            found.extend(selected);
        }
        self.in_order(found.into_iter()).into_iter().map(|op| body.op(op).results[0]).collect()
    }
}

/// Returns the accesses of a tensor in shared memory, each with the operations that make it. `buffers` are the tensor's
/// allocation, its buffers and their parts, `requested` the properties of copies.
pub(super) fn accesses<'a>(
    (body, index): (&FunctionBody, &AccessIndex),
    buffers: &[Value],
    requested: &HashMap<Op, CopyConstraints>,
    config: &LaunchConfig<'a>,
    layouts: &LayoutCache<'_>,
) -> Result<Vec<(Vec<AccessOp>, TensorAccess<'a>)>, SynthesisError> {
    let of = AccessedTensor { body, index, buffers, requested, config, layouts };
    let mut found: Vec<(Vec<AccessOp>, TensorAccess<'a>)> = Vec::new();
    for op in index.users_and_makers(body, buffers) {
        let weight = index.ops.get(&op).map_or(1, |(_, weight)| *weight);
        let Some((access, mma_read)) = of.access(op)? else { continue };
        let access = match requested.get(&op).and_then(|requested| requested.instruction.as_deref()) {
            Some(row) => pinned(access, row)?,
            None => access,
        };
        // Equal accesses are merged, with the sum of their weights.
        let alike = |(_, known): &&mut (Vec<AccessOp>, TensorAccess<'a>)| {
            known.layout == access.layout && known.alternatives == access.alternatives
        };
        let source = requested.get(&op).map_or(op, |requested| requested.copy);
        let access_op = AccessOp { op, source, name: access.name.clone(), weight, mma_read };
        match found.iter_mut().find(alike) {
            Some((ops, known)) => {
                ops.push(access_op);
                known.weight += weight;
            }
            None => found.push((vec![access_op], access.with_weight(weight))),
        }
    }
    Ok(found)
}

/// A tensor in shared memory whose accesses are found: the arguments of [`accesses`].
struct AccessedTensor<'c, 'a> {
    body: &'c FunctionBody,
    index: &'c AccessIndex,
    buffers: &'c [Value],
    requested: &'c HashMap<Op, CopyConstraints>,
    config: &'c LaunchConfig<'a>,
    layouts: &'c LayoutCache<'c>,
}

impl<'a> AccessedTensor<'_, 'a> {
    /// Returns the access that an operation makes, and the MMA operand that it reads in place; `None` if it makes none.
    fn access(&self, op: Op) -> Result<Option<(TensorAccess<'a>, Option<MmaRead>)>, SynthesisError> {
        let Self { body, buffers, requested, config, .. } = *self;
        let operation = body.op(op);
        let is_of = |operand: usize| operation.operands.get(operand).is_some_and(|value| buffers.contains(value));
        let is_one_of = |buffer: Option<Value>| buffer.is_some_and(|buffer| buffers.contains(&buffer));
        let loaded = requested.get(&op).and_then(|requested| requested.bytes);
        let context = &config.context;
        let access = match operation.name() {
            ttg::LOCAL_LOAD if is_of(0) && operation.attributes.get(OPERAND_STAYS_IN_SMEM).is_some() => {
                let (access, dot, side) = self.mma_access(op)?;
                let first = first_coordinates(body, operation.operands[0], self.layouts);
                return Ok(Some((access, Some(MmaRead { dot: Rc::new(dot), side, view: Vec::new(), first }))));
            }
            ttg::LOCAL_LOAD if is_of(0) => {
                let value = operation.results[0];
                let bytes = self.mma_operand_bytes(value);
                TensorAccess::load(&self.name(op, value), self.registers(op, value)?, context)
                    .with_register_vectors(bytes)
            }
            ttg::LOCAL_STORE if is_of(1) => {
                let value = operation.operands[0];
                TensorAccess::store(&self.name(op, value), self.registers(op, value)?, context)
                    .with_register_vectors(loaded.unwrap_or(0))
            }
            ttg::LOCAL_ALLOC if !operation.operands.is_empty() && buffers.contains(&operation.results[0]) => {
                let name = self.name(op, operation.results[0]);
                TensorAccess::store(&name, self.registers(op, operation.operands[0])?, context)
            }
            ttg::ASYNC_COPY_GLOBAL_TO_LOCAL if is_of(1) => self.copy_access(op, loaded.unwrap_or(u64::MAX))?,
            tw::BULK_TENSOR_LOAD if is_one_of(body.operand(op, "dst")) => {
                self.tensor_copy_access(op, "dst", Direction::Store)?
            }
            tw::BULK_TENSOR_STORE if is_one_of(body.operand(op, "src")) => {
                self.tensor_copy_access(op, "src", Direction::Load)?
            }
            _ => return Ok(None),
        };
        Ok(Some((access, None)))
    }

    /// Returns the access by which an asynchronous copy fills a buffer; its instructions copy at most `most` bytes.
    fn copy_access(&self, op: Op, most: u64) -> Result<TensorAccess<'a>, SynthesisError> {
        let [from, to] = [0, 1].map(|operand| self.body.op(op).operands[operand]);
        let all_there = self.body.operands(op, "mask").is_empty();
        let of_part = self.is_of_part(op);
        let registers = self.registers(op, from)?;
        let copy = TensorAccess::global_to_shared_copy(&self.name(op, to), registers, &self.config.context);
        // Lanes that write neighbouring bytes fill a full tensor.
        let is_fetched = |alternative: &AccessAlternative<'_>| matches!(alternative, AccessAlternative::Lanes(kind) if kind.has_fetching_lanes());
        Ok(copy.with_retained_alternatives(|alternative| {
            alternative.bytes() <= most
                && (all_there || alternative.can_be_masked())
                && !(of_part && is_fetched(alternative))
        }))
    }

    /// Returns the access by which a bulk tensor copy fills or reads a buffer, or a part of one, with one alternative
    /// for each instruction. `memory` is the operand that is the buffer.
    fn tensor_copy_access(
        &self,
        copy: Op,
        memory: &str,
        direction: Direction,
    ) -> Result<TensorAccess<'a>, SynthesisError> {
        let body = self.body;
        let name = self.name(copy, body.op(copy).operands[0]);
        let none = TensorAccess::without_alternatives(&name);
        let ValueOrigin::Result(mapped, _) = body.value_origin(body.op(copy).operands[0]) else { return Ok(none) };
        let strides = body.operands(mapped, "strides");
        let is_one = |value: &Value| body.constant_integer(*value) == Some(1);
        let Some(first) = strides.iter().position(is_one) else { return Ok(none) };
        let access = bulk_copy_access(&name, (strides.len(), direction), Dim::tensor(first), self.config);
        let Some(part) = body.operand(copy, memory).filter(|value| is_part(body, *value)) else { return Ok(access) };
        let sizes = body.value_type(part).shape().unwrap_or_default().iter().enumerate();
        let sizes: Vec<(Dim, u64)> = sizes.map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
        Ok(access.of_part(&Space::from_sizes(&sizes)?))
    }

    fn is_of_part(&self, op: Op) -> bool {
        let is_of_part = |value: &Value| self.buffers.contains(value) && is_part(self.body, *value);
        self.body.op(op).operands.iter().any(is_of_part)
    }

    /// Returns the layout of the registers that an operation accesses. A part begins at multiples of its sizes, so it
    /// has the same bank conflicts as the first part of its shape.
    fn registers(&self, op: Op, value: Value) -> Result<LinearLayout, SynthesisError> {
        let layout = self.layouts.resolve_distributed(self.body.value_type(value))?;
        if !self.is_of_part(op) {
            return Ok(layout);
        }
        let buffer = self.buffers.iter().rfind(|buffer| !is_part(self.body, **buffer));
        let shape = buffer.and_then(|buffer| self.body.value_type(*buffer).shape()).unwrap_or_default();
        Ok(map_coordinates(&layout, shape, <[u64]>::to_vec)?)
    }

    /// Returns the text that describes an access of a buffer.
    fn name(&self, op: Op, buffer: Value) -> String {
        match self.requested.get(&op) {
            Some(requested) => requested.explicit.clone(),
            None => {
                let named = self.body.display_name(allocation(self.body, buffer));
                format!("{} {named}", self.body.op(op).name())
            }
        }
    }

    /// Returns the bytes that a lane gives to one MMA by consecutive registers, if a dot with a chosen instruction reads
    /// `value` from registers; otherwise zero. If the operands differ, the smaller number.
    fn mma_operand_bytes(&self, value: Value) -> u64 {
        let (body, config) = (self.body, self.config);
        let reads = |(op, operand): &&(Op, usize)| body.op(*op).name() == tt::DOT && *operand < 2;
        let dot = self.index.uses.of_value(value).iter().find(reads);
        let atom = dot.and_then(|(dot, _)| mma_problem(body, *dot, config.lanes, config.warps).ok()?.atom);
        let row = config.context.instructions.iter().find(|row| Some(&row.name) == atom.as_ref());
        let operands = row.into_iter().flat_map(|row| ["a", "b"].map(|role| row.find_register_operand(role)));
        let bytes = operands.flatten().map(|(_, bits, layout)| (u64::from(bits) << layout.in_bits(Dim::REGISTER)) / 8);
        bytes.min().unwrap_or(0)
    }

    /// Returns the access of an MMA that reads an operand in place from shared memory, the plan of its dot, and the
    /// operand: A (0) or B (1). `load` is the operation whose result is the operand.
    fn mma_access(&self, load: Op) -> Result<(TensorAccess<'a>, DotPlan, usize), SynthesisError> {
        let (body, config) = (self.body, self.config);
        let (name, value) = (self.name(load, body.op(load).operands[0]), body.op(load).results[0]);
        let refused = |source| SynthesisError::Mma { operation: name.clone(), source };
        let wrong = |reasons: String| refused(MmaError::Impossible { reasons });
        let (of, _) =
            self.index.uses.of_value(value).first().copied().ok_or_else(|| wrong("no dot reads it".to_owned()))?;
        let dot = plan_dot(body, of, config).map_err(refused)?;
        let side = usize::from(body.operand(of, "a") != Some(value));
        let access = mma_operand_access(&dot.plan, side, &name, config);
        let access =
            access.ok_or_else(|| wrong(format!("{} reads no operand from shared memory", dot.plan.atom_name())))?;
        Ok((access, dot, side))
    }
}

/// Returns the access with only the alternative of the instruction `row`, which the program names for it.
fn pinned<'a>(access: TensorAccess<'a>, row: &str) -> Result<TensorAccess<'a>, SynthesisError> {
    let known: Vec<&str> = access.alternatives.iter().filter_map(AccessAlternative::instruction).collect();
    if !known.contains(&row) {
        let (access, known) = (access.name.clone(), known.join(", "));
        return Err(SynthesisError::NoRow { access, row: row.to_owned(), known });
    }
    Ok(access.with_retained_alternatives(|alternative| alternative.instruction() == Some(row)))
}

/// Returns all operations, each with its assumed number of executions.
fn weighted(body: &FunctionBody) -> Vec<(Op, u64)> {
    fn of(body: &FunctionBody, region: tilewright_tile::Region, weight: u64, found: &mut Vec<(Op, u64)>) {
        for block in body.blocks(region) {
            for &op in body.ops(*block) {
                found.push((op, weight));
                let inner = if body.op(op).name() == scf::FOR { weight * LOOP_WEIGHT } else { weight };
                for region in &body.op(op).regions {
                    of(body, *region, inner, found);
                }
            }
        }
    }
    let mut found = Vec::new();
    of(body, body.root(), 1, &mut found);
    found
}
