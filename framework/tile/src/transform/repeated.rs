//! Loops of jumps as `scf.while`.

use super::jumps::{Jumps, Ways};
use super::{Rewritten, violation};
use crate::op::name::scf;
use crate::{Value, Values};

impl Jumps<'_, '_, '_, '_> {
    /// The loop of a head whose values are bound, and what is reached behind it. A turn is the first region, which says whether it
    /// goes on by the way back to the head; the second hands on what that brings.
    pub(super) fn repeated(&mut self, head: usize) -> Rewritten<Ways> {
        let from = self.copier.from;
        let block = self.graph.blocks[head];
        let Some(last) = from.ops(block).last().copied() else { return self.once(head) };
        let takes = self.takes(head);
        let (initial, types) = (self.copier.all(&takes), self.copier.types(&takes));
        let (turn, around) = self.copier.to.enter_region(types.clone());
        let arguments: Values = self.copier.to.body().arguments(self.copier.to.block()).into();
        self.copier.bind_all(&takes, &arguments);
        self.open.push(head);
        let mut ways = self.once(head)?;
        self.open.pop();
        let next = ways.along.remove(&head).unwrap_or_default();
        let Some(taken) = ways.taken.filter(|_| !ways.along.is_empty()) else {
            return Err(violation(self.copier, last, "nothing leaves the loop that begins here"));
        };
        self.copier.to.located(from.op(last).location.clone());
        let again = self.is_way(taken, head)?;
        // Which way is taken, what the ways bring, and what goes on.
        let number = (ways.along.len() > 1).then_some(taken);
        let passed: Values = number.iter().chain(ways.along.values().flatten()).chain(&next).copied().collect();
        self.copier.to.op(scf::CONDITION).operand(again).operands("arguments", &passed).done()?;
        self.copier.to.at(around);
        let passed_types: Vec<_> = passed.iter().map(|value| self.copier.to.ty(*value).clone()).collect();
        let (hand_on, around) = self.copier.to.enter_region(passed_types.clone());
        let arguments: Values = self.copier.to.body().arguments(self.copier.to.block()).into();
        let handed = &arguments[passed.len() - next.len()..];
        self.copier.to.op(scf::YIELD).operands("results", handed).done()?;
        self.copier.to.at(around);
        let made = self.copier.to.op(scf::WHILE).operands("initial", &initial);
        let made = made.made_region(turn).made_region(hand_on);
        let made = made.results(passed_types).values()?;
        let mut rest = made.iter().copied();
        ways.taken = number.and_then(|_| rest.next());
        for along in ways.along.values_mut() {
            *along = rest.by_ref().take(along.len()).collect::<Vec<Value>>().into();
        }
        let behind: Vec<usize> = self.graph.behind(head).collect();
        behind.into_iter().try_fold(ways, |ways, place| self.join(ways, place, from.op(last)))
    }
}
