//! Tests of `intel`, one module for each subject.

mod assigned_programs;
mod block_reads;
mod clusters;
mod device;
mod dots;
mod families;
mod instructions;
mod level_zero;
mod notation;
mod parameters;
mod prefetches;
mod spirv;
mod tv_layouts;
