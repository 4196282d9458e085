// The architectures of this plugin, in a file without imports, so that the build script of the shared library can
// include it for the manifest.

/// The architectures that this plugin serves, as target files and the offline compiler name them.
pub const ARCHITECTURES: &[&str] = &["pvc", "dg2", "xe2"];
