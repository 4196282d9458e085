//! Decides whether a device that a driver lists is of a given GPU model.

/// PCI device ids of GPU models, for drivers that report no model name (Intel's documentation of drivers for discrete
/// GPUs, "Hardware table").
const NUMBERS: [(u32, &str); 3] =
    [(0x0bd5, "Intel Data Center GPU Max 1550"), (0x56a0, "Intel Arc A770"), (0xe20b, "Intel Arc B580")];

/// Whether a device with this name is of the GPU model `gpu_model`; trademark signs are ignored.
pub(super) fn is_named(name: &str, gpu_model: &str) -> bool {
    plain(name) == plain(gpu_model)
}

/// Whether a device with the PCI device id `number` is of the GPU model `gpu_model`.
pub(super) fn is_numbered(number: u32, gpu_model: &str) -> bool {
    NUMBERS.iter().any(|(known, name)| *known == number && is_named(name, gpu_model))
}

/// Returns a device name without trademark signs and repeated spaces.
fn plain(name: &str) -> String {
    let name = name.replace("(R)", "").replace("(TM)", "");
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{is_named, is_numbered};

    #[test]
    fn trademark_signs_are_removed_from_names() {
        assert!(is_named("Intel(R) Data Center GPU Max 1550", "Intel Data Center GPU Max 1550"));
        assert!(!is_named("Intel(R) Data Center GPU Max 1100", "Intel Data Center GPU Max 1550"));
        assert!(is_named("Intel(R) Arc(TM) A770", "Intel Arc A770"));
        assert!(is_numbered(0x0bd5, "Intel Data Center GPU Max 1550"));
        assert!(!is_numbered(0x0bd5, "Intel Arc A770") && !is_numbered(0x0bda, "Intel Data Center GPU Max 1550"));
    }
}
