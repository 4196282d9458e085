//! Target files: valid files, and the position, message and remedy for each kind of mistake.

use proptest::prelude::*;
use tilewright_target::{
    Direction, Evidence, MmaIssuer, ShuffleKind, TargetCatalogue, TargetCatalogueError, TargetDescription,
};

/// The file of a fictitious machine, with every key that a file can have.
const TARGET_TOML: &str = r#"name = "toy-1"
product = "A machine for tests"
architecture = "toy"

[lanes]
default = 8
choices = [8, 16]
evidence = "documented"
source = "made up"

[limits]
lanes_per_block = 64
registers_per_lane = 32
registers_per_block = 1_024
blocks_per_cluster = 2
evidence = "assumed"
source = "made up"

[shared]
bytes = 0x1000
static_bytes = 2048
granularity_bytes = 64
access_bits = [32, 64]
warp_ordered = true
evidence = "measured"
source = "made up"

[[shared.banks]]
directions = ["store", "load"]
access_bits = [32]
banks = 8
bank_bytes = 4
phase = [1, 2, 4]
evidence = "documented"
source = "made up"

[[shared.banks]]
directions = ["load"]
access_bits = [64]
banks = 8
bank_bytes = 4
phase = [1, 10]
evidence = "measured"
source = "made up"

[[shared.banks]]
directions = ["store"]
access_bits = [64]
banks = 8
bank_bytes = 4
phase = [1, 2]
evidence = "measured"
source = "made up"

[[shared.banks]]
directions = ["load"]
access_bits = [32]
instruction = "gather"
banks = 16
bank_bytes = 2
phase = []
evidence = "measured"
source = "made up"

[global]
access_bits = [8, 32]
transaction_bytes = 32
evidence = "assumed"
source = "made up"

[[shuffles]]
kind = "index"
bits = 32
evidence = "assumed"
source = "made up"

[costs]
shared_store_wavefront = { cycles = 1, latency = 20, evidence = "assumed", source = "made up" }
shared_load_wavefront = { cycles = 1.5, latency = 21, evidence = "assumed", source = "made up" }
shuffle = { cycles = 2, latency = 22, evidence = "assumed", source = "made up" }
permute = { cycles = 0.25, latency = 23, evidence = "assumed", source = "made up" }
select = { cycles = 0.5, latency = 24, evidence = "assumed", source = "made up" }
block_barrier = { cycles = 10, latency = 25, evidence = "assumed", source = "made up" }
warp_barrier = { cycles = 0, latency = 0, evidence = "assumed", source = "made up" }
"#;

proptest! {
    /// Any change to a file's text gives a description or an error within the text.
    #[test]
    fn damaged_text_is_answered(from in 0..2300usize, to in 0..2300usize, put in "[\\PC\n]{0,3}") {
        let cut = |at: usize| at.min(TARGET_TOML.len());
        let (from, to) = (cut(from.min(to)), cut(from.max(to)));
        for text in [format!("{}{put}{}", &TARGET_TOML[..from], &TARGET_TOML[to..]), format!("{}{put}", &TARGET_TOML[..to])] {
            if let Err(error) = TargetDescription::from_toml("f", &text) {
                prop_assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1);
                prop_assert!(error.column >= 1);
            }
        }
    }
}

fn test_target() -> TargetDescription {
    TargetDescription::from_toml("toy-1.toml", TARGET_TOML).expect("the file reads")
}

#[test]
fn every_key_arrives() {
    let toy = test_target();
    assert_eq!((toy.name.as_str(), toy.gpu_model.as_str()), ("toy-1", "A machine for tests"));
    assert_eq!(toy.architecture, "toy");
    assert_eq!((toy.lanes.default, toy.lanes.choices.as_slice()), (8, [8, 16].as_slice()));
    assert_eq!((toy.lanes.evidence, toy.lanes.source.as_str()), (Evidence::Documented, "made up"));
    assert_eq!((toy.limits.lanes_per_block, toy.limits.registers_per_lane), (64, 32));
    assert_eq!((toy.limits.registers_per_block, toy.limits.blocks_per_cluster), (1024, 2));
    assert_eq!((toy.shared.bytes, toy.shared.static_bytes, toy.shared.granularity_bytes), (4096, 2048, 64));
    assert_eq!((toy.shared.access_bits.as_slice(), toy.shared.warp_ordered), ([32, 64].as_slice(), true));
    assert_eq!((toy.global.access_bits.as_slice(), toy.global.transaction_bytes), ([8, 32].as_slice(), 32));
    let staged = TARGET_TOML.replace("transaction_bytes = 32", "transaction_bytes = 32\nstages = 5");
    let staged = TargetDescription::from_toml("toy-1.toml", &staged).expect("the file reads");
    assert_eq!((toy.global.stages, staged.global.stages), (3, 5));
    assert_eq!((toy.shuffles.len(), toy.shuffles[0].kind, toy.shuffles[0].bits), (1, ShuffleKind::Index, 32));
    let costs = [&toy.costs.shared_store_wavefront, &toy.costs.shared_load_wavefront, &toy.costs.shuffle];
    assert_eq!(costs.map(|cost| (cost.cycles, cost.latency)), [(1.0, 20.0), (1.5, 21.0), (2.0, 22.0)]);
    let costs = [&toy.costs.permute, &toy.costs.select, &toy.costs.block_barrier, &toy.costs.warp_barrier];
    assert_eq!(costs.map(|cost| (cost.cycles, cost.latency)), [(0.25, 23.0), (0.5, 24.0), (10.0, 25.0), (0.0, 0.0)]);
}

#[test]
fn rows_are_found_by_direction_and_width_and_only_for_plain_accesses() {
    let toy = test_target();
    let phase = |direction, bits| toy.find_bank_row(direction, bits).map(|row| row.phase.clone());
    assert_eq!(phase(Direction::Load, 32), Some(vec![1, 2, 4]));
    assert_eq!(phase(Direction::Store, 32), Some(vec![1, 2, 4]));
    assert_eq!(phase(Direction::Load, 64), Some(vec![1, 10]));
    assert_eq!(phase(Direction::Store, 64), Some(vec![1, 2]));
    assert_eq!(phase(Direction::Load, 128), None);
    assert_eq!(toy.shared.banks[3].instruction.as_deref(), Some("gather"));
    assert_eq!(toy.shared.banks[3].wavefront_bytes(), 32);
}

/// A description that is written as TOML reads back as the same description.
#[test]
fn what_is_written_out_reads_back() {
    let toy = test_target();
    let written = toml::to_string(&toy).expect("the description can be written");
    assert_eq!(TargetDescription::from_toml("written", &written), Ok(toy));
}

#[test]
fn lanes_that_swap_are_listed() {
    let swap = "kind = \"swap\"\nlanes = [4, 8]\nbits = 32\nevidence = \"assumed\"\nsource = \"made up\"";
    let text = TARGET_TOML.replace("[costs]", &format!("[[shuffles]]\n{swap}\n\n[costs]"));
    let toy = TargetDescription::from_toml("toy-1.toml", &text).expect("a sound target");
    assert_eq!((toy.shuffles[1].kind, toy.shuffles[1].bits), (ShuffleKind::Swap, 32));
    assert_eq!(toy.swap_lane_bits(32).collect::<Vec<_>>(), [4, 8]);
    assert_eq!((toy.swap_lane_bits(64).next(), test_target().swap_lane_bits(32).next()), (None, None));
}

#[test]
fn lanes_that_differ_by_a_constant_are_listed_or_all() {
    let with = |lanes: &str| {
        let row =
            format!("[[shuffles]]\nkind = \"xor\"\n{lanes}bits = 32\nevidence = \"assumed\"\nsource = \"made up\"");
        let cost = "shuffle_xor = { cycles = 1, latency = 4, evidence = \"assumed\", source = \"invented\" }\n\
                    swap = { cycles = 2, latency = 5, evidence = \"assumed\", source = \"invented\" }";
        let text = TARGET_TOML.replace("[costs]", &format!("{row}\n\n[costs]\n{cost}"));
        TargetDescription::from_toml("toy-1.toml", &text).expect("a sound target")
    };
    let (some, all, none) = (with("lanes = [1, 3, 15]\n"), with(""), test_target());
    let differing = |toy: &TargetDescription| (0..100).filter(|&m| toy.lane_xors(32).contains(m)).collect::<Vec<_>>();
    assert_eq!(differing(&some), [1, 3, 15]);
    assert_eq!(differing(&all), (1..64).collect::<Vec<_>>());
    assert_eq!((differing(&none), some.lane_xors(64).contains(1)), (vec![], false));
    assert_eq!(some.costs.shuffle_xor.as_ref().map(|cost| cost.latency), Some(4.0));
    assert_eq!(some.costs.swap.as_ref().map(|cost| cost.cycles), Some(2.0));
    let written = toml::to_string(&some).expect("the description can be written");
    assert_eq!(TargetDescription::from_toml("written", &written), Ok(some));
}

#[test]
fn a_target_without_shuffles_has_none() {
    let from = TARGET_TOML.find("[[shuffles]]").expect("is there");
    let to = TARGET_TOML.find("[costs]").expect("is there");
    let text = format!("shuffles = []\n{}{}", &TARGET_TOML[..from], &TARGET_TOML[to..]);
    let toy = TargetDescription::from_toml("toy-1.toml", &text).expect("the file reads");
    assert_eq!(toy.index_shuffle_bits(), None);
}

/// A text to be replaced (at its first occurrence) and its replacement; then the position and the message of the error.
type Mistake = (&'static str, &'static str, (usize, usize), &'static str);

fn check(mistakes: &[Mistake]) {
    for (wrong, (good, bad, (line, column), message)) in mistakes.iter().enumerate() {
        assert!(TARGET_TOML.contains(good), "mistake {wrong} changes what is not there: {good}");
        let error = TargetDescription::from_toml("toy-1.toml", &TARGET_TOML.replacen(good, bad, 1));
        let error = error.expect_err(&format!("{bad:?} should not read"));
        assert_eq!(error.to_string(), format!("toy-1.toml:{line}:{column}: {message}"), "for {bad:?}");
    }
}

#[test]
fn text_that_is_no_toml() {
    for (good, bad, line, column) in [
        ("default = 8", "default = ", 6, 11),
        ("default = 8", "default = 8\ndefault = 16", 7, 1),
        ("[limits]", "[limits", 11, 8),
        ("\"toy\"", "\"toy", 3, 20),
    ] {
        let text = TARGET_TOML.replacen(good, bad, 1);
        let error = TargetDescription::from_toml("toy-1.toml", &text).expect_err("is not TOML");
        assert_eq!((error.line, error.column), (line, column), "{bad:?}: {error}");
        assert!(!error.message.trim().is_empty());
    }
}

#[test]
fn unknown_keys() {
    check(&[
        ("product =", "produkt =", (2, 1), "unknown key `produkt` at the top of the file; did you mean `product`?"),
        ("default = 8", "defualt = 8", (6, 1), "unknown key `defualt` in `lanes`; did you mean `default`?"),
        ("static_bytes", "static", (21, 1), "unknown key `static` in `shared`; did you mean `static_bytes`?"),
        (
            "banks = 8",
            "colour = 3\nbanks = 8",
            (31, 1),
            "unknown key `colour` in `shared.banks[0]`; known are directions, access_bits, instruction, banks, bank_bytes, phase, idle_phases, paired, evidence, source",
        ),
        ("permute =", "premute =", (81, 1), "unknown key `premute` in `costs`; did you mean `permute`?"),
        ("cycles = 2,", "cycle = 2,", (80, 13), "unknown key `cycle` in `costs.shuffle`; did you mean `cycles`?"),
        ("[global]", "[globals]", (65, 2), "unknown key `globals` at the top of the file; did you mean `global`?"),
    ]);
}

#[test]
fn missing_keys() {
    check(&[
        ("name = \"toy-1\"\n", "", (1, 1), "missing key `name` at the top of the file"),
        ("bits = 32\n", "", (71, 1), "missing key `bits` in `shuffles[0]`"),
        ("granularity_bytes = 64\n", "", (19, 1), "missing key `granularity_bytes` in `shared`"),
        ("blocks_per_cluster = 2\n", "", (11, 1), "missing key `blocks_per_cluster` in `limits`"),
        ("phase = [1, 10]\n", "", (37, 1), "missing key `phase` in `shared.banks[1]`"),
        ("latency = 22, ", "", (80, 11), "missing key `latency` in `costs.shuffle`"),
        (", source = \"made up\" }\npermute", " }\npermute", (80, 11), "missing key `source` in `costs.shuffle`"),
        ("default = 8\n", "", (5, 1), "missing key `default` in `lanes`"),
    ]);
}

#[test]
fn wrong_types() {
    check(&[
        ("name = \"toy-1\"", "name = 1", (1, 8), "`name`: expected a string, found 1"),
        (
            "default = 8",
            "default = \"8\"",
            (6, 11),
            "`lanes.default`: expected an unsigned 32-bit integer, found the string \"8\"",
        ),
        ("choices = [8, 16]", "choices = 8", (7, 11), "`lanes.choices`: expected an array, found 8"),
        (
            "bytes = 0x1000",
            "bytes = 4096.0",
            (20, 9),
            "`shared.bytes`: expected an unsigned 32-bit integer, found 4096.0",
        ),
        ("warp_ordered = true", "warp_ordered = 1", (24, 16), "`shared.warp_ordered`: expected true or false, found 1"),
        (
            "[\"store\", \"load\"]",
            "[\"store\", \"read\"]",
            (29, 24),
            "`shared.banks[0].directions[1]`: expected \"store\" or \"load\", found the string \"read\"",
        ),
        (
            "kind = \"index\"",
            "kind = 2024-01-01",
            (72, 8),
            "`shuffles[0].kind`: expected \"index\" or \"swap\" or \"xor\", found a date",
        ),
        (
            "cycles = 1.5",
            "cycles = true",
            (79, 36),
            "`costs.shared_load_wavefront.cycles`: expected a number, found true",
        ),
        (
            "\"documented\"",
            "\"rumoured\"",
            (8, 12),
            "`lanes.evidence`: expected \"measured\" or \"documented\" or \"assumed\", found the string \"rumoured\"",
        ),
        (
            "source = \"made up\"",
            "source = \" \"",
            (9, 10),
            "`lanes.source`: expected text that is not blank, found the string \" \"",
        ),
        ("[global]", "[[global]]", (65, 1), "`global`: expected a table, found an array"),
    ]);
}

#[test]
fn names() {
    let allowed = "expected lower-case letters, digits, `-` and `_` only";
    for (bad, odd) in [("Toy", 'T'), ("toy 1", ' '), ("töy", 'ö'), ("toy/1", '/')] {
        let text = TARGET_TOML.replacen("toy-1", bad, 1);
        let error = TargetDescription::from_toml("f", &text).expect_err("is not a name");
        assert_eq!(error.to_string(), format!("f:1:8: `name`: {allowed}, found `{odd}`"));
    }
}

#[test]
fn impossible_lanes_and_limits() {
    check(&[
        ("default = 8", "default = 0", (6, 11), "`lanes.default`: expected a power of two from 1 to 1024, found 0"),
        ("[8, 16]", "[8, 12]", (7, 15), "`lanes.choices[1]`: expected a power of two from 1 to 1024, found 12"),
        ("[8, 16]", "[8, 2048]", (7, 15), "`lanes.choices[1]`: expected a power of two from 1 to 1024, found 2048"),
        ("[8, 16]", "[8, 16, 8]", (7, 19), "`lanes.choices[2]`: 8 is listed twice"),
        ("[8, 16]", "[]", (7, 11), "`lanes.choices`: expected an array with at least one entry, found an empty array"),
        ("default = 8", "default = 4", (6, 11), "`lanes.default`: expected one of `lanes.choices` [8, 16], found 4"),
        (
            "lanes_per_block = 64",
            "lanes_per_block = 40",
            (12, 19),
            "`limits.lanes_per_block`: expected whole warps of 16 lanes, found 40 lanes",
        ),
        (
            "lanes_per_block = 64",
            "lanes_per_block = -64",
            (12, 19),
            "`limits.lanes_per_block`: expected an unsigned 32-bit integer, found -64",
        ),
        (
            "registers_per_lane = 32",
            "registers_per_lane = 5000000000",
            (13, 22),
            "`limits.registers_per_lane`: expected an unsigned 32-bit integer, found 5000000000",
        ),
        (
            "1_024",
            "255",
            (14, 23),
            "`limits.registers_per_block`: a warp of 8 lanes with 32 registers each does not fit into 255",
        ),
        (
            "blocks_per_cluster = 2",
            "blocks_per_cluster = 0",
            (15, 22),
            "`limits.blocks_per_cluster`: expected an integer from 1 to 4294967295, found 0",
        ),
    ]);
}

#[test]
fn impossible_memory() {
    check(&[
        (
            "static_bytes = 2048",
            "static_bytes = 4097",
            (21, 16),
            "`shared.static_bytes`: expected at most `shared.bytes` (4096), found 4097",
        ),
        (
            "granularity_bytes = 64",
            "granularity_bytes = 48",
            (22, 21),
            "`shared.granularity_bytes`: expected a divisor of `shared.bytes` (4096), found 48",
        ),
        (
            "access_bits = [32, 64]",
            "access_bits = []",
            (23, 15),
            "`shared.access_bits`: expected an array with at least one entry, found an empty array",
        ),
        (
            "access_bits = [32, 64]",
            "access_bits = [64, 32]",
            (23, 20),
            "`shared.access_bits[1]`: expected more than 64, since widths ascend; found 32",
        ),
        (
            "access_bits = [32, 64]",
            "access_bits = [12, 64]",
            (23, 16),
            "`shared.access_bits[0]`: expected bits of whole bytes, at most 8192, found 12",
        ),
        (
            "access_bits = [32, 64]",
            "access_bits = [32, 64, 128]",
            (23, 24),
            "`shared.access_bits[2]`: no entry of `shared.banks` is for a plain store of 128 bits",
        ),
        (
            "[\"store\", \"load\"]",
            "[\"store\"]",
            (23, 16),
            "`shared.access_bits[0]`: no entry of `shared.banks` is for a plain load of 32 bits",
        ),
        (
            "transaction_bytes = 32",
            "transaction_bytes = 48",
            (67, 21),
            "`global.transaction_bytes`: expected a power of two from 1 to 4294967295, found 48",
        ),
        (
            "access_bits = [8, 32]",
            "access_bits = [8, 8]",
            (66, 19),
            "`global.access_bits[1]`: expected more than 8, since widths ascend; found 8",
        ),
        (
            "[costs]",
            "[global.address_unit]\ngroup_lanes = 16\nscattered_lanes = 32\nevidence = \"assumed\"\nsource = \"x\"\n[costs]",
            (79, 19),
            "`global.address_unit.scattered_lanes`: expected a power of two from 1 to 16, found 32",
        ),
        (
            "[costs]",
            "[global.unified_cache]\nbytes = 65536\nline_bytes = 96\nevidence = \"assumed\"\nsource = \"x\"\n[costs]",
            (79, 14),
            "`global.unified_cache.line_bytes`: expected a power of two from 1 to 4294967295, found 96",
        ),
        (
            "bits = 32\nevidence",
            "bits = 0\nevidence",
            (73, 8),
            "`shuffles[0].bits`: expected an integer from 1 to 4294967295, found 0",
        ),
        (
            "[costs]",
            "[[shuffles]]\nkind = \"index\"\nbits = 32\nevidence = \"assumed\"\nsource = \"made up\"\n[costs]",
            (78, 8),
            "`shuffles[1].kind`: an earlier entry is of this kind with 32 bits too",
        ),
        (
            "bits = 32\nevidence",
            "bits = 32\nlanes = [1]\nevidence",
            (74, 9),
            "`shuffles[0].lanes`: shuffles of kind \"index\" read from any lane; leave it out",
        ),
        ("\"index\"\nbits", "\"swap\"\nbits", (71, 1), "missing key `lanes` in `shuffles[0]`"),
        (
            "\"index\"\nbits",
            "\"swap\"\nlanes = [1, 16]\nbits",
            (73, 13),
            "`shuffles[0].lanes[1]`: expected a power of two from 1 to 8, found 16",
        ),
        (
            "\"index\"\nbits",
            "\"xor\"\nlanes = [1, 16]\nbits",
            (73, 13),
            "`shuffles[0].lanes[1]`: expected an integer greater than zero and less than 16, found 16",
        ),
        (
            "\"index\"\nbits",
            "\"swap\"\nlanes = []\nbits",
            (73, 9),
            "`shuffles[0].lanes`: expected an array with at least one entry, found an empty array",
        ),
    ]);
}

#[test]
fn impossible_banks() {
    check(&[
        ("banks = 8", "banks = 0", (31, 9), "`shared.banks[0].banks`: expected a power of two from 1 to 1024, found 0"),
        (
            "banks = 8",
            "banks = 12",
            (31, 9),
            "`shared.banks[0].banks`: expected a power of two from 1 to 1024, found 12",
        ),
        (
            "bank_bytes = 4",
            "bank_bytes = 3",
            (32, 14),
            "`shared.banks[0].bank_bytes`: expected a power of two from 1 to 1024, found 3",
        ),
        (
            "[\"store\", \"load\"]",
            "[]",
            (29, 14),
            "`shared.banks[0].directions`: expected an array with at least one entry, found an empty array",
        ),
        ("[\"store\", \"load\"]", "[\"load\", \"load\"]", (29, 23), "`shared.banks[0].directions[1]`: is listed twice"),
        (
            "access_bits = [32]",
            "access_bits = [32, 20]",
            (30, 20),
            "`shared.banks[0].access_bits[1]`: expected bits of whole bytes, at most 8192, found 20",
        ),
        (
            "[1, 2, 4]",
            "[1, 2, 16]",
            (33, 16),
            "`shared.banks[0].phase[2]`: expected an integer greater than zero and less than 16, found 16",
        ),
        (
            "[1, 2, 4]",
            "[1, 0, 4]",
            (33, 13),
            "`shared.banks[0].phase[1]`: expected an integer greater than zero and less than 16, found 0",
        ),
        (
            "[1, 2, 4]",
            "[1, 2, 3]",
            (33, 16),
            "`shared.banks[0].phase[2]`: 3 is a sum (bit by bit, without carry) of those before it",
        ),
        (
            "[1, 10]",
            "[1, 2, 4]",
            (42, 9),
            "`shared.banks[1].phase`: 8 lanes of 8 bytes are 64 bytes, but a wavefront of 8 banks of 4 bytes moves 32",
        ),
        (
            "phase = [1, 10]",
            "phase = [1, 10]\npaired = { lanes = [], phase = [1, 10] }",
            (43, 20),
            "`shared.banks[1].paired.lanes`: expected an array with at least one entry, found an empty array",
        ),
        (
            "phase = [1, 10]",
            "phase = [1, 10]\npaired = { lanes = [4], phase = [1, 2, 8] }",
            (43, 33),
            "`shared.banks[1].paired.phase`: the lane number 4 of `phase` or `paired.lanes` is not in it, or is 0",
        ),
        (
            "phase = [1, 10]",
            "phase = [1, 10]\npaired = { lanes = [4], phase = [1, 2, 4, 8] }",
            (43, 33),
            "`shared.banks[1].paired.phase`: has more than twice the lanes of `phase`, though pairs have half as many addresses",
        ),
        (
            "directions = [\"load\"]",
            "directions = [\"store\", \"load\"]",
            (46, 1),
            "`shared.banks[2]`: an earlier entry is for a store of 64 bits too",
        ),
        ("instruction = \"gather\"\n", "", (55, 1), "`shared.banks[3]`: an earlier entry is for a load of 32 bits too"),
        (
            "[global]",
            "[[shared.banks]]\ndirections = [\"load\"]\naccess_bits = [16, 32]\ninstruction = \"gather\"\nbanks = 8\nbank_bytes = 4\nphase = [1]\nevidence = \"assumed\"\nsource = \"made up\"\n[global]",
            (65, 1),
            "`shared.banks[4]`: an earlier entry is for a load of 32 bits by `gather` too",
        ),
    ]);
}

#[test]
fn impossible_costs() {
    check(&[
        (
            "cycles = 1.5",
            "cycles = -1.5",
            (79, 36),
            "`costs.shared_load_wavefront.cycles`: expected a finite number that is not negative, found -1.5",
        ),
        (
            "cycles = 1.5",
            "cycles = nan",
            (79, 36),
            "`costs.shared_load_wavefront.cycles`: expected a finite number that is not negative, found nan",
        ),
        (
            "latency = 25",
            "latency = inf",
            (83, 42),
            "`costs.block_barrier.latency`: expected a finite number that is not negative, found inf",
        ),
        (
            "latency = 25",
            "latency = -1",
            (83, 42),
            "`costs.block_barrier.latency`: expected a finite number that is not negative, found -1",
        ),
    ]);
}

#[test]
fn instructions_of_one_warp_may_be_slower_than_those_of_several() {
    let read = |single_warp: &str| {
        let matrix = format!(
            "[matrix]\npipes = 2\nbits_per_cycle = 64\n{single_warp}evidence = \"assumed\"\nsource = \"made up\"\n"
        );
        TargetDescription::from_toml("toy-1.toml", &format!("{TARGET_TOML}{matrix}"))
    };
    let single_warp =
        |text: &str| read(text).expect("the file reads").matrix.expect("there is one").single_warp_bits_per_cycle;
    assert_eq!([single_warp(""), single_warp("single_warp_bits_per_cycle = 40\n")], [None, Some(40)]);
    let error = read("single_warp_bits_per_cycle = 0\n").expect_err("it would never end").to_string();
    assert!(error.contains("`matrix.single_warp_bits_per_cycle`: expected an integer from 1"), "{error}");
}

#[test]
fn rates_of_matrix_instructions_are_read_from_the_file() {
    const RATE: &str = "[[matrix.rates]]\nissuer = \"warp\"\nelements = [\"f16\"]\naccumulators = [\"f32\"]\n\
                        multiply_adds_per_cycle = 0.5\nevidence = \"measured\"\nsource = \"made up\"\n";
    let read = |rate: &str| {
        let matrix = "[matrix]\npipes = 2\nbits_per_cycle = 64\nevidence = \"assumed\"\nsource = \"made up\"\n";
        TargetDescription::from_toml("toy-1.toml", &format!("{TARGET_TOML}{matrix}{rate}"))
    };
    assert!(read("").expect("the file reads").matrix.expect("there is one").rates.is_empty());
    let rates = read(RATE).expect("the file reads").matrix.expect("there is one").rates;
    assert_eq!((rates[0].issuer, rates[0].scaled, rates[0].multiply_adds_per_cycle), (MmaIssuer::Warp, false, 0.5));
    for (good, bad, message) in [
        ("0.5", "0", "`matrix.rates[0].multiply_adds_per_cycle`: expected a number greater than zero"),
        ("\"warp\"", "\"wrap\"", "wrap"),
        ("elements", "element", "unknown key `element`"),
    ] {
        let error = read(&RATE.replacen(good, bad, 1)).expect_err(bad).to_string();
        assert!(error.contains(message), "{error}");
    }
}

const TENSOR: &str = "[tensor]\nrows = 16\ncolumns = 64\nwarp_rows = 8\nleast_columns = 4\ncolumn_cycles = 0.5\n\
                      bits_per_cycle = 256\nevidence = \"assumed\"\nsource = \"made up\"\n";

#[test]
fn tensor_memory_is_read_from_the_file() {
    let read = |tensor: &str| TargetDescription::from_toml("toy-1.toml", &format!("{TARGET_TOML}{tensor}"));
    assert_eq!(test_target().tensor, None);
    let tensor = read(TENSOR).expect("the file reads").tensor.expect("there is some");
    assert_eq!((tensor.rows, tensor.columns, tensor.warp_rows, tensor.least_columns), (16, 64, 8, 4));
    assert_eq!((tensor.column_cycles, tensor.bits_per_cycle, tensor.evidence), (0.5, 256, Evidence::Assumed));
    for (good, bad, line, message) in [
        ("rows = 16", "rows = 12", 86, "`tensor.rows`: expected a power of two from 1 to 32768, found 12"),
        ("warp_rows = 8", "warp_rows = 32", 88, "`tensor.warp_rows`: expected at most `tensor.rows` (16), found 32"),
        (
            "least_columns = 4",
            "least_columns = 128",
            89,
            "`tensor.least_columns`: expected at most `tensor.columns` (64), found 128",
        ),
        ("bits_per_cycle", "bits", 91, "unknown key `bits` in `tensor`"),
    ] {
        let error = read(&TENSOR.replacen(good, bad, 1)).expect_err(bad).to_string();
        assert!(error.starts_with(&format!("toy-1.toml:{line}:")) && error.contains(message), "{error}");
    }
}

#[test]
fn columns_count_letters() {
    let text = TARGET_TOML.replacen("default = 8", "\"défault\" = 8", 1);
    let error = TargetDescription::from_toml("f", &text).expect_err("is unknown");
    assert_eq!((error.line, error.column), (6, 1));
    let text = TARGET_TOML.replacen("source = \"made up\" }", "source = \"zürich\", extra = 1 }", 1);
    let error = TargetDescription::from_toml("f", &text).expect_err("is unknown");
    assert_eq!((error.line, error.column), (78, 95));
}

#[test]
fn catalogue_errors_name_the_file() {
    let mut catalogue = TargetCatalogue::default();
    catalogue.add("toy-1.toml", TARGET_TOML).expect("the file reads");
    let error = catalogue.add("toy-2.toml", "name = 1").map_err(TargetCatalogueError::from).expect_err("is wrong");
    assert_eq!(error.to_string(), "toy-2.toml:1:8: `name`: expected a string, found 1");
    assert_eq!(catalogue.get("toy-1").expect("is there"), &test_target());
}

const FUNCTION: &str =
    "[[functions]]\nfunction = \"exp2\"\nelement = \"f32\"\nulps = 1.5\nevidence = \"assumed\"\nsource = \"s\"\n";

#[test]
fn functions_are_those_that_a_file_lists() {
    let read = |rows: &str| TargetDescription::from_toml("toy-1.toml", &format!("{TARGET_TOML}{rows}"));
    assert!(test_target().functions.is_empty());
    let target = read(FUNCTION).expect("the file reads");
    assert_eq!(target.find_native_function("exp2", "f32").map(|native| native.ulps), Some(1.5));
    assert_eq!(target.find_native_function("exp2", "f64"), None);
    let error = read(&format!("{FUNCTION}{FUNCTION}")).expect_err("it is there twice").to_string();
    assert!(error.contains("an earlier entry is of this function of f32 too"), "{error}");
    for (from, to) in [("f32", "f8"), ("1.5", "-1"), ("ulps", "error"), ("\"s\"", "\" \"")] {
        assert!(read(&FUNCTION.replace(from, to)).is_err(), "{to}");
    }
}
