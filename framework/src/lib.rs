//! Tilewright: tensor layouts as linear maps over F2, and what follows from that.
//!
//! A compiler links this crate, loads vendor plugins at run time, and asks it for layouts,
//! data-movement plans with their costs and bounds, kernel IR, and code for a target.
//!
//! The modules are floors; each imports only floors below it:
//!
//! 1. [`f2`]: vectors and subspaces over F2.
//! 2. [`layout`]: linear layouts, memory layouts, the neutral families; [`cute`]: CuTe layouts, their
//!    algebra, and the bridge to linear layouts.
//! 3. [`target`]: what a GPU is, as data.
//! 4. [`kernel`]: the SIMT kernel IR.
//! 5. [`vendor`]: the traits behind which vendors' code lives; [`movement`]: data-movement plans, and
//!    [`contract`]: plans of matrix products, which stand on them;
//!    [`emulator`]: runs kernel IR on the CPU and counts what it does.
//! 6. [`tile`]: tile programs, which are read as Triton's IR; [`engine`]: facts of their values, and layouts for them; [`lower`]: tile operations to kernel IR.
//! 7. [`plugin`]: the binary interface, loading, registry and isolation of vendors' code;
//!    [`pipeline`]: from a question to compiled code.

pub mod contract;
pub mod cute;
pub mod emulator;
pub mod engine;
pub mod f2;
pub mod kernel;
pub mod layout;
pub mod lower;
pub mod movement;
pub mod pipeline;
pub mod plugin;
pub mod target;
pub mod tile;
pub mod vendor;
