//! What no row stands for: the sparse matrix instructions, `smfmac` of CDNA 3 and 4, `swmmac` of RDNA 4 and gfx1250, and of
//! gfx1250 products of types of six bits, and of 32 rows.

use tilewright_target::UnusedInstruction;

const SOURCE: &str =
    "AMD Matrix Instruction Calculator; CDNA 4 and RDNA 4 instruction set manuals; LLVM, IntrinsicsAMDGPU.td";
const SIX_BITS: &str = "how elements of six bits lie in registers is in no source at hand; each is a number of fp8 too, in which a row takes it";
const HIGH: &str = "two products of 16 rows: as much for each multiply-add";
const REASON: &str = "of every four elements of A along K two are there, an index says which: tensors here are dense";

/// One instruction: mnemonic, M, N and K, types of the result and of both factors.
type Entry = (&'static str, [u64; 3], [&'static str; 3]);

const F16: [&str; 3] = ["f32", "f16", "f16"];
const BF16: [&str; 3] = ["f32", "bf16", "bf16"];
const I8: [&str; 3] = ["i32", "i8", "i8"];

const CDNA3: [Entry; 6] = [
    ("v_smfmac_f32_16x16x32_f16", [16, 16, 32], F16),
    ("v_smfmac_f32_32x32x16_f16", [32, 32, 16], F16),
    ("v_smfmac_f32_16x16x32_bf16", [16, 16, 32], BF16),
    ("v_smfmac_f32_32x32x16_bf16", [32, 32, 16], BF16),
    ("v_smfmac_i32_16x16x64_i8", [16, 16, 64], I8),
    ("v_smfmac_i32_32x32x32_i8", [32, 32, 32], I8),
];

/// What CDNA 4 has besides.
const CDNA4: [Entry; 6] = [
    ("v_smfmac_f32_16x16x64_f16", [16, 16, 64], F16),
    ("v_smfmac_f32_32x32x32_f16", [32, 32, 32], F16),
    ("v_smfmac_f32_16x16x64_bf16", [16, 16, 64], BF16),
    ("v_smfmac_f32_32x32x32_bf16", [32, 32, 32], BF16),
    ("v_smfmac_i32_16x16x128_i8", [16, 16, 128], I8),
    ("v_smfmac_i32_32x32x64_i8", [32, 32, 64], I8),
];

const RDNA4: [Entry; 7] = [
    ("v_swmmac_f32_16x16x32_f16", [16, 16, 32], F16),
    ("v_swmmac_f32_16x16x32_bf16", [16, 16, 32], BF16),
    ("v_swmmac_f16_16x16x32_f16", [16, 16, 32], ["f16", "f16", "f16"]),
    ("v_swmmac_bf16_16x16x32_bf16", [16, 16, 32], ["bf16", "bf16", "bf16"]),
    ("v_swmmac_i32_16x16x32_iu8", [16, 16, 32], ["i32", "iu8", "iu8"]),
    ("v_swmmac_i32_16x16x32_iu4", [16, 16, 32], ["i32", "iu4", "iu4"]),
    ("v_swmmac_i32_16x16x64_iu4", [16, 16, 64], ["i32", "iu4", "iu4"]),
];

const GFX1250: [Entry; 6] = [
    ("v_swmmac_f32_16x16x64_f16", [16, 16, 64], F16),
    ("v_swmmac_f32_16x16x64_bf16", [16, 16, 64], BF16),
    ("v_swmmac_f16_16x16x64_f16", [16, 16, 64], ["f16", "f16", "f16"]),
    ("v_swmmac_bf16_16x16x64_bf16", [16, 16, 64], ["bf16", "bf16", "bf16"]),
    ("v_swmmac_bf16f32_16x16x64_bf16", [16, 16, 64], ["bf16", "bf16", "bf16"]),
    ("v_swmmac_i32_16x16x128_iu8", [16, 16, 128], ["i32", "iu8", "iu8"]),
];

/// Mnemonics without the types of their 8-bit factors, of which there are all four pairs.
const OF_FLOAT_BYTES: [(&str, &str, [u64; 3]); 7] = [
    ("cdna3", "v_smfmac_f32_16x16x64", [16, 16, 64]),
    ("cdna3", "v_smfmac_f32_32x32x32", [32, 32, 32]),
    ("cdna4", "v_smfmac_f32_16x16x128", [16, 16, 128]),
    ("cdna4", "v_smfmac_f32_32x32x64", [32, 32, 64]),
    ("rdna4", "v_swmmac_f32_16x16x32", [16, 16, 32]),
    ("gfx1250", "v_swmmac_f32_16x16x128", [16, 16, 128]),
    ("gfx1250", "v_swmmac_f16_16x16x128", [16, 16, 128]),
];

/// The sparse instructions of an architecture; none for those without any.
#[must_use]
pub fn unused(architecture: &str) -> Vec<UnusedInstruction> {
    let (tables, bytes): (&[&[Entry]], &[&str]) = match architecture {
        "gfx942" => (&[&CDNA3], &["cdna3"]),
        "gfx950" => (&[&CDNA3, &CDNA4], &["cdna3", "cdna4"]),
        "gfx1200" | "gfx1201" => (&[&RDNA4], &["rdna4"]),
        "gfx1250" => (&[&GFX1250], &["gfx1250"]),
        _ => (&[], &[]),
    };
    let listed = tables.iter().copied().flatten().map(|&(name, shape, types)| form(name.to_owned(), shape, types));
    let of_bytes = OF_FLOAT_BYTES.iter().filter(|(generation, ..)| bytes.contains(generation));
    let pairs = [("fp8", "fp8"), ("fp8", "bf8"), ("bf8", "fp8"), ("bf8", "bf8")];
    let of_bytes = of_bytes.flat_map(|&(_, name, shape)| {
        let sum = if name.contains("_f16_") { "f16" } else { "f32" };
        pairs.map(|(a, b)| form(format!("{name}_{a}_{b}"), shape, [sum, a, b]))
    });
    let wide = if architecture == "gfx1250" { of_gfx1250() } else { Vec::new() };
    listed.chain(of_bytes).chain(wide).collect()
}

/// Dense forms of gfx1250, with scales and without.
fn of_gfx1250() -> Vec<UnusedInstruction> {
    let scales = ["", "_scale", "_scale16"];
    let source = || "LLVM, IntrinsicsAMDGPU.td".to_owned();
    let mut forms = Vec::new();
    for scale in scales {
        for (a, b) in [("fp6 or bf6", "fp8, bf8, fp6, bf6 or fp4"), ("fp8, bf8 or fp4", "fp6 or bf6")] {
            let one = form(format!("v_wmma{scale}_f32_16x16x128_f8f6f4"), [16, 16, 128], ["f32", a, b]);
            forms.push(UnusedInstruction { reason: SIX_BITS.to_owned(), source: source(), ..one });
        }
        let one = form(format!("v_wmma{scale}_f32_32x16x128_f4"), [32, 16, 128], ["f32", "fp4", "fp4"]);
        forms.push(UnusedInstruction { reason: HIGH.to_owned(), source: source(), ..one });
    }
    forms
}

fn form(name: String, shape: [u64; 3], types: [&str; 3]) -> UnusedInstruction {
    let types = ["d", "a", "b"].into_iter().zip(types).map(|(role, element)| (role.to_owned(), element.to_owned()));
    let types = types.collect();
    UnusedInstruction { name, shapes: vec![shape], types, reason: REASON.to_owned(), source: SOURCE.to_owned() }
}
