//! Checks the types of operands and results of the instructions in functions.

use std::collections::HashMap;

use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{MemoryAccess, MemorySemantics, Op, Scope, StorageClass, Word};

use super::globals::{Globals, Kind, Numbers, Ty};
use super::{Fault, id, literal, require, result, result_type};

/// The extended instructions of OpenCL that the plugin emits: opcode, number of operands, and kind of the operands.
const EXTENDED: [(Word, usize, Kind); 16] = [
    (12, 1, Kind::Float),
    (20, 1, Kind::Float),
    (23, 1, Kind::Float),
    (25, 1, Kind::Float),
    (26, 3, Kind::Float),
    (27, 2, Kind::Float),
    (28, 2, Kind::Float),
    (38, 1, Kind::Float),
    (53, 1, Kind::Float),
    (56, 1, Kind::Float),
    (61, 1, Kind::Float),
    (66, 1, Kind::Float),
    (151, 1, Kind::Int),
    (160, 2, Kind::Int),
    (166, 1, Kind::Int),
    (203, 2, Kind::Int),
];

/// The types of all values that a function can use.
pub(super) struct Values<'a> {
    globals: &'a Globals,
    /// Types of the function's parameters and results of instructions, by id.
    local: HashMap<Word, Word>,
}

/// Checks every instruction of a function except control flow.
pub(super) fn check<'a>(globals: &'a Globals, function: &Function) -> Result<Values<'a>, Fault> {
    let mut values = Values { globals, local: HashMap::new() };
    for instruction in function.all_inst_iter() {
        if let (Some(result), Some(ty)) = (instruction.result_id, instruction.result_type) {
            values.local.insert(result, ty);
        }
    }
    values.check_signature(function)?;
    for (number, block) in function.blocks.iter().enumerate() {
        let is_variable = |instruction: &&Instruction| instruction.class.opcode == Op::Variable;
        let leading = block.instructions.iter().take_while(is_variable).count();
        for (index, instruction) in block.instructions.iter().enumerate() {
            let placed = !is_variable(&instruction) || number == 0 && index < leading;
            require(placed, instruction, "a function's variables come first in its first block")?;
            values.check_instruction(instruction)?;
        }
    }
    Ok(values)
}

impl Values<'_> {
    /// Returns the type of a value.
    pub(super) fn type_of(&self, value: Word) -> Option<Word> {
        self.local.get(&value).or_else(|| self.globals.value_types.get(&value)).copied()
    }

    /// Returns the type of operand `index`, which must be a value.
    fn operand(&self, instruction: &Instruction, index: usize) -> Result<Word, Fault> {
        let ty = self.type_of(id(instruction, index)?);
        ty.ok_or_else(|| Fault::of(instruction, format!("operand {index} is not a value")))
    }

    /// Returns the properties of the type of operand `index`, which must be a scalar or vector.
    fn operand_numbers(&self, instruction: &Instruction, index: usize) -> Result<Numbers, Fault> {
        self.numbers(instruction, self.operand(instruction, index)?)
    }

    fn numbers(&self, instruction: &Instruction, ty: Word) -> Result<Numbers, Fault> {
        let numbers = self.globals.numbers(ty);
        numbers.ok_or_else(|| Fault::of(instruction, format!("%{ty} is not a type of scalars or vectors")))
    }

    fn check_signature(&self, function: &Function) -> Result<(), Fault> {
        let definition = function.def.as_ref().ok_or_else(|| Fault::module("a function has no OpFunction"))?;
        let Some(Ty::Function(returned, parameters)) = self.globals.ty(id(definition, 1)?) else {
            return Err(Fault::of(definition, "the function's type is none of functions"));
        };
        require(result_type(definition)? == *returned, definition, "the result type is not the function type's")?;
        let given = function.parameters.iter().map(result_type).collect::<Result<Vec<_>, _>>()?;
        require(given == *parameters, definition, "the parameters are not the function type's")
    }

    fn check_instruction(&self, instruction: &Instruction) -> Result<(), Fault> {
        use Op as O;
        match instruction.class.opcode {
            O::IAdd
            | O::ISub
            | O::IMul
            | O::UDiv
            | O::UMod
            | O::SDiv
            | O::SRem
            | O::BitwiseAnd
            | O::BitwiseOr
            | O::BitwiseXor => self.uniform(instruction, Kind::Int, 2),
            O::FAdd | O::FSub | O::FMul | O::FDiv => self.uniform(instruction, Kind::Float, 2),
            O::ExtInst => self.extended(instruction),
            O::FNegate => self.uniform(instruction, Kind::Float, 1),
            O::LogicalAnd | O::LogicalOr => self.uniform(instruction, Kind::Bool, 2),
            O::ShiftLeftLogical | O::ShiftRightLogical | O::ShiftRightArithmetic => self.shift(instruction),
            O::IEqual
            | O::INotEqual
            | O::ULessThan
            | O::ULessThanEqual
            | O::UGreaterThan
            | O::SLessThan
            | O::SLessThanEqual => self.comparison(instruction, Kind::Int),
            O::FOrdEqual | O::FOrdLessThan | O::FOrdLessThanEqual | O::Unordered => {
                self.comparison(instruction, Kind::Float)
            }
            O::Select => self.select(instruction),
            O::UConvert | O::SConvert => self.resize(instruction),
            O::ConvertSToF | O::ConvertUToF => self.convert(instruction, Kind::Int),
            O::FConvert => self.convert(instruction, Kind::Float),
            O::ConvertFToS | O::ConvertFToU => self.float_to_integer(instruction),
            O::Bitcast | O::ConvertPtrToU | O::ConvertUToPtr => self.reinterpret(instruction),
            O::CompositeExtract | O::CompositeConstruct | O::VectorShuffle => self.composite(instruction),
            O::PtrAccessChain | O::AccessChain => self.chain(instruction),
            O::Load | O::Store => self.access(instruction),
            O::AtomicLoad
            | O::AtomicIAdd
            | O::AtomicSMin
            | O::AtomicSMax
            | O::AtomicUMin
            | O::AtomicUMax
            | O::AtomicAnd
            | O::AtomicOr
            | O::AtomicXor
            | O::AtomicExchange
            | O::AtomicCompareExchange => self.atomic(instruction),
            O::MemoryBarrier => self.ordering(instruction, 0, &[1]),
            O::GroupNonUniformShuffle | O::GroupNonUniformShuffleXor | O::ControlBarrier => {
                self.collective(instruction)
            }
            O::ReadClockKHR => self.clock(instruction),
            O::FunctionCall => self.call(instruction),
            O::Variable => self.variable(instruction),
            // Checked in `control`.
            O::Phi | O::Branch | O::BranchConditional | O::SelectionMerge | O::LoopMerge | O::Return => Ok(()),
            _ => Err(Fault::of(instruction, "this instruction is not one that kernels use")),
        }
    }

    /// Checks that all operands have the result's type, and that this type is of the given kind.
    fn uniform(&self, instruction: &Instruction, kind: Kind, operands: usize) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        require(self.numbers(instruction, ty)?.kind == kind, instruction, "the result is of the wrong kind")?;
        for index in 0..operands {
            let same = self.operand(instruction, index)? == ty;
            require(same, instruction, "the operands are of the result's type")?;
        }
        Ok(())
    }

    /// Checks that an extended instruction is known, with operands of the result's type.
    fn extended(&self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        require(Some(id(instruction, 0)?) == self.globals.extended, instruction, "the set is OpenCL's")?;
        let known = EXTENDED
            .iter()
            .find(|&&(number, ..)| instruction.operands.get(1) == Some(&Operand::LiteralExtInstInteger(number)));
        let Some(&(_, count, kind)) = known else {
            return Err(Fault::of(instruction, "it is not an extended instruction that kernels use"));
        };
        require(self.numbers(instruction, ty)?.kind == kind, instruction, "the result is of the wrong kind")?;
        require(instruction.operands.len() == count + 2, instruction, "it has as many operands as it takes")?;
        for index in 2..count + 2 {
            let same = self.operand(instruction, index)? == ty;
            require(same, instruction, "the operands are of the result's type")?;
        }
        Ok(())
    }

    /// Checks a cast from floating point to integer.
    fn float_to_integer(&self, instruction: &Instruction) -> Result<(), Fault> {
        let to = self.numbers(instruction, result_type(instruction)?)?;
        let from = self.operand_numbers(instruction, 0)?;
        require(
            to.kind == Kind::Int && from.kind == Kind::Float,
            instruction,
            "floating-point numbers become integers",
        )?;
        require(to.count == from.count, instruction, "there are as many results as operands")
    }

    /// Checks an atomic operation: a pointer to an integer, a scope, one or two memory semantics, and values of the
    /// result's type.
    fn atomic(&self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        let numbers = self.numbers(instruction, ty)?;
        let integer = numbers.kind == Kind::Int && numbers.count == 1 && numbers.bits >= 32;
        require(integer, instruction, "atomic operations are of integers of 32 or 64 bits")?;
        let (class, pointee) = self.pointer(instruction, 0)?;
        let memory = matches!(class, StorageClass::CrossWorkgroup | StorageClass::Workgroup);
        require(memory && pointee == ty, instruction, "the pointer is to the result's type in memory")?;
        let (orders, values): (&[usize], usize) = match instruction.class.opcode {
            Op::AtomicLoad => (&[2], 0),
            Op::AtomicCompareExchange => (&[2, 3], 2),
            _ => (&[2], 1),
        };
        self.ordering(instruction, 1, orders)?;
        let first = 2 + orders.len();
        require(instruction.operands.len() == first + values, instruction, "it has as many operands as it takes")?;
        for index in first..first + values {
            require(self.operand(instruction, index)? == ty, instruction, "the values are of the result's type")?;
        }
        Ok(())
    }

    /// Checks that the scope and memory semantics are constants, with at most one memory order, for global and shared
    /// memory.
    fn ordering(&self, instruction: &Instruction, scope: usize, orders: &[usize]) -> Result<(), Fault> {
        let constant = |index| id(instruction, index).map(|id| self.globals.constant(id));
        let scopes = [Scope::CrossDevice, Scope::Device, Scope::Workgroup].map(|scope| u64::from(scope as u32));
        let known = constant(scope)?.is_some_and(|found| scopes.contains(&found));
        require(known, instruction, "the scope is the system, the device or a work-group")?;
        let memories = MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::CROSS_WORKGROUP_MEMORY;
        let orderings = [MemorySemantics::ACQUIRE, MemorySemantics::RELEASE, MemorySemantics::ACQUIRE_RELEASE];
        for &index in orders {
            let found = constant(index)?;
            let ordered = orderings.iter().any(|&ordering| found == Some(u64::from((ordering | memories).bits())));
            let relaxed = found == Some(0) && instruction.class.opcode != Op::MemoryBarrier;
            require(ordered || relaxed, instruction, "the order is one way or both, of both memories")?;
        }
        Ok(())
    }

    fn shift(&self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        let (numbers, distance) = (self.numbers(instruction, ty)?, self.operand_numbers(instruction, 1)?);
        let integers = numbers.kind == Kind::Int && distance.kind == Kind::Int;
        require(integers && numbers.count == distance.count, instruction, "integers are shifted by as many integers")?;
        require(self.operand(instruction, 0)? == ty, instruction, "what is shifted is of the result's type")
    }

    fn comparison(&self, instruction: &Instruction, kind: Kind) -> Result<(), Fault> {
        let numbers = self.numbers(instruction, result_type(instruction)?)?;
        let operands = self.operand_numbers(instruction, 0)?;
        require(numbers.kind == Kind::Bool, instruction, "comparisons give booleans")?;
        require(operands.kind == kind, instruction, "numbers of its kind are compared")?;
        require(operands.count == numbers.count, instruction, "there are as many results as operands")?;
        let same = self.operand(instruction, 0)? == self.operand(instruction, 1)?;
        require(same, instruction, "what is compared is of one type")
    }

    fn select(&self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        let count = match self.globals.ty(ty) {
            Some(Ty::Pointer(..)) => 1,
            _ => self.numbers(instruction, ty)?.count,
        };
        let condition = self.operand_numbers(instruction, 0)?;
        let fits = condition.kind == Kind::Bool && condition.count == count;
        require(fits, instruction, "the condition is one boolean for each element")?;
        for index in [1, 2] {
            let same = self.operand(instruction, index)? == ty;
            require(same, instruction, "what is selected is of the result's type")?;
        }
        Ok(())
    }

    fn resize(&self, instruction: &Instruction) -> Result<(), Fault> {
        let to = self.numbers(instruction, result_type(instruction)?)?;
        let from = self.operand_numbers(instruction, 0)?;
        require(to.kind == Kind::Int && from.kind == Kind::Int, instruction, "integers are resized")?;
        require(to.count == from.count, instruction, "there are as many results as operands")?;
        require(to.bits != from.bits, instruction, "the width changes")
    }

    /// Checks a cast from numbers of one kind to floating point; floating-point operands must change their width.
    fn convert(&self, instruction: &Instruction, kind: Kind) -> Result<(), Fault> {
        let to = self.numbers(instruction, result_type(instruction)?)?;
        let from = self.operand_numbers(instruction, 0)?;
        require(to.kind == Kind::Float && from.kind == kind, instruction, "numbers become floating-point ones")?;
        require(to.count == from.count, instruction, "there are as many results as operands")?;
        require(kind != Kind::Float || to.bits != from.bits, instruction, "the width changes")
    }

    fn reinterpret(&self, instruction: &Instruction) -> Result<(), Fault> {
        let (to, from) = (result_type(instruction)?, self.operand(instruction, 0)?);
        let pointer = |ty| match self.globals.ty(ty) {
            Some(&Ty::Pointer(class, _)) => Some(class),
            _ => None,
        };
        let (to_class, from_class) = (pointer(to), pointer(from));
        let address = |ty| self.globals.numbers(ty) == Some(Numbers { kind: Kind::Int, bits: 64, count: 1 });
        match instruction.class.opcode {
            Op::ConvertPtrToU => {
                require(from_class.is_some() && address(to), instruction, "a pointer becomes a 64-bit integer")
            }
            Op::ConvertUToPtr => {
                require(to_class.is_some() && address(from), instruction, "a 64-bit integer becomes a pointer")
            }
            _ if to_class.is_some() || from_class.is_some() => {
                require(to_class == from_class, instruction, "the storage class of a pointer stays")?;
                require(to != from, instruction, "the type changes")
            }
            _ => {
                let (to_numbers, from_numbers) = (self.numbers(instruction, to)?, self.numbers(instruction, from)?);
                let sized = to_numbers.kind != Kind::Bool && from_numbers.kind != Kind::Bool;
                let same = to_numbers.bits * to_numbers.count == from_numbers.bits * from_numbers.count;
                require(sized && same, instruction, "numbers of as many bits are cast")?;
                require(to != from, instruction, "the type changes")
            }
        }
    }

    fn composite(&self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        match instruction.class.opcode {
            Op::CompositeExtract => {
                let (vector, index) = (self.operand(instruction, 0)?, literal(instruction, 1)?);
                require(instruction.operands.len() == 2, instruction, "one index is given")?;
                let Some(&Ty::Vector(element, count)) = self.globals.ty(vector) else {
                    return Err(Fault::of(instruction, "elements are extracted from vectors"));
                };
                require(element == ty, instruction, "the result is of the element type")?;
                require(index < count, instruction, "the vector has no such element")
            }
            Op::VectorShuffle => self.shuffle(instruction, ty),
            _ => self.construct(instruction, ty),
        }
    }

    fn shuffle(&self, instruction: &Instruction, ty: Word) -> Result<(), Fault> {
        let mut elements = 0;
        let Some(&Ty::Vector(element, count)) = self.globals.ty(ty) else {
            return Err(Fault::of(instruction, "shuffles give vectors"));
        };
        for index in 0..2 {
            match self.globals.ty(self.operand(instruction, index)?) {
                Some(&Ty::Vector(known, count)) if known == element => elements += count,
                _ => return Err(Fault::of(instruction, "vectors of the result's elements are shuffled")),
            }
        }
        require(instruction.operands.len() == count as usize + 2, instruction, "each element has an index")?;
        for index in 2..instruction.operands.len() {
            require(literal(instruction, index)? < elements, instruction, "there is no such element")?;
        }
        Ok(())
    }

    fn construct(&self, instruction: &Instruction, ty: Word) -> Result<(), Fault> {
        let Some(&Ty::Vector(element, count)) = self.globals.ty(ty) else {
            return Err(Fault::of(instruction, "vectors are constructed"));
        };
        require(instruction.operands.len() == count as usize, instruction, "a vector has as many parts as elements")?;
        for index in 0..instruction.operands.len() {
            let same = self.operand(instruction, index)? == element;
            require(same, instruction, "the parts of a vector are of its element type")?;
        }
        Ok(())
    }

    /// Returns the storage class and the pointee type of operand `index`, which must be a pointer.
    fn pointer(&self, instruction: &Instruction, index: usize) -> Result<(StorageClass, Word), Fault> {
        match self.globals.ty(self.operand(instruction, index)?) {
            Some(&Ty::Pointer(class, pointee)) => Ok((class, pointee)),
            _ => Err(Fault::of(instruction, format!("operand {index} is not a pointer"))),
        }
    }

    fn chain(&self, instruction: &Instruction) -> Result<(), Fault> {
        let (class, pointee) = self.pointer(instruction, 0)?;
        let index = self.operand_numbers(instruction, 1)?;
        let one = index.kind == Kind::Int && index.count == 1 && instruction.operands.len() == 2;
        require(one, instruction, "one integer is the index")?;
        let pointee_type = match (instruction.class.opcode, self.globals.ty(pointee)) {
            (Op::PtrAccessChain, _) => pointee,
            (_, Some(&Ty::Array(element, _))) => element,
            _ => return Err(Fault::of(instruction, "arrays are indexed")),
        };
        let expected = Ty::Pointer(class, pointee_type);
        let ty = self.globals.ty(result_type(instruction)?);
        require(ty == Some(&expected), instruction, "the result points to what is indexed, in the same storage class")
    }

    fn access(&self, instruction: &Instruction) -> Result<(), Fault> {
        let (class, pointee) = self.pointer(instruction, 0)?;
        let numbers = self.numbers(instruction, pointee)?;
        let store = instruction.class.opcode == Op::Store;
        let ty = if store { self.operand(instruction, 1)? } else { result_type(instruction)? };
        require(ty == pointee, instruction, "the value is of the type pointed to")?;
        let how = instruction.operands.get(if store { 2 } else { 1 }..).unwrap_or_default();
        match (class, how) {
            (StorageClass::Input, []) => require(!store, instruction, "inputs are only read"),
            (_, [Operand::MemoryAccess(MemoryAccess::ALIGNED), Operand::LiteralBit32(alignment)]) => {
                let enough = alignment.is_power_of_two() && *alignment >= numbers.bits / 8;
                require(enough, instruction, "the alignment is a power of two, the width of an element at least")
            }
            _ => Err(Fault::of(instruction, "accesses to memory say their alignment")),
        }
    }

    /// Checks the declaration of a work item's private array.
    fn variable(&self, instruction: &Instruction) -> Result<(), Fault> {
        let own = instruction.operands == [Operand::StorageClass(StorageClass::Function)];
        let pointee = match self.globals.ty(result_type(instruction)?) {
            Some(&Ty::Pointer(StorageClass::Function, pointee)) => self.globals.ty(pointee),
            _ => None,
        };
        let is_array = matches!(pointee, Some(Ty::Array(..)));
        require(own && is_array, instruction, "variables of functions are arrays of their own, without initial value")
    }

    /// Checks that the operands and the result of a call have the types of the function's type.
    fn call(&self, instruction: &Instruction) -> Result<(), Fault> {
        let function = self.globals.functions.get(&id(instruction, 0)?).and_then(|&ty| self.globals.ty(ty));
        let Some(Ty::Function(result, parameters)) = function else {
            return Err(Fault::of(instruction, "functions are called"));
        };
        let count = instruction.operands.len();
        let given = (1..count).map(|index| self.operand(instruction, index)).collect::<Result<Vec<_>, _>>()?;
        require(given == *parameters, instruction, "the operands are of the function's types")?;
        require(result_type(instruction)? == *result, instruction, "the result is of the function's type")
    }

    /// Checks a read of a clock: SPV_KHR_shader_clock has the scopes device and subgroup, and results of 64 bits.
    fn clock(&self, instruction: &Instruction) -> Result<(), Fault> {
        let scope = self.globals.constant(id(instruction, 0)?);
        let is_scope = [Scope::Device, Scope::Subgroup].iter().any(|&known| scope == Some(u64::from(known as u32)));
        require(is_scope, instruction, "the scope is the device or the sub-group")?;
        let result = self.numbers(instruction, result_type(instruction)?)?;
        let wide = Numbers { kind: Kind::Int, bits: 64, count: 1 };
        require(result == wide, instruction, "a clock is a 64-bit integer")
    }

    fn collective(&self, instruction: &Instruction) -> Result<(), Fault> {
        let constant = |index| id(instruction, index).map(|id| self.globals.constant(id));
        let is = |value: Option<u64>, scope: Scope| value == Some(u64::from(scope as u32));
        if matches!(instruction.class.opcode, Op::GroupNonUniformShuffle | Op::GroupNonUniformShuffleXor) {
            require(is(constant(0)?, Scope::Subgroup), instruction, "exchanges are within sub-groups")?;
            let (ty, lane) = (result_type(instruction)?, self.operand_numbers(instruction, 2)?);
            let scalar = self.numbers(instruction, ty)?.count == 1;
            require(
                scalar && self.operand(instruction, 1)? == ty,
                instruction,
                "a scalar of the result's type is given",
            )?;
            let index = Numbers { kind: Kind::Int, bits: 32, count: 1 };
            return require(lane == index, instruction, "the lane, or how lanes differ, is a 32-bit integer");
        }
        let (execution, memory) = (constant(0)?, constant(1)?);
        let known = is(execution, Scope::Subgroup) || is(execution, Scope::Workgroup);
        require(known && memory == execution, instruction, "barriers are of sub-groups or work-groups")?;
        let semantics = MemorySemantics::WORKGROUP_MEMORY | MemorySemantics::ACQUIRE_RELEASE;
        let expected = Some(u64::from(semantics.bits()));
        require(constant(2)? == expected, instruction, "barriers order shared memory, both ways")
    }

    /// Checks the types of a phi's values.
    pub(super) fn check_phi(&self, phi: &Instruction) -> Result<(), Fault> {
        let ty = result_type(phi)?;
        result(phi)?;
        let numbers = self.globals.numbers(ty).is_some();
        let data = numbers || matches!(self.globals.ty(ty), Some(Ty::Pointer(..)));
        require(data, phi, "numbers, vectors and pointers are merged")?;
        for index in (0..phi.operands.len()).step_by(2) {
            require(self.operand(phi, index)? == ty, phi, "all values are of the result's type")?;
        }
        Ok(())
    }

    /// Whether a value is a scalar boolean.
    pub(super) fn is_boolean(&self, value: Word) -> bool {
        self.type_of(value).is_some_and(|ty| self.globals.ty(ty) == Some(&Ty::Bool))
    }
}
