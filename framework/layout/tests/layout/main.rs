//! Tests of `layout`, one module for each subject.

mod cute_known_answers;
mod cute_laws;
mod cute_signed;
mod cute_slices;
mod identities;
mod index_arithmetic;
mod laws;
mod meaning;
mod notation;
mod oracle;
mod parameters;
mod seed_001;
mod seed_004;
mod task_mappings;
