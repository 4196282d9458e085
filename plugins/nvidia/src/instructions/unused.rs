//! Products that no row stands for: those of sparse factors, and small ones that older processors had.

use super::unused_form::{SPARSE, form};
use tilewright_target::UnusedInstruction;

const QUADS: &str = "four independent products by eight lanes each: slow on all processors after 7.0";
const DOTS: &str = "one sum of a lane: the kernel IR multiplies plainly where no matrix instruction fits";

/// Products of one warp with a sparse first factor that came with one compute capability: shapes, types of the sums, and
/// of both factors.
type Group = (u32, &'static [[u64; 3]], &'static [&'static str], &'static [&'static str], bool);

/// The last says whether types of factors go together in all pairs, else each with itself.
const GROUPS: [Group; 7] = [
    (80, &[[16, 8, 16], [16, 8, 32]], &["f32", "f16"], &["f16"], false),
    (80, &[[16, 8, 16], [16, 8, 32]], &["f32"], &["bf16"], false),
    (80, &[[16, 8, 8], [16, 8, 16]], &["f32"], &["tf32"], false),
    (80, &[[16, 8, 32], [16, 8, 64]], &["s32"], &["s8", "u8"], true),
    (80, &[[16, 8, 64], [16, 8, 128]], &["s32"], &["s4", "u4"], true),
    (89, &[[16, 8, 64]], &["f32"], &["e4m3", "e5m2"], true),
    (120, &[[16, 8, 64]], &["f16"], &["e4m3", "e5m2"], true),
];

/// The same by four warps: K, types of the sums and of the factors, as pairs or not.
type OfGroup = (u64, &'static [&'static str], &'static [&'static str], bool);

const OF_GROUPS: [OfGroup; 5] = [
    (32, &["f32", "f16"], &["f16"], false),
    (32, &["f32"], &["bf16"], false),
    (16, &["f32"], &["tf32"], false),
    (64, &["f32", "f16"], &["e4m3", "e5m2"], true),
    (64, &["s32"], &["s8", "u8"], true),
];

/// Kinds that only 12.x processors have, each with all its types: shape and how the types are called together.
const KINDS: [(&str, [u64; 3], &str); 4] = [
    ("kind::f8f6f4", [16, 8, 64], "e4m3, e5m2, e3m2, e2m3 or e2m1"),
    ("kind::mxf8f6f4.block_scale", [16, 8, 64], "e4m3, e5m2, e3m2, e2m3 or e2m1"),
    ("kind::mxf4.block_scale", [16, 8, 128], "e2m1"),
    ("kind::mxf4nvf4.block_scale", [16, 8, 128], "e2m1"),
];

/// What an architecture has besides its rows.
#[must_use]
pub fn unused(architecture: &str) -> Vec<UnusedInstruction> {
    let digits = architecture.strip_prefix("sm_").unwrap_or("").trim_end_matches(|c: char| c.is_ascii_lowercase());
    let Ok(capability) = digits.parse::<u32>() else { return Vec::new() };
    let mut forms = Vec::new();
    for &(_, shapes, sums, factors, mixed) in GROUPS.iter().filter(|group| group.0 <= capability) {
        for [d, a, b] in combined(sums, factors, mixed) {
            let name = format!("mma.sp.sync.aligned.m16n8k{{K}}.row.col.{d}.{a}.{b}.{d}");
            forms.push(form(name, shapes.to_vec(), [d, a, b], SPARSE));
        }
    }
    if architecture == "sm_90a" {
        for (k, sums, factors, mixed) in OF_GROUPS {
            for [d, a, b] in combined(sums, factors, mixed) {
                let columns = (8..=256).step_by(8).filter(|&n| super::wgmma::has_columns(d, n));
                let name = format!("wgmma.mma_async.sp.sync.aligned.m64n{{N}}k{k}.{d}.{a}.{b}");
                forms.push(form(name, columns.map(|n| [64, n, k]).collect(), [d, a, b], SPARSE));
            }
        }
    }
    if architecture.starts_with("sm_12") && architecture.ends_with('a') {
        for (kind, shape, types) in KINDS {
            let name = format!("mma.sp::ordered_metadata.sync.aligned.m16n8k{}.row.col.{kind}", shape[2]);
            forms.push(form(name, vec![shape], ["f32", types, types], SPARSE));
        }
    }
    for d in ["f32", "f16"] {
        let name = format!("mma.sync.aligned.m8n8k4.row.col.{d}.f16.f16.{d}");
        forms.push(form(name, vec![[8, 8, 4]], [d, "f16", "f16"], QUADS));
    }
    for (name, k, wide) in [("dp4a", 4, 8), ("dp2a", 2, 16)] {
        for [a, b] in [["s", "s"], ["s", "u"], ["u", "s"], ["u", "u"]] {
            let (a_type, b_type) = (format!("{a}{wide}"), format!("{b}8"));
            forms.push(form(format!("{name}.{a}32.{b}32"), vec![[1, 1, k]], ["s32", &a_type, &b_type], DOTS));
        }
    }
    if super::tensor_product::has_tensor_memory(architecture) {
        forms.extend(super::unused_tensor::forms());
    }
    forms
}

/// Types of the sums and of both factors that go together.
fn combined<'a>(sums: &'a [&'a str], factors: &'a [&'a str], mixed: bool) -> impl Iterator<Item = [&'a str; 3]> {
    let pairs = move || factors.iter().flat_map(move |&a| factors.iter().map(move |&b| (a, b)));
    sums.iter().flat_map(move |&d| pairs().filter(move |(a, b)| mixed || a == b).map(move |(a, b)| [d, a, b]))
}
