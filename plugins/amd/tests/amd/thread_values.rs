//! The instruction table of this plugin compared with published thread-value layouts: those of AMD's calculator in
//! another notation, and those of AMD's libraries.

use serde_json::Value;
use tilewright_amd_tables::instructions::instructions_of;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::expect_register_operand;

const EXCERPT: &str = include_str!("../data/thread_value_layouts.json");

/// Returns the published atoms (instructions with their thread-value layouts) of this vendor.
fn atoms(answers: Answers) -> Vec<Value> {
    let mut atoms = answers.entries(EXCERPT, "reference/matrix_instruction_tv_layouts.json", "atoms");
    atoms.retain(|atom| atom["vendor"] == "amd");
    atoms
}

fn architecture(atom: &Value) -> &'static str {
    match atom["arch"].as_str().expect("an architecture") {
        "CDNA1" => "gfx908",
        "CDNA2" => "gfx90a",
        "CDNA3" | "CDNA (wave64 MFMA)" => "gfx942",
        "CDNA4" => "gfx950",
        "RDNA3" => "gfx1100",
        "RDNA4" => "gfx1201",
        "GFX1250" => "gfx1250",
        other => panic!("an unknown architecture {other}"),
    }
}

/// Returns this plugin's name of an element type.
fn element(name: &str) -> &str {
    match name {
        "fp16_t" | "fp16" => "f16",
        "bf16_t" => "bf16",
        "float" | "fp32" => "f32",
        "int32" => "i32",
        "f8" | "f8_mxscaled" | "AType_" | "BType_" => "fp8",
        "f4_mxscaled" => "fp4",
        "f6_mxscaled" => "fp6",
        other => other,
    }
}

fn text<'a>(atom: &'a Value, key: &str) -> &'a str {
    atom[key].as_str().unwrap_or_else(|| panic!("{atom} has no {key}"))
}

fn shape(atom: &Value) -> [u64; 3] {
    [0, 1, 2].map(|axis| atom["shape_mnk"][axis].as_u64().expect("a size"))
}

/// Returns the instruction's name in an atom of AMD's calculator, with the lanes of the wave.
fn name_in(atom: &Value) -> Option<String> {
    let name = text(atom, "name");
    let start = name.find("v_")?;
    let (instruction, lanes) = name[start..].rsplit_once("_wave")?;
    let of_two = name.starts_with("RDNA") && lanes == "64";
    Some(if of_two { format!("{instruction}(wave64)") } else { instruction.to_owned() })
}

/// Returns the instructions of the table that an atom describes: the one that the atom names, or all of its shape and
/// types.
fn matching_rows(atom: &Value) -> Vec<Instruction> {
    let all = instructions_of(architecture(atom)).into_iter().filter(|row| row.kind == InstructionKind::Matrix);
    if let Some(name) = name_in(atom) {
        return all.filter(|row| row.name == name).collect();
    }
    let types = ["D", "A", "B"].map(|role| element(text(&atom["val_types"], role)));
    let [m, n, k] = shape(atom);
    let fits = |row: &Instruction| {
        let ((of_d, _, d), (of_a, _, a), (of_b, ..)) =
            (expect_register_operand(row, "d"), expect_register_operand(row, "a"), expect_register_operand(row, "b"));
        let sizes = [d.out_bits(Dim::tensor(0)), d.out_bits(Dim::tensor(1)), a.out_bits(Dim::tensor(1))];
        // Signedness of integers is a modifier, for which AMD writes `iu`; the variant of 8-bit floats depends on the
        // architecture.
        let plain = |name: &str| name.replace("iu", "i").trim_end_matches("_fnuz").to_owned();
        let named = [of_d, of_a, of_b].iter().zip(&types).all(|(own, required)| plain(own) == plain(required));
        // The 8-bit operands are those of the instruction that is named after both types.
        let mixed = architecture(atom) == "gfx1250" && row.name.contains("f8f6f4");
        named
            && !mixed
            && d.outs().len() == 2
            && !row.name.ends_with("(wave64)")
            && sizes.map(|bits| 1 << bits) == [m, n, k]
    };
    all.filter(fits).collect()
}

#[test]
fn operands_are_as_published() {
    check_operands_are_as_published(Answers::Sample);
}

pub fn check_operands_are_as_published(answers: Answers) {
    let mut seen = BTreeSet::new();
    for atom in atoms(answers) {
        let name = text(&atom, "name").to_owned();
        let matching_rows = matching_rows(&atom);
        assert!(!matching_rows.is_empty(), "{name} has no row");
        for row in matching_rows {
            let orders = orders_of_k(&row, &atom);
            assert!(!orders.is_empty(), "{} does not lie as {name} says", row.name);
            // The library orders K on RDNA 4 differently from the calculator, equally for both operands; and the
            // calculator orders K of 8-bit operands of f8f6f4 by registers, while AMD's introduction to matrix cores
            // (5.4) has two chunks.
            let eight_bits = row.name.contains("_f8f6f4") && architecture(&atom) == "gfx950";
            let reordered = name.starts_with("FlyDSL_GFX120X") || eight_bits;
            assert!(reordered || orders.iter().any(|order| order.is_sorted()), "{}: {orders:?}", row.name);
            seen.insert((architecture(&atom), row.name));
        }
    }
    assert!(seen.len() > 30, "{}", seen.len());
}

/// Returns the permutations of the index bits of K under which all operands of the instruction equal those of the atom.
fn orders_of_k(row: &Instruction, atom: &Value) -> Vec<Vec<u32>> {
    let [m, n, k] = shape(atom);
    let same = |role: &str, key: &str, sizes: [u64; 2], coordinates: &dyn Fn(&[u64]) -> [u64; 3]| {
        let published = ThreadValue::parse(text(atom, key));
        let layout = expect_register_operand(row, role).2;
        let (registers, lanes) = (1 << layout.in_bits(Dim::REGISTER), 1 << layout.in_bits(Dim::LANE));
        // An operand that fills one register of 32 lanes; the table does not specify the other lanes.
        let unsaid = row.name == "v_wmma_i32_16x16x16_iu4(wave64)" && published.size(0) == 32;
        (published.size(0) == lanes || unsaid)
            && published.size(1) == registers
            && (0..published.size(0)).all(|lane| {
                (0..registers).all(|value| {
                    let images = layout.apply(&[(Dim::REGISTER, value), (Dim::LANE, lane)]).expect("in the tile");
                    let [first, second, block] = coordinates(&images.iter().map(|image| image.1).collect::<Vec<_>>());
                    published.index(lane, value) == first + sizes[0] * (second + sizes[1] * block)
                })
            })
    };
    let block = |coordinates: &[u64]| coordinates.get(2).copied().unwrap_or(0);
    if !same("d", "CLayout", [m, n], &|coordinates| [coordinates[0], coordinates[1], block(coordinates)]) {
        return Vec::new();
    }
    let moved = |order: &[u32], k: u64| order.iter().zip(0..).map(|(&to, bit)| (k >> bit & 1) << to).sum::<u64>();
    let fits = |order: &Vec<u32>| {
        same("a", "ALayout", [m, k], &|coordinates| [coordinates[0], moved(order, coordinates[1]), block(coordinates)])
            && same("b", "BLayout", [n, k], &|coordinates| {
                [coordinates[1], moved(order, coordinates[0]), block(coordinates)]
            })
    };
    orders(k.trailing_zeros()).into_iter().filter(fits).collect()
}

/// Returns all permutations of `bits` bits.
fn orders(bits: u32) -> Vec<Vec<u32>> {
    (0..bits).fold(vec![Vec::new()], |orders, next| {
        let insert = |order: Vec<u32>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, next);
                longer
            })
        };
        orders.into_iter().flat_map(insert).collect()
    })
}
