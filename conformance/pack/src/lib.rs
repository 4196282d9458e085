//! Packs: folders of compiled cases, with everything that it takes to run them on a machine that has a GPU and neither
//! Rust nor a code generator.
//!
//! An [`PackIndex`] says what is in a pack: cases, the code of each, contents of buffers before and after, what was predicted.
//! [`Writer`] makes a pack of trials, [`Pack`] reads one and trusts nothing in it, [`play`](fn@play) runs its cases on a
//! [`Device`](tilewright_plugin::Device) and compares and times them, [`Played`] is what came out, [`PlayCommand`] all of that
//! as a command line. `docs/gpu-machines.md` is its page.
//!
//! May import `tilewright`, of which it uses cases' buffers and the traits of targets and devices.

mod command;
mod figure;
mod index;
mod play;
mod played;
mod read;
mod table;
mod timing;
mod write;

pub use command::PlayCommand;
pub use figure::Figure;
pub use index::{
    File, LeftOut, Maker, PackIndex, PackedArgument, PackedBuffer, PackedCase, PackedCode, PackedExpectation,
    PackedPrediction, Span, Trial, VERSION,
};
pub use play::play;
pub use played::{Played, PlayedCase, PlayedHost, PlayedOutcome, PlayedStatus};
pub use read::{Pack, PackError};
pub use timing::{Effort, Times};
pub use write::{Packed, Writer};
