//! The compute capability of an architecture.

/// Ten times the compute capability of an architecture, which is called after it.
pub(super) fn capability(architecture: &str) -> u32 {
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
