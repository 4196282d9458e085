//! A kernel that moves data from registers to registers, what it reads, and what it must leave.

use crate::case::{After, Element};
use crate::trial::{Predicted, Trial, input, output};
use tilewright_kernel::Kernel;
use tilewright_layout::LinearLayout;
use tilewright_lower::row_major;

use super::Disproof;
use super::execute::{compare_registers, written_at};

/// Runs a kernel of so many blocks on its inputs; gives what it wrote to outputs of so many bytes.
pub(super) type Execute<'a> = &'a mut dyn FnMut(Kernel, &[Vec<u8>], &[usize], u32) -> Result<Vec<Vec<u8>>, Disproof>;

/// What is asked of a kernel.
pub(super) struct Asked<'a> {
    pub kernel: Kernel,
    pub inputs: Vec<Vec<u8>>,
    pub outputs: Vec<Left<'a>>,
    pub blocks: u32,
}

/// What must be left in the registers of a layout.
pub(super) struct Left<'a> {
    pub layout: &'a LinearLayout,
    pub bits: u32,
    /// The elements, row-major.
    pub elements: Vec<u64>,
}

impl Left<'_> {
    fn size(&self) -> usize {
        ((self.bits / 8) as usize) << self.layout.ins().bits()
    }

    /// What a kernel writes that leaves it.
    fn bytes(&self) -> Vec<u8> {
        let (width, mut bytes) = ((self.bits / 8) as usize, vec![0; self.size()]);
        for place in 0..1u64 << self.layout.ins().bits() {
            let element = self.elements[row_major(self.layout, self.layout.apply_packed(place)) as usize];
            let start = written_at(self.layout, place) * width;
            bytes[start..start + width].copy_from_slice(&element.to_le_bytes()[..width]);
        }
        bytes
    }
}

impl Asked<'_> {
    /// Runs the kernel and compares every register.
    pub fn show(self, execute: Execute<'_>) -> Result<(), Disproof> {
        let sizes: Vec<_> = self.outputs.iter().map(Left::size).collect();
        let written = execute(self.kernel, &self.inputs, &sizes, self.blocks)?;
        self.outputs.iter().zip(&written).try_for_each(|(left, written)| {
            compare_registers(left.layout, left.bits, written, |index| left.elements[index as usize])
        })
    }

    /// The same, to be run elsewhere.
    pub fn trial(self, predicted: Predicted) -> Trial {
        let mut buffers: Vec<_> = self.inputs.into_iter().enumerate().map(|(at, bytes)| input(at, bytes)).collect();
        for (at, left) in self.outputs.iter().enumerate() {
            let bytes = left.bytes();
            let elements = bytes.len() as u64 / u64::from(left.bits / 8);
            let after = After::Expected { bytes, tolerance: Default::default() };
            buffers.push(output(at, Element::Unsigned(left.bits), elements, after));
        }
        Trial::of_buffers(self.kernel, self.blocks, buffers, Some(predicted))
    }
}
