//! Stated facts: programs whose lines end with the contiguity, divisibility and constancy that a value has at least.
//! `TILEWRIGHT_AXIS_FACTS` names a file with further programs of this form.

use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::{Body, Value, text};

/// Programs with expected values. The numbers are those of Triton 3.9's analysis, or better ones that hold.
const FACTS: &str = include_str!("facts.ttir");

/// Returns the value with this name, a result or an argument.
pub(super) fn named_value(body: &Body, name: &str) -> Value {
    let results = body.walk(body.root()).into_iter().flat_map(|op| body.op(op).results.clone());
    let regions = body.walk(body.root()).into_iter().flat_map(|op| body.op(op).regions.clone());
    let inner = regions.flat_map(|region| body.arguments(body.blocks(region)[0]).to_vec());
    let outer = body.arguments(body.blocks(body.root())[0]).iter().copied();
    let value = results.chain(inner).chain(outer).find(|value| body.name(*value) == Some(name));
    value.unwrap_or_else(|| panic!("no value %{name}"))
}

/// Returns the numbers of the list that follows a name in a text, such as `contiguity [1, 16]`.
fn numbers(text: &str, name: &str) -> Vec<u64> {
    let Some((_, list)) = text.split_once(&format!("{name} [")) else { return Vec::new() };
    let list = list.split(']').next().unwrap_or_default();
    list.split(',').map(|number| number.trim().parse().expect("a number")).collect()
}

/// Compares the facts of all programs of a text; returns the number of compared numbers, and the facts that are less
/// precise than stated.
fn compare(programs: &str) -> (usize, Vec<String>) {
    let (mut compared, mut worse) = (0, Vec::new());
    for program in programs.split("// -----") {
        let module = text::parse(program, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}\n{program}"));
        let function = module.functions.first().unwrap_or_else(|| panic!("no function\n{program}"));
        let (axis_info, body) = (AxisInfoMap::of(function), function.body.as_ref().expect("a body"));
        for line in program.lines() {
            let Some((code, stated)) = line.split_once("//") else { continue };
            let Some((name, _)) = code.trim().strip_prefix('%').and_then(|code| code.split_once([' ', ':'])) else {
                continue;
            };
            let info = axis_info.get(named_value(body, name));
            let lists = ["contiguity", "divisibility", "constancy"].map(|word| numbers(stated, word));
            let [contiguity, divisibility, constancy] = &lists;
            let rank = lists.iter().map(Vec::len).max().unwrap_or(0);
            for axis in 0..rank {
                let along = info.map_or(tilewright_tile::axis_info::DimInfo::NOTHING, |info| info.axis(axis));
                let found = [along.contiguity, along.divisibility, along.constancy];
                // A number that the line does not state counts as 1, which always holds.
                let at_least = [contiguity, divisibility, constancy].map(|list| list.get(axis).copied().unwrap_or(1));
                compared += at_least.iter().filter(|number| **number > 1).count();
                if found.iter().zip(at_least).any(|(found, at_least)| *found < at_least) {
                    worse.push(format!("%{name}, axis {axis}: {found:?}, expected {at_least:?}: {}", line.trim()));
                }
            }
        }
    }
    (compared, worse)
}

#[test]
fn facts_are_as_precise_as_stated() {
    let (compared, worse) = compare(FACTS);
    assert_eq!(worse, [] as [String; 0], "{worse:#?}");
    assert!(compared > 250, "{compared} numbers are stated");
    if let Some(file) = std::env::var_os("TILEWRIGHT_AXIS_FACTS") {
        let (compared, worse) = compare(&std::fs::read_to_string(file).expect("a readable file"));
        assert!(compared > 0 && worse.is_empty(), "{} of {compared} numbers are worse: {worse:#?}", worse.len());
    }
}
