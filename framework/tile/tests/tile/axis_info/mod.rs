//! Axis information: stated facts of programs, and claims compared with executed values.

mod facts;
mod interpreter;
mod random;
mod tile;
