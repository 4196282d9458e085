//! Checks and records the global part of a module: types, constants, global variables and decorations.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Function, Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, LinkageType, Op, StorageClass, Word};

use super::{Fault, id, literal, require, result, result_type};

/// A type that a module declares; types inside of it are ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ty {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    /// A vector: element type, number of elements.
    Vector(Word, u32),
    /// An array: element type, number of elements.
    Array(Word, u64),
    /// A pointer: storage class, pointee type.
    Pointer(StorageClass, Word),
    /// A function: result type, parameter types.
    Function(Word, Vec<Word>),
}

/// The kind of a scalar, or of a vector's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Float,
}

/// The properties of a scalar or vector type: kind, bits of an element (none for booleans), number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub kind: Kind,
    pub bits: u32,
    pub count: u32,
}

/// The recorded global part of a module: types, constants, variables and functions.
#[derive(Debug, Default)]
pub(super) struct Globals {
    types: HashMap<Word, Ty>,
    /// Types of constants and global variables, by id.
    pub value_types: HashMap<Word, Word>,
    /// Values of scalar constants, by id.
    constants: HashMap<Word, u64>,
    /// Functions by id, with their types.
    pub functions: HashMap<Word, Word>,
    /// The storage class of each global variable, by id.
    pub variables: HashMap<Word, StorageClass>,
    /// The built-in input of each input variable, by id.
    inputs: HashMap<Word, BuiltIn>,
    /// Ids of imported functions.
    imports: HashSet<Word>,
    /// Id of OpenCL's extended instruction set, if the module imports it.
    pub extended: Option<Word>,
}

impl Globals {
    /// Checks the global part of a module and records it.
    pub(super) fn check(module: &Module) -> Result<Self, Fault> {
        let mut globals = Self::default();
        for import in &module.ext_inst_imports {
            let is_opencl = import.operands == [Operand::LiteralString("OpenCL.std".to_owned())];
            require(is_opencl && globals.extended.is_none(), import, "OpenCL's set is imported once, and no other")?;
            globals.extended = Some(result(import)?);
        }
        let mut defined = HashSet::new();
        let mut declared = HashSet::new();
        for instruction in &module.types_global_values {
            let operands = instruction.operands.iter().filter_map(Operand::id_ref_any);
            for id in instruction.result_type.into_iter().chain(operands) {
                if !defined.contains(&id) {
                    return Err(Fault::of(instruction, format!("%{id} is used before it is defined")));
                }
            }
            globals.add(instruction)?;
            if instruction.class.opcode.is_type() && instruction.class.opcode != Op::TypeArray {
                let same = (instruction.class.opcode, instruction.operands.clone());
                require(declared.insert(same), instruction, "the type is declared twice")?;
            }
            defined.insert(result(instruction)?);
        }
        for function in &module.functions {
            let definition = function.def.as_ref().ok_or_else(|| Fault::module("a function has no OpFunction"))?;
            globals.functions.insert(result(definition)?, id(definition, 1)?);
        }
        globals.check_decorations(module)?;
        Ok(globals)
    }

    fn add(&mut self, instruction: &Instruction) -> Result<(), Fault> {
        if instruction.class.opcode.is_type() {
            let ty = self.declare(instruction)?;
            self.types.insert(result(instruction)?, ty);
            return Ok(());
        }
        match instruction.class.opcode {
            Op::Variable => self.add_variable(instruction)?,
            _ => self.add_constant(instruction)?,
        }
        self.value_types.insert(result(instruction)?, result_type(instruction)?);
        Ok(())
    }

    fn declare(&self, instruction: &Instruction) -> Result<Ty, Fault> {
        match instruction.class.opcode {
            Op::TypeVoid => Ok(Ty::Void),
            Op::TypeBool => Ok(Ty::Bool),
            Op::TypeInt => {
                require(literal(instruction, 1)? == 0, instruction, "integers of kernels have no sign")?;
                Ok(Ty::Int(literal(instruction, 0)?))
            }
            Op::TypeFloat => {
                require(instruction.operands.len() == 1, instruction, "only IEEE formats are used")?;
                Ok(Ty::Float(literal(instruction, 0)?))
            }
            Op::TypeVector => {
                let element = id(instruction, 0)?;
                let scalar = self.numbers(element).is_some_and(|numbers| numbers.count == 1);
                require(scalar, instruction, "elements of vectors are scalars")?;
                Ok(Ty::Vector(element, literal(instruction, 1)?))
            }
            Op::TypeArray => {
                let element = id(instruction, 0)?;
                require(self.numbers(element).is_some(), instruction, "elements of arrays are scalars or vectors")?;
                let length = self.constants.get(&id(instruction, 1)?).copied().unwrap_or(0);
                require(length > 0, instruction, "the length of an array is a constant above zero")?;
                Ok(Ty::Array(element, length))
            }
            Op::TypePointer => self.declare_pointer(instruction),
            Op::TypeFunction => self.declare_function(instruction),
            _ => Err(Fault::of(instruction, "this type is not one that kernels use")),
        }
    }

    fn declare_pointer(&self, instruction: &Instruction) -> Result<Ty, Fault> {
        let Some(&Operand::StorageClass(class)) = instruction.operands.first() else {
            return Err(Fault::of(instruction, "has no storage class"));
        };
        let pointee = id(instruction, 1)?;
        let used = [StorageClass::CrossWorkgroup, StorageClass::Workgroup, StorageClass::Input, StorageClass::Function];
        require(used.contains(&class), instruction, "kernels do not use this storage class")?;
        let data = matches!(self.types.get(&pointee), Some(Ty::Int(_) | Ty::Float(_) | Ty::Vector(..) | Ty::Array(..)));
        require(data, instruction, "pointers are to numbers, vectors or arrays of them")?;
        require(!self.holds_booleans(pointee), instruction, "booleans have no form in memory")?;
        Ok(Ty::Pointer(class, pointee))
    }

    fn declare_function(&self, instruction: &Instruction) -> Result<Ty, Fault> {
        let ids = (0..instruction.operands.len()).map(|index| id(instruction, index)).collect::<Result<Vec<_>, _>>()?;
        let Some((&returned, parameters)) = ids.split_first() else {
            return Err(Fault::of(instruction, "has no result type"));
        };
        let types = parameters.iter().map(|id| self.types.get(id));
        let passed = types.into_iter().all(|ty| {
            matches!(
                ty,
                Some(
                    Ty::Int(_)
                        | Ty::Float(_)
                        | Ty::Vector(..)
                        | Ty::Pointer(StorageClass::CrossWorkgroup | StorageClass::Function, _)
                )
            )
        });
        require(passed, instruction, "functions take numbers and pointers to global memory or arrays of their own")?;
        let given = matches!(self.types.get(&returned), Some(Ty::Void | Ty::Int(_) | Ty::Float(_) | Ty::Vector(..)));
        require(given, instruction, "functions return nothing or numbers")?;
        Ok(Ty::Function(returned, parameters.to_vec()))
    }

    fn add_variable(&mut self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = self.types.get(&result_type(instruction)?);
        match (ty, instruction.operands.as_slice()) {
            (Some(&Ty::Pointer(class, _)), &[Operand::StorageClass(declared)]) => {
                require(class == declared, instruction, "the storage class is not that of the pointer")?;
                let global = [StorageClass::Workgroup, StorageClass::Input].contains(&class);
                require(global, instruction, "global variables are shared memory or inputs")?;
                self.variables.insert(result(instruction)?, class);
                Ok(())
            }
            _ => Err(Fault::of(instruction, "a variable is a pointer of a storage class, without initial value")),
        }
    }

    fn add_constant(&mut self, instruction: &Instruction) -> Result<(), Fault> {
        let ty = result_type(instruction)?;
        let numbers = self.numbers(ty);
        match instruction.class.opcode {
            Op::ConstantTrue | Op::ConstantFalse => {
                let boolean = self.types.get(&ty) == Some(&Ty::Bool);
                require(boolean, instruction, "true and false are booleans")
            }
            Op::ConstantNull | Op::Undef => {
                let pointer = matches!(self.types.get(&ty), Some(Ty::Pointer(..)));
                let message = "only numbers, vectors and pointers are null or undefined";
                require(numbers.is_some() || pointer, instruction, message)
            }
            Op::Constant => self.add_number(instruction, numbers),
            Op::ConstantComposite => self.check_composite(instruction, ty),
            _ => Err(Fault::of(instruction, "this constant is not one that kernels use")),
        }
    }

    fn add_number(&mut self, instruction: &Instruction, numbers: Option<Numbers>) -> Result<(), Fault> {
        let numbers = numbers.filter(|numbers| numbers.count == 1 && numbers.kind != Kind::Bool);
        let bits = numbers.map_or(0, |numbers| numbers.bits);
        let value = match (bits, instruction.operands.as_slice()) {
            (64, [Operand::LiteralBit64(value)]) => *value,
            (8 | 16 | 32, [Operand::LiteralBit32(value)]) => u64::from(*value),
            _ => return Err(Fault::of(instruction, "the literal is not as wide as the type")),
        };
        require(bits == 64 || value >> bits == 0, instruction, "bits above the width of the type are zero")?;
        self.constants.insert(result(instruction)?, value);
        Ok(())
    }

    fn check_composite(&self, instruction: &Instruction, ty: Word) -> Result<(), Fault> {
        let Some(&Ty::Vector(element, count)) = self.types.get(&ty) else {
            return Err(Fault::of(instruction, "composite constants are vectors"));
        };
        require(instruction.operands.len() == count as usize, instruction, "a vector has as many parts as elements")?;
        for index in 0..instruction.operands.len() {
            let element_type = self.value_types.get(&id(instruction, index)?);
            require(element_type == Some(&element), instruction, "the parts of a vector are of its element type")?;
        }
        Ok(())
    }

    fn check_decorations(&mut self, module: &Module) -> Result<(), Fault> {
        let converts =
            |own: &&Instruction| matches!(own.class.opcode, Op::ConvertSToF | Op::ConvertUToF | Op::FConvert);
        let conversions: HashSet<_> = module.all_inst_iter().filter(converts).filter_map(|own| own.result_id).collect();
        for instruction in &module.annotations {
            require(instruction.class.opcode == Op::Decorate, instruction, "only plain decorations are used")?;
            let class = self.variables.get(&id(instruction, 0)?).copied();
            match instruction.operands.get(1..) {
                Some([Operand::Decoration(Decoration::Constant)]) => {
                    require(class == Some(StorageClass::Input), instruction, "only inputs are constant")?;
                }
                Some([Operand::Decoration(Decoration::Alignment), Operand::LiteralBit32(alignment)]) => {
                    require(alignment.is_power_of_two(), instruction, "alignments are powers of two")?;
                    require(class == Some(StorageClass::Workgroup), instruction, "shared memory is aligned")?;
                }
                Some([Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(which)]) => {
                    self.add_input(instruction, *which)?;
                }
                Some(
                    [
                        Operand::Decoration(Decoration::LinkageAttributes),
                        Operand::LiteralString(name),
                        Operand::LinkageType(LinkageType::Import),
                    ],
                ) => {
                    let function = id(instruction, 0)?;
                    require(self.functions.contains_key(&function), instruction, "functions are imported")?;
                    require(!name.is_empty(), instruction, "imports have names")?;
                    require(self.imports.insert(function), instruction, "a function is imported once")?;
                }
                Some([Operand::Decoration(Decoration::FPRoundingMode), Operand::FPRoundingMode(_)]) => {
                    require(conversions.contains(&id(instruction, 0)?), instruction, "conversions round")?;
                }
                _ => return Err(Fault::of(instruction, "this decoration is not one that kernels use")),
            }
        }
        let inputs = self.variables.iter().filter(|&(_, &class)| class == StorageClass::Input).count();
        if inputs == self.inputs.len() { Ok(()) } else { Err(Fault::module("an input is not decorated as built-in")) }
    }

    fn add_input(&mut self, instruction: &Instruction, which: BuiltIn) -> Result<(), Fault> {
        let variable = id(instruction, 0)?;
        require(
            self.variables.get(&variable) == Some(&StorageClass::Input),
            instruction,
            "built-in inputs are input variables",
        )?;
        let pointer = self.value_types.get(&variable).and_then(|pointer| self.types.get(pointer));
        let numbers = match pointer {
            Some(&Ty::Pointer(_, pointee)) => self.numbers(pointee),
            _ => None,
        };
        let expected = match which {
            BuiltIn::SubgroupLocalInvocationId | BuiltIn::SubgroupId => (32, 1),
            BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups => (64, 3),
            _ => return Err(Fault::of(instruction, "this input is not one that kernels use")),
        };
        let expected = Numbers { kind: Kind::Int, bits: expected.0, count: expected.1 };
        require(numbers == Some(expected), instruction, "the input has another type")?;
        require(!self.inputs.values().any(|&known| known == which), instruction, "the input is declared twice")?;
        require(self.inputs.insert(variable, which).is_none(), instruction, "the variable is two inputs")
    }

    /// Checks a function against its declaration: a function without blocks is an import, one with blocks is a kernel.
    pub(super) fn check_function(&self, function: &Function) -> Result<(), Fault> {
        let definition = function.def.as_ref().ok_or_else(|| Fault::module("a function has no OpFunction"))?;
        let imported = self.imports.contains(&result(definition)?);
        let declared = function.blocks.is_empty();
        require(imported == declared, definition, "imported functions have no blocks, and no others")?;
        let nothing = self.types.get(&result_type(definition)?) == Some(&Ty::Void);
        require(declared || nothing, definition, "kernels return nothing")
    }

    // Queries.

    /// Returns the type with this id; `None` if the id is no type.
    pub(super) fn ty(&self, id: Word) -> Option<&Ty> {
        self.types.get(&id)
    }

    /// Returns the value of a scalar constant; `None` for other ids.
    pub(super) fn constant(&self, id: Word) -> Option<u64> {
        self.constants.get(&id).copied()
    }

    /// Returns the properties of a scalar or vector type; `None` for other types.
    pub(super) fn numbers(&self, ty: Word) -> Option<Numbers> {
        match *self.types.get(&ty)? {
            Ty::Bool => Some(Numbers { kind: Kind::Bool, bits: 1, count: 1 }),
            Ty::Int(bits) => Some(Numbers { kind: Kind::Int, bits, count: 1 }),
            Ty::Float(bits) => Some(Numbers { kind: Kind::Float, bits, count: 1 }),
            Ty::Vector(element, count) => self.numbers(element).map(|numbers| Numbers { count, ..numbers }),
            _ => None,
        }
    }

    fn holds_booleans(&self, ty: Word) -> bool {
        match self.types.get(&ty) {
            Some(&Ty::Array(element, _)) => self.holds_booleans(element),
            _ => self.numbers(ty).is_some_and(|numbers| numbers.kind == Kind::Bool),
        }
    }
}
