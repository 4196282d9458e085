//! Forms of `tcgen05` that no row stands for.

use tilewright_target::UnusedInstruction;

use super::unused_form::{SPARSE, form};

const SOURCE: &str = "PTX ISA, tcgen05: matrix shapes, shapes of tcgen05.cp";

const PAIRS: &str =
    "two blocks of a cluster multiply together: blocks of a kernel here each have their own tensor memory";
const KEPT: &str = "keeps the second factor for several products, each of which takes longer";
const GAPS: &str = "in shared memory sixteen elements of four or six bits lie in every 16 bytes, with gaps: all are numbers of e4m3 too, in which the row of the same kind takes them";

/// Kinds with K and all types of sums and factors that have them.
const KINDS: [(&str, u64, &str, &str); 6] = [
    ("kind::tf32", 8, "f32", "tf32"),
    ("kind::f16", 16, "f32 or f16", "f16 or bf16"),
    ("kind::f8f6f4", 32, "f32 or f16", "e4m3, e5m2, e3m2, e2m3 or e2m1"),
    ("kind::i8", 32, "s32", "s8 or u8"),
    ("kind::mxf8f6f4.block_scale", 32, "f32", "e4m3, e5m2, e3m2, e2m3 or e2m1"),
    ("kind::mxf4nvf4.block_scale", 64, "f32", "e2m1"),
];

/// The forms of architectures that have tensor memory; shapes are the greatest.
pub(super) fn forms() -> Vec<UnusedInstruction> {
    let mut forms = Vec::new();
    for (kind, k, sums, factors) in KINDS {
        let types = [sums, factors, factors];
        let one = |name: &str, shape, types, reason| UnusedInstruction {
            source: SOURCE.to_owned(),
            ..form(format!("{name}.{kind}"), vec![shape], types, reason)
        };
        forms.push(one("tcgen05.mma.cta_group::2", [256, 256, k], types, PAIRS));
        forms.push(one("tcgen05.mma.sp.cta_group::1", [128, 256, 2 * k], types, SPARSE));
        if !kind.ends_with("block_scale") {
            forms.push(one("tcgen05.mma.ws.cta_group::1", [128, 256, k], types, KEPT));
        }
        if factors.contains("e3m2") {
            let narrow = [sums, "e3m2, e2m3 or e2m1", factors];
            forms.push(one("tcgen05.mma.cta_group::1", [128, 256, k], narrow, GAPS));
        }
    }
    forms
}
