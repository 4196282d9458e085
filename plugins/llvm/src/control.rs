//! Regions: `if`, `for` and `while` as blocks and phis.

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValue, IntValue};
use tilewright_kernel::{Element, Op, Region, Type, Value};
use tilewright_plugin::CompileError;

use crate::emitter::refused;
use crate::translate::{Body, Typed};

/// Regions may nest this deep.
const MAX_DEPTH: usize = 64;

impl<'ctx> Body<'_, 'ctx> {
    /// Appends a region's statements at the current position and gives what it yields.
    fn region(&mut self, region: &Region, arguments: &[Typed<'ctx>]) -> Result<Vec<Typed<'ctx>>, CompileError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.invalid(format!("regions nest deeper than {MAX_DEPTH}")));
        }
        let expected: Vec<Type> = arguments.iter().map(|argument| argument.ty).collect();
        if region.arguments.iter().map(|&(_, ty)| ty).ne(expected.iter().copied()) {
            return Err(self.invalid(format!("the region must take arguments of types {}", list(&expected))));
        }
        let Some((last, statements)) = region.statements.split_last() else {
            return Err(self.invalid("a region ends with `yield`"));
        };
        let Op::Yield { values } = &last.op else { return Err(self.invalid("a region ends with `yield`")) };
        self.scoped(|body| {
            for (&(number, _), &argument) in region.arguments.iter().zip(arguments) {
                body.define(number, argument)?;
            }
            for statement in statements {
                body.statement(statement)?;
            }
            values.iter().map(|&value| body.value(value)).collect()
        })
    }

    pub(crate) fn if_else(
        &mut self,
        condition: Value,
        then: &Region,
        otherwise: &Region,
        results: &[(Value, Type)],
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let condition = self.integer(condition, Element::I1)?;
        let types: Vec<Type> = results.iter().map(|&(_, ty)| ty).collect();
        let append = |name| self.emit.context.append_basic_block(self.function, name);
        let (then_block, else_block, join) = (append("then"), append("else"), append("join"));
        self.emit.builder.build_conditional_branch(condition, then_block, else_block).map_err(refused)?;
        let mut arms = Vec::with_capacity(2);
        for (block, region) in [(then_block, then), (else_block, otherwise)] {
            self.emit.builder.position_at_end(block);
            let values = self.region(region, &[])?;
            self.expect_types(&values, &types)?;
            arms.push((values, self.block()?));
            self.emit.builder.build_unconditional_branch(join).map_err(refused)?;
        }
        self.emit.builder.position_at_end(join);
        let mut merged = Vec::with_capacity(types.len());
        for (index, &ty) in types.iter().enumerate() {
            let incoming = arms.iter().filter_map(|(values, block)| Some((*values.get(index)?, *block)));
            merged.push(self.merge(ty, &incoming.collect::<Vec<_>>())?);
        }
        Ok(merged)
    }

    /// `for`, tested before the first pass and after each: `to - index > step` says whether there is
    /// another without wrapping around at the end of 32 bits.
    pub(crate) fn for_loop(
        &mut self,
        [from, to, step]: [Value; 3],
        carried: &[Value],
        body: &Region,
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let from = self.integer(from, Element::I32)?;
        let to = self.integer(to, Element::I32)?;
        let step = self.integer(step, Element::I32)?;
        let carried = carried.iter().map(|&value| self.value(value)).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<Type> = carried.iter().map(|value| value.ty).collect();

        let guard = self.block()?;
        let pass = self.emit.context.append_basic_block(self.function, "pass");
        let exit = self.emit.context.append_basic_block(self.function, "exit");
        self.branch_if(IntPredicate::ULT, from, to, pass, exit)?;

        self.emit.builder.position_at_end(pass);
        let index_phi = self.emit.builder.build_phi(self.emit.context.i32_type(), "").map_err(refused)?;
        let index = index_phi.as_basic_value();
        let mut phis = Vec::with_capacity(carried.len());
        let mut arguments = vec![Typed { ty: Type::Scalar(Element::I32), value: index }];
        for value in &carried {
            let phi = self.emit.builder.build_phi(self.llvm_type(value.ty)?, "").map_err(refused)?;
            phi.add_incoming(&[(&value.value, guard)]);
            arguments.push(Typed { ty: value.ty, value: phi.as_basic_value() });
            phis.push(phi);
        }
        let yielded = self.region(body, &arguments)?;
        self.expect_types(&yielded, &types)?;

        let latch = self.block()?;
        let remaining = self.emit.builder.build_int_sub(to, index.into_int_value(), "").map_err(refused)?;
        let next = self.emit.builder.build_int_add(index.into_int_value(), step, "").map_err(refused)?;
        self.branch_if(IntPredicate::UGT, remaining, step, pass, exit)?;
        index_phi.add_incoming(&[(&from, guard), (&next, latch)]);
        for (phi, value) in phis.iter().zip(&yielded) {
            phi.add_incoming(&[(&value.value, latch)]);
        }

        self.emit.builder.position_at_end(exit);
        let ends = carried.iter().zip(&yielded);
        ends.map(|(&before, &after)| self.merge(before.ty, &[(before, guard), (after, latch)])).collect()
    }

    /// `while`, tested after each pass.
    pub(crate) fn while_loop(&mut self, carried: &[Value], body: &Region) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let carried = carried.iter().map(|&value| self.value(value)).collect::<Result<Vec<_>, _>>()?;
        let bit = Type::Scalar(Element::I1);
        let types: Vec<Type> = std::iter::once(bit).chain(carried.iter().map(|value| value.ty)).collect();
        let before = self.block()?;
        let pass = self.emit.context.append_basic_block(self.function, "pass");
        self.emit.builder.build_unconditional_branch(pass).map_err(refused)?;
        self.emit.builder.position_at_end(pass);
        let mut phis = Vec::with_capacity(carried.len());
        let mut arguments = Vec::with_capacity(carried.len());
        for value in &carried {
            let phi = self.emit.builder.build_phi(self.llvm_type(value.ty)?, "").map_err(refused)?;
            phi.add_incoming(&[(&value.value, before)]);
            arguments.push(Typed { ty: value.ty, value: phi.as_basic_value() });
            phis.push(phi);
        }
        let mut yielded = self.region(body, &arguments)?;
        self.expect_types(&yielded, &types)?;
        let again = yielded.remove(0).value.into_int_value();
        let latch = self.block()?;
        let exit = self.emit.context.append_basic_block(self.function, "exit");
        self.emit.builder.build_conditional_branch(again, pass, exit).map_err(refused)?;
        for (phi, value) in phis.iter().zip(&yielded) {
            phi.add_incoming(&[(&value.value, latch)]);
        }
        self.emit.builder.position_at_end(exit);
        Ok(yielded)
    }

    fn branch_if(
        &self,
        predicate: IntPredicate,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
        then: BasicBlock<'ctx>,
        otherwise: BasicBlock<'ctx>,
    ) -> Result<(), CompileError> {
        let condition = self.emit.builder.build_int_compare(predicate, a, b, "").map_err(refused)?;
        self.emit.builder.build_conditional_branch(condition, then, otherwise).map_err(refused)?;
        Ok(())
    }

    /// One value of several, by the block that control comes from.
    fn merge(&self, ty: Type, incoming: &[(Typed<'ctx>, BasicBlock<'ctx>)]) -> Result<Typed<'ctx>, CompileError> {
        let phi = self.emit.builder.build_phi(self.llvm_type(ty)?, "").map_err(refused)?;
        for (value, block) in incoming {
            phi.add_incoming(&[(&value.value as &dyn BasicValue<'ctx>, *block)]);
        }
        Ok(Typed { ty, value: phi.as_basic_value() })
    }

    fn expect_types(&self, values: &[Typed<'ctx>], types: &[Type]) -> Result<(), CompileError> {
        if values.iter().map(|value| value.ty).eq(types.iter().copied()) {
            return Ok(());
        }
        let found: Vec<Type> = values.iter().map(|value| value.ty).collect();
        Err(self.invalid(format!("a region yields {}; {} are needed", list(&found), list(types))))
    }
}

fn list(types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(ToString::to_string).collect();
    format!("({})", names.join(", "))
}
