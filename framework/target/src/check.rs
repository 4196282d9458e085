//! Checks the values of a target description beyond their types: numbers that no machine can have, and contradictions.
//!
//! Target files and descriptions that cross the plugin boundary pass the same checks. Every fault has the path of the
//! value that violates a rule.

use std::fmt::Display;

use thiserror::Error;
use tilewright_layout::f2::Subspace;

use super::{
    BankTableEntry, Cost, CostTable, DeviceThroughput, Direction, Global, HardwareMathFunction, Limits, MatrixRate,
    MmaThroughput, PairedLanePhases, RegisterReallocation, Shared, ShuffleKind, ShufflePrimitive, SupportedWarpSizes,
    TargetDescription, TensorMemory,
};

/// Maximum number of lanes in a warp that a description may state. This bound and the next four (banks, bytes of a bank
/// word, bits of an access, rows or columns of tensor memory) keep arithmetic and tables small; they lie far above any
/// hardware.
const MOST_LANES: u32 = 1024;
const MOST_BANKS: u32 = 1024;
const MOST_BANK_BYTES: u32 = 1024;
const MOST_ACCESS_BITS: u32 = 8192;
const MOST_TENSOR_SIDE: u32 = 32768;

const DIRECTIONS: [(&str, Direction); 2] = [("store", Direction::Store), ("load", Direction::Load)];

/// A value of a target description that no machine can have, or that contradicts another value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{path}`: {message}")]
pub struct DescriptionError {
    /// The path of the value: keys joined by dots, indices of lists in brackets.
    pub path: String,
    /// The error in the value, and the values that are expected.
    pub message: String,
}

type Checked = Result<(), DescriptionError>;

impl DescriptionError {
    pub(super) fn at(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into() }
    }

    fn entry(list: &str, index: usize, message: impl Into<String>) -> Self {
        Self { path: format!("{list}[{index}]"), message: message.into() }
    }
}

/// Prefixes the path of a fault with the path of the table that contains the faulty value.
trait Within {
    fn within(self, table: impl Display) -> Self;
}

impl Within for Checked {
    fn within(self, table: impl Display) -> Self {
        self.map_err(|fault| DescriptionError { path: format!("{table}.{}", fault.path), ..fault })
    }
}

impl TargetDescription {
    /// Checks every value of the description, and the consistency between values.
    ///
    /// # Errors
    /// The first [`DescriptionError`] found.
    pub fn check(&self) -> Result<(), DescriptionError> {
        check_name(&self.name)?;
        text("product", &self.gpu_model)?;
        text("architecture", &self.architecture)?;
        check_each("aliases", &self.aliases, |path, alias| text(path, alias))?;
        check_lanes(&self.lanes).within("lanes")?;
        check_limits(&self.limits, &self.lanes).within("limits")?;
        check_shared(&self.shared, &self.lanes).within("shared")?;
        check_global(&self.global).within("global")?;
        check_shuffles(&self.shuffles, &self.lanes)?;
        check_costs(&self.costs).within("costs")?;
        self.matrix.as_ref().map_or(Ok(()), check_matrix).within("matrix")?;
        self.throughput.as_ref().map_or(Ok(()), |rates| check_throughput(rates, &self.shared)).within("throughput")?;
        self.tensor.as_ref().map_or(Ok(()), check_tensor).within("tensor")?;
        check_functions(&self.functions)
    }
}

fn check_name(name: &str) -> Checked {
    text("name", name)?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    match name.chars().find(|&c| !allowed(c)) {
        Some(c) => expected("name", "lower-case letters, digits, `-` and `_` only", format!("`{c}`")),
        None => Ok(()),
    }
}

fn check_lanes(lanes: &SupportedWarpSizes) -> Checked {
    let choices = &lanes.choices;
    not_empty("choices", choices)?;
    check_each("choices", choices, |path, &choice| power_of_two(path, choice, MOST_LANES))?;
    if let Some((repeat_index, choice)) = repeated(choices) {
        return Err(DescriptionError::entry("choices", repeat_index, format!("{choice} is listed twice")));
    }
    power_of_two("default", lanes.default, MOST_LANES)?;
    if !choices.contains(&lanes.default) {
        return expected("default", format!("one of `lanes.choices` {choices:?}"), lanes.default);
    }
    text("source", &lanes.source)
}

fn check_limits(limits: &Limits, lanes: &SupportedWarpSizes) -> Checked {
    count("lanes_per_block", limits.lanes_per_block)?;
    if let Some(warp) = lanes.choices.iter().find(|&&warp| !limits.lanes_per_block.is_multiple_of(warp)) {
        let found = format!("{} lanes", limits.lanes_per_block);
        return expected("lanes_per_block", format!("whole warps of {warp} lanes"), found);
    }
    count("registers_per_lane", limits.registers_per_lane)?;
    count("registers_per_block", limits.registers_per_block)?;
    let modes = &limits.register_modes;
    let is_ascending = modes.is_sorted_by(|a, b| a < b);
    if !(modes.is_empty() || is_ascending && modes.contains(&limits.registers_per_lane)) {
        let wish = format!("ascending numbers with `registers_per_lane` ({}) among them", limits.registers_per_lane);
        return expected("register_modes", wish, format!("{modes:?}"));
    }
    let warp = lanes.choices.iter().copied().min().unwrap_or(1);
    let (each, all) = (limits.registers_per_lane, limits.registers_per_block);
    if u64::from(all) < u64::from(warp) * u64::from(each) {
        let message = format!("a warp of {warp} lanes with {each} registers each does not fit into {all}");
        return Err(DescriptionError::at("registers_per_block", message));
    }
    if let Some(change) = &limits.register_reallocation {
        check_register_reallocation(change, warp).within("register_reallocation")?;
    }
    count("blocks_per_cluster", limits.blocks_per_cluster)?;
    text("source", &limits.source)
}

/// Checks the numbers of registers that lanes can change to; `warp` is the smallest number of lanes of a warp.
fn check_register_reallocation(change: &RegisterReallocation, warp: u32) -> Checked {
    count("step", change.step)?;
    if change.lanes == 0 || !change.lanes.is_multiple_of(warp) {
        return expected("lanes", format!("whole warps of {warp} lanes"), change.lanes);
    }
    for (key, registers) in [("least", change.least), ("most", change.most)] {
        if registers == 0 || !registers.is_multiple_of(change.step) {
            return expected(key, format!("a multiple of `step` ({})", change.step), registers);
        }
    }
    match change.least <= change.most {
        true => Ok(()),
        false => expected("most", format!("at least `least` ({})", change.least), change.most),
    }
}

fn check_shared(shared: &Shared, lanes: &SupportedWarpSizes) -> Checked {
    count("bytes", shared.bytes)?;
    count("static_bytes", shared.static_bytes)?;
    at_most("static_bytes", shared.static_bytes, shared.bytes, "shared.bytes")?;
    count("granularity_bytes", shared.granularity_bytes)?;
    if !shared.bytes.is_multiple_of(shared.granularity_bytes) {
        return expected(
            "granularity_bytes",
            format!("a divisor of `shared.bytes` ({})", shared.bytes),
            shared.granularity_bytes,
        );
    }
    widths("access_bits", &shared.access_bits)?;
    not_empty("banks", &shared.banks)?;
    for (index, row) in shared.banks.iter().enumerate() {
        check_bank_row(row, lanes).within(format!("banks[{index}]"))?;
        if let Some(access) = served_before(row, &shared.banks[..index]) {
            return Err(DescriptionError::entry("banks", index, format!("an earlier entry is for {access} too")));
        }
    }
    for (index, &bits) in shared.access_bits.iter().enumerate() {
        for (word, direction) in DIRECTIONS {
            if !shared.banks.iter().any(|row| row.instruction.is_none() && serves(row, direction, bits)) {
                let message = format!("no entry of `shared.banks` is for a plain {word} of {bits} bits");
                return Err(DescriptionError::entry("access_bits", index, message));
            }
        }
    }
    text("source", &shared.source)
}

fn serves(row: &BankTableEntry, direction: Direction, bits: u32) -> bool {
    row.directions.contains(&direction) && row.access_bits.contains(&bits)
}

/// Returns the first access (direction and width) that `row` covers and an entry of `earlier` covers too, as text for a
/// message; `None` if there is none.
fn served_before(row: &BankTableEntry, earlier: &[BankTableEntry]) -> Option<String> {
    let by = row.instruction.as_ref().map_or(String::new(), |name| format!(" by `{name}`"));
    let accesses = DIRECTIONS.into_iter().flat_map(|of| row.access_bits.iter().map(move |&bits| (of, bits)));
    let mut served = accesses.filter(|&((_, direction), bits)| {
        let same = |other: &BankTableEntry| other.instruction == row.instruction && serves(other, direction, bits);
        serves(row, direction, bits) && earlier.iter().any(same)
    });
    served.next().map(|((word, _), bits)| format!("a {word} of {bits} bits{by}"))
}

fn check_bank_row(row: &BankTableEntry, lanes: &SupportedWarpSizes) -> Checked {
    not_empty("directions", &row.directions)?;
    if let Some((repeat_index, _)) = repeated(&row.directions) {
        return Err(DescriptionError::entry("directions", repeat_index, "is listed twice"));
    }
    widths("access_bits", &row.access_bits)?;
    row.instruction.as_ref().map_or(Ok(()), |name| text("instruction", name))?;
    power_of_two("banks", row.banks, MOST_BANKS)?;
    power_of_two("bank_bytes", row.bank_bytes, MOST_BANK_BYTES)?;
    check_phase("phase", &row.phase, lanes)?;
    row.paired.as_ref().map_or(Ok(()), |paired| check_paired(row, paired, lanes))?;
    let bytes = row.access_bits.iter().copied().max().unwrap_or(0) / 8;
    let served = 1u64 << row.phase.len();
    let (required, carried) = (u64::from(bytes) * served, row.wavefront_bytes());
    if required > carried {
        let (banks, bank_bytes) = (row.banks, row.bank_bytes);
        return Err(DescriptionError::at(
            "phase",
            format!(
                "{served} lanes of {bytes} bytes are {required} bytes, but a wavefront of {banks} banks of \
                 {bank_bytes} bytes moves {carried}"
            ),
        ));
    }
    text("source", &row.source)
}

/// The phase of pairs has the lanes of the other phase and each partner; half of its lanes have addresses of their own.
fn check_paired(row: &BankTableEntry, paired: &PairedLanePhases, lanes: &SupportedWarpSizes) -> Checked {
    not_empty("paired.lanes", &paired.lanes)?;
    check_phase("paired.phase", &paired.phase, lanes)?;
    let space = Subspace::span(paired.phase.iter().copied());
    let is_outside = |vector: &u64| *vector == 0 || !space.contains(*vector);
    if let Some(vector) = row.phase.iter().chain(&paired.lanes).copied().find(is_outside) {
        let message = format!("the lane number {vector} of `phase` or `paired.lanes` is not in it, or is 0");
        return Err(DescriptionError::at("paired.phase", message));
    }
    if paired.phase.len() > row.phase.len() + 1 {
        let message = "has more than twice the lanes of `phase`, though pairs have half as many addresses".to_owned();
        return Err(DescriptionError::at("paired.phase", message));
    }
    Ok(())
}

fn check_phase(key: &str, phase: &[u64], lanes: &SupportedWarpSizes) -> Checked {
    let warp = most_lanes(lanes);
    let mut space = Subspace::zero();
    check_each(key, phase, |path, &vector| {
        below(path, vector, warp)?;
        if !space.insert(vector) {
            let message = format!("{vector} is a sum (bit by bit, without carry) of those before it");
            return Err(DescriptionError::at(path, message));
        }
        Ok(())
    })
}

fn check_global(global: &Global) -> Checked {
    widths("access_bits", &global.access_bits)?;
    power_of_two("transaction_bytes", global.transaction_bytes, u32::MAX)?;
    count("stages", global.stages)?;
    if let Some(bytes) = global.alignment_bytes {
        power_of_two("alignment_bytes", bytes, u32::MAX)?;
    }
    if let Some(unit) = &global.address_unit {
        let table = "address_unit";
        power_of_two("group_lanes", unit.group_lanes, MOST_LANES).within(table)?;
        power_of_two("scattered_lanes", unit.scattered_lanes, unit.group_lanes).within(table)?;
        text("source", &unit.source).within(table)?;
    }
    if let Some(cache) = &global.unified_cache {
        let table = "unified_cache";
        count("bytes", cache.bytes).within(table)?;
        power_of_two("line_bytes", cache.line_bytes, u32::MAX).within(table)?;
        text("source", &cache.source).within(table)?;
    }
    for (index, row) in global.vector_adds.iter().enumerate() {
        let table = format!("vector_adds[{index}]");
        widths("access_bits", &row.access_bits).within(&table)?;
        text("source", &row.source).within(&table)?;
    }
    text("source", &global.source)
}

fn check_shuffles(rows: &[ShufflePrimitive], lanes: &SupportedWarpSizes) -> Checked {
    for (index, row) in rows.iter().enumerate() {
        let table = format!("shuffles[{index}]");
        width("bits", row.bits).within(&table)?;
        if rows[..index].iter().any(|earlier| earlier.kind == row.kind && earlier.bits == row.bits) {
            let message = format!("an earlier entry is of this kind with {} bits too", row.bits);
            return Err(DescriptionError::at("kind", message)).within(&table);
        }
        check_shuffle_lanes(row, lanes).within(&table)?;
        text("source", &row.source).within(&table)?;
    }
    Ok(())
}

fn check_shuffle_lanes(row: &ShufflePrimitive, lanes: &SupportedWarpSizes) -> Checked {
    let warp = most_lanes(lanes);
    match row.kind {
        ShuffleKind::Index if row.lanes.is_empty() => Ok(()),
        ShuffleKind::Index => {
            Err(DescriptionError::at("lanes", "shuffles of kind \"index\" read from any lane; leave it out"))
        }
        ShuffleKind::Xor => check_each("lanes", &row.lanes, |path, &mask| below(path, mask.into(), warp)),
        ShuffleKind::Swap => {
            not_empty("lanes", &row.lanes)?;
            check_each("lanes", &row.lanes, |path, &bit| power_of_two(path, bit, (warp / 2).max(1)))
        }
    }
}

fn check_costs(costs: &CostTable) -> Checked {
    let all = [
        ("shared_store_wavefront", Some(&costs.shared_store_wavefront)),
        ("shared_load_wavefront", Some(&costs.shared_load_wavefront)),
        ("shuffle", Some(&costs.shuffle)),
        ("shuffle_xor", costs.shuffle_xor.as_ref()),
        ("swap", costs.swap.as_ref()),
        ("permute", Some(&costs.permute)),
        ("select", Some(&costs.select)),
        ("multiply_add", costs.multiply_add.as_ref()),
        ("block_barrier", Some(&costs.block_barrier)),
        ("warp_barrier", Some(&costs.warp_barrier)),
        ("cluster_barrier", costs.cluster_barrier.as_ref()),
    ];
    all.into_iter().try_for_each(|(class, cost)| cost.map_or(Ok(()), check_cost).within(class))
}

fn check_cost(cost: &Cost) -> Checked {
    amount("cycles", cost.cycles)?;
    amount("latency", cost.latency)?;
    text("source", &cost.source)
}

fn check_matrix(matrix: &MmaThroughput) -> Checked {
    count("pipes", matrix.pipes)?;
    count("bits_per_cycle", matrix.bits_per_cycle)?;
    matrix.single_warp_bits_per_cycle.map_or(Ok(()), |bits| count("single_warp_bits_per_cycle", bits))?;
    check_rates(&matrix.rates).within("rates")?;
    matrix
        .instruction_cycles
        .as_ref()
        .map_or(Ok(()), |cycles| text("source", &cycles.source))
        .within("instruction_cycles")?;
    text("source", &matrix.source)
}

fn check_rates(rates: &[MatrixRate]) -> Checked {
    rates.iter().enumerate().try_for_each(|(at, entry)| {
        let check = || {
            rate("multiply_adds_per_cycle", entry.multiply_adds_per_cycle)?;
            text("source", &entry.source)
        };
        check().within(at)
    })
}

fn check_throughput(rates: &DeviceThroughput, shared: &Shared) -> Checked {
    count("compute_units", rates.compute_units)?;
    rate("clock_mhz", rates.clock_mhz)?;
    rate("memory_bandwidth_gbps", rates.memory_bandwidth_gbps)?;
    amount("memory_latency", rates.memory_latency)?;
    rate("issues_per_cycle", rates.issues_per_cycle)?;
    count("warps_per_unit", rates.warps_per_unit)?;
    count("blocks_per_unit", rates.blocks_per_unit)?;
    count("registers_per_unit", rates.registers_per_unit)?;
    count("register_files", rates.register_files)?;
    count("shared_bytes_per_unit", rates.shared_bytes_per_unit)?;
    if rates.shared_bytes_per_unit < shared.bytes {
        let least = format!("at least `shared.bytes` ({})", shared.bytes);
        return expected("shared_bytes_per_unit", least, rates.shared_bytes_per_unit);
    }
    text("source", &rates.source)
}

fn check_tensor(tensor: &TensorMemory) -> Checked {
    power_of_two("rows", tensor.rows, MOST_TENSOR_SIDE)?;
    power_of_two("columns", tensor.columns, MOST_TENSOR_SIDE)?;
    power_of_two("warp_rows", tensor.warp_rows, MOST_TENSOR_SIDE)?;
    at_most("warp_rows", tensor.warp_rows, tensor.rows, "tensor.rows")?;
    power_of_two("least_columns", tensor.least_columns, MOST_TENSOR_SIDE)?;
    at_most("least_columns", tensor.least_columns, tensor.columns, "tensor.columns")?;
    amount("column_cycles", tensor.column_cycles)?;
    count("bits_per_cycle", tensor.bits_per_cycle)?;
    text("source", &tensor.source)
}

fn check_functions(rows: &[HardwareMathFunction]) -> Checked {
    for (index, row) in rows.iter().enumerate() {
        let table = format!("functions[{index}]");
        text("function", &row.function).within(&table)?;
        if !["f16", "bf16", "f32", "f64"].contains(&row.element.as_str()) {
            let found = format!("the string {:?}", row.element);
            return expected("element", "\"f16\", \"bf16\", \"f32\" or \"f64\"", found).within(&table);
        }
        if rows[..index].iter().any(|earlier| earlier.function == row.function && earlier.element == row.element) {
            let message = format!("an earlier entry is of this function of {} too", row.element);
            return Err(DescriptionError::at("function", message)).within(&table);
        }
        amount("ulps", row.ulps).within(&table)?;
        text("source", &row.source).within(&table)?;
    }
    Ok(())
}

fn most_lanes(lanes: &SupportedWarpSizes) -> u32 {
    lanes.choices.iter().copied().max().unwrap_or(1)
}

fn expected(path: &str, expected: impl Display, found: impl Display) -> Checked {
    Err(DescriptionError::at(path, format!("expected {expected}, found {found}")))
}

fn check_each<T>(path: &str, values: &[T], mut check: impl FnMut(&str, &T) -> Checked) -> Checked {
    values.iter().enumerate().try_for_each(|(index, value)| check(&format!("{path}[{index}]"), value))
}

/// Returns the first value that equals an earlier one, as its index and itself; `None` if all values differ.
fn repeated<T: PartialEq>(values: &[T]) -> Option<(usize, &T)> {
    values.iter().enumerate().find(|(index, value)| values[..*index].contains(value))
}

fn not_empty<T>(path: &str, values: &[T]) -> Checked {
    if values.is_empty() { expected(path, "an array with at least one entry", "an empty array") } else { Ok(()) }
}

fn text(path: &str, text: &str) -> Checked {
    let found = || format!("the string {text:?}");
    if text.trim().is_empty() { expected(path, "text that is not blank", found()) } else { Ok(()) }
}

/// Checks that the number at the path `path` of the description is finite and not negative.
fn amount(path: &str, number: f64) -> Checked {
    // The comparison is false for NaN.
    if number >= 0.0 && number.is_finite() {
        return Ok(());
    }
    expected(path, "a finite number that is not negative", number.to_string().to_lowercase())
}

fn rate(path: &str, number: f64) -> Checked {
    amount(path, number)?;
    if number > 0.0 { Ok(()) } else { expected(path, "a number greater than zero", number) }
}

fn count(path: &str, number: u32) -> Checked {
    if number > 0 { Ok(()) } else { expected(path, format!("an integer from 1 to {}", u32::MAX), number) }
}

fn power_of_two(path: &str, number: u32, most: u32) -> Checked {
    if number.is_power_of_two() && number <= most {
        return Ok(());
    }
    expected(path, format!("a power of two from 1 to {most}"), number)
}

fn below(path: &str, number: u64, end: u32) -> Checked {
    if number > 0 && number < u64::from(end) {
        return Ok(());
    }
    expected(path, format!("an integer greater than zero and less than {end}"), number)
}

fn at_most(path: &str, number: u32, most: u32, named: &str) -> Checked {
    if number <= most { Ok(()) } else { expected(path, format!("at most `{named}` ({most})"), number) }
}

fn width(path: &str, bits: u32) -> Checked {
    count(path, bits)?;
    if bits.is_multiple_of(8) && bits <= MOST_ACCESS_BITS {
        return Ok(());
    }
    expected(path, format!("bits of whole bytes, at most {MOST_ACCESS_BITS}"), bits)
}

/// Checks the list of access widths in bits at the path `path`: whole bytes, in strictly ascending order.
fn widths(path: &str, widths: &[u32]) -> Checked {
    not_empty(path, widths)?;
    check_each(path, widths, |path, &bits| width(path, bits))?;
    match widths.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(at) => {
            let (before, bits) = (widths[at], widths[at + 1]);
            let message = format!("expected more than {before}, since widths ascend; found {bits}");
            Err(DescriptionError::entry(path, at + 1, message))
        }
        None => Ok(()),
    }
}
