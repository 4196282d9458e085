//! Builds a SPIR-V module: each type and constant is declared once, capabilities are declared on demand, and blocks are
//! emitted in order.

use std::collections::{BTreeSet, HashMap};

use rspirv::dr::{Builder, Function, Instruction, Module, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, FPRoundingMode, FunctionControl, LinkageType, LoopControl,
    MemoryModel, Op, SelectionControl, SourceLanguage, StorageClass, Word,
};
use tilewright_kernel::Element;
use tilewright_plugin::CompileError;

use crate::Architecture;

/// SPIR-V version (major, minor): the oldest with shuffles between the lanes of a sub-group.
const VERSION: (u8, u8) = (1, 3);

/// The version of OpenCL C that `OpSource` declares.
const OPENCL_VERSION: u32 = 200_000;

/// Name under which SPIR-V imports the OpenCL extended instruction set.
pub(super) const EXTENDED: &str = "OpenCL.std";

/// A SPIR-V module under construction.
pub(super) struct Emitter {
    builder: Builder,
    architecture: Architecture,
    capabilities: BTreeSet<Capability>,
    /// Ids of types, constants and variables that are already declared, by opcode, type and operands.
    globals: HashMap<(Op, Option<Word>, Vec<Operand>), Word>,
    inputs: HashMap<BuiltIn, Word>,
    /// Ids of functions imported from other modules, by mangled name.
    imports: HashMap<String, Word>,
    /// The id of the extended instruction set [`EXTENDED`]; `None` before its first use.
    extended: Option<Word>,
    /// Declarations (functions without a body) of imported functions, which the module lists before its own functions.
    declarations: Vec<Function>,
    /// Declarations of the private arrays of the function that is being emitted.
    arrays: Vec<Instruction>,
    /// Label of the block that is being emitted.
    block: Word,
}

impl Emitter {
    pub(super) fn new(architecture: Architecture) -> Self {
        let mut builder = Builder::new();
        builder.set_version(VERSION.0, VERSION.1);
        builder.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
        builder.source(SourceLanguage::OpenCL_C, OPENCL_VERSION, None, None::<String>);
        let capabilities = BTreeSet::from([Capability::Kernel, Capability::Addresses, Capability::Linkage]);
        Self {
            builder,
            architecture,
            capabilities,
            globals: HashMap::new(),
            inputs: HashMap::new(),
            imports: HashMap::new(),
            extended: None,
            declarations: Vec::new(),
            arrays: Vec::new(),
            block: 0,
        }
    }

    /// Returns the finished SPIR-V module, with the capabilities that its instructions need.
    pub(super) fn finish(mut self) -> Module {
        // The capability for linkage is needed only if the module imports functions or has no entry points.
        if !self.builder.module_ref().entry_points.is_empty() && self.imports.is_empty() {
            self.capabilities.remove(&Capability::Linkage);
        }
        // SPIR-V requires declarations before definitions.
        self.builder.module_mut().functions.splice(..0, std::mem::take(&mut self.declarations));
        for &capability in &self.capabilities {
            self.builder.capability(capability);
        }
        if self.capabilities.contains(&Capability::ShaderClockKHR) {
            self.builder.extension("SPV_KHR_shader_clock");
        }
        self.builder.module()
    }

    pub(super) fn builder(&mut self) -> &mut Builder {
        &mut self.builder
    }

    pub(super) fn need(&mut self, capability: Capability) {
        self.capabilities.insert(capability);
    }

    // Types.

    fn global(&mut self, opcode: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let key = (opcode, ty, operands);
        if let Some(&id) = self.globals.get(&key) {
            return id;
        }
        let id = self.builder.id();
        let instruction = Instruction::new(opcode, ty, Some(id), key.2.clone());
        self.builder.module_mut().types_global_values.push(instruction);
        self.globals.insert(key, id);
        id
    }

    /// Returns the type that holds values of an element type: the type itself if the architecture computes with it,
    /// otherwise an integer of the same width.
    pub(super) fn carrier(&self, element: Element) -> Element {
        match element {
            Element::Bf16 => Element::I16,
            Element::F64 if !self.architecture.computes_f64 => Element::I64,
            _ => element,
        }
    }

    pub(super) fn void(&mut self) -> Word {
        self.global(Op::TypeVoid, None, Vec::new())
    }

    pub(super) fn function_type(&mut self, result: Word, parameters: &[Word]) -> Word {
        let operands = std::iter::once(result).chain(parameters.iter().copied()).map(Operand::IdRef).collect();
        self.global(Op::TypeFunction, None, operands)
    }

    /// Returns the SPIR-V type of a vector of `count` elements (1 to 16), or of a scalar if `count` is 1. Element types
    /// that the architecture lacks become integers of the same width.
    pub(super) fn element_type(&mut self, element: Element, count: u32) -> Word {
        let scalar = self.scalar_type(self.carrier(element));
        if count == 1 { scalar } else { self.vector_type(scalar, count) }
    }

    fn scalar_type(&mut self, element: Element) -> Word {
        let bits = element.bits();
        if element == Element::I1 {
            return self.global(Op::TypeBool, None, Vec::new());
        }
        let capability = match (element.is_float(), bits) {
            (true, 16) => Some(Capability::Float16),
            (true, 64) => Some(Capability::Float64),
            (false, 8) => Some(Capability::Int8),
            (false, 16) => Some(Capability::Int16),
            (false, 64) => Some(Capability::Int64),
            _ => None,
        };
        self.capabilities.extend(capability);
        if element.is_float() {
            self.global(Op::TypeFloat, None, vec![Operand::LiteralBit32(bits)])
        } else {
            self.global(Op::TypeInt, None, vec![Operand::LiteralBit32(bits), Operand::LiteralBit32(0)])
        }
    }

    fn vector_type(&mut self, scalar: Word, count: u32) -> Word {
        if count > 4 {
            self.need(Capability::Vector16);
        }
        self.global(Op::TypeVector, None, vec![Operand::IdRef(scalar), Operand::LiteralBit32(count)])
    }

    pub(super) fn pointer_type(&mut self, class: StorageClass, pointee: Word) -> Word {
        self.global(Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(pointee)])
    }

    /// Returns the type of a pointer to a byte in the storage class.
    pub(super) fn byte_pointer(&mut self, class: StorageClass) -> Word {
        let byte = self.element_type(Element::I8, 1);
        self.pointer_type(class, byte)
    }

    // Constants and variables.

    /// Decorates the conversion with this id with a rounding mode.
    pub(super) fn rounds(&mut self, conversion: Word, mode: FPRoundingMode) {
        self.builder.decorate(conversion, Decoration::FPRoundingMode, [Operand::FPRoundingMode(mode)]);
    }

    /// Returns the id of a constant vector of `count` elements that all have the bits `bits`.
    pub(super) fn constant(&mut self, element: Element, count: u32, bits: u64) -> Word {
        let carrier = self.carrier(element);
        let ty = self.element_type(element, 1);
        let scalar = match (carrier, carrier.bits()) {
            (Element::I1, _) if bits == 0 => self.global(Op::ConstantFalse, Some(ty), Vec::new()),
            (Element::I1, _) => self.global(Op::ConstantTrue, Some(ty), Vec::new()),
            (_, 64) => self.global(Op::Constant, Some(ty), vec![Operand::LiteralBit64(bits)]),
            // A literal of at most 32 bits takes one word; the caller guarantees that `bits` fits the type.
            _ => self.global(Op::Constant, Some(ty), vec![Operand::LiteralBit32(bits as u32)]),
        };
        if count == 1 {
            return scalar;
        }
        let ty = self.element_type(element, count);
        self.global(Op::ConstantComposite, Some(ty), vec![Operand::IdRef(scalar); count as usize])
    }

    pub(super) fn u32(&mut self, value: u32) -> Word {
        self.constant(Element::I32, 1, u64::from(value))
    }

    /// Returns a value of this SPIR-V type with arbitrary bits.
    pub(super) fn undefined(&mut self, ty: Word) -> Word {
        self.global(Op::Undef, Some(ty), Vec::new())
    }

    pub(super) fn null(&mut self, ty: Word) -> Word {
        self.global(Op::ConstantNull, Some(ty), Vec::new())
    }

    /// Returns the variable of a built-in input, such as the work-group id; declares the variable at first use.
    pub(super) fn input(&mut self, which: BuiltIn, ty: Word) -> Word {
        if let Some(&variable) = self.inputs.get(&which) {
            return variable;
        }
        let pointer = self.pointer_type(StorageClass::Input, ty);
        let variable = self.variable(pointer, StorageClass::Input);
        self.builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(which)]);
        self.builder.decorate(variable, Decoration::Constant, []);
        self.inputs.insert(which, variable);
        variable
    }

    /// Declares an array of `bytes` bytes in work-group (shared) memory, aligned to `alignment` bytes; returns its id.
    pub(super) fn shared_variable(&mut self, bytes: u32, alignment: u32) -> Word {
        let byte = self.element_type(Element::I8, 1);
        let length = self.u32(bytes);
        let array = self.global(Op::TypeArray, None, vec![Operand::IdRef(byte), Operand::IdRef(length)]);
        let pointer = self.pointer_type(StorageClass::Workgroup, array);
        let variable = self.variable(pointer, StorageClass::Workgroup);
        self.builder.decorate(variable, Decoration::Alignment, [Operand::LiteralBit32(alignment)]);
        variable
    }

    /// Adds a private array of the work item and returns its id. [`Emitter::declare_arrays`] declares it when the
    /// function is complete.
    pub(super) fn own_array(&mut self, element: Element, count: u32) -> Word {
        let (element, length) = (self.element_type(element, 1), self.u32(count));
        let array = self.global(Op::TypeArray, None, vec![Operand::IdRef(element), Operand::IdRef(length)]);
        let pointer = self.pointer_type(StorageClass::Function, array);
        let id = self.builder.id();
        let operands = vec![Operand::StorageClass(StorageClass::Function)];
        self.arrays.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
        id
    }

    /// Declares the private arrays at the start of the function's first block, where SPIR-V requires them. Called after
    /// the last block has ended.
    pub(super) fn declare_arrays(&mut self) -> Result<(), CompileError> {
        let arrays = std::mem::take(&mut self.arrays);
        self.prepend(Some(0), arrays)
    }

    fn variable(&mut self, pointer: Word, class: StorageClass) -> Word {
        let id = self.builder.id();
        let operands = vec![Operand::StorageClass(class)];
        let instruction = Instruction::new(Op::Variable, Some(pointer), Some(id), operands);
        self.builder.module_mut().types_global_values.push(instruction);
        id
    }

    /// Declares the function `name` of another module, with result type `result` and parameter types `parameters`, and
    /// returns its id. Each name is declared only once.
    pub(super) fn import(&mut self, name: &str, result: Word, parameters: &[Word]) -> Word {
        if let Some(&function) = self.imports.get(name) {
            return function;
        }
        let ty = self.function_type(result, parameters);
        let id = self.builder.id();
        let mut function = Function::new();
        let operands = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(ty)];
        function.def = Some(Instruction::new(Op::Function, Some(result), Some(id), operands));
        for &parameter in parameters {
            let number = self.builder.id();
            let parameter = Instruction::new(Op::FunctionParameter, Some(parameter), Some(number), Vec::new());
            function.parameters.push(parameter);
        }
        function.end = Some(Instruction::new(Op::FunctionEnd, None, None, Vec::new()));
        self.declarations.push(function);
        let linkage = [Operand::LiteralString(name.to_owned()), Operand::LinkageType(LinkageType::Import)];
        self.builder.decorate(id, Decoration::LinkageAttributes, linkage);
        self.imports.insert(name.to_owned(), id);
        id
    }

    /// Emits a call of the function with id `function`, whose result type is `result`; returns the result's id.
    pub(super) fn call(&mut self, result: Word, function: Word, operands: &[Word]) -> Result<Word, CompileError> {
        let operands = std::iter::once(function).chain(operands.iter().copied()).map(Operand::IdRef).collect();
        self.with_operands(Op::FunctionCall, result, operands)
    }

    // Instructions in blocks.

    fn append(&mut self, instruction: Instruction) -> Result<(), CompileError> {
        self.builder.insert_into_block(rspirv::dr::InsertPoint::End, instruction).map_err(backend)
    }

    /// Emits an instruction with a result of type `ty`, and returns the result's id.
    pub(super) fn with_operands(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Result<Word, CompileError> {
        let id = self.builder.id();
        self.append(Instruction::new(op, Some(ty), Some(id), operands))?;
        Ok(id)
    }

    /// Emits an instruction with a result of type `ty` whose operands are all ids of values; returns the result's id.
    pub(super) fn value<const N: usize>(
        &mut self,
        op: Op,
        ty: Word,
        operands: [Word; N],
    ) -> Result<Word, CompileError> {
        self.with_operands(op, ty, operands.map(Operand::IdRef).to_vec())
    }

    /// Emits the instruction with opcode `op` of the OpenCL extended set, with a result of type `ty`; returns the
    /// result's id.
    pub(super) fn extended(&mut self, op: Word, ty: Word, operands: &[Word]) -> Result<Word, CompileError> {
        let set = match self.extended {
            Some(set) => set,
            None => *self.extended.insert(self.builder.ext_inst_import(EXTENDED)),
        };
        let leading = [Operand::IdRef(set), Operand::LiteralExtInstInteger(op)];
        let all = leading.into_iter().chain(operands.iter().copied().map(Operand::IdRef)).collect();
        self.with_operands(Op::ExtInst, ty, all)
    }

    /// Emits an instruction that has no result, such as a store.
    pub(super) fn effect(&mut self, op: Op, operands: Vec<Operand>) -> Result<(), CompileError> {
        self.append(Instruction::new(op, None, None, operands))
    }

    /// Returns the id of a label for a block that will begin later.
    pub(super) fn label(&mut self) -> Word {
        self.builder.id()
    }

    /// Returns the label of the block that is being emitted.
    pub(super) fn block(&self) -> Word {
        self.block
    }

    /// Returns the index of the block that is being emitted, for [`Emitter::prepend`]; `None` between blocks.
    pub(super) fn block_index(&self) -> Option<usize> {
        self.builder.selected_block()
    }

    pub(super) fn begin_block(&mut self, label: Word) -> Result<(), CompileError> {
        self.block = label;
        self.builder.begin_block(Some(label)).map(drop).map_err(backend)
    }

    /// Inserts instructions at the start of the block with the index `block`.
    pub(super) fn prepend(&mut self, block: Option<usize>, instructions: Vec<Instruction>) -> Result<(), CompileError> {
        self.builder.select_block(block).map_err(backend)?;
        for instruction in instructions.into_iter().rev() {
            self.builder.insert_into_block(rspirv::dr::InsertPoint::Begin, instruction).map_err(backend)?;
        }
        self.builder.select_block(None).map_err(backend)
    }

    pub(super) fn branch(&mut self, to: Word) -> Result<(), CompileError> {
        self.builder.branch(to).map_err(backend)
    }

    pub(super) fn branch_if(&mut self, condition: Word, then: Word, otherwise: Word) -> Result<(), CompileError> {
        self.builder.branch_conditional(condition, then, otherwise, []).map_err(backend)
    }

    pub(super) fn selection_merge(&mut self, merge: Word) -> Result<(), CompileError> {
        self.builder.selection_merge(merge, SelectionControl::NONE).map_err(backend)
    }

    pub(super) fn loop_merge(&mut self, merge: Word, next: Word) -> Result<(), CompileError> {
        self.builder.loop_merge(merge, next, LoopControl::NONE, []).map_err(backend)
    }

    /// Emits a phi of type `ty`; `incoming` has pairs of a value and the label of its predecessor block.
    pub(super) fn phi(&mut self, ty: Word, incoming: &[(Word, Word)]) -> Result<Word, CompileError> {
        self.with_operands(Op::Phi, ty, phi_operands(incoming))
    }
}

/// Returns the operands of a phi: each value followed by the label of its predecessor block.
pub(super) fn phi_operands(incoming: &[(Word, Word)]) -> Vec<Operand> {
    incoming.iter().flat_map(|&(value, block)| [Operand::IdRef(value), Operand::IdRef(block)]).collect()
}

/// Converts an error of the SPIR-V builder, which is a bug of this plugin, to a compile error.
pub(super) fn backend(error: rspirv::dr::Error) -> CompileError {
    CompileError::Backend(format!("building SPIR-V: {error}"))
}
