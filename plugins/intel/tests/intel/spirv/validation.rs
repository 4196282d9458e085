//! The validator detects changes that make valid SPIR-V invalid.

use crate::validate::validate;
use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Module, Operand, load_words};
use rspirv::spirv::{Capability, Decoration, ExecutionMode, Op, StorageClass};

use crate::spirv::kernels;

fn words_of(module: &tilewright_kernel::Module) -> Vec<u32> {
    kernels::words(&kernels::compile(module).expect("it compiles"))
}

/// Checks that the validator reports the violated rule `rule` for a valid module after a change.
fn finds(module: &tilewright_kernel::Module, rule: &str, change: impl FnOnce(&mut Module)) {
    let mut spirv = load_words(words_of(module)).expect("it is SPIR-V");
    change(&mut spirv);
    match validate(&spirv.assemble()) {
        Err(fault) => assert!(fault.to_string().contains(rule), "`{rule}` is not in: {fault}"),
        Ok(()) => panic!("nothing was found that breaks `{rule}`"),
    }
}

/// Returns the first instruction with an opcode in the functions of a module.
fn first(module: &mut Module, opcode: Op) -> &mut Instruction {
    let instructions = module.functions.iter_mut().flat_map(|function| &mut function.blocks);
    let mut instructions = instructions.flat_map(|block| &mut block.instructions);
    instructions.find(|instruction| instruction.class.opcode == opcode).expect("the kernel has one")
}

fn remove_capability(module: &mut Module, capability: Capability) {
    module.capabilities.retain(|instruction| instruction.operands != [Operand::Capability(capability)]);
}

#[test]
fn ids_are_defined_once_and_in_bounds() {
    let copy = kernels::copy(16);
    finds(&copy, "is not defined", |m| first(m, Op::IAdd).operands[0] = Operand::IdRef(1_000_000));
    finds(&copy, "defined twice", |m| {
        let other = first(m, Op::IMul).result_id;
        first(m, Op::IAdd).result_id = other;
    });
    finds(&copy, "bound", |m| m.header.as_mut().expect("a header").bound = 3);
}

#[test]
fn definitions_dominate_uses() {
    finds(&kernels::copy(16), "not defined on every way", |m| {
        let instructions = &mut m.functions[0].blocks[0].instructions;
        let at = instructions.iter().position(|i| i.class.opcode == Op::IAdd).expect("an addition");
        instructions.swap(at, at + 1);
    });
    // A value defined in one branch is not defined after it.
    finds(&kernels::loops(16), "not defined on every way", |m| {
        let blocks = &mut m.functions[0].blocks;
        let is_multiplication = |i: &Instruction| i.class.opcode == Op::IMul;
        let count = blocks.len();
        let side = blocks[count - 3].instructions.iter().find(|i| is_multiplication(i)).and_then(|i| i.result_id);
        let behind = blocks[count - 1].instructions.iter_mut().find(|i| is_multiplication(i)).expect("an address");
        behind.operands[0] = Operand::IdRef(side.expect("one side multiplies"));
    });
    finds(&kernels::copy(16), "used before it is defined", |m| m.types_global_values.reverse());
}

#[test]
fn operands_are_of_the_types_that_opcodes_take() {
    let (copy, shared) = (kernels::copy(16), kernels::shared(16));
    finds(&copy, "operands are of the result's type", |m| {
        let pointer = m.functions[0].parameters[0].result_id.expect("a parameter");
        first(m, Op::IAdd).operands[0] = Operand::IdRef(pointer);
    });
    finds(&copy, "type pointed to", |m| {
        let word = first(m, Op::IAdd).result_type;
        let load = m.functions[0].blocks[0].instructions.iter_mut().rfind(|i| i.class.opcode == Op::Load);
        load.expect("a load").result_type = word;
    });
    finds(&copy, "say their alignment", |m| first(m, Op::Store).operands.truncate(2));
    finds(&copy, "power of two", |m| first(m, Op::Store).operands[3] = Operand::LiteralBit32(3));
    finds(&copy, "width of an element", |m| first(m, Op::Store).operands[3] = Operand::LiteralBit32(2));
    finds(&shared, "same storage class", |m| {
        let global = m.functions[0].parameters[0].result_type;
        first(m, Op::AccessChain).result_type = global;
    });
    finds(&shared, "barriers are of", |m| {
        let semantics = first(m, Op::ControlBarrier).operands[2].id_ref_any().expect("an id");
        first(m, Op::ControlBarrier).operands[0] = Operand::IdScope(semantics);
    });
    finds(&kernels::shuffle(16), "within sub-groups", |m| {
        let lane = first(m, Op::GroupNonUniformShuffle).operands[2].id_ref_any().expect("an id");
        first(m, Op::GroupNonUniformShuffle).operands[0] = Operand::IdScope(lane);
    });
    let vector = kernels::reversal(16, tilewright_kernel::Element::I32, 8, 16);
    finds(&vector, "no such element", |m| first(m, Op::CompositeExtract).operands[1] = Operand::LiteralBit32(8));
    finds(&vector, "as many parts", |m| drop(first(m, Op::CompositeConstruct).operands.pop()));
}

#[test]
fn capabilities_are_declared() {
    let shuffle = kernels::shuffle(16);
    for capability in [
        Capability::Kernel,
        Capability::Addresses,
        Capability::Int8,
        Capability::SubgroupDispatch,
        Capability::GroupNonUniformShuffle,
    ] {
        // Remaining capabilities may still imply Kernel; every other removed capability is needed.
        if capability != Capability::Kernel {
            finds(&shuffle, "capability", |m| remove_capability(m, capability));
        }
    }
    let wide = kernels::binary(16, tilewright_kernel::Binary::FAdd, tilewright_kernel::Element::F16, 8);
    finds(&wide, "capability", |m| remove_capability(m, Capability::Float16));
    finds(&wide, "capability", |m| remove_capability(m, Capability::Vector16));
}

#[test]
fn blocks_are_structured() {
    let (loops, predicated) = (kernels::loops(16), kernels::predicated(16));
    let remove = |m: &mut Module, opcode: Op| {
        for block in &mut m.functions[0].blocks {
            block.instructions.retain(|instruction| instruction.class.opcode != opcode);
        }
    };
    finds(&predicated, "merge before it", |m| remove(m, Op::SelectionMerge));
    finds(&loops, "merge", |m| remove(m, Op::LoopMerge));
    finds(&loops, "block", |m| remove(m, Op::Branch));
    // The header of a loop with known bounds compares after its phis.
    finds(&kernels::nested(16), "phis come first", |m| {
        let block = m.functions[0].blocks.iter_mut().find(|b| b.instructions[0].class.opcode == Op::Phi);
        let block = block.expect("a loop header");
        let phi = block.instructions.remove(0);
        let before = block.instructions.len() - 2;
        block.instructions.insert(before, phi);
    });
    finds(&loops, "not those that branch here", |m| {
        let entry = m.functions[0].blocks[0].label_id().expect("a label");
        first(m, Op::Phi).operands[3] = Operand::IdRef(entry);
        let header = m.functions[0].blocks[1].label_id().expect("a label");
        first(m, Op::Phi).operands[1] = Operand::IdRef(header);
    });
    finds(&loops, "one boolean", |m| {
        let number = first(m, Op::IAdd).result_id.expect("a result");
        first(m, Op::BranchConditional).operands[0] = Operand::IdRef(number);
    });
    finds(&loops, "before its dominator", |m| m.functions[0].blocks.swap(2, 3));
    finds(&loops, "the edge back comes from the continue target", |m| first(m, Op::LoopMerge).operands.swap(0, 1));
}

#[test]
fn entry_points_are_complete() {
    let copy = kernels::copy(16);
    finds(&copy, "interface", |m| drop(m.entry_points[0].operands.pop()));
    finds(&copy, "lists inputs", |m| {
        let function = m.functions[0].def_id().expect("a function");
        m.entry_points[0].operands.push(Operand::IdRef(function));
    });
    finds(&copy, "sub-group size", |m| drop(m.execution_modes.remove(1)));
    finds(&copy, "whole sub-groups", |m| m.execution_modes[0].operands[2] = Operand::LiteralBit32(24));
    finds(&copy, "rounded separately", |m| drop(m.execution_modes.pop()));
    finds(&copy, "given twice", |m| {
        let function = m.functions[0].def_id().expect("a function");
        let operands = vec![Operand::IdRef(function), Operand::ExecutionMode(ExecutionMode::ContractionOff)];
        m.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
    });
}

#[test]
fn globals_are_sound() {
    let shared = kernels::shared(16);
    finds(&shared, "declared twice", |m| {
        let mut duplicate = m.types_global_values[0].clone();
        let bound = &mut m.header.as_mut().expect("a header").bound;
        duplicate.result_id = Some(*bound);
        *bound += 1;
        m.types_global_values.push(duplicate);
    });
    finds(&shared, "storage class", |m| {
        let variable = m.types_global_values.iter_mut().rfind(|i| i.class.opcode == Op::Variable);
        variable.expect("a variable").operands[0] = Operand::StorageClass(StorageClass::CrossWorkgroup);
    });
    finds(&shared, "not decorated as built-in", |m| {
        m.annotations.retain(|i| i.operands[1] != Operand::Decoration(Decoration::BuiltIn));
    });
    finds(&shared, "memory model", |m| m.memory_model = None);
}

#[test]
fn words_that_are_no_module_are_rejected() {
    let words = words_of(&kernels::loops(16));
    assert_eq!(validate(&words), Ok(()));
    for length in 0..words.len() {
        assert!(validate(&words[..length]).is_err(), "the first {length} words pass");
    }
    for (index, value) in [(0, 0x0302_2307), (1, 0), (3, 0), (4, 1)] {
        let mut changed = words.clone();
        changed[index] = value;
        assert!(validate(&changed).is_err(), "word {index} may be {value:#x}");
    }
}

/// Checks that replacing any word of a module never makes the validator panic, and that it detects most changes of
/// significant words.
#[test]
fn changed_words_never_panic() {
    let mut found = 0;
    let mut tried = 0;
    for module in [kernels::shared(16), kernels::loops(16)] {
        let words = words_of(&module);
        for index in 5..words.len() {
            for value in [0, 1, words[index] ^ 1, words[index] + 1, words[index] ^ 0x10000, u32::MAX] {
                let mut changed = words.clone();
                changed[index] = value;
                tried += 1;
                found += usize::from(validate(&changed).is_err());
            }
        }
    }
    assert!(found * 10 > tried * 8, "{found} of {tried} changes were found");
}
