//! Which device is which product.

/// Devices by their numbers on the bus, for drivers that do not know a product's name (Intel's documentation of
/// drivers for discrete GPUs, "Hardware table").
const NUMBERS: [(u32, &str); 3] =
    [(0x0bd5, "Intel Data Center GPU Max 1550"), (0x56a0, "Intel Arc A770"), (0xe20b, "Intel Arc B580")];

/// Whether a device of this name is the product.
pub(super) fn is_named(name: &str, product: &str) -> bool {
    plain(name) == plain(product)
}

/// Whether a device of this number on the bus is the product.
pub(super) fn is_numbered(number: u32, product: &str) -> bool {
    NUMBERS.iter().any(|(known, name)| *known == number && is_named(name, product))
}

/// A product's name without marks.
fn plain(name: &str) -> String {
    let name = name.replace("(R)", "").replace("(TM)", "");
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{is_named, is_numbered};

    #[test]
    fn marks_are_no_part_of_a_name() {
        assert!(is_named("Intel(R) Data Center GPU Max 1550", "Intel Data Center GPU Max 1550"));
        assert!(!is_named("Intel(R) Data Center GPU Max 1100", "Intel Data Center GPU Max 1550"));
        assert!(is_named("Intel(R) Arc(TM) A770", "Intel Arc A770"));
        assert!(is_numbered(0x0bd5, "Intel Data Center GPU Max 1550"));
        assert!(!is_numbered(0x0bd5, "Intel Arc A770") && !is_numbered(0x0bda, "Intel Data Center GPU Max 1550"));
    }
}
