//! Arguments of a kernel: those of the program's function, and those that the launch derives from them.

use tilewright_kernel::{Kernel, Parameter, TensorMapBinding, Type};

/// An argument of a kernel; buffers are those of the launch, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelArgument {
    /// A pointer to the start of a buffer.
    Buffer(usize),
    /// A pointer into a buffer.
    Pointer {
        /// Index of the buffer among those of the launch ([`KernelLaunch::buffers`](super::KernelLaunch::buffers)).
        buffer: usize,
        /// Offset of the pointer from the start of the buffer, in bytes.
        offset: u64,
    },
    /// A scalar of the parameter's type, as its bits.
    Scalar {
        /// The bits of the scalar; those above `width` are zero.
        bits: u64,
        /// Width of the scalar's type in bits.
        width: u32,
    },
    /// A tensor in a buffer, for a tensor-map parameter.
    Tensor(TensorMapBinding<usize>),
}

/// Returns the argument for each parameter of a kernel. `given` has the arguments of the program's function with their
/// names for messages; tensor maps that the launch derives from pointers and strides are added. `bytes` are the sizes
/// of the buffers.
///
/// # Errors
/// Too many or too few arguments, or one that does not have the type of its parameter.
///
/// # Examples
/// ```
/// use tilewright::run::{KernelArgument, bind_arguments};
///
/// let module = tilewright::kernel::parse_module("kernel fill(%0 to: ptr.global, %1 count: i32) lanes 32 warps 1 {}")?;
/// let given = [("to", KernelArgument::Buffer(0)), ("count", KernelArgument::Scalar { bits: 7, width: 32 })];
/// assert_eq!(bind_arguments(&module.kernels[0], &given, &[64])?, given.map(|(_, argument)| argument));
/// let missing = bind_arguments(&module.kernels[0], &given[..1], &[64]);
/// assert!(missing.is_err_and(|message| message.contains("takes 2 arguments, 1 are given")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bind_arguments(
    kernel: &Kernel,
    given: &[(&str, KernelArgument)],
    bytes: &[u64],
) -> Result<Vec<KernelArgument>, String> {
    let taken = kernel.parameters.iter().filter(|parameter| parameter.rows.is_none()).count();
    if taken != given.len() {
        return Err(format!("kernel `{}` takes {taken} arguments, {} are given", kernel.name, given.len()));
    }
    let mut own = given.iter().map(|&(_, argument)| argument);
    let plain: Vec<Option<KernelArgument>> =
        kernel.parameters.iter().map(|parameter| if parameter.rows.is_some() { None } else { own.next() }).collect();
    // Names for messages: those of the given arguments, then one for all derived arguments, which come last.
    let names = given.iter().map(|&(name, _)| name).chain(std::iter::repeat("a map"));
    let filled = kernel.parameters.iter().zip(&plain).map(|(parameter, given)| match given {
        Some(given) => Ok(*given),
        None => derived(parameter, &plain, bytes),
    });
    let named = filled.zip(&kernel.parameters).zip(names);
    let checked = named.map(|((given, parameter), name)| {
        let given = given?;
        check_argument(given, parameter).map(|()| given).map_err(|found| {
            format!(
                "argument `{name}`: {found} is given, parameter `{}` of kernel `{}` is {}",
                parameter.name, kernel.name, parameter.ty
            )
        })
    });
    checked.collect()
}

/// Returns the tensor of a tensor map that the launch derives from other arguments. `plain` has the arguments that are
/// given, by parameter index, and `bytes` the sizes of the buffers.
fn derived(parameter: &Parameter, plain: &[Option<KernelArgument>], bytes: &[u64]) -> Result<KernelArgument, String> {
    let (Some(rows), Some(map)) = (&parameter.rows, &parameter.map) else {
        return Err(format!("parameter `{}` has no argument", parameter.name));
    };
    let number = |at: u32| match plain.get(at as usize) {
        Some(Some(KernelArgument::Scalar { bits, .. })) => Some(*bits),
        _ => None,
    };
    let (buffer, offset) = match plain.get(rows.pointer as usize) {
        Some(&Some(KernelArgument::Buffer(buffer))) => (buffer, 0),
        Some(&Some(KernelArgument::Pointer { buffer, offset })) => (buffer, offset),
        _ => {
            return Err(format!(
                "the tensor map of parameter `{}` derives from argument {}: expected a buffer there",
                parameter.name, rows.pointer
            ));
        }
    };
    let size = bytes.get(buffer).copied().unwrap_or(0).saturating_sub(offset);
    let mut tensor = rows.derive_tensor(map, (buffer, size), number).map_err(|error| error.to_string())?;
    tensor.offset += offset;
    Ok(KernelArgument::Tensor(tensor))
}

/// Checks an argument against the type of its parameter; the error names the kind of the argument.
fn check_argument(given: KernelArgument, parameter: &Parameter) -> Result<(), String> {
    match (given, parameter.ty) {
        (KernelArgument::Buffer(_) | KernelArgument::Pointer { .. }, Type::Pointer(_))
        | (KernelArgument::Tensor(_), Type::TensorMap) => Ok(()),
        // An `i1` is passed as a byte.
        (KernelArgument::Scalar { width, .. }, Type::Scalar(element)) if element.bits() == width.max(8) => Ok(()),
        (KernelArgument::Buffer(_) | KernelArgument::Pointer { .. }, _) => Err("a buffer".to_owned()),
        (KernelArgument::Tensor(_), _) => Err("a tensor".to_owned()),
        (KernelArgument::Scalar { width, .. }, _) => Err(format!("a number of {width} bits")),
    }
}
