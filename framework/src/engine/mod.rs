//! What a tile program says of its values, from which layouts follow.
//!
//! Imports `tile`, and floors below it.

pub mod facts;
