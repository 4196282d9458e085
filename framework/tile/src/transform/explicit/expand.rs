//! Expands programs with explicit memory into loads, stores and copies.

use super::choices::Choices;
use super::expander::{Expander, Made};
use super::{packed, pipeline};
use crate::op::Dialects;
use crate::op::name::{scf, tw};
use crate::transform::{Copier, Rewrite, Rewritten, rewritten, violation};
use crate::{Function, Op, TileType, TileViolation, Value};
use std::collections::HashMap;
use std::sync::Arc;

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
/// [`TileViolation`]: what has no meaning in the place where it stands.
pub fn expand(function: &Function, choices: &Choices, dialects: &Dialects) -> Result<Expanded, TileViolation> {
    let mut expander = Expander {
        choices,
        packed_axes: packed::axes(function)?,
        views: HashMap::new(),
        tensors: HashMap::new(),
        pending: Vec::new(),
        maps: HashMap::new(),
        made: Made::default(),
        stages: pipeline::buffer_counts(function, choices)?,
    };
    let function = rewritten(function, dialects, &mut expander)?;
    let Made { tensors, copies, products } = expander.made;
    Ok(Expanded { function, tensors, copies, products })
}

impl Rewrite for Expander<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        let name = Arc::clone(&copier.from.op(op).definition.name);
        match &*name {
            tw::GLOBAL_VIEW => self.global_view(op, copier)?,
            tw::SLICE => self.slice(op, copier)?,
            tw::GATHER => self.gather(op, copier)?,
            tw::SHARED_TENSOR => self.shared_tensor(op, copier)?,
            tw::COPY => self.copy(op, copier)?,
            tw::REGISTER_TENSOR => self.register_tensor(op, copier)?,
            tw::REARRANGE => self.rearrange(op, copier)?,
            tw::MMA => self.mma(op, copier)?,
            tw::CAST => self.cast(op, copier)?,
            tw::REDUCE => self.reduce(op, copier)?,
            scf::FOR => return self.pipelined(op, copier),
            _ => return self.is_known(op, copier).map(|()| false),
        }
        Ok(true)
    }
}

impl Expander<'_> {
    /// Views and narrow elements mean something to copies and casts alone.
    fn is_known(&self, op: Op, copier: &Copier<'_, '_, '_>) -> Rewritten<()> {
        let operation = copier.from.op(op);
        let wrong = operation.operands.iter().find(|&value| {
            let ty = copier.from.ty(*value);
            matches!(ty, TileType::View(_))
                || self.packed_axes.contains_key(value)
                || ty.as_tensor().is_some() && ty.element_bits().is_some_and(|b| (2..8).contains(&b))
        });
        let wrong = wrong.filter(|_| !operation.definition.name.starts_with("ttg."));
        match wrong.map(|value| copier.from.ty(*value)) {
            Some(ty) => Err(violation(copier, op, format!("`{ty}` may be copied, sliced and cast, and nothing else"))),
            None => Ok(()),
        }
    }
}
