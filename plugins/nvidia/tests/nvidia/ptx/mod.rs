//! Reads PTX: a lane's shared-memory stores and loads, shuffles and barriers.

use tilewright_vendor_testkit::movement::{Movement, Reader};

/// The reader of PTX for tests that all vendors share. It needs no check for spills: the movement of a kernel includes
/// accesses to local memory.
pub const READER: Reader = Reader { instructions, movement, spills_nothing: |_, _| () };

/// Returns the bits that a PTX access moves for one lane, such as 128 for `ld.shared.v4.b32`.
fn bits(mnemonic: &str) -> u64 {
    mnemonic.split('.').fold(1, |bits, field| match field.split_at(1) {
        ("v" | "b" | "u" | "s", number) => bits * number.parse::<u64>().unwrap_or(1),
        _ => bits,
    })
}

/// Returns the bits that a matrix move moves for one lane: 32 for each matrix.
fn matrix_bits(mnemonic: &str) -> u64 {
    let matrices = mnemonic.split('.').find_map(|field| field.strip_prefix('x')?.parse::<u64>().ok());
    32 * matrices.unwrap_or_else(|| panic!("a number of matrices in {mnemonic}"))
}

/// Returns the instructions of a kernel without their predicates.
pub fn instructions<'a>(ptx: &'a str, kernel: &str) -> Vec<&'a str> {
    let body = ptx.split_once(&format!(".entry {kernel}")).unwrap().1;
    let body = body.split_once(".entry").map_or(body, |(own, _)| own);
    let words = body.lines().map(str::trim).filter(|line| line.ends_with(';') || line.ends_with(':'));
    words.filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@'))).collect()
}

/// Counts the data movement in a kernel's PTX (bits that a lane stores and loads, shuffles, barriers), if each
/// instruction is issued once.
pub fn movement(ptx: &str, kernel: &str) -> Movement {
    let mut movement = Movement::default();
    for mnemonic in instructions(ptx, kernel) {
        match mnemonic {
            _ if mnemonic.starts_with("stmatrix") => {
                movement.stored_bits += matrix_bits(mnemonic);
                movement.tiles += 1;
            }
            _ if mnemonic.starts_with("ldmatrix") => {
                movement.loaded_bits += matrix_bits(mnemonic);
                movement.tiles += 1;
            }
            _ if mnemonic.starts_with("st.shared") => movement.stored_bits += bits(mnemonic),
            _ if mnemonic.starts_with("ld.shared") => movement.loaded_bits += bits(mnemonic),
            _ if mnemonic.starts_with("shfl.sync.idx.b32") || mnemonic.starts_with("shfl.sync.bfly.b32") => {
                movement.shuffles += 1;
            }
            _ if mnemonic.starts_with("bar.warp.sync") => movement.warp_barriers += 1,
            _ if mnemonic.starts_with("bar.sync") || mnemonic.starts_with("barrier") => movement.block_barriers += 1,
            _ => {}
        }
        for other in ["ld.local", "st.local", "atom", "red", "call"] {
            assert!(!mnemonic.starts_with(other), "{mnemonic}: {ptx}");
        }
    }
    assert!(!ptx.contains(".local"), "no local memory: {ptx}");
    movement
}

/// Checks the reader on mnemonics of real PTX.
#[test]
fn widths_are_read_from_mnemonics() {
    for (mnemonic, expected) in
        [("st.shared.v4.b32", 128), ("ld.shared.b16", 16), ("ld.shared.v2.b64", 128), ("st.shared.u8", 8)]
    {
        assert_eq!(bits(mnemonic), expected, "{mnemonic}");
    }
}
