//! Early exits of the command, each with an exit code and a message.

use std::io;

use crate::{AnswersError, ExitStatus, OpenError};

/// The reason for an early exit: the exit code and the message.
pub(super) struct Stop(pub(super) ExitStatus, pub(super) String);

impl Stop {
    pub(super) fn usage(message: String) -> Self {
        Self(ExitStatus::Usage, message)
    }

    pub(super) fn harness(message: String) -> Self {
        Self(ExitStatus::Harness, message)
    }
}

impl From<OpenError> for Stop {
    fn from(error: OpenError) -> Self {
        let exit = match error {
            OpenError::Unknown(_) => ExitStatus::Usage,
            OpenError::Broken { .. } => ExitStatus::Harness,
        };
        Self(exit, error.to_string())
    }
}

impl From<AnswersError> for Stop {
    fn from(error: AnswersError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::harness(format!("cannot write the results: {error}"))
    }
}
