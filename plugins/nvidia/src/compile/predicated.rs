//! Emits loads and stores under a predicate as predicated PTX instructions. LLVM would branch around them, and branches
//! keep the assembler from scheduling accesses together.

use tilewright_kernel::{Element, MemorySpace, Type};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_llvm::{Emitter, PredicatedAccess};
use tilewright_plugin::CompileError;
use tilewright_target::Direction;

/// The registers that hold the value of one load or store, all of one type.
struct AccessRegisters {
    /// Vector type with one element for each register (a scalar type for one register). It has as many bits as the
    /// loaded or stored value, except that a byte takes a 32-bit register.
    registers: Type,
    /// Constraint letter of each register in LLVM inline assembly: `h` (16 bits), `r` (32) or `l` (64).
    letter: &'static str,
    /// Suffix of the PTX mnemonic `ld` or `st`: vector width and element type, such as `.v4.b32`.
    suffix: String,
}

impl AccessRegisters {
    /// Returns the registers of a load or store of a value of this type; `None` if no single instruction executes it.
    ///
    /// Loads of 16 bits extend to 32-bit registers, because the assembler sets each 16-bit register by an instruction
    /// of its own, and two 32-bit registers by one.
    fn of(ty: Type, direction: Direction) -> Option<Self> {
        let element = ty.element()?;
        let width = if element.bits() == 64 { 64 } else { ty.bits().min(32) };
        let count = ty.bits() / width;
        let (register, letter) = match width {
            64 => (Element::I64, "l"),
            32 => (Element::I32, "r"),
            16 if direction == Direction::Store => (Element::I16, "h"),
            8 | 16 => (Element::I32, "r"),
            _ => return None,
        };
        let vector = match count {
            1 => "",
            2 => ".v2",
            4 if width == 32 => ".v4",
            _ => return None,
        };
        Some(Self { registers: Type::vector_or_scalar(register, count), letter, suffix: format!("{vector}.b{width}") })
    }

    fn count(&self) -> usize {
        self.registers.element_count() as usize
    }

    /// Returns the integer type of a value of type `ty` that fills only the low bits of its register; `None` if the
    /// value fills its registers.
    fn narrow(&self, ty: Type) -> Option<Element> {
        let is_extended = self.registers == Type::Scalar(Element::I32);
        match ty.bits() {
            8 if is_extended => Some(Element::I8),
            16 if is_extended => Some(Element::I16),
            _ => None,
        }
    }

    /// Returns the registers `$first`, `$first + 1`, ... as an operand.
    fn operand(&self, first: usize) -> String {
        match self.count() {
            1 => format!("${first}"),
            count => {
                let all: Vec<_> = (first..first + count).map(|index| format!("${index}")).collect();
                format!("{{{}}}", all.join(", "))
            }
        }
    }

    /// Splits a value of type `ty` into LLVM values, one for each of these registers.
    fn split<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        value: BasicValueEnum<'ctx>,
        ty: Type,
    ) -> Result<Vec<BasicValueEnum<'ctx>>, CompileError> {
        match self.narrow(ty) {
            Some(element) => emit
                .split_to_elements(value, Type::Scalar(element))?
                .into_iter()
                .map(|one| emit.to_i32_word(one))
                .collect(),
            None => emit.split_to_elements(value, self.registers),
        }
    }

    /// Joins LLVM values, one for each of these registers, into a value of type `ty`.
    fn join<'ctx>(
        &self,
        emit: &Emitter<'_, 'ctx>,
        values: &[BasicValueEnum<'ctx>],
        ty: Type,
    ) -> Result<BasicValueEnum<'ctx>, CompileError> {
        let (Some(element), &[word]) = (self.narrow(ty), values) else {
            return emit.join_elements(values, self.registers, ty);
        };
        let all = emit.split_to_elements(word, Type::Vector(element, 32 / element.bits()))?;
        emit.join_elements(&all[..1], Type::Scalar(element), ty)
    }
}

/// The address operand of a load or store in inline assembly.
struct Address<'ctx> {
    space: &'static str,
    value: BasicValueEnum<'ctx>,
    letter: &'static str,
}

impl<'ctx> Address<'ctx> {
    /// Returns the address of an access; `None` for the shared memory of another block of the cluster.
    fn of(emit: &Emitter<'_, 'ctx>, access: &PredicatedAccess<'ctx>) -> Result<Option<Self>, CompileError> {
        Ok(match access.space {
            MemorySpace::Global => Some(Self { space: "global", value: access.pointer.into(), letter: "l" }),
            MemorySpace::Shared => {
                Some(Self { space: "shared", value: emit.shared_address(access.pointer)?.into(), letter: "r" })
            }
            MemorySpace::Cluster => None,
        })
    }
}

/// Returns the access's constant byte offset as PTX text, such as `+4`, to append to the base address; empty for zero.
fn offset(access: &PredicatedAccess<'_>) -> String {
    if access.offset == 0 { String::new() } else { format!("{:+}", access.offset) }
}

/// Emits `@p ld.SPACE {d...}, [address];`. The destination registers hold `other` before, so lanes whose predicate is
/// false get `other`. Returns `None` if no single instruction loads a value of this type.
pub(super) fn load<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    access: &PredicatedAccess<'ctx>,
    other: BasicValueEnum<'ctx>,
) -> Result<Option<BasicValueEnum<'ctx>>, CompileError> {
    let (Some(registers), Some(address)) =
        (AccessRegisters::of(access.ty, Direction::Load), Address::of(emit, access)?)
    else {
        return Ok(None);
    };
    let count = registers.count();
    let (to, space, suffix) = (registers.operand(0), address.space, &registers.suffix);
    let text = format!("@${} ld.{space}{suffix} {to}, [${count}{}];", count + 1, offset(access));
    let outs = (0..count).map(|_| format!("={}", registers.letter));
    let ties = (0..count).map(|index| index.to_string());
    let constraints: Vec<_> = outs.chain([address.letter.to_owned(), "b".to_owned()]).chain(ties).collect();
    let others = registers.split(emit, other, access.ty)?;
    let types: Vec<_> = others.iter().map(BasicValueEnum::get_type).collect();
    let operands = [vec![address.value, access.predicate.into()], others].concat();
    let loaded = emit.access_assembly(&text, &(constraints.join(",") + ",~{memory}"), &operands, &types)?;
    registers.join(emit, &loaded, access.ty).map(Some)
}

/// Emits `@p st.SPACE [address], {value...};`; returns false if no single instruction stores the value.
pub(super) fn store<'ctx>(
    emit: &Emitter<'_, 'ctx>,
    access: &PredicatedAccess<'ctx>,
    value: BasicValueEnum<'ctx>,
) -> Result<bool, CompileError> {
    let (Some(registers), Some(address)) =
        (AccessRegisters::of(access.ty, Direction::Store), Address::of(emit, access)?)
    else {
        return Ok(false);
    };
    let (space, suffix, from) = (address.space, &registers.suffix, registers.operand(2));
    let text = format!("@$1 st.{space}{suffix} [$0{}], {from};", offset(access));
    let constraints =
        format!("{},b{},~{{memory}}", address.letter, format!(",{}", registers.letter).repeat(registers.count()));
    let values = registers.split(emit, value, access.ty)?;
    let operands = [vec![address.value, access.predicate.into()], values].concat();
    emit.access_assembly(&text, &constraints, &operands, &[])?;
    Ok(true)
}
