//! A target in a plugin, by its number, and the calls for it.

use std::sync::Arc;

use super::channel::{Call, Channel};
use super::factory_error::FactoryError;
use super::failure::SerializedError;
use super::message::{self, Piece, PieceRequest, TargetInfo};
use super::wire::{self, WireError};

/// A target in the plugin; it is destroyed when its last user is dropped.
pub(super) struct Remote {
    channel: Arc<dyn Channel>,
    target: u64,
}

impl Drop for Remote {
    fn drop(&mut self) {
        // A failure here has no caller to report to.
        let _ = self.channel.call(Call::Destroy { target: self.target });
    }
}

impl Remote {
    /// The target that the plugin has created under the number `target`.
    pub(super) fn new(channel: Arc<dyn Channel>, target: u64) -> Self {
        Self { channel, target }
    }

    pub(super) fn target(&self) -> u64 {
        self.target
    }

    pub(super) fn call(&self, call: Call) -> Result<Vec<u8>, SerializedError> {
        self.channel.call(call)
    }

    /// Reads one piece (such as families or instructions) of the target's tables.
    pub(super) fn pieces(&self, piece: Piece) -> Result<TargetInfo<'static>, FactoryError> {
        let request = PieceRequest { pieces: vec![piece] };
        let request = wire::serialize_message(&request).map_err(|error| FactoryError::Failed(error.to_string()))?;
        let info = self.call(Call::Info { target: self.target, request });
        let info = info.map_err(|failure| failure.into_factory_error(&self.plugin()))?;
        message::read_target_info(&info)
            .map_err(|error| FactoryError::Failed(self.unreadable_answer("families and instructions", &error)))
    }

    pub(super) fn plugin(&self) -> String {
        self.channel.file().display().to_string()
    }

    pub(super) fn unreadable_answer(&self, what: &str, error: &WireError) -> String {
        format!("{}: answered {what} that cannot be read: {error}; report this to the plugin's author", self.plugin())
    }

    pub(super) fn wrong_answer(&self, reason: &str) -> String {
        format!("{}: answered {reason}; report this to the plugin's author", self.plugin())
    }
}
