//! Emits assertions, prints and inline assembly as LLVM instructions.

use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, InstructionOpcode};
use tilewright_kernel::{Element, SpecialRegister, Type, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::invalid_module_error;

use crate::body::{Body, Typed};
use crate::emitter::builder_error;

/// Maximum number of values in one `printf`. A GPU's `printf` takes 32 values; five of them are the block, warp and
/// lane indices.
const MOST_PRINTED: usize = 24;

impl<'ctx> Body<'_, 'ctx> {
    /// Emits an assertion: if the condition is false and the predicate is true, the kernel traps. The message is not
    /// emitted.
    pub(crate) fn assert(&self, condition: Value, predicate: Option<Value>) -> Result<(), CompileError> {
        let builder = &self.emit.builder;
        let mut holds = self.integer(condition, Element::I1)?;
        if let Some(predicate) = predicate {
            let skipped = builder.build_not(self.integer(predicate, Element::I1)?, "").map_err(builder_error)?;
            holds = builder.build_or(holds, skipped, "").map_err(builder_error)?;
        }
        let append = |name| self.emit.context.append_basic_block(self.function, name);
        let (failed, after) = (append("failed"), append("after"));
        builder.build_conditional_branch(holds, after, failed).map_err(builder_error)?;
        builder.position_at_end(failed);
        self.emit.call_intrinsic("llvm.trap", &[], &[])?;
        builder.build_unreachable().map_err(builder_error)?;
        builder.position_at_end(after);
        Ok(())
    }

    /// Emits a print by every lane: its block, and its warp and lane index or the index of the elements, then the prefix
    /// and the values.
    pub(crate) fn print(
        &mut self,
        prefix: &str,
        hex: bool,
        values: &[Value],
        index: Option<&[Value]>,
    ) -> Result<(), CompileError> {
        let mut printed = Vec::new();
        for &value in values {
            let value = self.value(value)?;
            match value.ty {
                Type::Vector(element, _) => {
                    let elements = self.emit.split_to_elements(value.value, value.ty)?;
                    printed.extend(elements.into_iter().map(|scalar| Typed::new(Type::Scalar(element), scalar)));
                }
                _ => printed.push(value),
            }
        }
        let (place, who) = self.printed_place(index)?;
        let prefix = prefix.replace('%', "%%");
        let empty: &[Typed<'ctx>] = &[];
        let chunks = printed.chunks(MOST_PRINTED).chain(printed.is_empty().then_some(empty));
        for chunk in chunks {
            let shown = chunk.iter().map(|value| self.printf_argument(*value, hex)).collect::<Result<Vec<_>, _>>()?;
            let words: Vec<&str> = shown.iter().map(|&(word, _)| word).collect();
            let format = format!("{place}{prefix}{}\n", words.join(", "));
            let given: Vec<_> = who.iter().copied().chain(shown.iter().map(|&(_, value)| value)).collect();
            self.dialect.print(&self.emit, &format, &given)?;
        }
        Ok(())
    }

    /// Returns the start of a line of print, as a `printf` format, and its arguments.
    fn printed_place(&mut self, index: Option<&[Value]>) -> Result<(String, Vec<BasicValueEnum<'ctx>>), CompileError> {
        let thread = [SpecialRegister::Warp, SpecialRegister::Lane];
        let registers = [0, 1, 2].map(SpecialRegister::Program).into_iter();
        let registers = registers.chain(thread.into_iter().filter(|_| index.is_none()));
        let mut given = registers.map(|register| Ok(self.special(register)?.value)).collect::<Result<Vec<_>, _>>()?;
        let Some(index) = index else { return Ok(("block (%u, %u, %u) warp %u lane %u: ".to_owned(), given)) };
        for &coordinate in index {
            given.push(self.value(coordinate)?.value);
        }
        Ok((format!("pid (%u, %u, %u) idx ({})", vec!["%u"; index.len()].join(", ")), given))
    }

    /// Returns the `printf` conversion specifier for a value, and the value converted to a `printf` argument.
    fn printf_argument(
        &self,
        value: Typed<'ctx>,
        hex: bool,
    ) -> Result<(&'static str, BasicValueEnum<'ctx>), CompileError> {
        let builder = &self.emit.builder;
        let context = self.emit.context;
        let cast =
            |opcode, from, to: BasicTypeEnum<'ctx>| builder.build_cast(opcode, from, to, "").map_err(builder_error);
        let (word, long) = (context.i32_type().into(), context.i64_type().into());
        let bits = value.ty.bits();
        let as_is = || self.emit.bitcast(value.value, if bits == 64 { long } else { word });
        match value.value {
            BasicValueEnum::PointerValue(pointer) => {
                let address = builder.build_ptr_to_int(pointer, context.i64_type(), "").map_err(builder_error)?;
                Ok(("0x%016llx", address.into()))
            }
            BasicValueEnum::FloatValue(_) if hex && bits == 16 => {
                let half = self.emit.bitcast(value.value, context.i16_type().into())?;
                Ok(("0x%04x", cast(InstructionOpcode::ZExt, half, word)?))
            }
            BasicValueEnum::FloatValue(_) if hex => Ok((if bits == 64 { "0x%016llx" } else { "0x%08x" }, as_is()?)),
            BasicValueEnum::FloatValue(_) if bits == 64 => Ok(("%.17g", value.value)),
            BasicValueEnum::FloatValue(_) => {
                let single = self.to_single(value)?;
                Ok(("%.9g", cast(InstructionOpcode::FPExt, single, context.f64_type().into())?))
            }
            _ if bits == 64 => Ok((if hex { "0x%016llx" } else { "%lld" }, value.value)),
            _ if bits == 32 => Ok((if hex { "0x%08x" } else { "%d" }, value.value)),
            BasicValueEnum::IntValue(_) => {
                let unsigned = hex || bits == 1;
                let opcode = if unsigned { InstructionOpcode::ZExt } else { InstructionOpcode::SExt };
                let word = if hex { ["0x%x", "0x%02x", "0x%04x"][bits as usize / 8 % 3] } else { "%d" };
                Ok((word, cast(opcode, value.value, context.i32_type().into())?))
            }
            _ => Err(invalid_module_error(format!("prints a {}", value.ty))),
        }
    }

    /// Emits inline assembly, after a check that the constraints fit the operands and results.
    pub(crate) fn assembly(
        &mut self,
        (text, constraints): (&str, &str),
        operands: &[Value],
        results: &[(Value, Type)],
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        self.dialect.check_assembly(text)?;
        check_constraints(constraints, results.len(), operands.len()).map_err(invalid_module_error)?;
        let given = operands.iter().map(|&operand| Ok(self.value(operand)?.value)).collect::<Result<Vec<_>, _>>()?;
        let types = results.iter().map(|&(_, ty)| self.llvm_type(ty)).collect::<Result<Vec<_>, _>>()?;
        let values = self.emit.ordered_assembly(text, constraints, &given, &types)?;
        Ok(results.iter().zip(values).map(|(&(_, ty), value)| Typed::new(ty, value)).collect())
    }
}

/// Returns an error unless the constraint string has one constraint for each result and operand; LLVM assumes this
/// without a check.
fn check_constraints(constraints: &str, results: usize, operands: usize) -> Result<(), String> {
    let fields: Vec<&str> = constraints.split(',').map(str::trim).filter(|field| !field.is_empty()).collect();
    let known = |field: &&str| field.chars().all(|c| c.is_ascii_alphanumeric() || "=&~{}^".contains(c));
    if let Some(strange) = fields.iter().find(|field| !known(field)) {
        return Err(format!("constraint `{strange}`; expected letters, digits, `=`, `&`, `~` and braces"));
    }
    let outputs = fields.iter().take_while(|field| field.starts_with('=')).count();
    let inputs =
        fields.iter().skip(outputs).take_while(|field| !field.starts_with('~') && !field.starts_with('=')).count();
    let clobbers = fields.iter().skip(outputs + inputs).filter(|field| field.starts_with('~')).count();
    if (outputs, inputs, outputs + inputs + clobbers) == (results, operands, fields.len()) {
        return Ok(());
    }
    Err(format!(
        "constraints `{constraints}` are of {outputs} results and {inputs} operands; there are {results} and {operands}"
    ))
}
