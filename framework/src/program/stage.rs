//! The program after each compilation stage.

use std::fmt;

use super::chosen_sizes::ChosenTileSizes;
use tilewright_assign::AssignedModule;
use tilewright_assign::synthesis::Derivation;
use tilewright_kernel::{self as kernel, Kernel};
use tilewright_tile::{TileModule, text};

/// The program after one compilation stage; it prints as text.
#[derive(Debug, Clone, Copy)]
pub enum CompilationStageOutput<'a> {
    /// The chosen tile sizes of a program that leaves them open.
    Sizes(&'a ChosenTileSizes),
    /// The program as written, verified.
    Read(&'a TileModule),
    /// The program with neutral operations instead of vendors' operations.
    Import(&'a TileModule),
    /// The program as one function without calls and branches.
    Shape(&'a TileModule),
    /// The derivation of layouts (the choices and constraints from which they follow), for a program with explicit
    /// memory.
    Synthesis(&'a Derivation),
    /// The program with layouts, and the report of layout assignment.
    Layouts(&'a AssignedModule),
    /// The kernel IR of the program.
    Kernel(&'a Kernel),
    /// The kernel IR with math functions expanded.
    Math(&'a Kernel),
}

impl CompilationStageOutput<'_> {
    /// Returns the name of the stage.
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

    /// Returns the file name under which the program after this stage is dumped; it begins with the stage's number.
    #[must_use]
    pub fn dump_file_name(self) -> String {
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

impl fmt::Display for CompilationStageOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(module) | Self::Import(module) | Self::Shape(module) => f.write_str(&text::print_module(module)),
            Self::Sizes(chosen) => write!(f, "{chosen}"),
            Self::Synthesis(derivation) => write!(f, "{derivation}"),
            Self::Layouts(assigned) => f.write_str(&text::print_module(&assigned.module)),
            Self::Kernel(kernel) | Self::Math(kernel) => {
                write!(f, "{}", kernel::Module { kernels: vec![(*kernel).clone()] })
            }
        }
    }
}
