//! Emits control flow (blocks, branches and loops) as LLVM IR, on request of the plugin interface's walk over a kernel.

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionValue, IntValue, PhiValue};
use tilewright_kernel::{CollectiveScope, Element, Op, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{CodeGenerator, ValueMap};

use crate::body::{Body, Typed};
use crate::emitter::builder_error;
use crate::ffi;
use crate::thread_fields::ThreadFields;

/// The state of a loop while its body is being emitted.
pub(crate) struct Loop<'ctx> {
    /// The block before the loop, which branches to it.
    preheader: BasicBlock<'ctx>,
    /// The first block of the loop's body, the target of the loop's back edge.
    body: BasicBlock<'ctx>,
    /// The phis of the loop-carried values, at the start of the body.
    phis: Vec<PhiValue<'ctx>>,
    /// The index and its range, for a `for` loop; `None` for other loops.
    counter: Option<Counter<'ctx>>,
    /// The number of stores to global memory before the loop.
    global_stores: usize,
}

/// The start and step of a `for`, the least index that has no further iteration after it, the phi of its index, and the
/// block after the loop.
struct Counter<'ctx> {
    from: IntValue<'ctx>,
    step: IntValue<'ctx>,
    last: IntValue<'ctx>,
    index: PhiValue<'ctx>,
    exit: BasicBlock<'ctx>,
}

impl<'ctx> CodeGenerator for Body<'_, 'ctx> {
    type Value = Typed<'ctx>;
    type Block = BasicBlock<'ctx>;
    type Loop = Loop<'ctx>;

    fn values(&mut self) -> &mut ValueMap<Typed<'ctx>> {
        &mut self.values
    }

    fn set_location(&mut self, location: Option<u32>) {
        let known = location.and_then(|index| self.lines.get(index as usize).copied().flatten());
        match known {
            Some(line) => self.emit.builder.set_current_debug_location(line),
            None => self.emit.builder.unset_current_debug_location(),
        }
    }

    fn check_type(&self, ty: Type) -> Result<(), CompileError> {
        self.llvm_type(ty).map(|_| ())
    }

    fn operation(&mut self, op: &Op, results: &[(Value, Type)]) -> Result<Vec<Typed<'ctx>>, CompileError> {
        self.append(op, results)
    }

    fn assume_uniform(&mut self, value: Typed<'ctx>, scope: CollectiveScope) -> Result<Typed<'ctx>, CompileError> {
        match value.value {
            BasicValueEnum::IntValue(word)
                if scope == CollectiveScope::Warp && value.ty == Type::Scalar(Element::I32) =>
            {
                Ok(Typed::new(value.ty, self.uniform_word(word, value.thread)?.into()))
            }
            _ => Ok(value),
        }
    }

    fn branch_on(&mut self, condition: &Typed<'ctx>) -> Result<[BasicBlock<'ctx>; 3], CompileError> {
        let blocks = ["then", "else", "join"].map(|name| self.append_block(name));
        let condition = condition.value.into_int_value();
        self.emit.builder.build_conditional_branch(condition, blocks[0], blocks[1]).map_err(builder_error)?;
        Ok(blocks)
    }

    fn begin_block(&mut self, block: BasicBlock<'ctx>) -> Result<(), CompileError> {
        self.ends_with_loads = false;
        self.emit.builder.position_at_end(block);
        Ok(())
    }

    fn current_block(&self) -> Result<BasicBlock<'ctx>, CompileError> {
        self.block()
    }

    fn branch(&mut self, to: BasicBlock<'ctx>) -> Result<(), CompileError> {
        if std::mem::take(&mut self.ends_with_loads) {
            self.dialect.keep_loads_before(&self.emit)?;
        }
        self.emit.builder.build_unconditional_branch(to).map(|_| ()).map_err(builder_error)
    }

    fn phi(&mut self, ty: Type, incoming: [(&Typed<'ctx>, BasicBlock<'ctx>); 2]) -> Result<Typed<'ctx>, CompileError> {
        let phi = self.emit.builder.build_phi(self.llvm_type(ty)?, "").map_err(builder_error)?;
        phi.add_incoming(&incoming.map(|(value, block)| (&value.value as &dyn BasicValue<'ctx>, block)));
        Ok(Typed::new(ty, phi.as_basic_value()))
    }

    /// Emits the start of a loop. `range` is the start, end and step of a `for`; `None` for other loops. Returns the
    /// loop's state, and the values that the body reads: the index of a `for`, then the loop-carried values. A `for` is
    /// tested before its first iteration, and every loop after each iteration.
    fn begin_loop(
        &mut self,
        range: Option<[Typed<'ctx>; 3]>,
        carried: &[Typed<'ctx>],
    ) -> Result<(Loop<'ctx>, Vec<Typed<'ctx>>), CompileError> {
        let before = self.block()?;
        let pass = self.append_block("pass");
        self.loops.push(pass);
        let mut arguments = Vec::with_capacity(carried.len() + 1);
        let counter = match range.map(|range| range.map(|value| value.value.into_int_value())) {
            Some([from, to, step]) => {
                let exit = self.append_block("exit");
                let last =
                    self.emit.call_intrinsic("llvm.usub.sat", &[to.get_type().into()], &[to.into(), step.into()])?;
                let last = self.emit.expect_integer_result("llvm.usub.sat", last)?;
                self.branch_if(IntPredicate::ULT, from, to, [pass, exit])?;
                self.emit.builder.position_at_end(pass);
                let index = self.emit.builder.build_phi(self.emit.context.i32_type(), "").map_err(builder_error)?;
                arguments.push(Typed::new(Type::Scalar(Element::I32), index.as_basic_value()));
                Some(Counter { from, step, last, index, exit })
            }
            None => {
                self.branch(pass)?;
                self.emit.builder.position_at_end(pass);
                None
            }
        };
        let mut phis = Vec::with_capacity(carried.len());
        for value in carried {
            let phi = self.emit.builder.build_phi(self.llvm_type(value.ty)?, "").map_err(builder_error)?;
            phi.add_incoming(&[(&value.value, before)]);
            phis.push(phi);
        }
        for (value, phi) in carried.iter().zip(&phis) {
            let argument = self.dialect.carried(&self.emit, value.ty, phi.as_basic_value())?;
            arguments.push(Typed::new(value.ty, argument));
        }
        Ok((Loop { preheader: before, body: pass, phis, counter, global_stores: self.global_stores }, arguments))
    }

    /// Emits the end of a loop, and returns the loop-carried values after it. A `for` has another iteration if `index <
    /// to - step`, a test without 32-bit wrap-around.
    fn end_loop(
        &mut self,
        Loop { preheader: before, body: pass, phis, counter, global_stores }: Loop<'ctx>,
        carried: Vec<Typed<'ctx>>,
        mut yielded: Vec<Typed<'ctx>>,
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let latch = self.block()?;
        self.loops.pop();
        let exit = match &counter {
            Some(Counter { from, step, last, index, exit }) => {
                let at = index.as_basic_value().into_int_value();
                let next = self.emit.builder.build_int_add(at, *step, "").map_err(builder_error)?;
                let back_edge = self.branch_if(IntPredicate::ULT, at, *last, [pass, *exit])?;
                if !(from.is_const() && last.is_const())
                    && let Some(property) = self.dialect.loop_property(self.global_stores > global_stores)
                {
                    ffi::set_loop_property(self.emit.context, back_edge, property);
                }
                index.add_incoming(&[(from, before), (&next, latch)]);
                *exit
            }
            None => {
                let loop_condition = yielded.remove(0).value.into_int_value();
                let exit = self.append_block("exit");
                self.emit.builder.build_conditional_branch(loop_condition, pass, exit).map_err(builder_error)?;
                exit
            }
        };
        for (phi, value) in phis.iter().zip(&yielded) {
            phi.add_incoming(&[(&value.value, latch)]);
        }
        self.emit.builder.position_at_end(exit);
        if counter.is_none() {
            return Ok(yielded);
        }
        let ends = carried.iter().zip(&yielded);
        ends.map(|(first, last)| self.phi(first.ty, [(first, before), (last, latch)])).collect()
    }
}

impl<'ctx> Body<'_, 'ctx> {
    /// Emits a word that is equal in all lanes of a warp, in a form that the assembler knows to be uniform. A word that
    /// consists of fields of the thread's index is computed at the start of the kernel, since LLVM moves no assembly
    /// out of a loop with barriers.
    fn uniform_word(&self, word: IntValue<'ctx>, thread: Option<ThreadFields>) -> Result<IntValue<'ctx>, CompileError> {
        if let Some(fields) = thread {
            let emit = self.emit.at_kernel_start()?;
            if let Some(word) = self.thread_sum(&emit, fields)? {
                return self.dialect.uniform_in_warp(&emit, word);
            }
        }
        self.dialect.uniform_in_warp(&self.emit, word)
    }

    fn append_block(&self, name: &str) -> BasicBlock<'ctx> {
        self.emit.context.append_basic_block(self.function, name)
    }

    fn branch_if(
        &self,
        predicate: IntPredicate,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        [then, otherwise]: [BasicBlock<'ctx>; 2],
    ) -> Result<InstructionValue<'ctx>, CompileError> {
        let condition = self.emit.builder.build_int_compare(predicate, a, b, "").map_err(builder_error)?;
        self.emit.builder.build_conditional_branch(condition, then, otherwise).map_err(builder_error)
    }
}
