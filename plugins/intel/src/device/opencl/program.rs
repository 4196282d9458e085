//! Programs of a device: SPIR-V, finished by its driver.
//!
//! A GPU's driver has the builtins that the plugin imports. The runtime for processors has none for products of
//! matrices and for loads of blocks; they are compiled from `matrix_mad.cl` and `block_read.cl`, each set of them once for a
//! device, and linked.

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

/// What defines products of matrices, of which each is written where it is needed.
const PRODUCTS: &str = include_str!("matrix_mad.cl");

/// What defines loads of blocks; likewise.
const BLOCK_READS: &str = include_str!("block_read.cl");

/// Finishes SPIR-V by the driver alone.
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

/// Finishes SPIR-V together with what it imports.
pub(super) fn linked(
    context: *mut c_void,
    device: *mut c_void,
    spirv: &[u8],
    options: &CStr,
    products: &Handle,
) -> Result<Handle, DeviceError> {
    let program = with_il(context, spirv)?;
    let outcome = compile_program(program.get(), &[device], options, &[], &[], None, null_mut());
    outcome.map_err(|code| refused("clCompileProgram", &program, device, code))?;
    let parts = [program.get(), products.get()];
    // SAFETY: both programs are of this context, compiled for its device.
    unsafe {
        let linked =
            link_program(context, &[device], c"", &parts, None, null_mut()).map_err(failed("clLinkProgram"))?;
        Ok(Handle::own(linked, release_program))
    }
}

/// Products of matrices and loads of blocks, compiled and not yet linked: those of the given functions.
pub(super) fn products(
    context: *mut c_void,
    device: *mut c_void,
    functions: &BTreeSet<String>,
) -> Result<Handle, DeviceError> {
    let needed: String = functions.iter().filter_map(|name| product(name).or_else(|| block_read(name))).collect();
    // One text: `cl3` hands on only the first of several as it should.
    let source = [PRODUCTS, BLOCK_READS, needed.as_str()].concat();
    let program = create_program_with_source(context, &[&source]).map_err(failed("clCreateProgramWithSource"))?;
    // SAFETY: just made.
    let program = unsafe { Handle::own(program, release_program) };
    let outcome = compile_program(program.get(), &[device], c"-cl-std=CL3.0", &[], &[], None, null_mut());
    outcome.map_err(|code| refused("clCompileProgram of products of matrices", &program, device, code))?;
    Ok(program)
}

/// A use of `matrix_mad.cl` that defines a function of the extensions cl_intel_subgroup_matrix_multiply_accumulate; nothing
/// where it is none. Its name says all: `{type of A}_{type of B}_matrix_mad_k{K}`.
fn product(function: &str) -> Option<String> {
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

/// A use of `block_read.cl` that defines a function of the extension cl_intel_subgroup_2d_block_io; nothing where it is no
/// load of a block. Its name says all: `[transform_|transpose_]{bits}b_{rows}r{columns}x{blocks}c`.
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

/// The function of a mangled name (Itanium C++ ABI: `_Z`, the name's length, the name, its parameters); nothing where it
/// is no such name of a C identifier.
pub(super) fn function(mangled: &str) -> Option<&str> {
    let rest = mangled.strip_prefix("_Z")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let name = rest.get(digits..)?.get(..rest[..digits].parse().ok()?)?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(name)
}

fn with_il(context: *mut c_void, spirv: &[u8]) -> Result<Handle, DeviceError> {
    let program = create_program_with_il(context, spirv).map_err(failed("clCreateProgramWithIL"))?;
    // SAFETY: just made.
    Ok(unsafe { Handle::own(program, release_program) })
}

/// Why the driver did not finish a program, in its words.
fn refused(call: &'static str, program: &Handle, device: *mut c_void, code: i32) -> DeviceError {
    let log = get_program_build_data(program.get(), device, CL_PROGRAM_BUILD_LOG).map(text).unwrap_or_default();
    match failed(call)(code) {
        DeviceError::Driver(message) if !log.is_empty() => DeviceError::Driver(format!("{message}: {log}")),
        other => other,
    }
}

/// What a module wants of whoever finishes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wants {
    /// The names that it imports.
    pub imports: Vec<String>,
    /// Whether it has quotients or square roots, which are to be correctly rounded.
    pub divides: bool,
}

impl Wants {
    /// The options with which it is finished by a driver that can round correctly, or cannot.
    pub(super) fn options(&self, rounds_correctly: bool) -> &'static CStr {
        if self.divides && rounds_correctly { c"-cl-fp32-correctly-rounded-divide-sqrt" } else { c"" }
    }
}

/// The number of the extended instruction `sqrt` of OpenCL.
const SQRT: u32 = 61;

/// What a module wants.
pub(super) fn wants(spirv: &[u8]) -> Result<Wants, DeviceError> {
    let bad = |why: String| DeviceError::BadLaunch(format!("the object is no SPIR-V: {why}"));
    if !spirv.len().is_multiple_of(4) {
        return Err(bad("its length is no number of words".to_owned()));
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

/// The kernel of this name, with its arguments unset.
pub(super) fn kernel(program: &Handle, name: &str) -> Result<Handle, DeviceError> {
    let name = CString::new(name).map_err(|_| DeviceError::BadLaunch(format!("kernel name {name:?}")))?;
    let kernel = cl3::kernel::create_kernel(program.get(), &name).map_err(failed("clCreateKernel"))?;
    // SAFETY: just made.
    Ok(unsafe { Handle::own(kernel, cl3::kernel::release_kernel) })
}

/// A context of one device, and its queue, which measures what runs.
pub(super) fn context_and_queue(device: *mut c_void) -> Result<(Handle, Handle), DeviceError> {
    use cl3::command_queue::{
        CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, create_command_queue_with_properties, release_command_queue,
    };
    use cl3::context::{create_context, release_context};
    let context = create_context(&[device], null(), None, null_mut()).map_err(failed("clCreateContext"))?;
    let properties = [CL_QUEUE_PROPERTIES as u64, CL_QUEUE_PROFILING_ENABLE, 0];
    // SAFETY: both just made; the list of properties ends with a zero.
    unsafe {
        let context = Handle::own(context, release_context);
        let queue = create_command_queue_with_properties(context.get(), device, properties.as_ptr())
            .map_err(failed("clCreateCommandQueueWithProperties"))?;
        Ok((context, Handle::own(queue, release_command_queue)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Wants, block_read, function, product};

    #[test]
    fn products_are_defined_as_their_names_say() {
        for (types, expected) in [
            ("i8_u8_matrix_mad_k32", Some("INTEGERS(NAME, i8, u8, 4, int, short, uint8)\n")),
            ("u4_i4_matrix_mad_k64", Some("INTEGERS(NAME, u4, i4, 8, uint, ushort, int8)\n")),
            ("bf16_bf16_matrix_mad_k16", Some("FLOATS(NAME, bf16, short)\n")),
            ("tf32_tf32_matrix_mad_k8", Some("TF32(NAME)\n")),
            ("f16_i8_matrix_mad_k16", None),
            ("2d_block_read_16b_8r16x1c", None),
        ] {
            let name = format!("intel_sub_group_{types}");
            assert_eq!(product(&name), expected.map(|text| text.replace("NAME", &name)), "{name}");
        }
    }

    #[test]
    fn quotients_are_rounded_correctly_where_the_driver_can() {
        let options = |divides, can| Wants { imports: vec![], divides }.options(can);
        assert_eq!(options(true, true), c"-cl-fp32-correctly-rounded-divide-sqrt");
        assert_eq!([options(true, false), options(false, true), options(false, false)], [c""; 3]);
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
