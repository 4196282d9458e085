//! Import of vendor operations as neutral ones.
//!
//! A program may use functions of a vendor's library and operations of a vendor's dialect. Tables, which are data, map
//! them to neutral operations, independent of the target: [`ForeignOpReplacements`] are the tables,
//! [`replace_vendor_operations`] rewrites a program. Operations without a neutral equivalent are rejected with the
//! reason in the table. Inline assembly with an instruction that no table has is kept, since only a code generator can judge it.
//!
//! `docs/tile-ir.md` has the format of tables. Depends on `tile` only.

mod assembly;
mod image;
mod imports;
mod lists;
mod multicast;
mod parts;
mod pixels;
pub(crate) mod plain;
mod replacement;
mod rewrite;
mod table;
mod term;
mod write;

pub use imports::ForeignOpReplacements;
use replacement::Replacement;
pub use rewrite::replace_vendor_operations;
