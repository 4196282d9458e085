// The version of the plugin interface. A file of its own without imports, so that build scripts
// of plugins in this repository can include it when they write their manifests.

/// Major version: host and plugin must agree.
pub const ABI_MAJOR: u32 = 1;

/// Minor version: the lower of host's and plugin's holds.
pub const ABI_MINOR: u32 = 0;
