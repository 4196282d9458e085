// The version of the plugin interface. A separate file without imports, so that build scripts of plugins in this
// repository can include it when they write their manifests.

/// Major version of the plugin interface; host and plugin must have the same.
pub const ABI_MAJOR: u32 = 1;

/// Minor version of the plugin interface; the lower one of host and plugin applies.
pub const ABI_MINOR: u32 = 0;
