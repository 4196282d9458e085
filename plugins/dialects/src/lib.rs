//! Vendors' dialects of tile programs, for all targets.
//!
//! Each `*.toml` file of this folder lists the operations of one dialect, in the form that the neutral dialects have in
//! [`tilewright_tile::op`]. [`RULE_SETS`] has the verifier's rules: functions that the rows of these files name, and
//! rules of vendors' layout families ([`tilewright_tile::rules`]). A program is parsed with all dialects: it may use a
//! vendor's operations and still be compiled for other targets.

mod files;
mod rules;

pub use files::{FILES, IMPORTS, add_all, all, imports};
pub use rules::RULE_SETS;
