//! Published operand layouts in CuTe's notation, through the bridge to linear layouts and back, and
//! against the rows of this plugin.

use serde_json::Value;
use tilewright_intel::instructions::rows;
use tilewright_testkit::bridged::operands;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::register;

const SAMPLE: &str = include_str!("../data/matrix_instructions.json");
const PRODUCTS: &str = "reference/matrix_instruction_tv_layouts.json";

fn atoms(answers: Answers) -> Vec<Value> {
    let mut all = answers.entries(SAMPLE, PRODUCTS, "atoms");
    all.retain(|atom| atom["name"].as_str().is_some_and(|name| name.starts_with("XE_")));
    all
}

/// The row of an atom's name: `XE_DPAS_TT<8,d,s8,s8,d>`.
fn row(name: &str) -> Option<Instruction> {
    let (repeat, types) = name.strip_prefix("XE_DPAS_TT<")?.strip_suffix('>')?.split_once(',')?;
    let full = |word| match word {
        "f" => "f32",
        "hf" => "f16",
        "bf" => "bf16",
        "d" => "s32",
        other => other,
    };
    let name = format!("dpas.8x{repeat}.{}", types.split(',').map(full).collect::<Vec<_>>().join("."));
    rows("xe2").into_iter().find(|row| row.name == name)
}

/// Newer atoms take vectors of their own elements. The bits of the register file are the same: value
/// v of lane l is element l + 16 v of it, of narrower elements as many as fill byte l + 16 v, of which 16 bits
/// of A, and 32 bits of B, are one lane's in the rows.
#[test]
fn vectors_of_elements_are_the_same_bits() {
    check_vectors_of_elements_are_the_same_bits(Answers::Sample);
}

pub fn check_vectors_of_elements_are_the_same_bits(answers: Answers) {
    let mut checked = BTreeSet::new();
    for atom in atoms(answers) {
        let name = atom["name"].as_str().expect("a name");
        let Some(row) = row(name) else { continue };
        for (role, published) in ["a", "b", "d"].into_iter().zip(operands(&atom)) {
            let (_, bits, layout) = register(&row, role);
            let bits = u64::from(bits);
            // One row of tf32 has eight elements for sixteen lanes, and these atoms run past it.
            let Some(published) = published else {
                assert_eq!((role, name), ("a", "XE_DPAS_TT<1,f,tf32,tf32,f>"));
                continue;
            };
            let unit = if role == "a" { 16 } else { 32 };
            let packed = if role == "d" { 1 } else { (unit / bits).max(1) };
            for at in 0..16u64 << published.in_bits(Dim::REGISTER) {
                let in_byte = (8 / bits).max(1);
                let (lane, value) = (at / in_byte % 16, at / in_byte / 16 * in_byte + at % in_byte);
                let own = [(Dim::REGISTER, at / packed / 16 * packed + at % packed), (Dim::LANE, at / packed % 16)];
                let found = layout.apply(&own).expect("in the tile");
                let published = published.apply(&[(Dim::REGISTER, value), (Dim::LANE, lane)]).expect("in the tile");
                assert_eq!(found, published, "{role} of {name}, lane {lane}, value {value}");
            }
        }
        checked.insert(name.to_owned());
    }
    println!("{} atoms are rows", checked.len());
    assert!(checked.len() >= 9, "{checked:?}");
}

/// All but the one that runs past its tile, rows or not.
#[test]
fn every_published_product_crosses_the_bridge() {
    check_every_published_product_crosses_the_bridge(Answers::Sample);
}

pub fn check_every_published_product_crosses_the_bridge(answers: Answers) {
    let atoms = atoms(answers);
    let none: BTreeSet<_> = atoms
        .iter()
        .flat_map(|atom| operands(atom).map(|operand| (atom["name"].as_str().expect("a name"), operand)))
        .filter_map(|(name, operand)| operand.is_none().then_some(name))
        .collect();
    assert_eq!(none.into_iter().collect::<Vec<_>>(), ["XE_DPAS_TT<1,f,tf32,tf32,f>"]);
    assert!(atoms.len() > 36);
}
