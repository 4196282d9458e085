//! Vendors' dialects of tile programs, for all targets.
//!
//! Each `*.toml` file of this folder lists the operations of one dialect, in the form that the neutral dialects have in
//! [`tilewright_tile::op`]. A program is parsed with all dialects: it may use a vendor's operations and still be
//! compiled for other targets.

mod files;

pub use files::{FILES, IMPORTS, all, imports};
