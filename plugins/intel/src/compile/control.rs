//! Emits branches, loops and predicated operations of the kernel IR as structured control flow of SPIR-V.

use rspirv::dr::Instruction;
use rspirv::spirv::{Op, Word};
use tilewright_kernel::{Element, Op as KernelOp, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{CodeGenerator, ValueMap, invalid_module_error};

use super::emit::phi_operands;
use super::emitted::{EmittedValue, check_type};
use super::kernel::Lowering;

/// The state of a loop while its body is being emitted.
///
/// The loop's SPIR-V blocks: the header tests for another iteration and enters the body or the merge block; the body;
/// and the continue block, which advances the index and returns to the header.
pub(super) struct Loop {
    header: Word,
    next: Word,
    merge: Word,
    /// Label of the block before the loop, and (`header_index`) the index of the header among the function's blocks.
    before: Word,
    header_index: Option<usize>,
    /// The index and its range, for a `for` loop; `None` for other loops.
    counter: Option<Counter>,
    /// The id of the loop condition in the header, and the condition's value before the loop; `None` if the comparison
    /// of the index with the bound decides.
    loop_condition: Option<(Word, Word)>,
    /// For each SPIR-V id of the loop-carried values: its type, its phi in the header, and its value before the loop.
    carried: Vec<(Word, Word, Word)>,
    /// The loop-carried values as the header's phis define them.
    arguments: Vec<EmittedValue>,
}

/// The bounds and the step of a `for` loop, and the id of its index.
struct Counter {
    from: Word,
    to: Word,
    step: Word,
    index: Word,
}

impl CodeGenerator for Lowering<'_> {
    type Value = EmittedValue;
    type Block = Word;
    type Loop = Loop;

    fn values(&mut self) -> &mut ValueMap<EmittedValue> {
        &mut self.values
    }

    fn check_type(&self, ty: Type) -> Result<(), CompileError> {
        check_type(ty)
    }

    fn operation(&mut self, op: &KernelOp, results: &[(Value, Type)]) -> Result<Vec<EmittedValue>, CompileError> {
        self.append(op, results)
    }

    fn branch_on(&mut self, condition: &EmittedValue) -> Result<[Word; 3], CompileError> {
        let labels @ [then, otherwise, merge] = [(); 3].map(|()| self.emitter.label());
        self.emitter.selection_merge(merge)?;
        self.emitter.branch_if(condition.scalar()?, then, otherwise)?;
        Ok(labels)
    }

    fn begin_block(&mut self, block: Word) -> Result<(), CompileError> {
        self.emitter.begin_block(block)
    }

    fn current_block(&self) -> Result<Word, CompileError> {
        Ok(self.emitter.block())
    }

    fn branch(&mut self, to: Word) -> Result<(), CompileError> {
        self.emitter.branch(to)
    }

    fn phi(
        &mut self,
        ty: Type,
        [(a, a_end), (b, b_end)]: [(&EmittedValue, Word); 2],
    ) -> Result<EmittedValue, CompileError> {
        let id_type = self.emitter.id_type(ty);
        let pairs = a.ids.iter().zip(&b.ids);
        let ids = pairs.map(|(&a, &b)| self.emitter.phi(id_type, &[(a, a_end), (b, b_end)]));
        Ok(EmittedValue::new(ty, ids.collect::<Result<_, _>>()?))
    }

    fn begin_loop(
        &mut self,
        range: Option<[EmittedValue; 3]>,
        carried: &[EmittedValue],
    ) -> Result<(Loop, Vec<EmittedValue>), CompileError> {
        let exact = range.as_ref().map(is_exact).transpose()?;
        let range = match range {
            Some([from, to, step]) => Some([from.scalar()?, to.scalar()?, step.scalar()?]),
            None => None,
        };
        // The type is declared before the blocks of the loop, since any of them may need it.
        self.emitter.element_type(Element::I1, 1);
        // Whether the loop has a first iteration; known only at run time if a range may be empty.
        let first = match range {
            Some(_) if exact == Some(true) => None,
            Some([from, to, _]) => Some(self.below(from, to)?),
            None => Some(self.emitter.constant(Element::I1, 1, 1)),
        };
        let before = self.emitter.block();
        let [header, inside, next, merge] = [(); 4].map(|()| self.emitter.label());
        self.emitter.branch(header)?;

        self.emitter.begin_block(header)?;
        let header_index = self.emitter.block_index();
        let leading = self.emitter.label();
        let mut phis = Vec::new();
        for emitted in carried {
            let ty = self.emitter.id_type(emitted.ty);
            phis.extend(emitted.ids.iter().map(|&id| (ty, self.emitter.label(), id)));
        }
        let mut ids = phis.iter().map(|&(_, id, _)| id);
        let in_header =
            |emitted: &EmittedValue| EmittedValue::new(emitted.ty, ids.by_ref().take(emitted.ids.len()).collect());
        let arguments: Vec<EmittedValue> = carried.iter().map(in_header).collect();
        let (counter, continue_loop) = match range {
            Some([from, to, step]) => (Some(Counter { from, to, step, index: leading }), self.emitter.label()),
            None => (None, leading),
        };
        let condition = match (&counter, first) {
            (Some(counter), None) => self.below(counter.index, counter.to)?,
            _ => continue_loop,
        };
        self.emitter.loop_merge(merge, next)?;
        self.emitter.branch_if(condition, inside, merge)?;

        self.emitter.begin_block(inside)?;
        let index = counter.as_ref().map(|counter| EmittedValue::new(Type::Scalar(Element::I32), vec![counter.index]));
        let given = index.into_iter().chain(arguments.iter().cloned()).collect();
        let loop_condition = first.map(|first| (continue_loop, first));
        Ok((
            Loop { header, next, merge, before, header_index, counter, loop_condition, carried: phis, arguments },
            given,
        ))
    }

    fn end_loop(
        &mut self,
        started: Loop,
        _: Vec<EmittedValue>,
        mut yielded: Vec<EmittedValue>,
    ) -> Result<Vec<EmittedValue>, CompileError> {
        self.emitter.branch(started.next)?;
        self.emitter.begin_block(started.next)?;
        let bool_type = self.emitter.element_type(Element::I1, 1);
        let mut phis = Vec::new();
        match (&started.counter, started.loop_condition) {
            (Some(counter), loop_condition) => {
                let word = self.emitter.element_type(Element::I32, 1);
                let moved = self.emitter.value(Op::IAdd, word, [counter.index, counter.step])?;
                phis.push((word, counter.index, counter.from, moved));
                if let Some((continue_loop, first)) = loop_condition {
                    // Index plus step may overflow, but the distance from the index to the bound cannot; so the step is
                    // compared with the distance.
                    let left = self.emitter.value(Op::ISub, word, [counter.to, counter.index])?;
                    phis.push((bool_type, continue_loop, first, self.below(counter.step, left)?));
                }
            }
            (None, Some((continue_loop, first))) => {
                phis.push((bool_type, continue_loop, first, yielded.remove(0).scalar()?))
            }
            (None, None) => return Err(invalid_module_error("a loop without an exit")),
        }
        self.emitter.branch(started.header)?;

        let last = yielded.iter().flat_map(|emitted| emitted.ids.iter().copied());
        phis.extend(started.carried.iter().zip(last).map(|(&(ty, id, first), last)| (ty, id, first, last)));
        let phi = |(ty, id, first, last)| {
            let incoming = phi_operands(&[(first, started.before), (last, started.next)]);
            Instruction::new(Op::Phi, Some(ty), Some(id), incoming)
        };
        self.emitter.prepend(started.header_index, phis.into_iter().map(phi).collect())?;
        self.emitter.begin_block(started.merge)?;
        Ok(started.arguments)
    }
}

impl Lowering<'_> {
    /// Emits the operations that `f` emits so that only lanes whose predicate is true execute them. The result, of type
    /// `ty`, is zero in other lanes. If `predicate` is `None`, all lanes execute them.
    pub(super) fn predicated(
        &mut self,
        predicate: Option<Value>,
        ty: Option<Type>,
        f: impl FnOnce(&mut Self) -> Result<Option<EmittedValue>, CompileError>,
    ) -> Result<Option<EmittedValue>, CompileError> {
        self.predicated_or(predicate, ty, None, f)
    }

    /// As [`Self::predicated`], but the result is `other` in lanes whose predicate is false.
    pub(super) fn predicated_or(
        &mut self,
        predicate: Option<Value>,
        ty: Option<Type>,
        other: Option<EmittedValue>,
        f: impl FnOnce(&mut Self) -> Result<Option<EmittedValue>, CompileError>,
    ) -> Result<Option<EmittedValue>, CompileError> {
        let Some(predicate) = predicate else { return f(self) };
        let condition = self.scalar(predicate, Element::I1)?;
        let before = self.emitter.block();
        let (then, merge) = (self.emitter.label(), self.emitter.label());
        self.emitter.selection_merge(merge)?;
        self.emitter.branch_if(condition, then, merge)?;
        self.emitter.begin_block(then)?;
        let emitted = f(self)?;
        let end = self.emitter.block();
        self.emitter.branch(merge)?;
        self.emitter.begin_block(merge)?;
        let (Some(ty), Some(emitted)) = (ty, emitted) else { return Ok(None) };
        let id_type = self.emitter.id_type(ty);
        let others = other.map_or_else(|| vec![self.emitter.null(id_type); emitted.ids.len()], |other| other.ids);
        let ids = emitted.ids.iter().zip(&others);
        let ids = ids.map(|(&id, &other)| self.emitter.phi(id_type, &[(id, end), (other, before)]));
        Ok(Some(EmittedValue::new(ty, ids.collect::<Result<_, _>>()?)))
    }

    fn below(&mut self, a: Word, b: Word) -> Result<Word, CompileError> {
        let bool_type = self.emitter.element_type(Element::I1, 1);
        self.emitter.value(Op::ULessThan, bool_type, [a, b])
    }
}

/// Whether the constant bound and step of a `for` loop guarantee that `index + step` does not overflow while the index
/// is below the bound.
fn is_exact([_, to, step]: &[EmittedValue; 3]) -> Result<bool, CompileError> {
    if step.constant == Some(0) {
        return Err(invalid_module_error("a loop with step zero"));
    }
    // The index is at most the bound minus one.
    let highest = |step: u64| to.constant.unwrap_or(u64::from(u32::MAX)) + step - 1;
    Ok(step.constant.is_some_and(|step| highest(step) <= u64::from(u32::MAX)))
}
