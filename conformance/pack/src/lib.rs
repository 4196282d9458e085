//! Packs: folders of compiled cases, with everything that it takes to run them on a machine that has a GPU and neither
//! Rust nor a code generator.
//!
//! An [`Index`] says what is in a pack: cases, the code of each, contents of buffers before and after, what was predicted.
//! [`Writer`] makes a pack of trials, [`Pack`] reads one and trusts nothing in it, [`play`](fn@play) runs its cases on a
//! [`Device`](tilewright_plugin::Device) and compares and times them, [`Played`] is what came out, [`Command`] all of that
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

pub use command::Command;
pub use figure::Figure;
pub use index::{After, Argument, Buffer, Case, Code, File, Index, LeftOut, Maker, Prediction, Span, Trial, VERSION};
pub use play::play;
pub use played::{Host, Outcome, Played, PlayedCase, Status};
pub use read::{Pack, PackError};
pub use timing::{Effort, Times};
pub use write::{Packed, Writer};
