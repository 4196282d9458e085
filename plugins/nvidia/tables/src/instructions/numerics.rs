//! Numerics of `mma`: the order and rounding of its sum. PTX ISA guarantees only single precision and no order. The
//! models here come from published experiments, and match hardware bit by bit for each generation named.

use tilewright_target::{Evidence, MmaNumerics, Summation};

const SOURCE: &str = "Xie et al., MMA-Sim, arXiv 2511.10909, as on hardware of compute capability 8.0, 8.9, 9.0, 10.0 and \
                      12.0; Fasi et al., Numerical behavior of NVIDIA tensor cores (2021)";

/// Compute capabilities, times ten, of the GPUs that the published experiments measured.
const MEASURED: [u32; 6] = [75, 80, 89, 90, 100, 120];

/// Returns the numerics of `mma` on a compute capability (times ten), for operands of type `element` with `bits` bits;
/// `None` for integers, which are added exactly.
pub(super) fn of(capability: u32, element: &str, bits: u32) -> Option<MmaNumerics> {
    let summation = match element {
        "s8" | "u8" | "s4" | "u4" | "b1" => return None,
        "f64" => Summation::Chain,
        "e4m3" | "e5m2" if capability == 89 => aligned(16, bits, 13, 13),
        _ if capability < 90 => aligned(16, bits, 24, 23),
        _ => aligned(32, bits, 25, 23),
    };
    let evidence = if MEASURED.contains(&capability) { Evidence::Measured } else { Evidence::Assumed };
    Some(MmaNumerics { summation, nan_is_all_ones: element != "f64", evidence, source: SOURCE.to_owned() })
}

/// Returns the numerics of warpgroup MMAs, which only compute capability 9.0 has; `None` for integers. They differ from
/// `mma` for 8-bit operands, whose terms keep fewer bits.
pub(super) fn of_group(element: &str, bits: u32) -> Option<MmaNumerics> {
    let numerics = of(90, element, bits)?;
    let summation = if bits == 8 { aligned(32, bits, 13, 13) } else { numerics.summation };
    Some(MmaNumerics { summation, ..numerics })
}

/// Returns the numerics of MMAs with accumulators in tensor memory; `None` for integers. No measurement is published,
/// so the numerics of `mma` on the same operands are assumed.
pub(super) fn in_tensor_memory(element: &str, bits: u32) -> Option<MmaNumerics> {
    let source = format!("As mma of compute capability 10.0, no measurement is published: {SOURCE}");
    of(100, element, bits).map(|numerics| MmaNumerics { evidence: Evidence::Assumed, source, ..numerics })
}

/// Returns a summation in groups of products. A group covers `bytes` bytes of A along K, in elements of `bits` bits.
/// All products of a group are aligned to its largest exponent and truncated to `fraction` fraction bits; the sum of
/// the group keeps `kept` bits.
fn aligned(bytes: u32, bits: u32, fraction: u32, kept: u32) -> Summation {
    Summation::Aligned { group: 8 * bytes / bits, fraction, kept }
}
