//! Running a kernel that was made of a case's program.

use thiserror::Error;

use super::compare::Difference;
use super::{Case, Given};
use crate::proof::Disproof;
use crate::trial::Trial;
use tilewright_emulator::{self as emulator, Emulator, Fault, GlobalMemory, Limits, Meanings, MemoryError, Report};
use tilewright_kernel::{Kernel, Parameter, Type};
use tilewright_plan::movement::Means;
use tilewright_plugin::{Device, DeviceError, Target};

/// What a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// What was counted.
    pub report: Report,
    /// The buffers that do not hold what they must; none where all is right.
    pub differences: Vec<Difference>,
}

/// Why a case could not be run to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The kernel takes something else than the case gives: the case's fault, or that of who made the kernel of its
    /// program.
    #[error("{0}")]
    Arguments(String),
    /// The kernel did what it may not, or more than the limits allow.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// What was left cannot be read; never, since buffers begin with known contents.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Case {
    /// Runs a kernel on the emulator over the grid, and compares what it leaves in the buffers. Every program is a
    /// cluster of as many blocks as the kernel's launch has. Buffers are far apart, each at a multiple of 256.
    ///
    /// # Errors
    /// [`LaunchError`].
    pub fn run(&self, kernel: &Kernel, means: Means<'_>, limits: &Limits) -> Result<Ended, LaunchError> {
        let mut memory = GlobalMemory::new();
        let buffers: Vec<_> = self.buffers.iter().map(|buffer| memory.allocate_with(&buffer.before)).collect();
        let arguments = self.launch_arguments(kernel, &buffers)?;
        let blocks = self.blocks(kernel).map_err(LaunchError::Arguments)?;
        let meanings = Meanings::of_rows(means.instructions);
        let report = Emulator::new(kernel, means.target)
            .and_then(|emulator| emulator.with_meanings(&meanings).run(blocks, &arguments, &mut memory, limits))
            .map_err(|fault| LaunchError::Fault(Box::new(fault)))?;
        let mut differences = Vec::new();
        for (given, &buffer) in self.buffers.iter().zip(&buffers) {
            differences.extend(given.difference(memory.read_all(buffer)?));
        }
        Ok(Ended { report, differences })
    }

    /// Compiles a kernel and runs it on a device of the target over the grid: the buffers that do not hold what they
    /// must then, none where all is right.
    ///
    /// # Errors
    /// [`Disproof`]: it was not compiled, or did not run to its end.
    pub fn run_on(
        &self,
        device: &mut dyn Device,
        target: &dyn Target,
        kernel: Kernel,
    ) -> Result<Vec<Difference>, Disproof> {
        self.trial(kernel).map_err(DeviceError::BadLaunch)?.run_on(device, target)
    }

    /// A kernel that was made of the case's program, with what it is given and must leave.
    ///
    /// # Errors
    /// Why there are too many blocks.
    pub fn trial(&self, kernel: Kernel) -> Result<Trial, String> {
        let grid = self.blocks(&kernel)?;
        let arguments = self.given(&kernel)?;
        Ok(Trial { kernel, grid, arguments, buffers: self.buffers.clone(), predicted: None })
    }

    /// The blocks of the whole grid, along the three axes; why there are too many.
    fn blocks(&self, kernel: &Kernel) -> Result<[u32; 3], String> {
        let [x, y, z] = self.grid;
        let of_program = kernel.launch.blocks;
        let x = x.checked_mul(of_program).ok_or_else(|| format!("{x} programs of {of_program} blocks are too many"))?;
        Ok([x, y, z])
    }

    /// What each parameter of the kernel is given: the arguments of the function, in their order, and what follows from them.
    fn given(&self, kernel: &Kernel) -> Result<Vec<Given>, String> {
        let taken = kernel.parameters.iter().filter(|parameter| parameter.rows.is_none()).count();
        if taken != self.arguments.len() {
            let given = self.arguments.len();
            return Err(format!("kernel `{}` takes {taken} arguments, the case gives {given}", kernel.name));
        }
        let mut own = self.arguments.iter().map(|argument| argument.given);
        let mut plain: Vec<Option<Given>> = Vec::with_capacity(kernel.parameters.len());
        for parameter in &kernel.parameters {
            plain.push(if parameter.rows.is_some() { None } else { own.next() });
        }
        let number = |at: u32| match plain.get(at as usize) {
            Some(Some(Given::Scalar { bits, .. })) => Some(*bits),
            _ => None,
        };
        let filled = kernel.parameters.iter().zip(&plain).map(|(parameter, given)| {
            let (Some(rows), Some(map)) = (&parameter.rows, &parameter.map) else {
                return given.ok_or_else(|| format!("parameter `{}` is given nothing", parameter.name));
            };
            let Some(Some(Given::Buffer(buffer))) = plain.get(rows.pointer as usize) else {
                return Err(format!("parameter `{}` maps what no buffer holds", parameter.name));
            };
            let bytes = self.buffers.get(*buffer).map_or(0, |buffer| buffer.before.len() as u64);
            rows.tensor(map, (*buffer, bytes), number).map(Given::Tensor)
        });
        filled.collect()
    }

    /// The same as the emulator takes it.
    fn launch_arguments(
        &self,
        kernel: &Kernel,
        buffers: &[emulator::Buffer],
    ) -> Result<Vec<emulator::Argument>, LaunchError> {
        let given = self.given(kernel).map_err(LaunchError::Arguments)?;
        // What follows from arguments stands behind them.
        let names = self.arguments.iter().map(|argument| argument.name.as_str()).chain(std::iter::repeat("a map"));
        let pairs = given.into_iter().zip(&kernel.parameters).zip(names);
        pairs
            .map(|((given, parameter), name)| {
                launch_argument(given, parameter, buffers).map_err(|expected| {
                    LaunchError::Arguments(format!(
                        "argument `{name}`: the case gives {expected}, parameter `{}` of kernel `{}` is {}",
                        parameter.name, kernel.name, parameter.ty
                    ))
                })
            })
            .collect()
    }
}

/// `Err` with what is given where the parameter is of another kind.
fn launch_argument(
    given: Given,
    parameter: &Parameter,
    buffers: &[emulator::Buffer],
) -> Result<emulator::Argument, String> {
    match (given, parameter.ty) {
        (Given::Buffer(number), Type::Pointer(_)) => Ok(emulator::Argument::Buffer(buffers[number])),
        // Truth is given as a byte.
        (Given::Scalar { bits, width }, Type::Scalar(element)) if element.bits() == width.max(8) => {
            Ok(emulator::Argument::Scalar(bits))
        }
        (Given::Tensor(tensor), Type::TensorMap) => {
            Ok(emulator::Argument::Tensor(tensor.in_buffer(buffers[tensor.buffer])))
        }
        (Given::Buffer(_), _) => Err("a buffer".to_owned()),
        (Given::Tensor(_), _) => Err("a tensor".to_owned()),
        (Given::Scalar { width, .. }, _) => Err(format!("a number of {width} bits")),
    }
}
