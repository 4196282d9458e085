//! Tests of the crate `assign`, one module for each subject.

mod assign;
mod choices;
mod layouts;
mod shared_buffer;
mod synthesis_laws;
