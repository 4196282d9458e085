//! Tests of the crate `assign`, one module for each subject.

mod assign;
mod choices;
mod layouts;
mod synthesis_laws;
