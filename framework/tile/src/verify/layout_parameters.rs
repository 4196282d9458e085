//! Reads the parameters of layout attributes, for the rules of families.

use tilewright_layout::{FamilyParameterValue, FamilySpec};

/// Returns the integer parameter `name` of a layout; `None` if it is absent, or not an integer.
#[must_use]
pub fn find_layout_integer(spec: &FamilySpec, name: &str) -> Option<i64> {
    match spec.attributes.get(name) {
        Some(FamilyParameterValue::Int(number)) => Some(*number),
        _ => None,
    }
}

/// Returns the integer parameter that a layout has under the first of these names, or else under the second; `None` if
/// it has neither.
#[must_use]
pub fn find_layout_integer_by_names(spec: &FamilySpec, names: [&str; 2]) -> Option<i64> {
    names.into_iter().find_map(|name| find_layout_integer(spec, name))
}

/// Returns the parameter `name` of a layout as a list of integers; `None` if it is absent, or not such a list.
#[must_use]
pub fn find_layout_integer_list(spec: &FamilySpec, name: &str) -> Option<Vec<i64>> {
    integers(spec.attributes.get(name)?)
}

fn integers(attribute: &FamilyParameterValue) -> Option<Vec<i64>> {
    let FamilyParameterValue::List(items) = attribute else { return None };
    let number = |item: &FamilyParameterValue| match item {
        FamilyParameterValue::Int(number) => Some(*number),
        _ => None,
    };
    items.iter().map(number).collect()
}

/// Returns the parameter `name` of a layout as a list of lists of integers; `None` if it is absent, or not such a list.
#[must_use]
pub fn find_layout_bases(spec: &FamilySpec, name: &str) -> Option<Vec<Vec<i64>>> {
    match spec.attributes.get(name)? {
        FamilyParameterValue::List(items) => items.iter().map(integers).collect(),
        _ => None,
    }
}

/// Returns the bases that a layout has under the first of these names (the project's and Triton's), or else under the
/// second; `None` if it has neither.
#[must_use]
pub fn bases_parameter_of_either_name(spec: &FamilySpec, names: [&str; 2]) -> Option<Vec<Vec<i64>>> {
    names.into_iter().find_map(|name| find_layout_bases(spec, name))
}

/// Returns the bool parameter `name` of a layout; false if it is absent.
#[must_use]
pub fn read_layout_bool_parameter(spec: &FamilySpec, name: &str) -> bool {
    spec.attributes.get(name) == Some(&FamilyParameterValue::Bool(true))
}

/// Returns the pairs `[interval, padding]`, in elements, of a padded layout; `None` if it has none.
#[must_use]
pub fn read_layout_padding_parameter(spec: &FamilySpec) -> Option<Vec<Vec<i64>>> {
    bases_parameter_of_either_name(spec, ["0", "interval_padding_pairs"])
}

/// The product of the absolute values of sizes, or `u64::MAX` if it is larger.
#[must_use]
pub fn saturating_product(numbers: &[i64]) -> u64 {
    numbers.iter().fold(1, |all, number| all.saturating_mul(number.unsigned_abs()))
}

/// The number of elements that `count` bases reach, two to the power `count`, or `u64::MAX` if it is larger.
#[must_use]
pub fn element_count_of_bases(count: usize) -> u64 {
    1u64.checked_shl(u32::try_from(count).unwrap_or(u32::MAX)).unwrap_or(u64::MAX)
}

/// Whether a number is a power of two.
#[must_use]
pub fn is_power_of_two(number: i64) -> bool {
    u64::try_from(number).is_ok_and(u64::is_power_of_two)
}

/// Whether a list contains each number from 0 to its length less one exactly once.
pub(super) fn is_permutation(order: &[i64]) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..order.len() as i64)
}

/// Whether each nonzero basis has exactly one nonzero coordinate, which is a power of two, and no two nonzero bases are
/// equal.
pub(super) fn is_permutation_matrix<'a>(bases: impl IntoIterator<Item = &'a Vec<i64>>) -> bool {
    let mut seen = Vec::new();
    bases.into_iter().filter(|basis| basis.iter().any(|by| *by != 0)).all(|basis| {
        let mut moved = basis.iter().enumerate().filter(|(_, by)| **by != 0);
        let (Some((axis, by)), None) = (moved.next(), moved.next()) else { return false };
        let is_new = is_power_of_two(*by) && !seen.contains(&(axis, *by));
        seen.push((axis, *by));
        is_new
    })
}
