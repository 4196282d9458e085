//! The host's own LLVM module: a kernel that the host wrote calls the tile program, which Tilewright gives as a function.
//!
//! The kernel takes what the program takes and one more pointer. Every block does its tile, and one of its lanes writes 1 to the block's place
//! there. LLVM inlines the program, and the host's kernel is the only one in the code.

use std::error::Error;

use inkwell::attributes::AttributeLoc;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, FunctionValue};
use inkwell::{AddressSpace, IntPredicate, OptimizationLevel};
// For its build script, which finds the LLVM that is linked.
use tilewright_llvm as _;

/// What the host must know of a GPU to write a kernel for it.
struct Machine {
    /// How its triple begins.
    triple: &'static str,
    /// LLVM's number of the calling convention of kernels.
    kernel: u32,
    /// Intrinsics of the block's number and of the lane's number in the block.
    block: &'static str,
    lane: &'static str,
}

const MACHINES: [Machine; 2] = [
    Machine {
        triple: "nvptx64",
        kernel: 71,
        block: "llvm.nvvm.read.ptx.sreg.ctaid.x",
        lane: "llvm.nvvm.read.ptx.sreg.tid.x",
    },
    Machine { triple: "amdgcn", kernel: 91, block: "llvm.amdgcn.workgroup.id.x", lane: "llvm.amdgcn.workitem.id.x" },
];

/// The assembly of the host's module for a processor, with the program's bitcode linked into it.
pub fn assembly(bitcode: &[u8], program: &str, processor: &str) -> Result<String, Box<dyn Error>> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "program");
    let tiles = Module::parse_bitcode_from_buffer(&buffer, &context).map_err(|error| error.to_string())?;
    let triple = tiles.get_triple();
    let named = triple.as_str().to_string_lossy().into_owned();
    let machine = MACHINES.iter().find(|machine| named.starts_with(machine.triple));
    let machine = machine.ok_or_else(|| format!("this host writes no kernels for {named}"))?;
    let called = tiles.get_function(program).ok_or_else(|| format!("the bitcode has no function `{program}`"))?;

    let own = context.create_module("host");
    own.set_triple(&triple);
    own.set_data_layout(&tiles.get_data_layout());
    write_kernel(&context, &own, called, machine)?;
    own.link_in_module(tiles).map_err(|error| error.to_string())?;
    // Nobody else calls it, so that nothing is left of it once it is inlined.
    own.get_function(program).ok_or("the program was not linked")?.set_linkage(Linkage::Internal);
    own.verify().map_err(|error| error.to_string())?;

    let generator = generator(&own, processor)?;
    own.run_passes("default<O2>", &generator, PassBuilderOptions::create()).map_err(|error| error.to_string())?;
    let text = generator.write_to_memory_buffer(&own, FileType::Assembly).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(text.as_slice()).trim_end_matches('\0').to_owned())
}

/// `host(program's parameters, done)`: calls the program, then writes `done[block] = 1`.
fn write_kernel<'c>(
    context: &'c Context,
    own: &Module<'c>,
    program: FunctionValue<'c>,
    machine: &Machine,
) -> Result<(), Box<dyn Error>> {
    let declared = own.add_function(&program.get_name().to_string_lossy(), program.get_type(), None);
    let word = context.i32_type();
    let global = context.ptr_type(AddressSpace::from(1));
    let mut parameters: Vec<BasicMetadataTypeEnum<'c>> = program.get_type().get_param_types();
    parameters.push(global.into());
    let kernel = own.add_function("host", context.void_type().fn_type(&parameters, false), None);
    kernel.set_call_conventions(machine.kernel);
    // What the program was compiled for holds for the launch: how many lanes a block has.
    for attribute in program.attributes(AttributeLoc::Function).into_iter().filter(|given| given.is_string()) {
        kernel.add_attribute(AttributeLoc::Function, attribute);
    }
    let given = kernel.get_params();
    let (done, passed) = given.split_last().ok_or("the kernel has parameters")?;
    let passed: Vec<BasicMetadataValueEnum<'_>> = passed.iter().map(|&value| value.into()).collect();

    let builder = context.create_builder();
    let [entry, first, end] = ["entry", "first", "end"].map(|name| context.append_basic_block(kernel, name));
    let number = |name: &str| -> Result<_, Box<dyn Error>> {
        let read = own.get_function(name).unwrap_or_else(|| own.add_function(name, word.fn_type(&[], false), None));
        Ok(builder.build_call(read, &[], "")?.try_as_basic_value().basic().ok_or("a number")?.into_int_value())
    };
    builder.position_at_end(entry);
    builder.build_call(declared, &passed, "")?;
    let (block, lane) = (number(machine.block)?, number(machine.lane)?);
    let is_first = builder.build_int_compare(IntPredicate::EQ, lane, word.const_zero(), "")?;
    builder.build_conditional_branch(is_first, first, end)?;
    builder.position_at_end(first);
    let bytes = builder.build_int_mul(
        builder.build_int_z_extend(block, context.i64_type(), "")?,
        context.i64_type().const_int(4, false),
        "",
    )?;
    let start = builder.build_ptr_to_int(done.into_pointer_value(), context.i64_type(), "")?;
    let place = builder.build_int_to_ptr(builder.build_int_add(start, bytes, "")?, global, "")?;
    builder.build_store(place, word.const_int(1, false))?;
    builder.build_unconditional_branch(end)?;
    builder.position_at_end(end);
    builder.build_return(None)?;
    Ok(())
}

fn generator(module: &Module<'_>, processor: &str) -> Result<TargetMachine, Box<dyn Error>> {
    let parts = InitializationConfig { disassembler: false, ..InitializationConfig::default() };
    Target::initialize_nvptx(&parts);
    Target::initialize_amd_gpu(&parts);
    let triple = module.get_triple();
    let target = Target::from_triple(&triple).map_err(|error| error.to_string())?;
    let level = OptimizationLevel::Default;
    let machine = target.create_target_machine(&triple, processor, "", level, RelocMode::Default, CodeModel::Default);
    machine.ok_or_else(|| format!("LLVM makes no machine for {processor}").into())
}
