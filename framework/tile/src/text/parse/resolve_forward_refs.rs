//! Uses of values before their definition in the text: in a region with several blocks, a dominating block may come
//! later.
//!
//! A placeholder value that belongs to no body represents the name until its definition. At the end of the function,
//! values replace their placeholders, and blocks are ordered so that definitions precede uses.

use super::Parser;
use super::draft::Used;
use super::forward_refs::ForwardReference;
use crate::{Op, Region, order};
use tilewright_layout::text::Parsed;

impl<'a> Parser<'a> {
    /// Creates a placeholder for a use of a value that is not yet defined; `None` if no later block of a region can
    /// define it.
    pub(super) fn forward_use(&mut self, name: &'a str, result_index: Option<u32>, at: usize) -> Option<Used> {
        if !self.scopes.has_named_blocks() {
            return None;
        }
        let reference = ForwardReference { name, result_index, stand_in: self.forward_refs.create_placeholder(), at };
        self.scopes.add_forward_ref(reference);
        Some(Used { value: reference.stand_in, at })
    }

    /// Resolves the forward references of a region at its end; passes those that the region does not define on to the
    /// enclosing region.
    pub(super) fn resolve_in_region(&mut self, region: Region) -> Parsed<()> {
        for reference in self.scopes.take_forward_refs() {
            match self.scopes.find_value(reference.name) {
                Some(named) => {
                    let value = self.chosen(reference.name, reference.result_index, reference.at, named)?;
                    self.forward_refs.known.insert(reference.stand_in, value);
                    self.forward_refs.regions.insert(region);
                }
                None if self.scopes.move_to_enclosing_region(reference) => {}
                None => return Err(self.undefined(reference.name, reference.at)),
            }
        }
        Ok(())
    }

    /// Replaces placeholders by the values that they stand for, at the end of the function.
    pub(super) fn replace_stand_ins(&mut self) -> Parsed<()> {
        let forward_refs = std::mem::take(&mut self.forward_refs);
        if forward_refs.known.is_empty() {
            return Ok(());
        }
        for index in 0..self.body.op_count() as u32 {
            for operand in &mut self.body.op_mut(Op(index)).operands {
                *operand = forward_refs.known.get(operand).copied().unwrap_or(*operand);
            }
        }
        for (used, ty) in forward_refs.types {
            let value = forward_refs.known.get(&used.value).copied().unwrap_or(used.value);
            self.check_type(Used { value, at: used.at }, &ty)?;
        }
        for region in forward_refs.regions {
            self.body.reorder_blocks(region, order::reverse_post_order(&self.body, region));
        }
        Ok(())
    }
}
