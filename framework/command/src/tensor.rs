//! Arguments for the tensor and the target of a data movement.

use clap::Args;

use tilewright::Session;
use tilewright_kernel::Element;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::TargetDescription;

use crate::failure::CommandError;
use crate::input;

/// Arguments that name the tensor and the target of a data movement.
#[derive(Debug, Args)]
pub struct TensorArguments {
    /// The tensor's shape, as 128x64.
    #[arg(long, value_name = "SHAPE")]
    pub shape: String,
    /// The element type: f16, i8, ... or a width in bits; for a tuple of tensors one type for each, as f32,i32.
    #[arg(long, value_name = "TYPE")]
    pub element: String,
    /// Name of the target, e.g. `h100`.
    #[arg(long, value_name = "NAME")]
    pub target: String,
}

impl TensorArguments {
    /// Returns the description of the named target.
    pub fn find_target<'a>(&self, session: &'a Session) -> Result<&'a TargetDescription, CommandError> {
        Ok(session.catalogue().get(&self.target)?)
    }

    /// Parses the distributed layout `text` for the tensor; error messages call it `name`.
    pub fn parse_distributed_layout(
        &self,
        session: &Session,
        name: &str,
        text: &str,
    ) -> Result<LinearLayout, CommandError> {
        self.parse_distributed_layout_of_shape(session, name, text, &self.shape)
    }

    /// Parses the distributed layout `text` for a tensor of another shape; error messages call it `name`.
    pub fn parse_distributed_layout_of_shape(
        &self,
        session: &Session,
        name: &str,
        text: &str,
        shape: &str,
    ) -> Result<LinearLayout, CommandError> {
        input::parse_distributed_layout(session, name, text, Some(&self.target), &input::parse_shape(shape)?)
    }

    /// Parses the shared-memory layout `text` for the tensor; error messages call it `name`.
    pub fn parse_memory_layout(&self, session: &Session, name: &str, text: &str) -> Result<MemoryLayout, CommandError> {
        let memory = input::parse_memory_layout(session, name, text, &self.target, &input::parse_shape(&self.shape)?)?;
        memory.ok_or_else(|| {
            CommandError::Input(format!(
                "{name}: no layout of shared memory; `draw layout` draws layouts of every kind"
            ))
        })
    }

    /// Returns the width of an element in bits.
    pub fn parse_element_bits(&self) -> Result<u32, CommandError> {
        input::parse_element_bits(&self.element)
    }

    /// Returns the widths in bits of the elements of each tensor of a tuple.
    pub fn parse_tuple_bits(&self) -> Result<Vec<u32>, CommandError> {
        self.element.split(',').map(input::parse_element_bits).collect()
    }

    /// Returns the elements of each tensor of a tuple; a width in bits is an integer.
    pub fn parse_tuple_elements(&self) -> Result<Vec<Element>, CommandError> {
        let element = |text| match Element::from_name(text) {
            Some(element) => Ok(element),
            None => {
                let bits = input::parse_element_bits(text)?;
                let wrong = || CommandError::Input(format!("no kernel has elements of {bits} bits"));
                Element::integer_of_width(bits).ok_or_else(wrong)
            }
        };
        self.element.split(',').map(element).collect()
    }

    /// Returns the tensor axis with this index.
    pub fn axis(&self, number: usize) -> Result<Dim, CommandError> {
        let rank = input::parse_shape(&self.shape)?.len();
        if number < rank {
            return Ok(Dim::tensor(number));
        }
        Err(CommandError::Input(format!("--axis {number}: a tensor of {} has the axes 0 to {}", self.shape, rank - 1)))
    }
}
