//! Tests of `intel`, one module for each subject.

mod block_reads;
mod clusters;
mod dots;
mod explicit;
mod families;
mod instructions;
mod no_driver;
mod notation;
mod parameters;
mod prefetches;
mod spirv;
mod tools;
mod tv_layouts;
mod validate;
mod validated_target;
