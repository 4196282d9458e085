//! Tilewright: a tensor-layout backend for GPU compilers.
//!
//! A compiler links this crate, loads vendor plugins at run time, and asks it for layouts, plans of data movement with
//! their costs and lower bounds, kernels, and code for a target.
//!
//! # A tour
//!
//! 1. A [`Session`] opens targets: it joins a catalogue of target files ([`target::Catalogue`]) and the plugins that serve
//!    them ([`plugin::Registry`]).
//! 2. [`LayoutQuestion`] reads a layout from attribute text or JSON and resolves it, through the families that are open, to a
//!    [`layout::LinearLayout`]: a linear map over F2 from (register, lane, warp, block) to tensor coordinates.
//! 3. [`Session::convert`] plans how a tensor gets from one layout to another. The [`movement::Plan`] says what it costs and
//!    the least that any plan costs. [`movement`] plans reductions, scans, gathers, copies and shared-memory layouts alike, and
//!    [`contract`] matrix multiplication.
//! 4. [`ProgramCompiler`] takes a whole tile program, written as Triton IR ([`tile`]), assigns layouts ([`engine`]), lowers it
//!    ([`lower`]) and gives a kernel ([`kernel::Kernel`]).
//! 5. [`Session::compile`] hands a kernel to the target's plugin and gives assembly or an object ([`plugin::Artifact`]).
//!
//! ```no_run
//! use tilewright::plugin::{CompileOptions, Discovery, Emit, Registry};
//! use tilewright::target::Catalogue;
//! use tilewright::{LayoutQuestion, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut registry = Registry::new();
//! registry.discover(&Discovery::standard())?;
//! let session = Session::new(Catalogue::default(), registry);
//! let layout = |text: &str| -> Result<_, Box<dyn std::error::Error>> {
//!     Ok(LayoutQuestion::from_text(text)?.resolve(&session, Some("h100"), &[32, 32])?)
//! };
//! let rows = layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>")?;
//! let columns = layout("#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>")?;
//! let module = session.conversion_module("h100", &rows, &columns, 32)?;
//! let code = session.compile("h100", &module, &CompileOptions { emit: vec![Emit::Assembly], ..CompileOptions::default() })?;
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//!
//! Each module here is a crate of its own, so that a plugin or a tool links only what it needs.

pub mod operations;
mod program;
mod question;
mod session;

pub use program::{ChosenSizes, ProgramCompiler, ProgramError, ProgramOptions, Stage};
pub use question::{LayoutQuestion, QuestionError};
pub use session::{PipelineError, Session};

pub use tilewright_assign as engine;
pub use tilewright_kernel as kernel;
pub use tilewright_layout as layout;
pub use tilewright_lower as lower;
pub use tilewright_math as math;
pub use tilewright_plan::{constraint, contract, memory_synthesis, movement};
pub use tilewright_plugin as plugin;
pub use tilewright_target as target;
pub use tilewright_tile as tile;
