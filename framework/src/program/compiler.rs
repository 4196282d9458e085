//! The compiler of tile programs: its inputs, its target and its options.

use tilewright_assign::Strategy;
use tilewright_assign::synthesis;
use tilewright_plugin::Target;
use tilewright_tile::import::Imports;
use tilewright_tile::op::Dialects;

/// What tile programs are compiled with and for.
#[derive(Clone, Copy)]
pub struct ProgramCompiler<'a> {
    /// The operations that programs may use.
    pub dialects: &'a Dialects,
    /// What foreign words mean.
    pub imports: &'a Imports,
    /// The target.
    pub target: &'a dyn Target,
}

/// How a program is compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Warps of a block; where the program itself says how many, it is asked. Four where neither says.
    pub warps: Option<u32>,
    /// Lanes of a warp; the target's default where neither says.
    pub lanes: Option<u32>,
    /// The function that a launch begins with; may be left out where there is one alone.
    pub entry: Option<String>,
    /// How layouts are chosen.
    pub strategy: Strategy,
    /// Stages of loops whose loads go ahead of what uses them, at most; one is none ahead. Where nobody says, what loops
    /// themselves ask for, else what [`tilewright_assign::stages`] takes.
    pub stages: Option<u32>,
    /// What synthesis may do for programs that say where tiles lie.
    pub synthesis: synthesis::Options,
    /// Sizes that the program leaves open, by name, with the number that each shall be.
    pub sizes: Vec<(String, u64)>,
}
