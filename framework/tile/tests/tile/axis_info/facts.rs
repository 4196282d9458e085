//! Stated facts: programs whose lines end with the contiguity, divisibility and constancy that a value has at least.
//! `TILEWRIGHT_AXIS_FACTS` names a file with further programs of this form.

use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap, DimInfo};
use tilewright_tile::op::Dialects;
use tilewright_tile::{Function, FunctionBody, Value, text};

/// Programs with expected values. The numbers are those of Triton 3.9's analysis, or better ones that hold.
const FACTS: &str = include_str!("facts.ttir");

/// Returns the value with this name, a result or an argument.
pub(super) fn named_value(body: &FunctionBody, name: &str) -> Value {
    let results = body.walk_region(body.root()).into_iter().flat_map(|op| body.op(op).results.clone());
    let regions = body.walk_region(body.root()).into_iter().flat_map(|op| body.op(op).regions.clone());
    let inner = regions.flat_map(|region| body.arguments(body.blocks(region)[0]).to_vec());
    let outer = body.arguments(body.blocks(body.root())[0]).iter().copied();
    let value = results.chain(inner).chain(outer).find(|value| body.value_name(*value) == Some(name));
    value.unwrap_or_else(|| panic!("no value %{name}"))
}

/// Returns the numbers of the list that follows a name in a text, such as `contiguity [1, 16]`.
fn numbers(text: &str, name: &str) -> Vec<u64> {
    let Some((_, list)) = text.split_once(&format!("{name} [")) else { return Vec::new() };
    let list = list.split(']').next().unwrap_or_default();
    list.split(',').map(|number| number.trim().parse().expect("a number")).collect()
}

/// The comparison of stated facts with axis information.
#[derive(Debug, Default)]
struct Comparison {
    /// Number of stated values, and of other stated numbers above 1.
    compared: usize,
    less_precise: Vec<String>,
    /// Programs with operations that the neutral dialects do not have.
    unread: Vec<String>,
}

/// Compares the facts of all programs of a text.
fn compare(programs: &str) -> Comparison {
    let mut comparison = Comparison::default();
    for program in programs.split("// -----") {
        match text::parse_module(program, &Dialects::neutral()) {
            Ok(module) => comparison.compare_program(program, &module.functions[0]),
            Err(error) => comparison.unread.push(format!("{error}\n{program}")),
        }
    }
    comparison
}

impl Comparison {
    fn compare_program(&mut self, program: &str, function: &Function) {
        let (axis_info, body) = (AxisInfoMap::analyze(function), function.body.as_ref().expect("a body"));
        for line in program.lines() {
            let Some((code, stated)) = line.split_once("//") else { continue };
            let Some((name, _)) = code.trim().strip_prefix('%').and_then(|code| code.split_once([' ', ':'])) else {
                continue;
            };
            let value = named_value(body, name);
            let info = axis_info.get(value);
            self.compare_axes(info, stated, line.trim());
            self.compare_constant(
                info,
                body.value_type(value).element().element_bits().unwrap_or(64),
                stated,
                line.trim(),
            );
        }
    }

    fn compare_axes(&mut self, info: Option<&AxisInfo>, stated: &str, line: &str) {
        let lists = ["contiguity", "divisibility", "constancy"].map(|word| numbers(stated, word));
        let [contiguity, divisibility, constancy] = &lists;
        for axis in 0..lists.iter().map(Vec::len).max().unwrap_or(0) {
            let along = info.map_or(DimInfo::UNKNOWN, |info| info.dim_info(axis));
            let found = [along.contiguity, along.divisibility, along.constancy];
            // A number that the line does not state counts as 1, which always holds.
            let at_least = [contiguity, divisibility, constancy].map(|list| list.get(axis).copied().unwrap_or(1));
            self.compared += at_least.iter().filter(|number| **number > 1).count();
            if found.iter().zip(at_least).any(|(found, at_least)| *found < at_least) {
                self.less_precise.push(format!("axis {axis}: {found:?}, expected {at_least:?}: {line}"));
            }
        }
    }

    /// Compares the value that all elements have, an integer of `bits` bits, which may be stated as a signed or as an
    /// unsigned number.
    fn compare_constant(&mut self, info: Option<&AxisInfo>, bits: u32, stated: &str, line: &str) {
        let Some((_, text)) = stated.split_once("constant_value ") else { return };
        let digits: String = text.chars().take_while(|c| *c == '-' || c.is_ascii_digit()).collect();
        let Ok(value) = digits.parse::<i128>() else { return };
        self.compared += 1;
        let found = info.and_then(|info| info.range.constant_value());
        if found.is_none_or(|found| (i128::from(found) - value) % (1 << bits.min(64)) != 0) {
            self.less_precise.push(format!("{found:?}, expected {value}: {line}"));
        }
    }
}

#[test]
fn facts_are_as_precise_as_stated() {
    let found = compare(FACTS);
    assert!(found.less_precise.is_empty() && found.unread.is_empty(), "{found:#?}");
    assert!(found.compared > 250, "{} numbers are stated", found.compared);
    if let Some(file) = std::env::var_os("TILEWRIGHT_AXIS_FACTS") {
        let found = compare(&std::fs::read_to_string(file).expect("a readable file"));
        assert!(found.compared > 0 && found.less_precise.is_empty() && found.unread.is_empty(), "{found:#?}");
    }
}
