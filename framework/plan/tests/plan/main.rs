//! Tests of `plan`, one module for each subject.

mod access;
mod choose;
mod clusters;
mod contractions;
mod conversions;
mod copy;
mod gather;
mod global;
mod moves;
mod narrow_factors;
mod possible_dots;
mod prices;
mod reduce;
mod scan;
mod seed_003;
mod tensor;
mod tiles;
