//! Tests of the crate `plan`, one module for each subject.

mod access;
mod choose;
mod clusters;
mod conversions;
mod copy;
mod gather;
mod global;
mod mma;
mod moves;
mod narrow_operands;
mod possible_dots;
mod prices;
mod reduce;
mod scan;
mod seed_003;
mod tensor;
mod tiles;
