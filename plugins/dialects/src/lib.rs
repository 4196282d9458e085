//! The dialects of vendors that tile programs may use, whatever target they are compiled for.
//!
//! Each `*.toml` file of this folder is one dialect: rows like those of the neutral dialects, which are part of
//! [`tilewright_tile::op`]. A program is read with all of them, since it names a vendor's operations without being
//! for that vendor's GPUs alone.

mod files;

pub use files::{FILES, IMPORTS, all, imports};
