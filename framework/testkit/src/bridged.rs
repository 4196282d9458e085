//! Converts published thread-value layouts (CuTe notation) of MMA operands to linear layouts, and checks the
//! conversion.
//!
//! Needs the module `thread_value`, which evaluates the same notation independently of the library.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;
use tilewright_layout::cute::{ComposedLayout, CuteError, from_linear, to_linear_modes};
use tilewright_layout::{Dim, LinearLayout};

use crate::known_answers::numbers;
use crate::thread_value::ThreadValue;

/// Returns the layouts of A, B and C of a published MMA atom as linear layouts.
///
/// Each layout maps (register, lane) to rows and columns of A (M x K), B (K x N) or C (M x N) and, if the atom computes
/// several independent blocks, to the index of the block. `None` if a layout is not linear over F2.
pub fn operands(atom: &Value) -> [Option<LinearLayout>; 3] {
    let shape = numbers(&atom["shape_mnk"]);
    let [m, n, k] = shape[..] else { panic!("three sizes: {atom}") };
    let (rows, columns, block) = (Dim::tensor(0), Dim::tensor(1), Dim::tensor(2));
    let blocks = atom["blocks"].as_u64().filter(|&blocks| blocks > 1).map(|blocks| (block, blocks));
    // Published tiles are M x K, N x K and M x N, the first axis the fastest.
    let tiles = [[(rows, m), (columns, k)], [(columns, n), (rows, k)], [(rows, m), (columns, n)]];
    let mut names = ["ALayout", "BLayout", "CLayout"].into_iter();
    tiles.map(|tile| {
        let text = atom[names.next().expect("three tiles")].as_str().expect("a layout");
        bridged(text, &tile.into_iter().chain(blocks).collect::<Vec<_>>())
    })
}

/// Converts a published thread-value layout to a linear layout, and checks it at every point in both directions. `tile`
/// lists the axes of the tile of elements with their sizes, the fastest first.
///
/// `None` if the layout is not linear over F2, which the conversion must report.
pub fn bridged(text: &str, tile: &[(Dim, u64)]) -> Option<LinearLayout> {
    static KNOWN: Mutex<BTreeMap<String, Option<LinearLayout>>> = Mutex::new(BTreeMap::new());
    let name = format!("{text} {tile:?}");
    if let Some(known) = KNOWN.lock().expect("no test panics here").get(&name) {
        return known.clone();
    }
    let linear = checked(text, tile);
    KNOWN.lock().expect("no test panics here").insert(name, linear.clone());
    linear
}

fn checked(text: &str, tile: &[(Dim, u64)]) -> Option<LinearLayout> {
    let published = ThreadValue::parse(text);
    let own: ComposedLayout = plain(text).parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let table = table(&published);
    for (at, &element) in (0..).zip(&table) {
        assert_eq!(own.at(at).expect("a place"), element, "{text} at {at}");
    }
    assert_eq!(own.to_string().parse(), Ok(own.clone()), "{text}");
    let ins = [Dim::LANE, Dim::REGISTER];
    if !is_linear(&published, &table, tile) {
        let error = to_linear_modes(&own, &ins, tile).expect_err(text);
        assert!(matches!(error, CuteError::NotLinear { .. }), "{text}: {error}");
        return None;
    }
    let linear = to_linear_modes(&own, &ins, tile).unwrap_or_else(|error| panic!("{text}: {error}"));
    let back = from_linear(&linear).unwrap_or_else(|error| panic!("{text}: {error}"));
    for (at, &element) in (0..).zip(&table) {
        assert_eq!(linear.apply_packed(at), element, "{text} at {at}");
        assert_eq!(back.at(at).expect("a place"), element, "{text} as {back} at {at}");
    }
    assert_eq!(to_linear_modes(&back, &ins, tile).expect("it came from one"), linear, "{text} as {back}");
    let mut outs: Vec<_> = tile.iter().map(|&(dim, _)| dim).collect();
    outs.sort_by_key(|dim| dim.as_tensor_axis());
    let ordered = linear.transpose_ins(&[Dim::REGISTER, Dim::LANE]).expect("both dims");
    Some(ordered.transpose_outs(&outs).expect("all dims"))
}

/// Normalises the text of a published layout: removes spaces, Python's comma after a single element, and doubled
/// parentheses, which some publications write around a stride.
fn plain(text: &str) -> String {
    let mut plain: Vec<char> = text.replace(' ', "").replace(",)", ")").chars().collect();
    while let Some((open, close)) = doubled(&plain) {
        plain.remove(close);
        plain.remove(open);
    }
    plain.into_iter().collect()
}

/// Finds a pair of parentheses that contains only another pair of parentheses; returns the indices of the outer pair,
/// `None` if there is no such pair.
fn doubled(text: &[char]) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for (at, &c) in text.iter().enumerate() {
        match c {
            '(' => open.push(at),
            ')' => pairs.push((open.pop()?, at)),
            _ => {}
        }
    }
    pairs.iter().copied().find(|&(from, to)| pairs.contains(&(from + 1, to - 1)))
}

/// Returns the index in the tile of every thread's first value, then of every thread's second value, and so on.
fn table(published: &ThreadValue) -> Vec<u64> {
    let values = (0..published.size(1)).flat_map(|value| (0..published.size(0)).map(move |thread| (thread, value)));
    values.map(|(thread, value)| published.index(thread, value)).collect()
}

/// Checks by brute force whether a thread-value layout is linear over F2: sizes are powers of two, all indices lie in
/// the tile, and the entry of `table` at an index is the xor of its entries at the index's single bits.
fn is_linear(published: &ThreadValue, table: &[u64], tile: &[(Dim, u64)]) -> bool {
    let sizes = [published.size(0), published.size(1)].into_iter().chain(tile.iter().map(|&(_, size)| size));
    let elements: u64 = tile.iter().map(|&(_, size)| size).product();
    let of_bits = |at: usize| (0..32).filter(|bit| at >> bit & 1 == 1).fold(0, |sum, bit| sum ^ table[1 << bit]);
    sizes.into_iter().all(u64::is_power_of_two)
        && table.iter().enumerate().all(|(at, &element)| element < elements && of_bits(at) == element)
}
