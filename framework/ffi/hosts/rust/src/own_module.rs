//! The host's own LLVM module: a kernel that the host wrote calls the tile program, which Tilewright compiled to a
//! function.
//!
//! The kernel has the program's parameters and one more pointer. Every block computes its tile; one lane of the block
//! then writes 1 to the element with the block's index behind that pointer. LLVM inlines the program, so the host's
//! kernel is the only kernel in the code.

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
// This crate is linked for its build script, which locates the LLVM library.
use tilewright_llvm as _;

/// Properties of a GPU that the host needs to write a kernel for it.
struct GpuLlvmConventions {
    /// Prefix of the GPU's LLVM target triple.
    triple: &'static str,
    /// Number of LLVM's calling convention for kernels of the GPU.
    kernel: u32,
    /// Names of the LLVM intrinsics for the index of the block, and (`lane`) for the index of the lane in the block.
    block: &'static str,
    lane: &'static str,
}

const GPU_LLVM_TARGETS: [GpuLlvmConventions; 2] = [
    GpuLlvmConventions {
        triple: "nvptx64",
        kernel: 71,
        block: "llvm.nvvm.read.ptx.sreg.ctaid.x",
        lane: "llvm.nvvm.read.ptx.sreg.tid.x",
    },
    GpuLlvmConventions {
        triple: "amdgcn",
        kernel: 91,
        block: "llvm.amdgcn.workgroup.id.x",
        lane: "llvm.amdgcn.workitem.id.x",
    },
];

/// Compiles the host's module for a processor, with the program's bitcode linked into the module; returns the assembly.
pub fn compile_with_bitcode(bitcode: &[u8], program: &str, processor: &str) -> Result<String, Box<dyn Error>> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "program");
    let tiles = Module::parse_bitcode_from_buffer(&buffer, &context).map_err(|error| error.to_string())?;
    let triple = tiles.get_triple();
    let named = triple.as_str().to_string_lossy().into_owned();
    let machine = GPU_LLVM_TARGETS.iter().find(|machine| named.starts_with(machine.triple));
    let machine = machine.ok_or_else(|| format!("this host cannot write kernels for {named}"))?;
    let called = tiles.get_function(program).ok_or_else(|| format!("the bitcode has no function `{program}`"))?;

    let host_module = context.create_module("host");
    host_module.set_triple(&triple);
    host_module.set_data_layout(&tiles.get_data_layout());
    emit_wrapper_kernel(&context, &host_module, called, machine)?;
    host_module.link_in_module(tiles).map_err(|error| error.to_string())?;
    // Internal linkage lets LLVM delete the function once it is inlined.
    host_module.get_function(program).ok_or("the program was not linked")?.set_linkage(Linkage::Internal);
    host_module.verify().map_err(|error| error.to_string())?;

    let generator = create_target_machine(&host_module, processor)?;
    host_module
        .run_passes("default<O2>", &generator, PassBuilderOptions::create())
        .map_err(|error| error.to_string())?;
    let text = generator.write_to_memory_buffer(&host_module, FileType::Assembly).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(text.as_slice()).trim_end_matches('\0').to_owned())
}

/// Writes the kernel `host(program's parameters, done)`, which calls the program and then writes `done[block] = 1`.
fn emit_wrapper_kernel<'c>(
    context: &'c Context,
    host_module: &Module<'c>,
    program: FunctionValue<'c>,
    machine: &GpuLlvmConventions,
) -> Result<(), Box<dyn Error>> {
    let declared = host_module.add_function(&program.get_name().to_string_lossy(), program.get_type(), None);
    let word = context.i32_type();
    let global = context.ptr_type(AddressSpace::from(1));
    let mut parameters: Vec<BasicMetadataTypeEnum<'c>> = program.get_type().get_param_types();
    parameters.push(global.into());
    let kernel = host_module.add_function("host", context.void_type().fn_type(&parameters, false), None);
    kernel.set_call_conventions(machine.kernel);
    // Attributes of the program, such as the number of lanes of a block, also apply to the launch of the kernel.
    for attribute in program.attributes(AttributeLoc::Function).into_iter().filter(|given| given.is_string()) {
        kernel.add_attribute(AttributeLoc::Function, attribute);
    }
    let given = kernel.get_params();
    let (done, passed) = given.split_last().ok_or("the kernel has parameters")?;
    let passed: Vec<BasicMetadataValueEnum<'_>> = passed.iter().map(|&value| value.into()).collect();

    let builder = context.create_builder();
    let [entry, first, end] = ["entry", "first", "end"].map(|name| context.append_basic_block(kernel, name));
    let number = |name: &str| -> Result<_, Box<dyn Error>> {
        let read = host_module
            .get_function(name)
            .unwrap_or_else(|| host_module.add_function(name, word.fn_type(&[], false), None));
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
    let address = builder.build_int_to_ptr(builder.build_int_add(start, bytes, "")?, global, "")?;
    builder.build_store(address, word.const_int(1, false))?;
    builder.build_unconditional_branch(end)?;
    builder.position_at_end(end);
    builder.build_return(None)?;
    Ok(())
}

fn create_target_machine(module: &Module<'_>, processor: &str) -> Result<TargetMachine, Box<dyn Error>> {
    let config = InitializationConfig { disassembler: false, ..InitializationConfig::default() };
    Target::initialize_nvptx(&config);
    Target::initialize_amd_gpu(&config);
    let triple = module.get_triple();
    let target = Target::from_triple(&triple).map_err(|error| error.to_string())?;
    let level = OptimizationLevel::Default;
    let machine = target.create_target_machine(&triple, processor, "", level, RelocMode::Default, CodeModel::Default);
    machine.ok_or_else(|| format!("LLVM has no target machine for {processor}").into())
}
