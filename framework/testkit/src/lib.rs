//! Small targets, known answers and generators that tests of several crates share.

#![allow(clippy::unwrap_used)]

pub mod any_parameters;
pub mod bridged;
pub mod elementwise;
pub mod emulator_target;
pub mod external;
pub mod golden;
pub mod known_answers;
pub mod long_program;
pub mod notation;
pub mod plugin_fixtures;
pub mod sample;
pub mod seeded_rng;
pub mod shared_data;
pub mod tensor_rows;
pub mod test_targets;
pub mod thread_value;
