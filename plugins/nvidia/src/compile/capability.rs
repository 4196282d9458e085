//! Parses the compute capability (version of the instruction set) in the name of an architecture.

/// Returns the compute capability in an architecture's name, times ten: 90 for `sm_90a`.
pub(super) fn capability(architecture: &str) -> u32 {
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
