//! What a tile program says of its values, and the layouts that follow.
//!
//! [`facts`] is what is known of integers and pointers; [`layouts`] says what the names of layouts in types stand for.
//!
//! Imports `tile`, and floors below it.

pub mod facts;
pub mod layouts;
