//! Running a kernel that was made of a case's program.

use super::compare::Difference;
use super::{CaseValue, ProgramCase};
use crate::check::emulate;
use crate::{CheckFailure, TestCase};
use tilewright_emulator::{RunLimits, RunReport};
use tilewright_kernel::{Kernel, Parameter, Type};
use tilewright_plan::movement::PlanContext;

/// What a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// What was counted.
    pub report: RunReport,
    /// The buffers that do not hold what they must; none where all is right.
    pub differences: Vec<Difference>,
}

impl ProgramCase {
    /// Runs a kernel on the emulator over the grid, and compares what it leaves in the buffers. Every program is a
    /// cluster of as many blocks as the kernel's launch has. Buffers are far apart, each at a multiple of 256.
    ///
    /// # Errors
    /// [`CheckFailure`]: the kernel takes other arguments, or did not run to its end.
    pub fn run(&self, kernel: &Kernel, context: PlanContext<'_>, limits: &RunLimits) -> Result<Ended, CheckFailure> {
        let (report, differences) = emulate(self.test_case(kernel.clone())?, context, limits)?;
        Ok(Ended { report, differences })
    }

    /// A kernel that was made of the case's program, with what it is given and must leave.
    ///
    /// # Errors
    /// [`CheckFailure::Arguments`]: there are too many blocks, or the kernel takes other arguments than the case gives.
    pub fn test_case(&self, kernel: Kernel) -> Result<TestCase, CheckFailure> {
        let grid = self.blocks(&kernel).map_err(CheckFailure::Arguments)?;
        let arguments = self.given(&kernel).map_err(CheckFailure::Arguments)?;
        Ok(TestCase::new(kernel, grid, arguments, self.buffers.clone()))
    }

    /// The blocks of the whole grid, along the three axes; why there are too many.
    fn blocks(&self, kernel: &Kernel) -> Result<[u32; 3], String> {
        let [x, y, z] = self.grid;
        let of_program = kernel.launch.blocks;
        let x = x.checked_mul(of_program).ok_or_else(|| format!("{x} programs of {of_program} blocks are too many"))?;
        Ok([x, y, z])
    }

    /// What each parameter of the kernel is given: the arguments of the function, in their order, and what follows from them.
    fn given(&self, kernel: &Kernel) -> Result<Vec<CaseValue>, String> {
        let taken = kernel.parameters.iter().filter(|parameter| parameter.rows.is_none()).count();
        if taken != self.arguments.len() {
            let given = self.arguments.len();
            return Err(format!("kernel `{}` takes {taken} arguments, the case gives {given}", kernel.name));
        }
        let mut own = self.arguments.iter().map(|argument| argument.given);
        let mut plain: Vec<Option<CaseValue>> = Vec::with_capacity(kernel.parameters.len());
        for parameter in &kernel.parameters {
            plain.push(if parameter.rows.is_some() { None } else { own.next() });
        }
        let number = |at: u32| match plain.get(at as usize) {
            Some(Some(CaseValue::Scalar { bits, .. })) => Some(*bits),
            _ => None,
        };
        // What follows from arguments stands behind them.
        let names = self.arguments.iter().map(|argument| argument.name.as_str()).chain(std::iter::repeat("a map"));
        let filled = kernel.parameters.iter().zip(&plain).map(|(parameter, given)| {
            let (Some(rows), Some(map)) = (&parameter.rows, &parameter.map) else {
                return given.ok_or_else(|| format!("parameter `{}` is given nothing", parameter.name));
            };
            let Some(Some(CaseValue::Buffer(buffer))) = plain.get(rows.pointer as usize) else {
                return Err(format!("parameter `{}` maps what no buffer holds", parameter.name));
            };
            let bytes = self.buffers.get(*buffer).map_or(0, |buffer| buffer.before.len() as u64);
            rows.tensor(map, (*buffer, bytes), number).map(CaseValue::Tensor)
        });
        let named = filled.zip(&kernel.parameters).zip(names);
        let checked = named.map(|((given, parameter), name)| {
            let given = given?;
            check_argument(given, parameter).map(|()| given).map_err(|found| {
                format!(
                    "argument `{name}`: the case gives {found}, parameter `{}` of kernel `{}` is {}",
                    parameter.name, kernel.name, parameter.ty
                )
            })
        });
        checked.collect()
    }
}

/// `Err` with what is given if the parameter is of another kind.
fn check_argument(given: CaseValue, parameter: &Parameter) -> Result<(), String> {
    match (given, parameter.ty) {
        (CaseValue::Buffer(_), Type::Pointer(_)) | (CaseValue::Tensor(_), Type::TensorMap) => Ok(()),
        // Truth is given as a byte.
        (CaseValue::Scalar { width, .. }, Type::Scalar(element)) if element.bits() == width.max(8) => Ok(()),
        (CaseValue::Buffer(_), _) => Err("a buffer".to_owned()),
        (CaseValue::Tensor(_), _) => Err("a tensor".to_owned()),
        (CaseValue::Scalar { width, .. }, _) => Err(format!("a number of {width} bits")),
    }
}
