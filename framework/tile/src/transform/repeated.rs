//! Converts natural loops to `scf.while`.

use super::structurizer::{Exits, Structurizer};
use super::{Rewritten, violation};
use crate::op::name::scf;
use crate::{Value, Values};

impl Structurizer<'_, '_, '_, '_> {
    /// Emits the loop with the header `head`, whose arguments are bound, and the blocks after the loop.
    ///
    /// The first region of the `scf.while` executes an iteration, and continues the loop if control takes the back
    /// edge. Its second region yields the header's arguments for the next iteration.
    pub(super) fn repeated(&mut self, head: usize) -> Rewritten<Exits> {
        let from = self.cloner.from;
        let block = self.graph.blocks[head];
        let Some(last) = from.ops(block).last().copied() else { return self.once(head) };
        let takes = self.incoming_values(head);
        let (initial, types) = (self.cloner.all(&takes), self.cloner.types_of(&takes));
        let (before, around) = self.cloner.to.enter_region(types.clone());
        let arguments: Values = self.cloner.to.body().arguments(self.cloner.to.block()).into();
        self.cloner.bind_all(&takes, &arguments);
        self.open.push(head);
        let mut outgoing = self.once(head)?;
        self.open.pop();
        let next = outgoing.along.remove(&head).unwrap_or_default();
        let Some(taken) = outgoing.taken.filter(|_| !outgoing.along.is_empty()) else {
            return Err(violation(self.cloner, last, "the loop that begins here has no exit"));
        };
        self.cloner.to.set_location(from.op(last).location.clone());
        let loop_condition = self.emit_is_exit(taken, head)?;
        // The `scf.condition` passes the selector of the exit, then the block arguments of the exits, then those of the
        // back edge.
        let number = (outgoing.along.len() > 1).then_some(taken);
        let passed: Values = number.iter().chain(outgoing.along.values().flatten()).chain(&next).copied().collect();
        self.cloner.to.build_op(scf::CONDITION).operand(loop_condition).operands("arguments", &passed).build()?;
        self.cloner.to.set_insertion_block(around);
        let passed_types: Vec<_> = passed.iter().map(|value| self.cloner.to.ty(*value).clone()).collect();
        let (after, around) = self.cloner.to.enter_region(passed_types.clone());
        let arguments: Values = self.cloner.to.body().arguments(self.cloner.to.block()).into();
        let carried = &arguments[passed.len() - next.len()..];
        self.cloner.to.build_op(scf::YIELD).operands("results", carried).build()?;
        self.cloner.to.set_insertion_block(around);
        let new_op = self.cloner.to.build_op(scf::WHILE).operands("initial", &initial);
        let new_op = new_op.existing_region(before).existing_region(after);
        let results = new_op.results(passed_types).values()?;
        let mut rest = results.iter().copied();
        outgoing.taken = number.and_then(|_| rest.next());
        for along in outgoing.along.values_mut() {
            *along = rest.by_ref().take(along.len()).collect::<Vec<Value>>().into();
        }
        let behind: Vec<usize> = self.graph.blocks_after_loop(head).collect();
        behind.into_iter().try_fold(outgoing, |outgoing, index| self.emit_merge_block(outgoing, index, from.op(last)))
    }
}
