//! Parses the words of a module, and checks properties that `rspirv`'s loader drops: the order of sections, and the
//! header.

use std::collections::HashSet;

use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, Loader, Module, ModuleHeader, Operand};
use rspirv::spirv::{AddressingModel, MemoryModel, Op};

use super::{Fault, require};

/// Max bound of a module's ids.
const MAX_BOUND: u32 = 4_194_303;

/// Number of words before the first instruction.
const HEADER_WORDS: usize = 5;

/// Loads a module and records the first instruction out of order.
struct Ordered {
    loader: Loader,
    section: u8,
    previous: Option<Op>,
    misplaced: Option<Fault>,
}

impl Consumer for Ordered {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        let opcode = instruction.class.opcode;
        let section = section(opcode, self.section);
        let second_model = opcode == Op::MemoryModel && self.section == section;
        let misplaced_parameter =
            opcode == Op::FunctionParameter && !matches!(self.previous, Some(Op::Function | Op::FunctionParameter));
        if section < self.section || second_model || misplaced_parameter {
            self.misplaced.get_or_insert_with(|| Fault::of(&instruction, "stands in the wrong place of the module"));
        }
        self.section = section;
        self.previous = Some(opcode);
        self.loader.consume_instruction(instruction)
    }
}

/// Returns the section of a module that contains instructions with this opcode; `current` if several sections may
/// contain them.
fn section(opcode: Op, current: u8) -> u8 {
    const GLOBALS: u8 = 10;
    const FUNCTIONS: u8 = 11;
    match opcode {
        Op::Capability => 0,
        Op::Extension => 1,
        Op::ExtInstImport => 2,
        Op::MemoryModel => 3,
        Op::EntryPoint => 4,
        Op::ExecutionMode => 5,
        Op::String | Op::Source | Op::SourceExtension | Op::SourceContinued => 6,
        Op::Name | Op::MemberName => 7,
        Op::ModuleProcessed => 8,
        opcode if opcode.is_annotation() => 9,
        opcode if opcode.is_type() || opcode.is_constant() => GLOBALS,
        Op::Variable | Op::Undef => current.max(GLOBALS),
        _ => FUNCTIONS,
    }
}

/// Checks that the lengths of the instructions add up to the words after the header; the parser relies on it.
fn check_lengths(words: &[u32]) -> Result<(), Fault> {
    let mut rest = words.get(HEADER_WORDS..).ok_or_else(|| Fault::module("the header is incomplete"))?;
    while let Some(&first) = rest.first() {
        let length = (first >> 16) as usize;
        rest = match rest.get(length..) {
            Some(rest) if length > 0 => rest,
            _ => return Err(Fault::module("an instruction is longer than the words that are left, or has none")),
        };
    }
    Ok(())
}

/// Parses words to a module.
pub(super) fn load(words: &[u32]) -> Result<Module, Fault> {
    check_lengths(words)?;
    let mut ordered = Ordered { loader: Loader::new(), section: 0, previous: None, misplaced: None };
    parse_words(words, &mut ordered).map_err(|error| Fault::module(error.to_string()))?;
    match ordered.misplaced {
        Some(fault) => Err(fault),
        None => Ok(ordered.loader.module()),
    }
}

/// Checks the words of the header, the memory model, and that ids are below the bound and defined once.
pub(super) fn check_header(module: &Module, words: &[u32]) -> Result<(), Fault> {
    let &[_, version, _, bound, schema, ..] = words else { return Err(Fault::module("the header is incomplete")) };
    if version & 0xff00_00ff != 0 || !(0x0001_0000..=0x0001_0600).contains(&version) {
        return Err(Fault::module(format!("{version:#010x} is not a version of SPIR-V")));
    }
    if schema != 0 {
        return Err(Fault::module(format!("the schema word is {schema}, not 0")));
    }
    if bound == 0 || bound > MAX_BOUND {
        return Err(Fault::module(format!("the bound on ids is {bound}; it is 1 to {MAX_BOUND}")));
    }
    let model = module.memory_model.as_ref().ok_or_else(|| Fault::module("the module has no memory model"))?;
    let opencl = [Operand::AddressingModel(AddressingModel::Physical64), Operand::MemoryModel(MemoryModel::OpenCL)];
    require(model.operands == opencl, model, "the memory model is Physical64 OpenCL")?;
    check_ids(module, bound)
}

fn check_ids(module: &Module, bound: u32) -> Result<(), Fault> {
    let mut defined = HashSet::new();
    for instruction in module.all_inst_iter() {
        if let Some(id) = instruction.result_id {
            require(id != 0 && id < bound, instruction, "the result is not below the bound on ids")?;
            require(defined.insert(id), instruction, "the result is defined twice")?;
        }
    }
    for instruction in module.all_inst_iter() {
        let operands = instruction.operands.iter().filter_map(Operand::id_ref_any);
        for id in instruction.result_type.into_iter().chain(operands) {
            if !defined.contains(&id) {
                return Err(Fault::of(instruction, format!("%{id} is not defined")));
            }
        }
    }
    Ok(())
}
