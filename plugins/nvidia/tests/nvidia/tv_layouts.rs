//! Published operand layouts in CuTe's notation: conversions to linear layouts and back, and comparison with this
//! plugin's instructions and families.

use crate::layouts::{dot_operand, mma, spec, tensor_memory};
use crate::prelude::*;
use serde_json::Value;
use tilewright_testkit::bridged::{bridged, operands};
use tilewright_testkit::known_answers::numbers;
use tilewright_vendor_testkit::rows::expect_register_operand;

const SAMPLE: &str = include_str!("../data/tv_layouts.json");
const MMA_LAYOUTS: &str = "reference/matrix_instruction_tv_layouts.json";
const MOVES: &str = "reference/copy_instruction_tv_layouts.json";
const HEXCUTE: &str = "reference/hexcute_instructions.json";

fn element(name: &str) -> Option<&'static str> {
    Some(match name.trim_start_matches("cutlass::").trim_start_matches("hidet.") {
        "float" | "float32" => "f32",
        "double" => "f64",
        "int" => "s32",
        "signed char" => "s8",
        "unsigned char" => "u8",
        "half_t" | "float16" => "f16",
        "bfloat16_t" | "bfloat16" => "bf16",
        "tfloat32_t" => "tf32",
        "float_e4m3_t" | "float8_e4m3" => "e4m3",
        "float_e5m2_t" | "float8_e5m2" => "e5m2",
        _ => return None,
    })
}

/// Returns the register layouts of d, a and b of a warp MMA; `None` if the instruction table lacks it.
fn row(name: &str) -> Option<[LinearLayout; 3]> {
    let row = instructions_of("sm_90a").into_iter().find(|row| row.name == name)?;
    Some(["a", "b", "d"].map(|required| expect_register_operand(&row, required).2.clone()))
}

fn same(found: &LinearLayout, published: Option<&LinearLayout>, what: &str) {
    let published =
        published.unwrap_or_else(|| panic!("{what}: there is a row, but the published layout is not linear"));
    same_layout(found, published).unwrap_or_else(|why| panic!("{what}: {why}"));
}

fn family(spec: &FamilySpec, shape: &[u64]) -> LinearLayout {
    let families = NvidiaFamilies::for_architecture("sm_100a");
    families.resolve(spec, shape, &families).unwrap_or_else(|error| panic!("{error}")).linear().clone()
}

/// Compares a published warpgroup MMA with the layout family: the accumulator, and A if it is in registers.
fn compare_warpgroup_mma(atom: &Value, [a, _, c]: &[Option<LinearLayout>; 3]) -> usize {
    let shape = numbers(&atom["shape_mnk"]);
    let Some(c) = c else { return 0 };
    let result = mma(3, &[4, 1], &[16, shape[1], shape[2]]);
    let what = atom["name"].to_string();
    same(&family(&spec(&result), &[64, shape[1]]), Some(&of_warps(c)), &what);
    // If operand A is in shared memory, the published layout gives each thread all of it.
    let (Some(a), Some(element)) = (a, atom["val_types"]["A"].as_str().and_then(element)) else { return 1 };
    if a.sublayout_is_zero(&[Dim::LANE], &[Dim::tensor(0), Dim::tensor(1)]).expect("its dims") {
        return 1;
    }
    let bits = if element.len() == 4 && element.starts_with('e') || element.ends_with('8') { 8 } else { 16 };
    let bits = if element == "tf32" { 32 } else { bits };
    let operand = spec(&dot_operand(0, &result, 32 / bits));
    same(&family(&operand, &[64, shape[2]]), Some(&of_warps(a)), &what);
    2
}

/// Checks warpgroup MMAs whose N is no power of two: the accumulator has the first registers of the next power of two.
#[test]
fn accumulators_of_other_widths_are_the_first_of_wider_ones() {
    check_accumulators_of_other_widths_are_the_first_of_wider_ones(Answers::Sample);
}

pub fn check_accumulators_of_other_widths_are_the_first_of_wider_ones(answers: Answers) {
    let mut checked = BTreeSet::new();
    for atom in answers.entries(SAMPLE, MMA_LAYOUTS, "atoms").iter().filter(|atom| atom["thr_id"] == "128:1") {
        let columns = numbers(&atom["shape_mnk"])[1];
        let text = atom["CLayout"].as_str().expect("a layout");
        if columns.is_power_of_two() || !checked.insert(text.to_owned()) {
            continue;
        }
        let wider = columns.next_power_of_two();
        let (family, published) =
            (family(&spec(&mma(3, &[4, 1], &[16, wider, 16])), &[64, wider]), ThreadValue::parse(text));
        for (thread, value) in (0..128).flat_map(|t| (0..published.size(1)).map(move |v| (t, v))) {
            let at = [(Dim::REGISTER, value), (Dim::LANE, thread % 32), (Dim::WARP, thread / 32)];
            let coordinates = family.apply(&at).expect("a place");
            let element = published.index(thread, value);
            assert_eq!((coordinates[0].1, coordinates[1].1), (element % 64, element / 64), "{text}");
        }
    }
    assert!(!checked.is_empty());
}

/// Converts a layout of 128 threads to one of four warps of one block.
fn of_warps(layout: &LinearLayout) -> LinearLayout {
    let registers = 1 << layout.in_bits(Dim::REGISTER);
    let split = [(Dim::REGISTER, registers), (Dim::LANE, 32), (Dim::WARP, 4), (Dim::BLOCK, 1)];
    layout.reshape_ins(&split).expect("128 threads")
}

#[test]
fn warpgroup_mmas_match_their_family() {
    check_warpgroup_mmas_match_their_family(Answers::Sample);
}

pub fn check_warpgroup_mmas_match_their_family(answers: Answers) {
    let mut checked = 0;
    for atom in answers.entries(SAMPLE, MMA_LAYOUTS, "atoms").iter().filter(|atom| atom["thr_id"] == "128:1") {
        checked += compare_warpgroup_mma(atom, &operands(atom));
    }
    println!("{checked} operands are those of the family");
    assert!(checked >= 10, "{checked} operands are those of the family");
}

/// Compares accumulators in tensor memory: those with 128 rows a block are in the rows of tensor memory. In the
/// published layouts a thread stands for a block.
#[test]
fn accumulators_in_tensor_memory() {
    check_accumulators_in_tensor_memory(Answers::Sample);
}

pub fn check_accumulators_in_tensor_memory(answers: Answers) {
    let mut checked = 0;
    for atom in answers.entries(SAMPLE, MMA_LAYOUTS, "atoms").iter().filter(|atom| atom["arch"] == "SM100") {
        let [_, _, Some(c)] = operands(atom) else { continue };
        let (shape, blocks) = (numbers(&atom["shape_mnk"]), 1 << c.in_bits(Dim::LANE));
        if shape[0] != 128 * blocks {
            continue;
        }
        let mut spec = tensor_memory(128, shape[1]);
        if blocks == 2 {
            spec = spec
                .with_parameter("two_ctas", true)
                .with_parameter("cga_layout", FamilyParameterValue::List(vec![FamilyParameterValue::from([1i64, 0])]));
        }
        let by_lane = c.reshape_ins(&[(Dim::ROW, 128), (Dim::COL, shape[1]), (Dim::BLOCK, blocks)]).expect("its size");
        same(&family(&spec, &shape[..2]), Some(&by_lane.squeeze_ins()), &atom["name"].to_string());
        checked += 1;
    }
    println!("{checked} accumulators are those of the family");
    assert!(checked >= 4, "{checked} accumulators");
}

/// Checks that published MMAs without an instruction or family here still convert to a linear layout and back; the
/// exceptions are listed.
#[test]
fn every_published_mma_converts_to_linear_and_back() {
    check_every_published_mma_converts_to_linear_and_back(Answers::Sample);
}

pub fn check_every_published_mma_converts_to_linear_and_back(answers: Answers) {
    let (mut linear, mut not_linear) = (0, 0);
    for atom in answers.entries(SAMPLE, MMA_LAYOUTS, "atoms").iter().filter(|atom| atom["vendor"] == "nvidia") {
        let powers = numbers(&atom["shape_mnk"]).into_iter().all(u64::is_power_of_two);
        for operand in operands(atom) {
            // All layouts whose sizes are powers of two are linear.
            assert!(operand.is_some() || !powers, "{}", atom["name"]);
            linear += usize::from(operand.is_some());
            not_linear += usize::from(operand.is_none());
        }
    }
    println!("{linear} layouts are linear, {not_linear} are not");
    assert!(linear > 60 && not_linear > 2);
}

/// Converts the published layouts of moves, from (thread, bit) to a bit of the tile, to linear layouts and back.
#[test]
fn every_published_move_crosses_the_bridge() {
    check_every_published_move_crosses_the_bridge(Answers::Sample);
}

pub fn check_every_published_move_crosses_the_bridge(answers: Answers) {
    let moves = answers.entries(SAMPLE, MOVES, "atoms");
    let layouts = ["SrcLayout_bits", "DstLayout_bits", "RefLayout_bits"];
    let texts: BTreeSet<_> =
        moves.iter().flat_map(|atom| layouts.map(|layout| atom[layout].as_str())).flatten().collect();
    for text in &texts {
        let elements = 1 + (0..2).map(|mode| last(text, mode)).sum::<u64>();
        let tile = [(Dim::tensor(0), elements.next_power_of_two())];
        assert!(bridged(text, &tile).is_some(), "{text} is not linear");
    }
    assert!(texts.len() >= 12, "{} layouts", texts.len());
}

/// Compares the registers of tensor memory loads: the published layouts map to a bit of consecutive rows, the family's
/// to a row and a 32-bit column. Loads of 16 rows are repeated for the upper rows in the last register.
#[test]
fn loads_of_tensor_memory() {
    check_loads_of_tensor_memory(Answers::Sample);
}

pub fn check_loads_of_tensor_memory(answers: Answers) {
    let mut checked = 0;
    for atom in answers.entries(SAMPLE, MOVES, "atoms") {
        let name = atom["name"].as_str().expect("a name");
        let Some((shape, times)) = name.strip_prefix("SM100_TMEM_LOAD_").and_then(|load| load.split_once("b")) else {
            continue;
        };
        let Some(times) = times.strip_suffix('x').and_then(|times| times.parse::<u64>().ok()) else { continue };
        let (rows, bits) = match shape {
            "32dp32" => (32, 32),
            "16dp64" => (16, 64),
            "16dp128" => (16, 128),
            "16dp256" => (16, 256),
            // Moves of two halves side by side, and loads that also reduce, are left out.
            _ => continue,
        };
        let columns = bits / 32 * times;
        let memory = tensor_memory(128, columns);
        let spec = FamilySpec::new("tmem_reg")
            .with_parameter("memory", FamilyParameterValue::Spec(Box::new(memory)))
            .with_parameter("element_bits", 32)
            .with_parameter("num_warps", 4)
            .with_parameter("instr_variant", FamilyParameterValue::Text(format!("{rows}x{bits}b")));
        let family = family(&spec, &[128, columns]);
        let published = ThreadValue::parse(atom["DstLayout_bits"].as_str().expect("a layout"));
        let registers = published.size(1) / 32;
        assert_eq!(1 << family.in_bits(Dim::REGISTER), registers * 32 / rows, "{name}");
        for (lane, register) in (0..32).flat_map(|lane| (0..registers).map(move |register| (lane, register))) {
            let bit = published.index(lane, register * 32);
            let coordinates = family.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane)]).expect("a place");
            let expected = (bit / (32 * columns), bit % (32 * columns) / 32);
            assert_eq!((coordinates[0].1, coordinates[1].1), expected, "{name}, lane {lane}, register {register}");
        }
        checked += 1;
    }
    println!("{checked} loads are those of the family");
    assert!(checked >= 4, "{checked} loads");
}

/// Returns the last element of the thread part (`mode` 0) or of the value part of a layout text.
fn last(text: &str, mode: usize) -> u64 {
    let published = ThreadValue::parse(text);
    let size = published.size(mode) - 1;
    if mode == 0 { published.index(size, 0) } else { published.index(0, size) }
}

/// Compares this plugin's warp MMAs with the tables of another project.
#[test]
fn tables_of_another_compiler() {
    check_tables_of_another_compiler(Answers::Sample);
}

pub fn check_tables_of_another_compiler(answers: Answers) {
    let (mut of_rows, mut crossed) = (0, 0);
    for entry in answers.entries(SAMPLE, HEXCUTE, "mma") {
        let [m, n, k] = numbers(&entry["shape_mnk"])[..] else { panic!("three sizes") };
        let types: Vec<_> =
            entry["dtypes"].as_array().expect("types").iter().filter_map(|t| element(t.as_str()?)).collect();
        let [a, b, c, d] = types[..] else { panic!("four types: {entry}") };
        let (rows, columns) = (Dim::tensor(0), Dim::tensor(1));
        let tiles = [[(rows, m), (columns, k)], [(columns, n), (rows, k)], [(rows, m), (columns, n)]];
        let published: Vec<_> = ["a", "b", "c"]
            .iter()
            .zip(tiles)
            .map(|(role, tile)| bridged(entry[role].as_str().expect("a layout"), &tile))
            .collect();
        crossed += published.iter().flatten().count();
        let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col.{d}.{a}.{b}.{c}");
        let Some(row) = row(&name).filter(|_| entry["class"] == "MmaSyncInstruction") else { continue };
        for (row, published) in row.iter().zip(&published) {
            same(row, published.as_ref(), &name);
        }
        of_rows += 1;
    }
    println!("{of_rows} are rows, {crossed} layouts are linear");
    assert!(of_rows >= 2 && crossed >= 12, "{of_rows} rows, {crossed} layouts");
}
