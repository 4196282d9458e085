//! What goes on while the program does: products that are under way, and groups of warps of which some bring what others multiply.
#![allow(clippy::unwrap_used)]

mod groups;
mod products;
mod program;
