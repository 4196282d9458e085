//! The vendors' dialects of tile programs, independent of the compilation target.
//!
//! Each `*.toml` file of this folder lists the operations of one dialect, in the same form as the neutral dialects in
//! [`tilewright_tile::op`]. [`VERIFY_RULE_SETS`] has the rules of the verifier: functions that entries of these files
//! refer to by name, and rules of vendors' layout families ([`tilewright_tile::rules`]). A program is parsed with all
//! dialects, so it may use a vendor's operations and still be compiled for other targets.

mod files;
mod rules;

pub use files::{DIALECT_FILES, IMPORT_TABLE_FILES, add_vendor_dialects, all_dialects, read_import_tables};
pub use rules::VERIFY_RULE_SETS;
