//! Tilewright: a tensor-layout backend for GPU compilers.
//!
//! A compiler links this crate, loads vendor plugins at run time, and asks for layouts, plans of data movement with their
//! costs and lower bounds, kernels, and code for a target.
//!
//! # From a question to code
//!
//! Open a [`Session`] over the known targets. Plugins are found in the standard places:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use tilewright::Session;
//!
//! let session = Session::builder(tilewright_targets::catalogue()?).open()?;
//! # Ok(())
//! # }
//! ```
//!
//! Read two layouts of a tensor, as Triton writes them, and plan the conversion between them. A layout is a linear map over
//! F2 from (register, lane, warp, block) to tensor coordinates. The plan has its counts beside the lower bound, and needs no
//! plugin:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use tilewright::Session;
//! # use tilewright::plugin::Discovery;
//! use tilewright::LayoutRequest;
//! use tilewright::plan::{self, PlanContext};
//!
//! # let session = Session::builder(tilewright_targets::catalogue()?).discovery(Discovery::default()).open()?;
//! let layout = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
//!     Ok(LayoutRequest::from_text(text)?.resolve(&session, None, &[32, 32])?)
//! };
//! let rows = layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>")?;
//! let columns = layout("#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>")?;
//!
//! let target = session.catalogue().get("h100")?;
//! let plan = plan::convert(&rows, &columns, 32, PlanContext::of(target))?;
//! assert!(plan.stats.counts.wavefronts_loaded >= plan.stats.bound.wavefronts_loaded);
//! # Ok(())
//! # }
//! ```
//!
//! [`Session::convert`] plans with the instructions of the target's plugin. Hand a kernel around that plan to the plugin, which
//! gives assembly or an object:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use tilewright::{LayoutRequest, Session};
//! use tilewright::plugin::{CompileOptions, Emit};
//!
//! # let session = Session::builder(tilewright_targets::catalogue()?).open()?;
//! # let layout = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
//! #     Ok(LayoutRequest::from_text(text)?.resolve(&session, None, &[32, 32])?)
//! # };
//! # let rows = layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>")?;
//! # let columns = layout("#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>")?;
//! let module = session.conversion_module("h100", &rows, &columns, 32)?;
//! let options = CompileOptions { emit: vec![Emit::Assembly], ..CompileOptions::default() };
//! let artifact = session.compile("h100", &module, &options)?;
//! println!("{}", artifact.text(Emit::Assembly).ok_or("the assembly is no text")?);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go on
//!
//! | module | has |
//! |---|---|
//! | [`layout`] | layouts, the families that build them, their texts and JSON, CuTe's algebra |
//! | [`plan`] | plans of conversions, reductions, scans, gathers, copies and shared-memory layouts; in [`plan::dot`] of matrix multiplication |
//! | [`tile`] | whole tile programs as Triton IR: built or read, given layouts, lowered to a kernel by a [`ProgramCompiler`] |
//! | [`kernel`] | the kernel IR, in which plans and programs become code |
//! | [`target`] | descriptions of GPUs, read from target files |
//! | [`plugin`] | what vendors' plugins do: compile, and run code on devices |
//! | [`operations`] | operations on layouts by name, with inputs in JSON |

mod builder;
pub mod operations;
mod program;
mod request;
mod session;

pub use builder::{SessionBuilder, SessionError};
pub use program::{ChosenSizes, ProgramCompiler, ProgramError, ProgramOptions, Stage};
pub use request::{LayoutRequest, LayoutRequestError};
pub use session::{PipelineError, Session};

/// Layouts, the families that build them, their texts and JSON, and CuTe's algebra.
pub mod layout {
    #[doc(inline)]
    pub use tilewright_layout::{
        AttributeSyntaxes, Dim, Families, FamilyAttribute, FamilyError, FamilySpec, Layout, LayoutError, LinearLayout,
        MemoryLayout, Padding, Space, cute, layout_from_json, layout_to_json, parse_spec, spec_from_json, spec_to_json,
        text::TextError,
    };
}

/// Plans of data movement, each with its figures and their lower bounds.
pub mod plan {
    #[doc(inline)]
    pub use tilewright_plan::movement::{
        Accessor, AsyncCopySpec, AxisStride, BankModel, Bound, ConsecutiveCopy, Constraints, Gather, GlobalAccess,
        GlobalTensor, Kind, MemoryChoice, MovementError, Path, Plan, PlanContext, PlanStats, Reduction, Rejected, Scan,
        ScanDirection, ScratchLayout, SharedAccess, SharedCopy, TensorCopy, access_global, access_shared, candidates,
        choose_shared_layout, conflicts, convert, copy_from_shared, copy_to_shared, gather, gathers, reduce,
        reductions, scan, slots,
    };

    /// Matrix multiplication: which instruction multiplies, and how its operands get there.
    pub mod dot {
        #[doc(inline)]
        pub use tilewright_plan::contract::{
            ContractError, Contraction, MmaCandidate, MmaProblem, Scale, candidates, plan,
        };
    }
}

/// Tile programs: how they are built or read, checked and printed, and how layouts are chosen for them. A
/// [`ProgramCompiler`] makes a kernel of one.
pub mod tile {
    #[doc(inline)]
    pub use tilewright_assign::{Strategy, synthesis};
    #[doc(inline)]
    pub use tilewright_tile::import::Imports;
    #[doc(inline)]
    pub use tilewright_tile::op::{Dialects, name};
    #[doc(inline)]
    pub use tilewright_tile::text::{parse, print};
    #[doc(inline)]
    pub use tilewright_tile::{
        Attribute, BuildError, Dense, Float, FunctionBuilder, OperationBuilder, TileModule, TileType, TileViolation,
        Value, verify,
    };
}

/// The kernel IR, in which plans and programs become code.
pub mod kernel {
    #[doc(inline)]
    pub use tilewright_kernel::{Builder, Counts, Element, Kernel, Launch, Module, Parameter, VerifyError, verify};
    #[doc(inline)]
    pub use tilewright_lower::conversion_kernel;
}

/// Descriptions of GPUs: lanes, shared memory, instructions, costs.
pub mod target {
    #[doc(inline)]
    pub use tilewright_target::{
        Catalogue, CatalogueError, Direction, ElementType, Instruction, InstructionKind, MemoryOperand, Operand,
        Semantics, TargetDescription, UnusedInstruction,
    };
}

/// Vendors' plugins: where they are found, what they compile to, and the devices on which that runs.
pub mod plugin {
    #[doc(inline)]
    pub use tilewright_plugin::{
        Artifact, CompileError, CompileOptions, Device, DeviceBuffer, DeviceError, Discovery, Emit, HostCommand,
        KernelMetadata, LaunchArgument, LaunchGrid, LaunchRequest, Listener, LoadError, LogLevel, Payload, Registry,
        RegistryError, Target, listening, serve,
    };
}
