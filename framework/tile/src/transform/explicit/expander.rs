//! Expands programs with explicit memory into loads, stores and copies.

use super::boxes::Filled;
use super::choices::Choices;
use super::packed;
use super::stages;
use super::view::Tile;
use crate::op::Dialects;
use crate::op::name::{arith, scf, tt, ttg, tw};
use crate::transform::{Copier, Rewrite, rewritten, unmade};
use crate::{BuildError, Function, LayoutName, Memory, Op, Operation, Type, Value, Violation};
use std::collections::HashMap;
use std::sync::Arc;
use tilewright_layout::FamilySpec;

/// The layout of a tensor in shared memory that is not chosen yet.
pub const OPEN: &str = "#tw.auto";

/// The attribute of a `tw.mbarrier_arrive` at which each warp arrives by itself, when all its lanes have come to it.
pub const EVERY_WARP: &str = "every_warp";

/// A function in Triton's words, and what came of what.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The function.
    pub function: Function,
    /// Tensors in shared memory: the operation that they were, and the allocation.
    pub tensors: Vec<(Op, Value)>,
    /// Copies, each with the operations that it became.
    pub copies: Vec<(Op, Op)>,
    /// Products.
    pub products: Vec<(Op, Op)>,
}

/// Replaces the words of a function that say where tensors are.
///
/// # Errors
/// [`Violation`]: what has no meaning in the place where it stands.
pub fn expand(function: &Function, choices: &Choices, dialects: &Dialects) -> Result<Expanded, Violation> {
    let mut expander = Expander {
        choices,
        packed_axes: packed::axes(function)?,
        views: HashMap::new(),
        tensors: HashMap::new(),
        skipped: Vec::new(),
        is_later: false,
        pending: Vec::new(),
        filled: HashMap::new(),
        made: Made::default(),
        stages: stages::of_tensors(function, choices)?,
    };
    let function = rewritten(function, dialects, &mut expander)?;
    let Made { tensors, copies, products } = expander.made;
    Ok(Expanded { function, tensors, copies, products })
}

#[derive(Debug, Default)]
pub(super) struct Made {
    tensors: Vec<(Op, Value)>,
    pub(super) copies: Vec<(Op, Op)>,
    pub(super) products: Vec<(Op, Op)>,
}

pub(super) struct Expander<'c> {
    pub(super) choices: &'c Choices,
    /// Of values of elements narrower than a byte the axis along which bytes hold neighbours.
    pub(super) packed_axes: HashMap<Value, usize>,
    /// Views, with what they stand for in the function that is made.
    pub(super) views: HashMap<Value, Tile>,
    /// Tensors in shared memory likewise.
    pub(super) tensors: HashMap<Value, Shared>,
    /// Copies that a loop has issued already.
    pub(super) skipped: Vec<Op>,
    /// Whether a buffer is filled before a loop that is not its first: nothing else accesses it until the block meets.
    pub(super) is_later: bool,
    /// Products that go on while the next turn begins.
    pub(super) pending: Vec<Op>,
    /// Loops whose tensors are filled by boxes.
    pub(super) filled: HashMap<Op, Filled>,
    pub(super) made: Made,
    /// Buffers of tensors in shared memory, by the operation.
    stages: HashMap<Op, u32>,
}

/// A tensor in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    /// The allocation.
    all: Value,
    /// The type of one buffer.
    ty: Type,
    /// How many there are.
    stages: u32,
    /// Which is meant, where there are several.
    pub(super) slot: Option<Value>,
}

impl Rewrite for Expander<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<bool, Violation> {
        let name = Arc::clone(&copier.from.op(op).definition.name);
        match &*name {
            tw::GLOBAL_VIEW => self.global_view(op, copier)?,
            tw::SLICE => self.slice(op, copier)?,
            tw::GATHER => self.gather(op, copier)?,
            tw::SHARED_TENSOR => self.shared_tensor(op, copier)?,
            tw::COPY if self.skipped.contains(&op) => {}
            tw::COPY => self.copy(op, copier)?,
            tw::REGISTER_TENSOR => self.register_tensor(op, copier)?,
            tw::REARRANGE => self.rearrange(op, copier)?,
            tw::MMA => self.mma(op, copier)?,
            tw::CAST => self.cast(op, copier)?,
            tw::REDUCE => self.reduce(op, copier)?,
            scf::FOR => return self.staged(op, copier),
            _ => return self.is_known(op, copier).map(|()| false),
        }
        Ok(true)
    }
}

impl Expander<'_> {
    /// Views and narrow elements mean something to copies and casts alone.
    fn is_known(&self, op: Op, copier: &Copier<'_, '_, '_>) -> Result<(), Violation> {
        let operation = copier.from.op(op);
        let wrong = operation.operands.iter().find(|&value| {
            let ty = copier.from.ty(*value);
            matches!(ty, Type::View(_))
                || self.packed_axes.contains_key(value)
                || ty.as_tensor().is_some() && ty.element_bits().is_some_and(|b| (2..8).contains(&b))
        });
        let wrong = wrong.filter(|_| !operation.definition.name.starts_with("ttg."));
        match wrong.map(|value| copier.from.ty(*value)) {
            Some(ty) => Err(violation(copier, op, format!("`{ty}` may be copied, sliced and cast, and nothing else"))),
            None => Ok(()),
        }
    }

    fn shared_tensor(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<(), Violation> {
        let result = copier.from.op(op).results[0];
        let Some(memory) = copier.from.ty(result).as_memory().cloned() else { return Ok(()) };
        let ty = self.stored_type(result, &memory);
        let stages = self.stages.get(&op).copied().unwrap_or(1);
        let mut all = ty.clone();
        if stages > 1 {
            all.shape.insert(0, u64::from(stages));
        }
        let made = copier.to.op(ttg::LOCAL_ALLOC).result(Type::Memory(Arc::new(all))).value();
        let all = made.map_err(unmade(copier.function, copier.from.op(op)))?;
        copier.bind(result, all);
        self.made.tensors.push((op, all));
        self.tensors.insert(result, Shared { all, ty: Type::Memory(Arc::new(ty)), stages, slot: None });
        Ok(())
    }

    /// The memory of one buffer, of bytes where elements are narrower.
    fn stored_type(&self, value: Value, memory: &Memory) -> Memory {
        let layout = LayoutName::new(FamilySpec::new("auto"), OPEN);
        let mut stored = Memory { layout, mutable: true, allocation: None, ..memory.clone() };
        if let Some(&axis) = self.packed_axes.get(&value) {
            let (shape, element) = packed::stored(&memory.shape, &memory.element, axis);
            (stored.shape, stored.element) = (shape, element);
        }
        stored
    }

    /// The buffer that is meant here.
    pub(super) fn buffer(&mut self, value: Value, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<Value, Violation> {
        let Some(shared) = self.tensors.get(&value).cloned() else {
            return Err(violation(copier, op, "the tensor in shared memory is none of `tw.shared_tensor`"));
        };
        match shared.slot {
            Some(slot) if shared.stages > 1 => {
                let made = copier.to.op(ttg::MEMDESC_INDEX).operand(shared.all).operand(slot).result(shared.ty).value();
                made.map_err(unmade(copier.function, copier.from.op(op)))
            }
            None if shared.stages > 1 => Err(violation(
                copier,
                op,
                "the tensor has several stages, and is used outside of the loop that fills them",
            )),
            _ => Ok(shared.all),
        }
    }
}

pub(super) fn violation(copier: &Copier<'_, '_, '_>, op: Op, message: impl Into<String>) -> Violation {
    Violation::of(copier.function, copier.from.op(op), message)
}

pub(super) fn violation_of(function: &Function, op: Op, message: impl Into<String>) -> Violation {
    match &function.body {
        Some(body) => Violation::of(function, body.op(op), message),
        None => Violation {
            function: Arc::clone(&function.name),
            operation: Arc::from("tt.func"),
            at: None,
            message: message.into(),
        },
    }
}

/// What makes operations at the place of another.
pub(in crate::transform) struct Maker<'m, 'a, 'b, 'd> {
    pub copier: &'m mut Copier<'a, 'b, 'd>,
    pub at: Op,
}

impl Maker<'_, '_, '_, '_> {
    pub fn checked<T>(&self, made: Result<T, BuildError>) -> Result<T, Violation> {
        let operation: &Operation = self.copier.from.op(self.at);
        made.map_err(unmade(self.copier.function, operation))
    }

    /// An integer of a type; of a tensor every element is it.
    pub fn integer(&mut self, value: i64, ty: &Type) -> Result<Value, Violation> {
        let number = crate::Attribute::integer(value, ty.element().clone());
        let made = match ty {
            Type::Tensor(_) => {
                let bits = match number {
                    crate::Attribute::Number(number) => number.bits,
                    _ => 0,
                };
                let dense = crate::Dense { ty: ty.clone(), elements: Arc::from([bits]) };
                self.copier.to.constant(crate::Attribute::Dense(dense))
            }
            _ => self.copier.to.constant(number),
        };
        self.checked(made)
    }

    /// An operation whose result's type follows from its operands', or is that of the first.
    pub fn binary(&mut self, name: &str, left: Value, right: Value) -> Result<Value, Violation> {
        let ty = self.copier.to.ty(left).clone();
        let made = self.copier.to.op(name).operand(left).operand(right).result(ty).value();
        self.checked(made)
    }

    pub fn unary(&mut self, name: &str, operand: Value, ty: Type) -> Result<Value, Violation> {
        let made = self.copier.to.op(name).operand(operand).result(ty).value();
        self.checked(made)
    }

    pub fn compare(&mut self, predicate: &str, left: Value, right: Value) -> Result<Value, Violation> {
        let ty = self.copier.to.ty(left).with_element(Type::BOOLEAN);
        let predicate = crate::Attribute::Word(predicate.into());
        let made = self.copier.to.op(arith::CMPI).operand(left).operand(right);
        let made = made.attribute("predicate", predicate).result(ty).value();
        self.checked(made)
    }

    /// A scalar as each element of a tensor.
    pub fn splat(&mut self, scalar: Value, shape: &[u64]) -> Result<Value, Violation> {
        let ty = Type::tensor(shape, self.copier.to.ty(scalar).clone(), None);
        self.unary(tt::SPLAT, scalar, ty)
    }
}
