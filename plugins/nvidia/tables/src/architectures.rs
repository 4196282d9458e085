// The architectures of this plugin, in a file without imports, so that the build script of the
// shared library can include it for the manifest.

/// The architectures that this plugin serves, as LLVM and `ptxas` call them.
pub const ARCHITECTURES: &[&str] = &[
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_103a", "sm_120",
    "sm_120a", "sm_121", "sm_121a",
];
