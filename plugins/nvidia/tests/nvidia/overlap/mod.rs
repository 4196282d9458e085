//! What goes on while the program does: products that are under way, and groups of warps of which some bring what others multiply.

mod groups;
mod products;
mod program;
