//! Reads AMD's assembly: a lane's shared-memory stores and loads, shuffles and barriers.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::movement::{Movement, Reader};

/// The reader of AMD's assembly for tests that all vendors share.
pub const READER: Reader = Reader { instructions, movement, spills_nothing };

/// Returns the bits that a shared-memory access moves for one lane: 64 for `ds_read2st64_b32`, which is
/// `ds_load_2addr_stride64_b32` on RDNA. `None` for other mnemonics.
fn bits(mnemonic: &str, access: &str) -> Option<u64> {
    let rest = mnemonic.strip_prefix(access)?;
    let pair = rest.strip_prefix('2').or_else(|| rest.strip_prefix("_2addr"));
    let (accesses, rest) = pair.map_or((1, rest), |rest| (2, rest));
    let far = rest.strip_prefix("st64").or_else(|| rest.strip_prefix("_stride64"));
    let rest = far.unwrap_or(rest).strip_prefix('_')?;
    let width = rest.trim_start_matches(['b', 'u', 'i']).split('_').next()?;
    Some(accesses * width.parse::<u64>().unwrap_or_else(|_| panic!("a width in {mnemonic}")))
}

/// Whether an instruction moves words between lanes: by index, by a swap, from the other row, or within a row by DPP,
/// alone or with an arithmetic operation.
fn is_shuffle(mnemonic: &str) -> bool {
    let permutes = ["v_permlane16_swap_b32", "v_permlane32_swap_b32", "v_permlanex16_b32", "v_permlane64_b32"];
    mnemonic == "ds_bpermute_b32"
        || mnemonic.ends_with("_dpp")
        || permutes.iter().any(|permute| mnemonic.starts_with(permute))
}

/// Returns the instructions of a kernel, one text for each.
pub fn instructions<'a>(assembly: &'a str, kernel: &str) -> Vec<&'a str> {
    let body = assembly.split_once(&format!("\n{kernel}:")).unwrap().1.split_once(".section").unwrap().0;
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with([';', '.']) && !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

/// Counts the data movement in a kernel's assembly (bits that a lane stores and loads, shuffles, barriers), if each
/// instruction is issued once.
///
/// Warp barriers have no instruction: lanes of a warp execute in lockstep, and only the order of instructions is kept.
pub fn movement(assembly: &str, kernel: &str) -> Movement {
    let mut movement = Movement::default();
    for mnemonic in instructions(assembly, kernel) {
        let of = |cdna, rdna| bits(mnemonic, cdna).or_else(|| bits(mnemonic, rdna));
        if let Some(bits) = of("ds_write", "ds_store") {
            movement.stored_bits += bits;
        } else if let Some(bits) = of("ds_read", "ds_load") {
            movement.loaded_bits += bits;
        } else if is_shuffle(mnemonic) {
            movement.shuffles += 1;
        } else if mnemonic == "s_barrier" || mnemonic == "s_barrier_wait" {
            movement.block_barriers += 1;
        } else {
            // No other movement between lanes, to shared memory, or to scratch memory.
            for other in ["ds_", "v_permlane", "v_readlane", "scratch_", "buffer_", "flat_"] {
                assert!(!mnemonic.starts_with(other), "{mnemonic}: {assembly}");
            }
        }
    }
    movement
}

/// Asserts that no register is spilled to memory.
pub fn spills_nothing(name: &str, assembly: &str) {
    for line in [".private_segment_fixed_size: 0", ".sgpr_spill_count: 0", ".vgpr_spill_count: 0"] {
        assert!(assembly.contains(line), "{name}: no `{line}` in {assembly}");
    }
}

/// Checks the reader on mnemonics of real assembly.
#[test]
fn widths_are_read_from_mnemonics() {
    for (mnemonic, expected) in [
        ("ds_write_b128", Some(128)),
        ("ds_write_b8_d16_hi", Some(8)),
        ("ds_write2_b64", Some(128)),
        ("ds_write2st64_b32", Some(64)),
        ("ds_write_b96", Some(96)),
        ("ds_bpermute_b32", None),
    ] {
        assert_eq!(bits(mnemonic, "ds_write"), expected, "{mnemonic}");
    }
    for (mnemonic, expected) in
        [("ds_store_b128", 128), ("ds_store_2addr_b64", 128), ("ds_store_2addr_stride64_b32", 64), ("ds_store_b8", 8)]
    {
        assert_eq!(bits(mnemonic, "ds_store"), Some(expected), "{mnemonic}");
    }
    assert_eq!(bits("ds_read_u16_d16_hi", "ds_read"), Some(16));
    assert_eq!(bits("ds_read_i8", "ds_read"), Some(8));
}
