//! What a program is after a stage.

use std::fmt;

use super::chosen_sizes::ChosenSizes;
use tilewright_assign::Assigned;
use tilewright_assign::synthesis::Derivation;
use tilewright_kernel::{self as kernel, Kernel};
use tilewright_tile::{TileModule, text};

/// The program after a stage; it prints as text.
#[derive(Debug, Clone, Copy)]
pub enum Stage<'a> {
    /// Which sizes its tiles have.
    Sizes(&'a ChosenSizes),
    /// As it was written.
    Read(&'a TileModule),
    /// In neutral words.
    Import(&'a TileModule),
    /// One function without calls and jumps.
    Shape(&'a TileModule),
    /// How the layouts of a program that says where tiles lie were found.
    Synthesis(&'a Derivation),
    /// With layouts, and what was chosen.
    Layouts(&'a Assigned),
    /// As a kernel.
    Kernel(&'a Kernel),
    /// With functions as arithmetic.
    Math(&'a Kernel),
}

impl Stage<'_> {
    /// The name of the stage.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sizes(_) => "sizes",
            Self::Read(_) => "read",
            Self::Import(_) => "import",
            Self::Shape(_) => "shape",
            Self::Synthesis(_) => "synthesis",
            Self::Layouts(_) => "layouts",
            Self::Kernel(_) => "kernel",
            Self::Math(_) => "math",
        }
    }

    /// The file that a dump of it is written to, in the order of the stages.
    #[must_use]
    pub fn file(self) -> String {
        let (number, end) = match self {
            Self::Sizes(_) => (0, "txt"),
            Self::Read(_) => (0, "ttir"),
            Self::Import(_) => (1, "ttir"),
            Self::Shape(_) => (2, "ttir"),
            Self::Synthesis(_) => (3, "txt"),
            Self::Layouts(_) => (3, "ttgir"),
            Self::Kernel(_) => (4, "kernel"),
            Self::Math(_) => (5, "kernel"),
        };
        format!("{number}-{}.{end}", self.name())
    }
}

impl fmt::Display for Stage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(module) | Self::Import(module) | Self::Shape(module) => f.write_str(&text::print(module)),
            Self::Sizes(chosen) => write!(f, "{chosen}"),
            Self::Synthesis(derivation) => write!(f, "{derivation}"),
            Self::Layouts(assigned) => f.write_str(&text::print(&assigned.module)),
            Self::Kernel(kernel) | Self::Math(kernel) => {
                write!(f, "{}", kernel::Module { kernels: vec![(*kernel).clone()] })
            }
        }
    }
}
