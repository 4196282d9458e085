//! Vendors' words as neutral ones.
//!
//! A program may name the functions of a vendor's library and the operations of a vendor's dialect. Tables, which are data,
//! say what they mean in neutral words, whatever target the program is compiled for: [`Imports`] are the tables, [`import`]
//! writes a program anew. What has no neutral meaning is refused with the reason that the table gives, or left as it is
//! where only another compiler can tell (assembly that no table has).
//!
//! `docs/tile-ir.md` has the format of tables. Imports `tile` alone.

mod imports;
mod lists;
mod meaning;
pub(crate) mod plain;
mod rewrite;
mod table;
mod term;
mod write;

pub use imports::Imports;
use meaning::Meaning;
pub use rewrite::import;
