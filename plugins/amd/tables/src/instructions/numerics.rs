//! Numerics (summation order, rounding, subnormals) of `mfma`. AMD documents that gfx90a flushes subnormals; the rest
//! comes from published experiments, whose model agrees bit by bit with gfx908, gfx90a and gfx942 hardware.

use tilewright_target::{Evidence, MmaNumerics, Summation};

const SOURCE: &str = "Xie et al., MMA-Sim, arXiv 2511.10909";
const FLUSHING: &str = "Xie et al., MMA-Sim, arXiv 2511.10909; MIOpen, MI200 MFMA behavior specifics: subnormal input and \
                        output becomes zero";

/// Returns the numerics of an instruction on an architecture, for operands with this element type; `None` for integers.
pub(super) fn of(architecture: &str, name: &str, element: &str) -> Option<MmaNumerics> {
    let measured = |summation, source: &str| {
        let (evidence, source) = (Evidence::Measured, source.to_owned());
        Some(MmaNumerics { summation, nan_is_all_ones: false, evidence, source })
    };
    let floored = |group, interleaved| Summation::Floored { group, fraction: 24, fraction_of_sum: 31, interleaved };
    match (architecture, element) {
        (_, "i8" | "iu8" | "iu4" | "u8" | "u4") => None,
        ("gfx908" | "gfx90a" | "gfx942", "f32" | "f64") => measured(Summation::Chain, SOURCE),
        ("gfx908", "f16") => measured(Summation::Exact { group: 4 }, SOURCE),
        ("gfx908", "bf16") => measured(Summation::Exact { group: 2 }, SOURCE),
        ("gfx90a", "bf16") if !name.ends_with("_1k") => measured(Summation::Tree { group: 2 }, FLUSHING),
        ("gfx90a", "f16" | "bf16") => measured(Summation::Tree { group: 4 }, FLUSHING),
        ("gfx942", "xf32") => measured(floored(4, false), SOURCE),
        ("gfx942", "f16" | "bf16") => measured(floored(8, false), SOURCE),
        ("gfx942", "fp8" | "bf8") => measured(floored(16, true), SOURCE),
        _ => Some(MmaNumerics::default()),
    }
}
