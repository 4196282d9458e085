//! Tilewright: a tensor-layout backend for GPU compilers.
//!
//! A compiler links this crate and loads vendor plugins at run time. It gets layouts, plans of data movement with costs
//! and lower bounds, kernels, and code for a target.
//!
//! # From a layout question to code
//!
//! How does a tile get from the layout that loads rows to the layout that stores columns on an H100, and what does it
//! cost? A [`Session`] over the known targets reads both layouts in Triton's notation, plans the conversion, and builds
//! a kernel that performs the plan. The emulator runs that kernel on the CPU; nothing here needs a GPU or a plugin:
//!
//! ```
//! use tilewright::layout::Dim;
//! use tilewright::plugin::PluginSearchPath;
//! use tilewright::{LayoutRequest, Session};
//! use tilewright_emulator::{Argument, GlobalMemory, RunLimits, run_kernel};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::builder(tilewright_targets::read_default_catalogue()?).with_search_path(PluginSearchPath::default()).open()?;
//!
//! // A layout is a linear map over F2 from (register, lane, warp, block) to tensor coordinates.
//! let layout = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
//!     Ok(LayoutRequest::from_text(text)?.resolve_linear_layout(&session, None, &[32, 32])?)
//! };
//! let rows = layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>")?;
//! let columns = layout("#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>")?;
//!
//! // The cheapest plan for elements of 32 bits, with its counts and their lower bound.
//! let plan = session.plan_conversion("h100", &rows, &columns, 32)?;
//! assert!(plan.stats.counts.wavefronts_loaded >= plan.stats.bound.wavefronts_loaded);
//!
//! // The kernel loads the row-major tile in `rows`, converts it, and stores every register of `columns`.
//! let module = session.build_conversion_module("h100", &rows, &columns, 32)?;
//! let mut memory = GlobalMemory::new();
//! let tile: Vec<u8> = (0..32 * 32_u32).flat_map(u32::to_le_bytes).collect();
//! let (tile, registers) = (memory.allocate_with(&tile), memory.allocate(4 * 32 * 32));
//! let arguments = [Argument::Buffer(tile), Argument::Buffer(registers)];
//! let target = session.catalogue().get("h100")?;
//! let report = run_kernel(&module.kernels[0], target, [1; 3], &arguments, &mut memory, &RunLimits::default())?;
//! assert_eq!(report.counts.wavefronts_loaded, plan.stats.counts.wavefronts_loaded);
//!
//! // Register 1 of lane 9 of warp 2 holds the element that the layout gives.
//! let element = columns.apply(&[(Dim::REGISTER, 1), (Dim::LANE, 9), (Dim::WARP, 2), (Dim::BLOCK, 0)])?;
//! let [row, column] = [element[0].1, element[1].1];
//! let (register, thread, threads) = (1, 2 * 32 + 9, 128);
//! let stored = memory.read(registers, 4 * (register * threads + thread), 4)?;
//! assert_eq!(stored, u32::try_from(32 * row + column)?.to_le_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! The plugin of the target compiles the kernel to assembly (here PTX) or an object. [`SessionBuilder::open`] finds
//! plugins in the standard places, and a session then plans with the instructions of the target's plugin:
//!
//! ```no_run
//! use tilewright::plugin::{CompileOptions, CodeFormat};
//! use tilewright::{LayoutRequest, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::builder(tilewright_targets::read_default_catalogue()?).open()?;
//! # let layout = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
//! #     Ok(LayoutRequest::from_text(text)?.resolve_linear_layout(&session, None, &[32, 32])?)
//! # };
//! # let rows = layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>")?;
//! # let columns = layout("#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>")?;
//! let module = session.build_conversion_module("h100", &rows, &columns, 32)?;
//! let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
//! let artifact = session.compile("h100", &module, &options)?;
//! println!("{}", artifact.payload_text(CodeFormat::Assembly).ok_or("the assembly is no text")?);
//! # Ok(())
//! # }
//! ```
//!
//! The steps in detail: [`LayoutRequest::from_text`], [`Session::plan_conversion`], [`plan::ConversionPlan`],
//! [`Session::build_conversion_module`], [`kernel::Module`], [`Session::compile`]. Whole tile programs (Triton IR) take
//! the same path through [`ProgramCompiler::compile_kernel`].
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`layout`] | layouts, their families, text and JSON notations, the CuTe layout algebra |
//! | [`plan`] | plans of conversions, reductions, scans, gathers, copies, shared-memory layouts, and MMAs ([`plan::dot`]) |
//! | [`tile`] | tile programs (Triton IR): builder, parser, layout assignment; [`ProgramCompiler`] compiles them |
//! | [`kernel`] | the SIMT kernel IR that plans and programs are lowered to |
//! | [`target`] | descriptions of GPUs, read from target files |
//! | [`plugin`] | vendor plugins: compilation, and devices that run code |
//! | [`run`] | runs of kernels with the host's buffers, on the emulator or a device |
//! | [`operations`] | layout operations by name, with JSON inputs |

mod builder;
pub mod operations;
mod program;
mod request;
pub mod run;
mod session;

pub use builder::{SessionBuilder, SessionOpenError};
pub use program::{ChosenTileSizes, CompilationStageOutput, ProgramCompiler, ProgramError, ProgramOptions};
pub use request::{LayoutRequest, LayoutRequestError};
pub use session::{Session, SessionError};

/// Layouts, their families (named constructors of layouts such as `blocked`), text and JSON notations, and the CuTe
/// layout algebra.
pub mod layout {
    #[doc(inline)]
    pub use tilewright_layout::{
        AttributeSyntaxes, ColumnAction, Dim, DimBases, EnlargedShape, Families, FamilyError, FamilyParameterValue,
        FamilySpec, IndexBuilder, IndexOperand, Layout, LayoutError, LinearLayout, MaskRequirement, MemoryLayout,
        Padding, Space, apply_layout, cute, families, layout_from_json, layout_to_json, parse_family_spec,
        solve_composition, spec_from_json, spec_to_json, text::TextError,
    };
}

/// Plans of data movement, with their operation counts and lower bounds.
pub mod plan {
    #[doc(inline)]
    pub use tilewright_plan::movement::{
        AsyncCopyPlan, AsyncCopySpec, AxisStride, BankModel, ConversionKind, ConversionPlan, CountLowerBounds,
        GatherPlan, GlobalAccessPlan, GlobalTensor, MovementError, PlanContext, PlanStats, RankedSharedLayouts,
        ReductionPlan, RejectedCandidate, ScanDirection, ScanPlan, ScratchLayout, SharedAccessPlan, SharedLayoutKind,
        SharedLayoutSearchOptions, SharedMemoryAccessor, TensorCopy, WarpAddressedSharedCopy, choose_shared_layout,
        conversion_candidates, count_bank_conflicts, gather_candidates, plan_async_copy, plan_conversion, plan_gather,
        plan_global_access, plan_reduction, plan_scan, plan_shared_access, plan_tensor_copy_to_global,
        price_counts_in_wavefronts, reduction_candidates,
    };

    /// Plans of matrix multiplication: the MMA instruction, the layouts, and the loads of the operands.
    pub mod dot {
        #[doc(inline)]
        pub use tilewright_plan::mma::{
            BlockScale, CandidateSpace, DotCandidate, MmaCandidate, MmaError, MmaPlan, MmaProblem, dot_candidates,
            mma_candidates, plan_mma,
        };
    }
}

/// Tile programs: building, parsing, verifying, printing, and layout assignment. A [`ProgramCompiler`] compiles them to
/// kernels.
pub mod tile {
    #[doc(inline)]
    pub use tilewright_assign::{Strategy, synthesis};
    #[doc(inline)]
    pub use tilewright_tile::import::ForeignOpReplacements;
    #[doc(inline)]
    pub use tilewright_tile::op::{
        AttributeDefinition, AttributeKind, CountRule, Dialects, OpDefinition, ValueGroup, name,
    };
    #[doc(inline)]
    pub use tilewright_tile::text::{parse_module, print_module};
    #[doc(inline)]
    pub use tilewright_tile::{
        Attribute, BuildError, DenseElements, FloatType, FunctionBuilder, OperationBuilder, TileModule, TileType,
        TileViolation, Value, verify_module,
    };
}

/// The SIMT kernel IR that plans and programs are lowered to.
pub mod kernel {
    #[doc(inline)]
    pub use tilewright_kernel::text::parse_module;
    #[doc(inline)]
    pub use tilewright_kernel::{
        Builder, Counts, Element, Kernel, Module, Parameter, StaticLaunchConfig, VerifyError, verify,
    };
    #[doc(inline)]
    pub use tilewright_lower::build_conversion_kernel;
}

/// Descriptions of GPUs: lanes, shared memory, instructions, costs.
pub mod target {
    #[doc(inline)]
    pub use tilewright_target::{
        Direction, ElementType, Instruction, InstructionKind, InstructionOperand, MemoryOperand, OmittedInstruction,
        Optimization, OptimizationSet, Semantics, TargetCatalogue, TargetCatalogueError, TargetDescription,
        UnknownOptimizationError,
    };
}

/// Vendor plugins: discovery, compilation, and devices that run code.
pub mod plugin {
    #[doc(inline)]
    pub use tilewright_plugin::{
        Artifact, CodeFormat, CodePayload, CompileError, CompileOptions, Device, DeviceBufferId, DeviceError,
        KernelMetadata, LaunchArgument, LaunchGrid, LaunchRequest, LoadError, LogLevel, PluginHostCommand,
        PluginMessageListener, PluginSearchPath, Registry, RegistryError, Target, serve_plugin, with_listener,
    };
}
