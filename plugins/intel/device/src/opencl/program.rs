//! Builds programs for a device from SPIR-V, by the device's driver.
//!
//! A GPU's driver has all builtins that the plugin's code imports. The runtime for CPUs lacks the builtins for MMA and
//! 2-D block loads; these are compiled from `matrix_mad.cl` and `block_read.cl`, once for each device and set of
//! builtins, and linked to the program.

#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};

use cl3::program::{
    CL_PROGRAM_BUILD_LOG, build_program, compile_program, create_program_with_il, create_program_with_source,
    get_program_build_data, link_program, release_program,
};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, LinkageType, Op};
use tilewright_plugin::DeviceError;

use super::found::text;
use super::handle::{Handle, failed};
use crate::register_mode::OPENCL_LARGE_GRF_OPTION;

/// OpenCL C macros that define the MMA builtins; a program instantiates only those that it needs.
const MMA_BUILTINS: &str = include_str!("matrix_mad.cl");

/// OpenCL C macros that define the 2-D block loads; a program instantiates only those that it needs.
const BLOCK_READS: &str = include_str!("block_read.cl");

/// Builds SPIR-V to a program for the device, without linking other programs.
pub(super) fn built(
    context: *mut c_void,
    device: *mut c_void,
    spirv: &[u8],
    options: &CStr,
) -> Result<Handle, DeviceError> {
    let program = with_il(context, spirv)?;
    let outcome = build_program(program.get(), &[device], options, None, null_mut());
    outcome.map_err(|code| refused("clBuildProgram", &program, device, code))?;
    Ok(program)
}

/// Builds SPIR-V to a program for the device, linked with the compiled program `builtins`, which defines the builtins
/// that the SPIR-V imports.
pub(super) fn link(
    context: *mut c_void,
    device: *mut c_void,
    spirv: &[u8],
    options: &CStr,
    builtins: &Handle,
) -> Result<Handle, DeviceError> {
    let program = with_il(context, spirv)?;
    let outcome = compile_program(program.get(), &[device], options, &[], &[], None, null_mut());
    outcome.map_err(|code| refused("clCompileProgram", &program, device, code))?;
    let programs = [program.get(), builtins.get()];
    // SAFETY: both programs are of this context, compiled for its device.
    unsafe {
        let program =
            link_program(context, &[device], c"", &programs, None, null_mut()).map_err(failed("clLinkProgram"))?;
        Ok(Handle::own(program, release_program))
    }
}

/// Compiles a program that defines the builtins `functions` (MMA and 2-D block loads), to link with other programs.
pub(super) fn compile_builtins(
    context: *mut c_void,
    device: *mut c_void,
    functions: &BTreeSet<String>,
) -> Result<Handle, DeviceError> {
    let needed: String = functions.iter().filter_map(|name| mma_builtin(name).or_else(|| block_read(name))).collect();
    // All sources are joined to one text, because `cl3` passes only the first of several texts correctly.
    let source = [MMA_BUILTINS, BLOCK_READS, needed.as_str()].concat();
    let program = create_program_with_source(context, &[&source]).map_err(failed("clCreateProgramWithSource"))?;
    // SAFETY: just created.
    let program = unsafe { Handle::own(program, release_program) };
    let outcome = compile_program(program.get(), &[device], c"-cl-std=CL3.0", &[], &[], None, null_mut());
    outcome.map_err(|code| refused("clCompileProgram of MMA builtins", &program, device, code))?;
    Ok(program)
}

/// Returns the macro call that defines an MMA builtin in `matrix_mad.cl`. Such a builtin has a name of the form
/// `intel_sub_group_{type of A}_{type of B}_matrix_mad_k{K}`; returns `None` for other names.
fn mma_builtin(function: &str) -> Option<String> {
    let (types, _) = function.strip_prefix("intel_sub_group_")?.split_once("_matrix_mad_k")?;
    let (a, b) = types.split_once('_')?;
    let of_integers = |a: &str, b: &str| {
        let [is_signed_a, is_signed_b] = [a, b].map(|ty| ty.starts_with('i'));
        let (word, half) = if is_signed_a { ("int", "short") } else { ("uint", "ushort") };
        let eight = if is_signed_b { "int8" } else { "uint8" };
        let per_word = if a.ends_with('8') { 4 } else { 8 };
        format!("INTEGERS({function}, {a}, {b}, {per_word}, {word}, {half}, {eight})\n")
    };
    let is_integer = |ty: &str| ["i8", "u8", "i4", "u4"].contains(&ty);
    match (a, b) {
        ("f16", "f16") => Some(format!("FLOATS({function}, f16, half)\n")),
        ("bf16", "bf16") => Some(format!("FLOATS({function}, bf16, short)\n")),
        ("tf32", "tf32") => Some(format!("TF32({function})\n")),
        _ if is_integer(a) && is_integer(b) => Some(of_integers(a, b)),
        _ => None,
    }
}

/// Returns the macro call that defines a 2-D block load in `block_read.cl`. Such a builtin has a name of the form
/// `intel_sub_group_2d_block_read_[transform_|transpose_]{bits}b_{rows}r{columns}x{blocks}c`; returns `None` for other
/// names.
fn block_read(function: &str) -> Option<String> {
    let size = function.strip_prefix("intel_sub_group_2d_block_read_")?;
    let (form, size) = match size.split_once('_')? {
        ("transform", size) => ("TRANSFORM", size),
        ("transpose", size) => ("TRANSPOSE", size),
        _ => ("READ", size),
    };
    let (bits, size) = size.split_once("b_")?;
    let (rows, size) = size.split_once('r')?;
    let (columns, count) = size.strip_suffix('c')?.split_once('x')?;
    let [bits, rows, columns, count] = [bits, rows, columns, count].map(|number| number.parse::<u32>().ok());
    let (bits, rows, columns, count) = (bits?, rows?, columns?, count?);
    let word = if form == "READ" && bits <= 16 { "ushort" } else { "uint" };
    Some(format!("{form}({function}, {word}, {bits}, {rows}, {columns}, {count})\n"))
}

/// Returns the function name in a mangled name (Itanium C++ ABI: `_Z`, the name's length, the name, its parameters);
/// `None` if the text is not a mangled C identifier.
pub(super) fn function(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let name = rest.get(digits..)?.get(..rest[..digits].parse().ok()?)?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(name)
}

fn with_il(context: *mut c_void, spirv: &[u8]) -> Result<Handle, DeviceError> {
    let program = create_program_with_il(context, spirv).map_err(failed("clCreateProgramWithIL"))?;
    // SAFETY: just created.
    Ok(unsafe { Handle::own(program, release_program) })
}

/// Returns the error for a failed build: the failed function `call`, its error code and the driver's build log.
fn refused(call: &'static str, program: &Handle, device: *mut c_void, code: i32) -> DeviceError {
    let log = get_program_build_data(program.get(), device, CL_PROGRAM_BUILD_LOG).map(text).unwrap_or_default();
    match failed(call)(code) {
        DeviceError::Driver(message) if !log.is_empty() => DeviceError::Driver(format!("{message}: {log}")),
        other => other,
    }
}

/// Requirements of a SPIR-V module on the driver that builds it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wants {
    /// Mangled names of the functions that the module imports (builtins).
    pub imports: Vec<String>,
    /// Whether the module divides or takes square roots, which must be correctly rounded.
    pub divides: bool,
}

impl Wants {
    /// Returns the options for building the module. `rounds_correctly` states whether the device can round division and
    /// square root correctly; `is_large` selects the large register mode of a GPU.
    pub(super) fn options(&self, rounds_correctly: bool, is_large: bool) -> CString {
        let rounding = (self.divides && rounds_correctly).then_some(c"-cl-fp32-correctly-rounded-divide-sqrt");
        let mode = is_large.then_some(OPENCL_LARGE_GRF_OPTION);
        let options: Vec<&[u8]> = rounding.into_iter().chain(mode).map(CStr::to_bytes).collect();
        CString::new(options.join(&b' ')).unwrap_or_default()
    }
}

/// Opcode of `sqrt` in the OpenCL extended instruction set.
const SQRT: u32 = 61;

/// Reads the requirements on the driver from the instructions of a SPIR-V module.
pub(super) fn wants(spirv: &[u8]) -> Result<Wants, DeviceError> {
    let bad = |why: String| DeviceError::BadLaunch(format!("the object is not SPIR-V: {why}"));
    if !spirv.len().is_multiple_of(4) {
        return Err(bad("its length is not a multiple of 4 bytes".to_owned()));
    }
    let words: Vec<u32> =
        spirv.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let module = rspirv::dr::load_words(words).map_err(|error| bad(error.to_string()))?;
    let named = module.annotations.iter().filter_map(|annotation| match annotation.operands.as_slice() {
        [
            _,
            Operand::Decoration(Decoration::LinkageAttributes),
            Operand::LiteralString(name),
            Operand::LinkageType(LinkageType::Import),
        ] if annotation.class.opcode == Op::Decorate => Some(name.clone()),
        _ => None,
    });
    let divides = |instruction: &Instruction| match instruction.class.opcode {
        Op::FDiv => true,
        Op::ExtInst => instruction.operands.get(1) == Some(&Operand::LiteralExtInstInteger(SQRT)),
        _ => false,
    };
    Ok(Wants { imports: named.collect(), divides: module.all_inst_iter().any(divides) })
}

/// Creates the kernel of this name in a program, with its arguments unset.
pub(super) fn kernel(program: &Handle, name: &str) -> Result<Handle, DeviceError> {
    let name = CString::new(name).map_err(|_| DeviceError::BadLaunch(format!("kernel name {name:?}")))?;
    let kernel = cl3::kernel::create_kernel(program.get(), &name).map_err(failed("clCreateKernel"))?;
    // SAFETY: just created.
    Ok(unsafe { Handle::own(kernel, cl3::kernel::release_kernel) })
}

/// Creates a context for one device, and a command queue that records the times of commands.
pub(super) fn context_and_queue(device: *mut c_void) -> Result<(Handle, Handle), DeviceError> {
    use cl3::command_queue::{
        CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, create_command_queue_with_properties, release_command_queue,
    };
    use cl3::context::{create_context, release_context};
    let context = create_context(&[device], null(), None, null_mut()).map_err(failed("clCreateContext"))?;
    let properties = [CL_QUEUE_PROPERTIES as u64, CL_QUEUE_PROFILING_ENABLE, 0];
    // SAFETY: both just created; the list of properties ends with a zero.
    unsafe {
        let context = Handle::own(context, release_context);
        let queue = create_command_queue_with_properties(context.get(), device, properties.as_ptr())
            .map_err(failed("clCreateCommandQueueWithProperties"))?;
        Ok((context, Handle::own(queue, release_command_queue)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Wants, block_read, function, mma_builtin};

    #[test]
    fn mma_builtins_are_derived_from_their_names() {
        for (types, expected) in [
            ("i8_u8_matrix_mad_k32", Some("INTEGERS(NAME, i8, u8, 4, int, short, uint8)\n")),
            ("u4_i4_matrix_mad_k64", Some("INTEGERS(NAME, u4, i4, 8, uint, ushort, int8)\n")),
            ("bf16_bf16_matrix_mad_k16", Some("FLOATS(NAME, bf16, short)\n")),
            ("tf32_tf32_matrix_mad_k8", Some("TF32(NAME)\n")),
            ("f16_i8_matrix_mad_k16", None),
            ("2d_block_read_16b_8r16x1c", None),
        ] {
            let name = format!("intel_sub_group_{types}");
            assert_eq!(mma_builtin(&name), expected.map(|text| text.replace("NAME", &name)), "{name}");
        }
    }

    #[test]
    fn quotients_are_rounded_correctly_where_the_driver_can() {
        let options = |divides, can| Wants { imports: vec![], divides }.options(can, false);
        assert_eq!(options(true, true).as_c_str(), c"-cl-fp32-correctly-rounded-divide-sqrt");
        for (divides, can) in [(true, false), (false, true), (false, false)] {
            assert_eq!(options(divides, can).as_c_str(), c"");
        }
        let large = Wants { imports: vec![], divides: true }.options(true, true);
        assert_eq!(large.as_c_str(), c"-cl-fp32-correctly-rounded-divide-sqrt -cl-intel-256-GRF-per-thread");
    }

    #[test]
    fn loads_of_blocks_are_defined_as_their_names_say() {
        for (name, expected) in [
            ("8b_32r32x2c", Some("READ(NAME, ushort, 8, 32, 32, 2)\n")),
            ("32b_8r16x1c", Some("READ(NAME, uint, 32, 8, 16, 1)\n")),
            ("transform_16b_16r16x2c", Some("TRANSFORM(NAME, uint, 16, 16, 16, 2)\n")),
            ("transpose_32b_16r8x1c", Some("TRANSPOSE(NAME, uint, 32, 16, 8, 1)\n")),
            ("16b", None),
            ("xb_1r2x3c", None),
        ] {
            let name = format!("intel_sub_group_2d_block_read_{name}");
            assert_eq!(block_read(&name), expected.map(|text| text.replace("NAME", &name)), "{name}");
        }
        assert_eq!(block_read("intel_sub_group_f16_f16_matrix_mad_k16"), None);
    }

    #[test]
    fn names_are_read_out_of_mangled_ones() {
        assert_eq!(
            function("_Z38intel_sub_group_f16_f16_matrix_mad_k16sDv8_if"),
            Some("intel_sub_group_f16_f16_matrix_mad_k16")
        );
        for none in ["", "main", "_Z", "_Z9short", "_Zx", "_Z4a\u{e9}b", "_Z3a -b", "_Z99999999999999999999999a"] {
            assert_eq!(function(none), None, "{none}");
        }
    }
}
