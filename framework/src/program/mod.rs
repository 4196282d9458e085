//! Tile programs to kernels: the stages, one after another, each a value that can be shown.
//!
//! | stage | is |
//! |---|---|
//! | `sizes` | of a text with places for sizes of tiles, those that were chosen ([`tilewright_tile::text::SizedText`]) |
//! | `read` | the program as it was written, after it was verified |
//! | `import` | vendors' words are neutral ones ([`tilewright_tile::import`]) |
//! | `shape` | one function without calls and jumps; what nobody needs is gone ([`tilewright_tile::transform`]) |
//! | `synthesis` | of a program that says where tiles lie, how layouts were found ([`tilewright_assign::synthesis`]) |
//! | `layouts` | every tensor has a layout, conversions are operations; loads of loops go ahead ([`tilewright_assign`]) |
//! | `kernel` | the kernel IR ([`tilewright_lower`]) |
//! | `math` | functions that the target has no instruction for are arithmetic ([`tilewright_math`]) |
//!
//! Then [`tilewright_plugin::Target::compile`] makes code of it. The same program gives the same kernel, always.

mod chosen_sizes;
mod compiler;
mod error;
mod kernel;
mod machine;
mod neutral;
mod sizes;
mod stage;

pub use chosen_sizes::ChosenSizes;
pub use compiler::{ProgramCompiler, ProgramOptions};
pub use error::ProgramError;
pub use stage::Stage;
