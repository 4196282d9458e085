//! How sums of `mma` come about. PTX ISA promises single precision at least and no order; what follows was found by
//! experiments, and gave the same bits as hardware of each generation that is named.

use tilewright_target::{Evidence, Numerics, Summation};

const SOURCE: &str = "Xie et al., MMA-Sim, arXiv 2511.10909, as on hardware of compute capability 8.0, 8.9, 9.0, 10.0 and \
                      12.0; Fasi et al., Numerical behavior of NVIDIA tensor cores (2021)";

/// Capabilities that were looked at.
const MEASURED: [u32; 6] = [75, 80, 89, 90, 100, 120];

/// Of factors of a type that takes so many bits; `None` for integers.
pub(super) fn of(capability: u32, factor: &str, bits: u32) -> Option<Numerics> {
    let summation = match factor {
        "s8" | "u8" | "s4" | "u4" | "b1" => return None,
        "f64" => Summation::Chain,
        "e4m3" | "e5m2" if capability == 89 => aligned(16, bits, 13, 13),
        _ if capability < 90 => aligned(16, bits, 24, 23),
        _ => aligned(32, bits, 25, 23),
    };
    let evidence = if MEASURED.contains(&capability) { Evidence::Measured } else { Evidence::Assumed };
    Some(Numerics { summation, nan_is_all_ones: factor != "f64", evidence, source: SOURCE.to_owned() })
}

/// The same of products by four warps, which capability 9.0 has: there alone 8-bit factors keep fewer bits.
pub(super) fn of_group(factor: &str, bits: u32) -> Option<Numerics> {
    let numerics = of(90, factor, bits)?;
    let summation = if bits == 8 { aligned(32, bits, 13, 13) } else { numerics.summation };
    Some(Numerics { summation, ..numerics })
}

/// The same of products that have their sums in tensor memory, of which nothing is published: as `mma` on the same
/// products.
pub(super) fn in_tensor_memory(factor: &str, bits: u32) -> Option<Numerics> {
    let source = format!("As mma of compute capability 10.0, no figure at hand: {SOURCE}");
    of(100, factor, bits).map(|numerics| Numerics { evidence: Evidence::Assumed, source, ..numerics })
}

/// Groups of so many bytes of a factor.
fn aligned(bytes: u32, bits: u32, fraction: u32, kept: u32) -> Summation {
    Summation::Aligned { group: 8 * bytes / bits, fraction, kept }
}
