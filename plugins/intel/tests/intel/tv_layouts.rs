//! Published operand layouts in CuTe's notation: converted to linear layouts and back, and compared with the
//! instruction table of this plugin.

use serde_json::Value;
use tilewright_intel_tables::instructions::instructions_of;
use tilewright_testkit::bridged::operands;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::expect_register_operand;

const SAMPLE: &str = include_str!("../data/matrix_instructions.json");
const MMA_LAYOUTS: &str = "reference/matrix_instruction_tv_layouts.json";

fn atoms(answers: Answers) -> Vec<Value> {
    let mut all = answers.entries(SAMPLE, MMA_LAYOUTS, "atoms");
    all.retain(|atom| atom["name"].as_str().is_some_and(|name| name.starts_with("XE_")));
    all
}

/// Returns the instruction that an atom's name, such as `XE_DPAS_TT<8,d,s8,s8,d>`, stands for.
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
    instructions_of("xe2").into_iter().find(|row| row.name == name)
}

/// Checks that newer atoms, which take vectors of their own elements, have the same bits in the register file as this
/// plugin's table: there a lane holds 16 bits of A and 32 bits of B. In the atoms, value v of lane l is element l + 16
/// v; narrower elements fill byte l + 16 v.
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
            let (_, bits, layout) = expect_register_operand(&row, role);
            let bits = u64::from(bits);
            // One row of tf32 has eight elements for sixteen lanes, and these atoms exceed it.
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

/// Checks all published MMAs, except the atom that exceeds its tile, whether the plugin's table has them or not.
#[test]
fn every_published_mma_converts_to_linear_and_back() {
    check_every_published_mma_converts_to_linear_and_back(Answers::Sample);
}

pub fn check_every_published_mma_converts_to_linear_and_back(answers: Answers) {
    let atoms = atoms(answers);
    let none: BTreeSet<_> = atoms
        .iter()
        .flat_map(|atom| operands(atom).map(|operand| (atom["name"].as_str().expect("a name"), operand)))
        .filter_map(|(name, operand)| operand.is_none().then_some(name))
        .collect();
    assert_eq!(none.into_iter().collect::<Vec<_>>(), ["XE_DPAS_TT<1,f,tf32,tf32,f>"]);
    assert!(atoms.len() > 36);
}
