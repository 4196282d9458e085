// The architectures of this plugin, in a file without imports, so that the build script of the
// shared library can include it for the manifest.

/// The architectures that this plugin serves, as LLVM calls them.
pub const ARCHITECTURES: &[&str] = &[
    "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200",
    "gfx1201", "gfx1250",
];
