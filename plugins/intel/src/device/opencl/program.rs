//! Programs of a device: SPIR-V, finished by its driver.
//!
//! A GPU's driver has the builtins that the plugin imports. The runtime for processors has none for products of
//! matrices; they are compiled from `matrix_mad.cl`, each set of them once for a device, and linked.

#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use cl3::program::{
    CL_PROGRAM_BUILD_LOG, build_program, compile_program, create_program_with_il, create_program_with_source,
    get_program_build_data, link_program, release_program,
};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, LinkageType, Op};
use tilewright::vendor::DeviceError;

use super::handle::{Handle, failed};
use super::runtime::text;

/// The products of matrices, as the extensions define them.
const PRODUCTS: &str = include_str!("matrix_mad.cl");

/// Finishes SPIR-V by the driver alone.
pub(super) fn built(context: *mut c_void, device: *mut c_void, spirv: &[u8]) -> Result<Handle, DeviceError> {
    let program = with_il(context, spirv)?;
    let outcome = build_program(program.get(), &[device], c"", None, null_mut());
    outcome.map_err(|code| refused("clBuildProgram", &program, device, code))?;
    Ok(program)
}

/// Finishes SPIR-V together with what it imports.
pub(super) fn linked(
    context: *mut c_void,
    device: *mut c_void,
    spirv: &[u8],
    products: &Handle,
) -> Result<Handle, DeviceError> {
    let program = with_il(context, spirv)?;
    let outcome = compile_program(program.get(), &[device], c"", &[], &[], None, null_mut());
    outcome.map_err(|code| refused("clCompileProgram", &program, device, code))?;
    let parts = [program.get(), products.get()];
    // SAFETY: both programs are of this context, compiled for its device.
    unsafe {
        let linked =
            link_program(context, &[device], c"", &parts, None, null_mut()).map_err(failed("clLinkProgram"))?;
        Ok(Handle::own(linked, release_program))
    }
}

/// Products of matrices, compiled and not yet linked: those of the given functions.
pub(super) fn products(
    context: *mut c_void,
    device: *mut c_void,
    functions: &BTreeSet<String>,
) -> Result<Handle, DeviceError> {
    let program = create_program_with_source(context, &[PRODUCTS]).map_err(failed("clCreateProgramWithSource"))?;
    // SAFETY: just made.
    let program = unsafe { Handle::own(program, release_program) };
    let needs = functions.iter().map(|function| format!(" -DNEEDS_{function}"));
    let options = CString::new(format!("-cl-std=CL3.0{}", needs.collect::<String>()))
        .map_err(|_| DeviceError::BadLaunch("an imported name has a zero in it".to_owned()))?;
    let outcome = compile_program(program.get(), &[device], &options, &[], &[], None, null_mut());
    outcome.map_err(|code| refused("clCompileProgram of products of matrices", &program, device, code))?;
    Ok(program)
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

/// The names that a module imports.
pub(super) fn imports(spirv: &[u8]) -> Result<Vec<String>, DeviceError> {
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
    Ok(named.collect())
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
    use super::function;

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
