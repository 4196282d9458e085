//! Trials: a kernel with everything that its launch takes and must leave, to be run elsewhere than where it was made.
//!
//! What proofs ask of a kernel on this machine, as a value: contents of buffers before and after, with what they may be
//! off by, and what was predicted of the run.

use super::case::{After, Buffer, Difference, Element, Given};
use super::proof::{Disproof, Machine};
use tilewright_kernel::{Counts, Kernel};
use tilewright_plugin::{self as plugin, Device, LaunchArgument, LaunchGrid, Target};

/// A kernel, its launch, what its buffers hold before and must hold after.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The kernel.
    pub kernel: Kernel,
    /// Blocks along the three axes.
    pub grid: LaunchGrid,
    /// What each parameter is given.
    pub arguments: Vec<Given>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// What a plan says of it, where one does.
    pub predicted: Option<Predicted>,
}

/// What is predicted of a kernel before anything is emitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// How often the kernel does what is counted, one time after the other.
    pub rounds: u32,
    /// What a warp executes for that once, where it is counted.
    pub counts: Option<Counts>,
    /// Cycles of the block for that once, by the target's table.
    pub cycles: f64,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
}

/// What outputs hold before: elements that are not written are seen.
const NOISE: u8 = 0xa5;

impl Trial {
    /// A kernel that is given its buffers in their order.
    pub(super) fn of_buffers(kernel: Kernel, blocks: u32, buffers: Vec<Buffer>, predicted: Option<Predicted>) -> Self {
        let arguments = (0..buffers.len()).map(Given::Buffer).collect();
        Self { kernel, grid: [blocks, 1, 1], arguments, buffers, predicted }
    }
}

impl Trial {
    /// Compiles the kernel and runs it on a device of the target: the buffers that do not hold what they must then, none
    /// where all is right.
    ///
    /// # Errors
    /// [`Disproof`]: it was not compiled, or did not run to its end.
    pub fn run_on(self, device: &mut dyn Device, target: &dyn Target) -> Result<Vec<Difference>, Disproof> {
        let contents: Vec<_> = self.buffers.iter().map(|buffer| buffer.before.clone()).collect();
        let given = |buffers: &[plugin::Buffer]| {
            let argument = |given: &Given| match *given {
                Given::Buffer(number) => LaunchArgument::Buffer(buffers[number]),
                Given::Scalar { bits, width } => LaunchArgument::Scalar { bits, width },
                Given::Tensor(tensor) => LaunchArgument::Tensor(tensor.in_buffer(buffers[tensor.buffer])),
            };
            self.arguments.iter().map(argument).collect()
        };
        let left = Machine::new(target, device).run_with(self.kernel, &contents, self.grid, given)?;
        Ok(self.buffers.iter().zip(&left).filter_map(|(given, left)| given.difference(left)).collect())
    }
}

/// A buffer that is read and stays as it is.
pub(super) fn input(number: usize, before: Vec<u8>) -> Buffer {
    let shape = vec![before.len() as u64];
    Buffer { name: format!("in{number}"), element: Element::Unsigned(8), shape, before, after: After::Unchanged }
}

/// A buffer of so many elements that is written.
pub(super) fn output(number: usize, element: Element, elements: u64, after: After) -> Buffer {
    let before = vec![NOISE; elements as usize * element.bytes()];
    Buffer { name: format!("out{number}"), element, shape: vec![elements], before, after }
}
