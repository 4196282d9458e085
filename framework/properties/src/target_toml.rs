//! Property of target files: reading gives a description or an error, and descriptions cross the plugin boundary
//! unchanged.

use tilewright_plugin::wire;
use tilewright_target::TargetDescription;

/// Reads one input as a target file; a description that is read must be equal after it is serialized for a plugin and
/// deserialized.
///
/// # Panics
/// If the property does not hold for `bytes`.
pub fn check(bytes: &[u8]) {
    let text = crate::text(bytes);
    if let Ok(target) = TargetDescription::from_toml("fuzz.toml", text) {
        let bytes = wire::serialize_message(&target).expect("a description has bytes");
        assert_eq!(wire::deserialize_message::<TargetDescription>(&bytes), Ok(target));
    }
}
