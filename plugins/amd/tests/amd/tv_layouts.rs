//! Published operand layouts in CuTe's notation, through the bridge to linear layouts and back, and
//! against the rows of this plugin that have the same name.

use serde_json::Value;
use tilewright_amd::instructions::rows;
use tilewright_testkit::bridged::operands;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::rows::register;

const SAMPLE: &str = include_str!("../data/tv_layouts.json");

/// The row that the calculator's name of an atom names: `CDNA2_v_mfma_f64_4x4x4f64_wave64`.
fn row(atom: &Value) -> Option<Instruction> {
    let (generation, rest) = atom["name"].as_str()?.split_once("_v_")?;
    let name = format!("v_{}", rest.strip_suffix("_wave64")?);
    let architecture = match generation {
        "CDNA1" => "gfx908",
        "CDNA2" => "gfx90a",
        "CDNA3" => "gfx942",
        _ => return None,
    };
    let row = rows(architecture).into_iter().find(|row| row.name == name);
    Some(row.unwrap_or_else(|| panic!("{architecture} has no {name}")))
}

#[test]
fn every_published_product_crosses_the_bridge_and_is_the_row_of_its_name() {
    check_every_published_product_crosses_the_bridge_and_is_the_row_of_its_name(Answers::Sample);
}

pub fn check_every_published_product_crosses_the_bridge_and_is_the_row_of_its_name(answers: Answers) {
    let (mut crossed, mut of_rows) = (0, 0);
    let atoms = answers.entries(SAMPLE, "reference/matrix_instruction_tv_layouts.json", "atoms");
    for atom in atoms.iter().filter(|atom| atom["vendor"] == "amd") {
        let published = operands(atom).map(|operand| operand.unwrap_or_else(|| panic!("{atom} is not linear")));
        crossed += 1;
        let Some(row) = row(atom) else { continue };
        for (wanted, published) in ["a", "b", "d"].into_iter().zip(&published) {
            let (_, _, found) = register(&row, wanted);
            same_layout(found, published).unwrap_or_else(|why| panic!("{wanted} of {}: {why}", row.name));
        }
        of_rows += 1;
    }
    println!("{crossed} atoms crossed, {of_rows} are rows");
    assert!(crossed >= 12 && of_rows >= 6, "{crossed} atoms, {of_rows} rows");
}
