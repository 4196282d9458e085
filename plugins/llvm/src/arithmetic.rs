//! Emits constants, arithmetic, comparisons, casts, vectors and shuffles. The modules `division` and `float` emit the
//! operations whose LLVM instructions are undefined for some operands or not exact enough.

use inkwell::IntPredicate;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, IntValue};
use tilewright_kernel::{Binary, Cast, Compare, Element, MemorySpace, SpecialRegister, Type, Unary, Value};
use tilewright_plugin::CompileError;
use tilewright_plugin::codegen::{invalid_module_error, unsupported_kernel_error};

use crate::body::{Body, Typed};
use crate::emitter::{Emitter, builder_error};
use crate::ffi;
use crate::thread_fields::ThreadFields;

/// Type of the 32-bit words that a shuffle moves between lanes; other types are bitcast to it.
const WORD: Type = Type::Scalar(Element::I32);

/// Number of products that a chain of integer additions sums before LLVM must keep a partial sum. A smaller number
/// keeps fewer registers live in dots; addresses add fewer products than this, so LLVM may still reassociate them.
const PRODUCTS_OF_PARTIAL_SUM: u32 = 8;

fn is_product(value: BasicValueEnum<'_>) -> bool {
    value.as_instruction_value().is_some_and(|instruction| instruction.get_opcode() == InstructionOpcode::Mul)
}

fn is_integer(ty: Type) -> bool {
    ty.element().is_some_and(|element| !element.is_float())
}

fn is_float(ty: Type) -> bool {
    ty.element().is_some_and(Element::is_float)
}

fn opcode(op: Binary) -> Option<InstructionOpcode> {
    Some(match op {
        Binary::Add => InstructionOpcode::Add,
        Binary::Sub => InstructionOpcode::Sub,
        Binary::Mul => InstructionOpcode::Mul,
        Binary::And => InstructionOpcode::And,
        Binary::Or => InstructionOpcode::Or,
        Binary::Xor => InstructionOpcode::Xor,
        Binary::Shl => InstructionOpcode::Shl,
        Binary::ShrU => InstructionOpcode::LShr,
        Binary::ShrS => InstructionOpcode::AShr,
        Binary::DivU => InstructionOpcode::UDiv,
        Binary::RemU => InstructionOpcode::URem,
        Binary::DivS => InstructionOpcode::SDiv,
        Binary::RemS => InstructionOpcode::SRem,
        Binary::FAdd => InstructionOpcode::FAdd,
        Binary::FSub => InstructionOpcode::FSub,
        Binary::FMul => InstructionOpcode::FMul,
        Binary::FDiv => InstructionOpcode::FDiv,
        _ => return None,
    })
}

impl<'ctx> Body<'_, 'ctx> {
    pub(crate) fn constant(&mut self, ty: Type, bits: u64) -> Result<Typed<'ctx>, CompileError> {
        let element = ty.element().ok_or_else(|| invalid_module_error("a constant is a scalar or a vector"))?;
        let width = element.bits();
        if width < 64 && bits >> width != 0 {
            return Err(invalid_module_error(format!("{bits:#x} has bits beyond the {width} of a {}", element.name())));
        }
        let required = self.llvm_type(ty)?;
        let Some(BasicTypeEnum::IntType(integer)) = self.emit.integer_type(width, 1) else {
            return Err(unsupported_kernel_error(format!("constants of type {ty}")));
        };
        let scalar = integer.const_int(bits, false);
        let integers = match ty {
            Type::Vector(_, count) => VectorType::const_vector(&vec![scalar; count as usize]).as_basic_value_enum(),
            _ => scalar.as_basic_value_enum(),
        };
        let value = self.emit.builder.build_bit_cast(integers, required, "").map_err(builder_error)?;
        Ok(Typed { constant: Some(bits), ..Typed::new(ty, value) })
    }

    /// Emits a value with arbitrary bits. LLVM's `poison` would make the conjunction of a mask with a false condition
    /// arbitrary too; with `undef` it stays false.
    pub(crate) fn unspecified(&mut self, ty: Type) -> Result<Typed<'ctx>, CompileError> {
        let value = match self.llvm_type(ty)? {
            BasicTypeEnum::IntType(integer) => integer.get_undef().as_basic_value_enum(),
            BasicTypeEnum::FloatType(float) => float.get_undef().as_basic_value_enum(),
            BasicTypeEnum::VectorType(vector) => vector.get_undef().as_basic_value_enum(),
            _ => return Err(unsupported_kernel_error(format!("unspecified values of type {ty}"))),
        };
        Ok(Typed::new(ty, value))
    }

    pub(crate) fn unary(&mut self, op: Unary, a: Value) -> Result<Typed<'ctx>, CompileError> {
        let a = self.value(a)?;
        if op.is_float() && is_float(a.ty) {
            return self.float_unary(op, a);
        }
        if op.is_float() || !is_integer(a.ty) || a.ty.element() == Some(Element::I1) {
            return Err(invalid_module_error(format!("`{}` of a {}", op.name(), a.ty)));
        }
        let ty = self.llvm_type(a.ty)?;
        let value = match op {
            // The flag `false` makes the result for zero the bit width instead of poison.
            Unary::LeadingZeros => self.intrinsic("llvm.ctlz", ty, &[a.value, self.emit.i1(false).into()])?,
            _ => self.intrinsic("llvm.ctpop", ty, &[a.value])?,
        };
        Ok(Typed::new(a.ty, value))
    }

    /// Emits a call of an LLVM intrinsic that is overloaded only by the type of its result; returns the result.
    pub(crate) fn intrinsic(
        &self,
        name: &str,
        ty: BasicTypeEnum<'ctx>,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let value = self.emit.call_intrinsic(name, &[ty], operands)?;
        value.ok_or_else(|| CompileError::Backend(format!("LLVM's intrinsic `{name}` has no result")))
    }

    pub(crate) fn binary(&mut self, op: Binary, a: Value, b: Value) -> Result<Typed<'ctx>, CompileError> {
        let (a, divisor) = (self.value(a)?, b);
        let Typed { value: b, constant, thread, .. } = self.values.get_typed(b, a.ty)?;
        let fits = if op.is_float() { is_float(a.ty) } else { is_integer(a.ty) };
        if !fits {
            let required = if op.is_float() { "floating-point values" } else { "integers" };
            return Err(invalid_module_error(format!("{op:?} works on {required}, not on a {}", a.ty)));
        }
        let mut value = match (op, opcode(op)) {
            (Binary::DivU | Binary::RemU, Some(opcode)) => self.divide(opcode, false, a, divisor)?,
            (Binary::DivS | Binary::RemS, Some(opcode)) => self.divide(opcode, true, a, divisor)?,
            (Binary::FDiv, Some(opcode)) => self.float_divide(opcode, a, b)?,
            (Binary::FAdd | Binary::FSub, Some(opcode)) => self.float_sum(opcode, a.value, b)?,
            (_, Some(opcode)) => self.emit.builder.build_binop(opcode, a.value, b, "").map_err(builder_error)?,
            (Binary::MulHighU, None) => self.multiply_high(false, a, b)?,
            (Binary::MulHighS, None) => self.multiply_high(true, a, b)?,
            (_, None) => self.float_choice(op, a, b)?,
        };
        // LLVM makes a shift by at least the bit width poison, but the kernel IR guarantees some value; `freeze`
        // provides one.
        let width = a.ty.element().map_or(0, Element::bits);
        let in_range = constant.is_some_and(|amount| amount < u64::from(width));
        if matches!(op, Binary::Shl | Binary::ShrU | Binary::ShrS) && !in_range {
            value = ffi::freeze(&self.emit.builder, value);
        }
        let mut result = Typed::new(a.ty, value);
        if op == Binary::Add && is_product(b) {
            result.products = self.keep_partial_sum(a.products + 1, value)?;
        }
        self.track_thread(op, &mut result, a.thread, (thread, constant))?;
        Ok(result)
    }

    /// Tracks the fields of the thread's index in the `result` of an operation, given those of its operands. If two
    /// fields of a sum become one, the sum is computed anew from the thread's index.
    fn track_thread(
        &self,
        op: Binary,
        result: &mut Typed<'ctx>,
        a: Option<ThreadFields>,
        (b, constant): (Option<ThreadFields>, Option<u64>),
    ) -> Result<(), CompileError> {
        let Some(a) = a else { return Ok(()) };
        if let Some(constant) = constant {
            let is_kept = result.ty == WORD || a.keeps_bits(op, constant);
            result.thread = a.apply(op, constant).filter(|_| is_kept);
            return Ok(());
        }
        if result.ty != WORD {
            return Ok(());
        }
        let Some(b) = b.filter(|_| matches!(op, Binary::Add | Binary::Or | Binary::Xor)) else { return Ok(()) };
        result.thread = a.plus(b);
        let Some(sum) = a.merged(b) else { return Ok(()) };
        if let Some(value) = self.thread_sum(&self.emit, sum)? {
            result.value = value.into();
        }
        Ok(())
    }

    /// Emits the sum of fields of the thread's index; `None` if no register has this index.
    pub(crate) fn thread_sum(
        &self,
        emit: &Emitter<'_, 'ctx>,
        sum: ThreadFields,
    ) -> Result<Option<IntValue<'ctx>>, CompileError> {
        let Some(index) = self.dialect.thread_index(emit)? else { return Ok(None) };
        let mut value = None;
        for field in sum.fields() {
            let moved = match field.shift {
                0 => index,
                1.. => emit.shift_left(index, field.shift.unsigned_abs())?,
                _ => emit.shift_right(index, field.shift.unsigned_abs())?,
            };
            let term = emit.and(moved, field.mask)?;
            value = Some(match value {
                None => term,
                Some(before) => emit.builder.build_or(before, term, "").map_err(builder_error)?,
            });
        }
        Ok(value)
    }

    /// Makes LLVM keep `sum` if it adds up [`PRODUCTS_OF_PARTIAL_SUM`] products, and returns how many products it adds
    /// up since the last kept sum.
    ///
    /// LLVM's reassociation merges a chain of additions and places all of them behind the last product. All products of
    /// a dot would be live at once: they spill, and register allocation takes most of a minute. Reassociation leaves a
    /// sum that has a second use; a fake use becomes no instruction.
    fn keep_partial_sum(&self, products: u32, sum: BasicValueEnum<'ctx>) -> Result<u32, CompileError> {
        if products < PRODUCTS_OF_PARTIAL_SUM {
            return Ok(products);
        }
        self.emit.call_intrinsic("llvm.fake.use", &[], &[sum])?;
        Ok(0)
    }

    pub(crate) fn fma(&mut self, a: Value, b: Value, c: Value) -> Result<Typed<'ctx>, CompileError> {
        let a = self.value(a)?;
        let (b, c) = (self.value_of(b, a.ty)?, self.value_of(c, a.ty)?);
        if !is_float(a.ty) || a.ty.element() == Some(Element::Bf16) {
            return Err(invalid_module_error(format!(
                "multiplies and adds floating-point values but bf16, not a {}",
                a.ty
            )));
        }
        let ty = self.llvm_type(a.ty)?;
        let value = self.emit.call_intrinsic("llvm.fma", &[ty], &[a.value, b, c])?;
        let value = value.ok_or_else(|| invalid_module_error("LLVM's `llvm.fma` has no result"))?;
        Ok(Typed::new(a.ty, value))
    }

    pub(crate) fn compare(&mut self, op: Compare, a: Value, b: Value) -> Result<Typed<'ctx>, CompileError> {
        let a = self.value(a)?;
        let b = self.value_of(b, a.ty)?;
        if op.is_float() && is_float(a.ty) {
            return self.float_compare(op, a, b);
        }
        let predicate = match op {
            Compare::Eq => IntPredicate::EQ,
            Compare::Ne => IntPredicate::NE,
            Compare::LtU => IntPredicate::ULT,
            Compare::LeU => IntPredicate::ULE,
            Compare::LtS => IntPredicate::SLT,
            Compare::LeS => IntPredicate::SLE,
            _ => return Err(invalid_module_error(format!("compares floating-point values, not a {}", a.ty))),
        };
        let builder = &self.emit.builder;
        let is_warp = a.thread.is_some() && a.thread == self.fields_of(SpecialRegister::Warp);
        let value = match (a.value, b) {
            (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                let a = if is_warp && b.is_const() { self.dialect.compared_warp(&self.emit, a)? } else { a };
                builder.build_int_compare(predicate, a, b, "").map_err(builder_error)?.into()
            }
            (BasicValueEnum::VectorValue(x), BasicValueEnum::VectorValue(y)) if is_integer(a.ty) => {
                builder.build_int_compare(predicate, x, y, "").map_err(builder_error)?.into()
            }
            _ => return Err(invalid_module_error(format!("compares integers, not a {}", a.ty))),
        };
        Ok(Typed::new(Type::vector_or_scalar(Element::I1, a.ty.element_count()), value))
    }

    pub(crate) fn select(&mut self, condition: Value, a: Value, b: Value) -> Result<Typed<'ctx>, CompileError> {
        let condition = self.integer(condition, Element::I1)?;
        let a = self.value(a)?;
        let b = self.value_of(b, a.ty)?;
        let value = self.emit.builder.build_select(condition, a.value, b, "").map_err(builder_error)?;
        Ok(Typed::new(a.ty, value))
    }

    pub(crate) fn cast(&mut self, op: Cast, a: Value, ty: Type) -> Result<Typed<'ctx>, CompileError> {
        let is_for_integer = self.extended_to_integers.contains(&a);
        let a = self.value(a)?;
        if op == Cast::Bits {
            return self.same_bits(a, ty);
        }
        let is_convertible = a.ty.element().zip(ty.element()).is_some_and(|(from, to)| op.can_convert(from, to));
        if !is_convertible || a.ty.element_count() != ty.element_count() {
            return Err(invalid_module_error(format!("{op:?} does not convert {} to {ty}", a.ty)));
        }
        if let Some(value) = self.round_integers(op, a, ty)? {
            return Ok(Typed::new(ty, value));
        }
        // LLVM selects one instruction for an extension and the conversion to an integer.
        if !is_for_integer && let Some(value) = self.extend_half_of_word(op, a, ty)? {
            return Ok(Typed::new(ty, value));
        }
        let opcode = match op {
            Cast::Truncate => InstructionOpcode::Trunc,
            Cast::ExtendU => InstructionOpcode::ZExt,
            Cast::ExtendS => InstructionOpcode::SExt,
            Cast::Bits => InstructionOpcode::BitCast,
            Cast::FloatS => InstructionOpcode::SIToFP,
            Cast::FloatU => InstructionOpcode::UIToFP,
            Cast::ExtendF => InstructionOpcode::FPExt,
            Cast::RoundF => InstructionOpcode::FPTrunc,
            Cast::IntS => InstructionOpcode::FPToSI,
            Cast::IntU => InstructionOpcode::FPToUI,
            Cast::RoundZ
            | Cast::ExtendE4m3
            | Cast::ExtendE5m2
            | Cast::ExtendFp8Fnuz
            | Cast::ExtendBf8Fnuz
            | Cast::RoundE4m3
            | Cast::RoundE5m2 => {
                let value = self.dialect.convert_bytes(&self.emit, op, (a.ty, a.value), ty)?;
                return Ok(Typed::new(ty, value));
            }
        };
        let required = self.llvm_type(ty)?;
        let to_integer = matches!(op, Cast::IntS | Cast::IntU);
        let from = if to_integer { self.to_single(a)? } else { a.value };
        let value = self.emit.builder.build_cast(opcode, from, required, "").map_err(builder_error)?;
        // LLVM makes the result poison if the number does not fit the integer type, but the kernel IR guarantees some
        // value.
        let value = if to_integer { ffi::freeze(&self.emit.builder, value) } else { value };
        let is_extended = matches!(op, Cast::ExtendU | Cast::ExtendS) && a.ty == WORD;
        let thread = a.thread.filter(|thread| is_extended && thread.is_non_negative());
        Ok(Typed { thread, ..Typed::new(ty, value) })
    }

    /// Emits a bitcast to the type `ty`, which must have as many bits. Pointers are converted through an integer.
    fn same_bits(&mut self, a: Typed<'ctx>, ty: Type) -> Result<Typed<'ctx>, CompileError> {
        let required = self.llvm_type(ty)?;
        if a.ty.bits() != ty.bits() {
            return Err(invalid_module_error(format!("a {} has {} bits, a {ty} {}", a.ty, a.ty.bits(), ty.bits())));
        }
        if a.ty == ty {
            return Ok(a);
        }
        if let (Type::Pointer(MemorySpace::Shared), Type::Scalar(Element::I32)) = (a.ty, ty)
            && let BasicValueEnum::PointerValue(pointer) = a.value
        {
            return Ok(Typed::new(ty, self.dialect.shared_address(&self.emit, pointer)?.into()));
        }
        let builder = &self.emit.builder;
        let width = self.emit.integer_type(a.ty.bits(), 1).map(BasicTypeEnum::into_int_type);
        let mut value = a.value;
        if let (BasicValueEnum::PointerValue(pointer), Some(width)) = (value, width) {
            value = builder.build_ptr_to_int(pointer, width, "").map_err(builder_error)?.into();
        }
        if let (BasicTypeEnum::PointerType(pointer), Some(width)) = (required, width) {
            let integer = builder.build_bit_cast(value, width, "").map_err(builder_error)?.into_int_value();
            value = builder.build_int_to_ptr(integer, pointer, "").map_err(builder_error)?.into();
        } else {
            value = builder.build_bit_cast(value, required, "").map_err(builder_error)?;
        }
        Ok(Typed::new(ty, value))
    }

    pub(crate) fn pack(&mut self, elements: &[Value]) -> Result<Typed<'ctx>, CompileError> {
        let first = elements.first().ok_or_else(|| invalid_module_error("packs at least two elements"))?;
        let Type::Scalar(element) = self.value(*first)?.ty else {
            return Err(invalid_module_error("packs scalars"));
        };
        let count = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        let ty = Type::Vector(element, count);
        let BasicTypeEnum::VectorType(required) = self.llvm_type(ty)? else {
            return Err(invalid_module_error(format!("no vector type {ty}")));
        };
        let scalars = elements.iter().map(|&scalar| self.value_of(scalar, Type::Scalar(element)));
        let scalars = scalars.collect::<Result<Vec<_>, _>>()?;
        if let Some(words) = self.emit.words_of(&scalars, element.bits())? {
            let value =
                self.emit.join_elements(&words, Type::vector_or_scalar(Element::I32, words.len() as u32), ty)?;
            return Ok(Typed::new(ty, value));
        }
        let mut vector = required.get_undef();
        for (index, scalar) in (0u32..).zip(scalars) {
            vector = self
                .emit
                .builder
                .build_insert_element(vector, scalar, self.emit.i32(index), "")
                .map_err(builder_error)?;
        }
        Ok(Typed::new(ty, vector.into()))
    }

    pub(crate) fn extract(&mut self, vector: Value, index: u32) -> Result<Typed<'ctx>, CompileError> {
        let vector = self.value(vector)?;
        match (vector.ty, vector.value) {
            (Type::Vector(element, count), BasicValueEnum::VectorValue(value)) if index < count => {
                let value =
                    self.emit.builder.build_extract_element(value, self.emit.i32(index), "").map_err(builder_error)?;
                Ok(Typed::new(Type::Scalar(element), value))
            }
            _ => Err(invalid_module_error(format!("a {} has no element {index}", vector.ty))),
        }
    }

    pub(crate) fn permute_bytes(
        &mut self,
        a: Value,
        b: Value,
        selector: u16,
        alternative: Option<(Value, u16)>,
    ) -> Result<Typed<'ctx>, CompileError> {
        let a = self.integer(a, Element::I32)?;
        let b = self.integer(b, Element::I32)?;
        let mut chosen = self.byte_selector(selector)?;
        if let Some((condition, other)) = alternative {
            let condition = self.integer(condition, Element::I1)?;
            chosen = self.emit.select_if_zero(condition, chosen, self.byte_selector(other)?)?;
        }
        let value = self.dialect.permute_bytes(&self.emit, a, b, chosen)?;
        Ok(Typed::new(Type::Scalar(Element::I32), value.into()))
    }

    /// Converts the selector of a kernel-IR byte permute to a constant in the dialect's form. Each hexadecimal digit of
    /// `selector` is the number (0 to 7) of the source byte of one result byte, the lowest digit first.
    fn byte_selector(&self, selector: u16) -> Result<IntValue<'ctx>, CompileError> {
        let bytes = [0, 4, 8, 12].map(|shift| (selector >> shift & 15) as u8);
        if let Some(byte) = bytes.iter().find(|&&byte| byte > 7) {
            return Err(invalid_module_error(format!("selector {selector:#06x} names byte {byte}; there are 0 to 7")));
        }
        Ok(self.emit.i32(self.dialect.byte_selector(bytes)))
    }

    pub(crate) fn shuffle(&mut self, value: Value, lane: Value) -> Result<Typed<'ctx>, CompileError> {
        let (ty, bits) = self.shuffle_operand(value)?;
        let lane = self.integer(lane, Element::I32)?;
        let received = self.dialect.shuffle(&self.emit, bits, lane)?;
        self.same_bits(Typed::new(WORD, received.as_basic_value_enum()), ty)
    }

    pub(crate) fn shuffle_xor(&mut self, value: Value, mask: u32) -> Result<Typed<'ctx>, CompileError> {
        let (ty, bits) = self.shuffle_operand(value)?;
        if mask == 0 || mask >= self.emit.launch().lanes {
            return Err(invalid_module_error(format!("shuffles words of lanes that differ by {mask}")));
        }
        let received = self.dialect.shuffle_xor(&self.emit, bits, mask)?;
        self.same_bits(Typed::new(WORD, received.as_basic_value_enum()), ty)
    }

    pub(crate) fn swap(&mut self, a: Value, b: Value, lane: u32) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let (ty, a) = self.shuffle_operand(a)?;
        let (other, b) = self.shuffle_operand(b)?;
        if ty != other || !lane.is_power_of_two() || lane >= self.emit.launch().lanes {
            return Err(invalid_module_error(format!("swaps a {ty} and a {other} of lanes that differ by {lane}")));
        }
        let traded = self.dialect.swap(&self.emit, a, b, lane)?;
        traded.into_iter().map(|word| self.same_bits(Typed::new(WORD, word.into()), ty)).collect()
    }

    /// Returns the type of a 32-bit scalar in the kernel IR, and its bits as an LLVM integer; an error for other
    /// values.
    fn shuffle_operand(&mut self, value: Value) -> Result<(Type, IntValue<'ctx>), CompileError> {
        let offered = self.value(value)?;
        if !matches!(offered.ty, Type::Scalar(_)) || offered.ty.bits() != 32 {
            return Err(invalid_module_error(format!("shuffles 32-bit scalars, not a {}", offered.ty)));
        }
        match self.same_bits(offered, WORD)?.value {
            BasicValueEnum::IntValue(bits) => Ok((offered.ty, bits)),
            _ => Err(invalid_module_error("shuffles 32-bit scalars")),
        }
    }
}
