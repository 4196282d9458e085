//! Packs: folders of compiled test cases of the conformance suite, with everything that is needed to run them on a
//! machine with a GPU but without Rust or a code generator.
//!
//! A [`PackIndex`] lists a pack's contents: cases, the code of each, contents of buffers before and after, predictions.
//! [`Writer`] writes a pack; [`Pack`] reads one and validates the parts that are used; [`run_packed_case`] runs a case
//! on a [`Device`](tilewright_plugin::Device), compares the buffers and times the kernels; [`Played`] holds the
//! results; [`PlayCommand`] is the command line. See `docs/devices.md`.
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
pub use figure::Figure;
pub use index::{
    File, LeftOut, PackIndex, PackPlugin, PackedArgument, PackedBuffer, PackedCase, PackedCode, PackedExpectation,
    PackedPrediction, PackedTestCase, Span, VERSION,
};
pub use play::run_packed_case;
pub use played::{Played, PlayedCase, PlayedHost, PlayedOutcome, PlayedStatus};
pub use read::{Pack, PackError};
pub use timing::{Times, TimingOptions};
pub use write::{Packed, Writer};
