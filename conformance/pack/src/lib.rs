//! Packs: folders of compiled test cases of the conformance suite, with everything that is needed to run them on a
//! machine with a GPU but without Rust or a code generator.
//!
//! A [`PackIndex`] lists a pack's contents: cases, the code of each, contents of buffers before and after, predictions.
//! [`PackWriter`] writes a pack; [`Pack`] reads one and validates the parts that are used; [`run_packed_case`] runs a
//! case on a [`Device`](tilewright_plugin::Device), compares the buffers and times the kernels; [`PlayedPack`] holds
//! the results; [`PlayCommand`] is the command line. See `docs/devices.md`.
//!
//! This crate may import `tilewright`, for buffers of cases and the traits of targets and devices.

mod command;
mod figure;
mod index;
mod play;
mod played;
mod read;
mod table;
mod timing;
mod write;

pub use command::{OpenDevices, PlayCommand};
pub use figure::FigurePoint;
pub use index::{
    ByteRange, CodeFile, OmittedCase, PACK_VERSION, PackIndex, PackPlugin, PackedArgument, PackedBuffer, PackedCase,
    PackedCode, PackedExpectation, PackedPrediction, PackedTestCase,
};
pub use play::run_packed_case;
pub use played::{PlayedCase, PlayedHost, PlayedOutcome, PlayedPack, PlayedStatus};
pub use read::{Pack, PackError};
pub use timing::{LaunchTimes, TimingOptions};
pub use write::{CaseToPack, PackWriter};
