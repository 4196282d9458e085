//! Execution of the kernel that was compiled from a case's program.

use super::compare::Difference;
use super::{CaseValue, ProgramCase};
use crate::check::emulate;
use crate::{CheckFailure, TestCase};
use tilewright_emulator::{RunLimits, RunReport};
use tilewright_kernel::{Kernel, Parameter, Type};
use tilewright_plan::movement::PlanContext;

/// The result of a run that completed.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRun {
    /// Counts and other statistics of the run.
    pub report: RunReport,
    /// Buffers that differ from the expected contents; empty if all are correct.
    pub differences: Vec<Difference>,
}

impl ProgramCase {
    /// Runs a kernel on the emulator over the whole grid, and compares the buffers. Every program (of the grid) is a
    /// cluster of the kernel's number of blocks. Buffers are at distant addresses, aligned to 256 bytes.
    ///
    /// # Errors
    /// [`CheckFailure`]: the kernel takes other arguments, or did not complete.
    pub fn run(&self, kernel: &Kernel, context: PlanContext<'_>, limits: &RunLimits) -> Result<CaseRun, CheckFailure> {
        let (report, differences) = emulate(self.test_case(kernel.clone())?, context, limits)?;
        Ok(CaseRun { report, differences })
    }

    /// Creates a test case from a kernel that was compiled from the case's program.
    ///
    /// # Errors
    /// [`CheckFailure::Arguments`]: too many blocks, or the kernel takes other arguments than the case has.
    pub fn test_case(&self, kernel: Kernel) -> Result<TestCase, CheckFailure> {
        let grid = self.blocks(&kernel).map_err(CheckFailure::Arguments)?;
        let arguments = self.given(&kernel).map_err(CheckFailure::Arguments)?;
        Ok(TestCase::new(kernel, grid, arguments, self.buffers.clone()))
    }

    /// Returns the number of blocks of the grid along the three axes; an error if there are too many.
    fn blocks(&self, kernel: &Kernel) -> Result<[u32; 3], String> {
        let [x, y, z] = self.grid;
        let of_program = kernel.launch.blocks;
        let x = x.checked_mul(of_program).ok_or_else(|| format!("{x} programs of {of_program} blocks are too many"))?;
        Ok([x, y, z])
    }

    /// Returns the argument for each kernel parameter: the arguments of the function in order, then those that are
    /// derived from them.
    fn given(&self, kernel: &Kernel) -> Result<Vec<CaseValue>, String> {
        let taken = kernel.parameters.iter().filter(|parameter| parameter.rows.is_none()).count();
        if taken != self.arguments.len() {
            let given = self.arguments.len();
            return Err(format!("kernel `{}` takes {taken} arguments, the case has {given}", kernel.name));
        }
        let mut own = self.arguments.iter().map(|argument| argument.value);
        let mut plain: Vec<Option<CaseValue>> = Vec::with_capacity(kernel.parameters.len());
        for parameter in &kernel.parameters {
            plain.push(if parameter.rows.is_some() { None } else { own.next() });
        }
        let number = |at: u32| match plain.get(at as usize) {
            Some(Some(CaseValue::Scalar { bits, .. })) => Some(*bits),
            _ => None,
        };
        // Derived arguments follow the arguments of the function.
        let names = self.arguments.iter().map(|argument| argument.name.as_str()).chain(std::iter::repeat("a map"));
        let filled = kernel.parameters.iter().zip(&plain).map(|(parameter, given)| {
            let (Some(rows), Some(map)) = (&parameter.rows, &parameter.map) else {
                return given.ok_or_else(|| format!("parameter `{}` has no argument", parameter.name));
            };
            let Some(Some(CaseValue::Buffer(buffer))) = plain.get(rows.pointer as usize) else {
                return Err(format!("the tensor map of parameter `{}` exceeds its buffer", parameter.name));
            };
            let bytes = self.buffers.get(*buffer).map_or(0, |buffer| buffer.before.len() as u64);
            rows.tensor(map, (*buffer, bytes), number).map(CaseValue::Tensor).map_err(|error| error.to_string())
        });
        let named = filled.zip(&kernel.parameters).zip(names);
        let checked = named.map(|((given, parameter), name)| {
            let given = given?;
            check_argument(given, parameter).map(|()| given).map_err(|found| {
                format!(
                    "argument `{name}`: the case has {found}, parameter `{}` of kernel `{}` is {}",
                    parameter.name, kernel.name, parameter.ty
                )
            })
        });
        checked.collect()
    }
}

/// Checks an argument against the type of its parameter; the error names the kind of the argument.
fn check_argument(given: CaseValue, parameter: &Parameter) -> Result<(), String> {
    match (given, parameter.ty) {
        (CaseValue::Buffer(_), Type::Pointer(_)) | (CaseValue::Tensor(_), Type::TensorMap) => Ok(()),
        // An `i1` is passed as a byte.
        (CaseValue::Scalar { width, .. }, Type::Scalar(element)) if element.bits() == width.max(8) => Ok(()),
        (CaseValue::Buffer(_), _) => Err("a buffer".to_owned()),
        (CaseValue::Tensor(_), _) => Err("a tensor".to_owned()),
        (CaseValue::Scalar { width, .. }, _) => Err(format!("a number of {width} bits")),
    }
}
