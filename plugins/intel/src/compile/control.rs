//! Predicates, conditionals and loops, as structured control flow.

use rspirv::dr::Instruction;
use rspirv::spirv::{Op, Word};
use tilewright_kernel::{Element, Region, Type, Value};
use tilewright_plugin::CompileError;

use super::emit::phi_operands;
use super::held::{Held, check_type, invalid};
use super::kernel::Lowering;

/// A loop's own values.
struct Counter {
    from: Word,
    to: Word,
    step: Word,
    /// Whether index plus step can be computed without wrapping as long as the index is below the bound.
    exact: bool,
}

/// What a loop carries round: the ids in its header, and how each starts.
struct Carried {
    /// Type, id, initial value.
    phis: Vec<(Word, Word, Word)>,
}

impl Lowering<'_> {
    /// Runs `f` in the lanes where the predicate is true; the others get zero.
    pub(super) fn predicated(
        &mut self,
        predicate: Option<Value>,
        ty: Option<Type>,
        f: impl FnOnce(&mut Self) -> Result<Option<Held>, CompileError>,
    ) -> Result<Option<Held>, CompileError> {
        let Some(predicate) = predicate else { return f(self) };
        let condition = self.scalar(predicate, Element::I1)?;
        let before = self.emitter.block();
        let (then, merge) = (self.emitter.label(), self.emitter.label());
        self.emitter.selection_merge(merge)?;
        self.emitter.branch_if(condition, then, merge)?;
        self.emitter.begin_block(then)?;
        let held = f(self)?;
        let end = self.emitter.block();
        self.emitter.branch(merge)?;
        self.emitter.begin_block(merge)?;
        let (Some(ty), Some(held)) = (ty, held) else { return Ok(None) };
        let part_type = self.emitter.part_type(ty);
        let zero = self.emitter.null(part_type);
        let parts = held.parts.iter().map(|&part| self.emitter.phi(part_type, &[(part, end), (zero, before)]));
        Ok(Some(Held::new(ty, parts.collect::<Result<_, _>>()?)))
    }

    pub(super) fn if_else(
        &mut self,
        condition: Value,
        then: &Region,
        otherwise: &Region,
        results: &[(Value, Type)],
    ) -> Result<(), CompileError> {
        let condition = self.scalar(condition, Element::I1)?;
        let labels = [self.emitter.label(), self.emitter.label()];
        let merge = self.emitter.label();
        self.emitter.selection_merge(merge)?;
        self.emitter.branch_if(condition, labels[0], labels[1])?;
        let mut ends = Vec::new();
        for (region, label) in [then, otherwise].into_iter().zip(labels) {
            self.emitter.begin_block(label)?;
            let yielded = self.scoped(|this| {
                if !region.arguments.is_empty() {
                    return Err(invalid("a region of an `if` has arguments"));
                }
                this.region(region)
            })?;
            check_yield(&yielded, results.iter().map(|&(_, ty)| ty))?;
            ends.push((yielded, self.emitter.block()));
            self.emitter.branch(merge)?;
        }
        self.emitter.begin_block(merge)?;
        for (index, &(value, ty)) in results.iter().enumerate() {
            let held = self.merge_of(ty, index, &ends)?;
            self.define(value, held)?;
        }
        Ok(())
    }

    /// Result `index` of the regions that ended in the given blocks.
    fn merge_of(&mut self, ty: Type, index: usize, ends: &[(Vec<Held>, Word)]) -> Result<Held, CompileError> {
        let part_type = self.emitter.part_type(ty);
        let count = ends.first().and_then(|(yielded, _)| yielded.get(index)).map_or(0, |held| held.parts.len());
        let mut parts = Vec::with_capacity(count);
        for part in 0..count {
            let incoming =
                ends.iter().filter_map(|(yielded, block)| Some((*yielded.get(index)?.parts.get(part)?, *block)));
            let incoming: Vec<_> = incoming.collect();
            parts.push(self.emitter.phi(part_type, &incoming)?);
        }
        Ok(Held::new(ty, parts))
    }

    pub(super) fn for_loop(
        &mut self,
        range: [Value; 3],
        carried: &[Value],
        body: &Region,
        results: &[(Value, Type)],
    ) -> Result<(), CompileError> {
        let counter = self.counter(range)?;
        let initial = carried.iter().map(|&value| self.get(value)).collect::<Result<Vec<_>, _>>()?;
        check_yield(&initial, results.iter().map(|&(_, ty)| ty))?;
        check_arguments(body, &initial)?;
        let held = self.run_loop(&counter, &initial, body)?;
        for (&(value, _), held) in results.iter().zip(held) {
            self.define(value, held)?;
        }
        Ok(())
    }

    fn counter(&self, [from, to, step]: [Value; 3]) -> Result<Counter, CompileError> {
        let (bound, increment) = (self.get(to)?, self.get(step)?);
        if increment.constant == Some(0) {
            return Err(invalid("a loop with step zero"));
        }
        // The last index is at most the bound less one.
        let highest = |step: u64| bound.constant.unwrap_or(u64::from(u32::MAX)) + step - 1;
        let exact = increment.constant.is_some_and(|step| highest(step) <= u64::from(u32::MAX));
        let scalar = |value| self.scalar(value, Element::I32);
        Ok(Counter { from: scalar(from)?, to: scalar(to)?, step: scalar(step)?, exact })
    }

    /// Writes the blocks of a loop and gives the carried values as they are when it ends.
    ///
    /// header: whether to go on; body; next: the index moves; back to the header, or on to merge.
    fn run_loop(&mut self, counter: &Counter, initial: &[Held], body: &Region) -> Result<Vec<Held>, CompileError> {
        let (word, truth) = (self.i32_type(), self.emitter.element_type(Element::I1, 1));
        let goes = if counter.exact { None } else { Some(self.below(counter.from, counter.to)?) };
        let before = self.emitter.block();
        let [header, inside, next, merge] = [(); 4].map(|()| self.emitter.label());
        self.emitter.branch(header)?;

        self.emitter.begin_block(header)?;
        let header_index = self.emitter.block_index();
        let (index, carried) = (self.emitter.label(), self.carry(initial));
        let goes_on = self.emitter.label();
        let condition = if counter.exact { self.below(index, counter.to)? } else { goes_on };
        self.emitter.loop_merge(merge, next)?;
        self.emitter.branch_if(condition, inside, merge)?;

        self.emitter.begin_block(inside)?;
        let yielded = self.scoped(|this| this.iteration(index, initial, &carried, body))?;
        self.emitter.branch(next)?;

        self.emitter.begin_block(next)?;
        let moved = self.emitter.value(Op::IAdd, word, [index, counter.step])?;
        let mut phis = vec![(word, index, counter.from, moved)];
        if let Some(goes) = goes {
            // Index plus step may wrap, the distance to the bound cannot.
            let left = self.emitter.value(Op::ISub, word, [counter.to, index])?;
            phis.push((truth, goes_on, goes, self.below(counter.step, left)?));
        }
        self.emitter.branch(header)?;

        let again = yielded.iter().flat_map(|held| held.parts.iter().copied());
        phis.extend(carried.phis.iter().zip(again).map(|(&(ty, id, first), last)| (ty, id, first, last)));
        let phi = |(ty, id, first, last)| {
            Instruction::new(Op::Phi, Some(ty), Some(id), phi_operands(&[(first, before), (last, next)]))
        };
        self.emitter.prepend(header_index, phis.into_iter().map(phi).collect())?;
        self.emitter.begin_block(merge)?;
        Ok(carried.held(initial))
    }

    /// A loop that has a first pass: what its header tests is true at first, and then what was yielded.
    pub(super) fn while_loop(
        &mut self,
        carried: &[Value],
        body: &Region,
        results: &[(Value, Type)],
    ) -> Result<(), CompileError> {
        let initial = carried.iter().map(|&value| self.get(value)).collect::<Result<Vec<_>, _>>()?;
        check_yield(&initial, results.iter().map(|&(_, ty)| ty))?;
        for &(_, ty) in &body.arguments {
            check_type(ty)?;
        }
        if !body.arguments.iter().map(|&(_, ty)| ty).eq(initial.iter().map(|held| held.ty)) {
            return Err(invalid("the arguments of a loop's body are not the carried values"));
        }
        let held = self.run_while(&initial, body)?;
        for (&(value, _), held) in results.iter().zip(held) {
            self.define(value, held)?;
        }
        Ok(())
    }

    fn run_while(&mut self, initial: &[Held], body: &Region) -> Result<Vec<Held>, CompileError> {
        let (truth, yes) = (self.emitter.element_type(Element::I1, 1), self.emitter.constant(Element::I1, 1, 1));
        let before = self.emitter.block();
        let [header, inside, next, merge] = [(); 4].map(|()| self.emitter.label());
        self.emitter.branch(header)?;

        self.emitter.begin_block(header)?;
        let header_index = self.emitter.block_index();
        let (again, carried) = (self.emitter.label(), self.carry(initial));
        self.emitter.loop_merge(merge, next)?;
        self.emitter.branch_if(again, inside, merge)?;

        self.emitter.begin_block(inside)?;
        let bit = Type::Scalar(Element::I1);
        let mut yielded = self.scoped(|this| {
            for (&(value, _), held) in body.arguments.iter().zip(carried.held(initial)) {
                this.define(value, held)?;
            }
            let yielded = this.region(body)?;
            let types: Vec<Type> = std::iter::once(bit).chain(initial.iter().map(|held| held.ty)).collect();
            check_yield(&yielded, types.into_iter())?;
            Ok(yielded)
        })?;
        self.emitter.branch(next)?;

        self.emitter.begin_block(next)?;
        self.emitter.branch(header)?;
        let mut phis = vec![(truth, again, yes, yielded.remove(0).scalar()?)];
        let last = yielded.iter().flat_map(|held| held.parts.iter().copied());
        phis.extend(carried.phis.iter().zip(last).map(|(&(ty, id, first), last)| (ty, id, first, last)));
        let phi = |(ty, id, first, last)| {
            Instruction::new(Op::Phi, Some(ty), Some(id), phi_operands(&[(first, before), (last, next)]))
        };
        self.emitter.prepend(header_index, phis.into_iter().map(phi).collect())?;
        self.emitter.begin_block(merge)?;
        Ok(carried.held(initial))
    }

    /// The body of a loop, once.
    fn iteration(
        &mut self,
        index: Word,
        initial: &[Held],
        carried: &Carried,
        body: &Region,
    ) -> Result<Vec<Held>, CompileError> {
        let index = Held::new(Type::Scalar(Element::I32), vec![index]);
        let values = std::iter::once(index).chain(carried.held(initial));
        for (&(value, _), held) in body.arguments.iter().zip(values) {
            self.define(value, held)?;
        }
        let yielded = self.region(body)?;
        check_yield(&yielded, initial.iter().map(|held| held.ty))?;
        Ok(yielded)
    }

    /// Ids for the carried values in the header.
    fn carry(&mut self, initial: &[Held]) -> Carried {
        let mut phis = Vec::new();
        for held in initial {
            let ty = self.emitter.part_type(held.ty);
            phis.extend(held.parts.iter().map(|&part| (ty, self.emitter.label(), part)));
        }
        Carried { phis }
    }

    fn below(&mut self, a: Word, b: Word) -> Result<Word, CompileError> {
        let truth = self.emitter.element_type(Element::I1, 1);
        self.emitter.value(Op::ULessThan, truth, [a, b])
    }

    fn i32_type(&mut self) -> Word {
        self.emitter.element_type(Element::I32, 1)
    }
}

impl Carried {
    /// The values as the header has them; `initial` says their types.
    fn held(&self, initial: &[Held]) -> Vec<Held> {
        let mut ids = self.phis.iter().map(|&(_, id, _)| id);
        initial.iter().map(|held| Held::new(held.ty, ids.by_ref().take(held.parts.len()).collect())).collect()
    }
}

/// Refuses values that are not of the given types.
fn check_yield(values: &[Held], types: impl ExactSizeIterator<Item = Type>) -> Result<(), CompileError> {
    if values.len() != types.len() {
        return Err(invalid(format!("{} values where {} are due", values.len(), types.len())));
    }
    values.iter().zip(types).try_for_each(|(held, ty)| held.expect(ty).map(drop))
}

/// The arguments of a loop's body: the index and the carried values.
fn check_arguments(body: &Region, initial: &[Held]) -> Result<(), CompileError> {
    let types = std::iter::once(Type::Scalar(Element::I32)).chain(initial.iter().map(|held| held.ty));
    for &(_, ty) in &body.arguments {
        check_type(ty)?;
    }
    if !body.arguments.iter().map(|&(_, ty)| ty).eq(types) {
        return Err(invalid("the arguments of a loop's body are not the index and the carried values"));
    }
    Ok(())
}
