//! From a target file to a description: which keys there are, and which numbers no machine can have.
//!
//! Each rule is checked where its value is read, so that every error has the place of the value
//! that breaks it.

use super::description::usual_stages;
use super::document::{Document, Table, Value};
use super::{
    BankRow, Cost, CostTable, Direction, Evidence, ExchangeKind, ExchangeRow, Global, Lanes, Limits, MatrixUnit,
    NativeFunction, Shared, TargetDescription, TargetFileError, TensorMemory, Throughput,
};
use tilewright_layout::f2::Subspace;

type Outcome<T> = Result<T, TargetFileError>;

/// Bounds that keep arithmetic and tables small; far beyond what is built.
const MOST_LANES: u32 = 1024;
const MOST_BANKS: u32 = 1024;
const MOST_BANK_BYTES: u32 = 1024;
const MOST_ACCESS_BITS: u32 = 8192;
const MOST_TENSOR_SIDE: u32 = 32768;

const DIRECTIONS: [(&str, Direction); 2] = [("store", Direction::Store), ("load", Direction::Load)];

/// The description that a file's text gives.
pub(super) fn description(file: &str, text: &str) -> Outcome<TargetDescription> {
    let document = Document { file, text };
    let parsed = document.parse()?;
    root(&open(document, &parsed)?)
}

/// The same, of a file that is called after its target.
pub(super) fn named_description(file: &str, text: &str, stem: &str) -> Outcome<TargetDescription> {
    let document = Document { file, text };
    let parsed = document.parse()?;
    let table = open(document, &parsed)?;
    let target = root(&table)?;
    if target.name != stem {
        let rule = format!("the file {stem}.toml must describe `{stem}`; change this name or the file's");
        return Err(table.value("name")?.error(rule));
    }
    Ok(target)
}

fn open<'d>(document: Document<'d>, parsed: &'d toml::Spanned<toml::de::DeTable<'d>>) -> Outcome<Table<'d>> {
    let words = ["name", "aliases", "product", "architecture"];
    let tables =
        ["lanes", "limits", "shared", "global", "exchanges", "costs", "throughput", "matrix", "tensor", "functions"];
    Table::root(document, parsed, &[&words[..], &tables].concat())
}

fn root(table: &Table<'_>) -> Outcome<TargetDescription> {
    let name = name(&table.value("name")?)?;
    let aliases = table.optional("aliases").map_or(Ok(Vec::new()), |aliases| aliases.list())?;
    let aliases = aliases.iter().map(Value::text).collect::<Result<_, _>>()?;
    let product = table.value("product")?.text()?;
    let architecture = table.value("architecture")?.text()?;
    let lanes = lanes(&table.value("lanes")?)?;
    let limits = limits(&table.value("limits")?, &lanes)?;
    let shared = shared(&table.value("shared")?, &lanes)?;
    let global = global(&table.value("global")?)?;
    let exchanges = exchanges(&table.value("exchanges")?, &lanes)?;
    let costs = costs(&table.value("costs")?)?;
    let matrix = table.optional("matrix").map(|value| matrix(&value)).transpose()?;
    let throughput = table.optional("throughput").map(|value| throughput(&value, &shared)).transpose()?;
    let tensor = table.optional("tensor").map(|value| tensor(&value)).transpose()?;
    let functions = table.optional("functions").map_or(Ok(Vec::new()), |value| functions(&value))?;
    Ok(TargetDescription {
        name,
        aliases,
        product,
        architecture,
        lanes,
        limits,
        shared,
        global,
        exchanges,
        costs,
        matrix,
        throughput,
        tensor,
        functions,
    })
}

fn name(value: &Value<'_>) -> Outcome<String> {
    let name = value.text()?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    match name.chars().find(|&c| !allowed(c)) {
        Some(c) => Err(value.error(format!("expected lower-case letters, digits, `-` and `_` only, found `{c}`"))),
        None => Ok(name),
    }
}

fn lanes(value: &Value<'_>) -> Outcome<Lanes> {
    let table = value.table(&["default", "choices", "evidence", "source"])?;
    let mut choices = Vec::new();
    for value in table.value("choices")?.some()? {
        let choice = value.power_of_two(MOST_LANES)?;
        if choices.contains(&choice) {
            return Err(value.error(format!("{choice} is listed twice")));
        }
        choices.push(choice);
    }
    let default = table.value("default")?;
    let lanes = default.power_of_two(MOST_LANES)?;
    if !choices.contains(&lanes) {
        return Err(default.error(format!("expected one of `lanes.choices` {choices:?}, found {lanes}")));
    }
    Ok(Lanes { default: lanes, choices, evidence: evidence(&table)?, source: source(&table)? })
}

fn limits(value: &Value<'_>, lanes: &Lanes) -> Outcome<Limits> {
    let keys = [
        "lanes_per_block",
        "registers_per_lane",
        "registers_per_block",
        "blocks_per_cluster",
        "group_barriers",
        "evidence",
        "source",
    ];
    let table = value.table(&keys)?;
    let lanes_per_block = table.value("lanes_per_block")?;
    let block = lanes_per_block.count()?;
    if let Some(warp) = lanes.choices.iter().find(|&&warp| !block.is_multiple_of(warp)) {
        return Err(lanes_per_block.error(format!("expected whole warps of {warp} lanes, found {block} lanes")));
    }
    let registers_per_lane = table.value("registers_per_lane")?.count()?;
    let registers_per_block = table.value("registers_per_block")?;
    let registers = registers_per_block.count()?;
    let warp = lanes.choices.iter().copied().min().unwrap_or(1);
    if u64::from(registers) < u64::from(warp) * u64::from(registers_per_lane) {
        let rule = format!("a warp of {warp} lanes with {registers_per_lane} registers each does not fit");
        return Err(registers_per_block.error(format!("{rule} into {registers}")));
    }
    Ok(Limits {
        lanes_per_block: block,
        registers_per_lane,
        registers_per_block: registers,
        blocks_per_cluster: table.value("blocks_per_cluster")?.count()?,
        group_barriers: table.optional("group_barriers").map_or(Ok(0), |value| value.count())?,
        evidence: evidence(&table)?,
        source: source(&table)?,
    })
}

fn shared(value: &Value<'_>, lanes: &Lanes) -> Outcome<Shared> {
    let keys = [
        "bytes",
        "static_bytes",
        "grain_bytes",
        "access_bits",
        "warp_ordered",
        "asynchronous_proxy",
        "evidence",
        "source",
        "banks",
    ];
    let table = value.table(&keys)?;
    let bytes = table.value("bytes")?.count()?;
    let static_bytes = at_most(&table.value("static_bytes")?, bytes, "shared.bytes")?;
    let grain = table.value("grain_bytes")?;
    let grain_bytes = grain.count()?;
    if !bytes.is_multiple_of(grain_bytes) {
        return Err(grain.error(format!("expected a divisor of `shared.bytes` ({bytes}), found {grain_bytes}")));
    }
    let access = widths(&table.value("access_bits")?)?;
    let banks = banks(&table.value("banks")?, lanes)?;
    for (value, bits) in &access {
        for (word, direction) in DIRECTIONS {
            if !banks.iter().any(|row| row.instruction.is_none() && serves(row, direction, *bits)) {
                return Err(value.error(format!("no row of `shared.banks` is for a plain {word} of {bits} bits")));
            }
        }
    }
    Ok(Shared {
        bytes,
        static_bytes,
        grain_bytes,
        access_bits: access.into_iter().map(|(_, bits)| bits).collect(),
        banks,
        warp_ordered: table.value("warp_ordered")?.boolean()?,
        asynchronous_proxy: table.optional("asynchronous_proxy").map_or(Ok(false), |value| value.boolean())?,
        evidence: evidence(&table)?,
        source: source(&table)?,
    })
}

fn serves(row: &BankRow, direction: Direction, bits: u32) -> bool {
    row.directions.contains(&direction) && row.access_bits.contains(&bits)
}

fn banks(value: &Value<'_>, lanes: &Lanes) -> Outcome<Vec<BankRow>> {
    let mut rows: Vec<BankRow> = Vec::new();
    for value in value.some()? {
        let row = bank_row(&value, lanes)?;
        for (word, direction) in DIRECTIONS {
            for &bits in &row.access_bits {
                let same =
                    |earlier: &BankRow| earlier.instruction == row.instruction && serves(earlier, direction, bits);
                if serves(&row, direction, bits) && rows.iter().any(same) {
                    let access = row.instruction.as_ref().map_or(String::new(), |name| format!(" by `{name}`"));
                    return Err(value.error(format!("an earlier row is for a {word} of {bits} bits{access} too")));
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

fn bank_row(value: &Value<'_>, lanes: &Lanes) -> Outcome<BankRow> {
    let keys = ["directions", "access_bits", "instruction", "banks", "bank_bytes", "phase", "evidence", "source"];
    let table = value.table(&keys)?;
    let mut directions = Vec::new();
    for value in table.value("directions")?.some()? {
        let direction = value.word(&DIRECTIONS)?;
        if directions.contains(&direction) {
            return Err(value.error("is listed twice"));
        }
        directions.push(direction);
    }
    let banks = table.value("banks")?.power_of_two(MOST_BANKS)?;
    let bank_bytes = table.value("bank_bytes")?.power_of_two(MOST_BANK_BYTES)?;
    let access_bits: Vec<u32> = widths(&table.value("access_bits")?)?.into_iter().map(|(_, bits)| bits).collect();
    let phase_value = table.value("phase")?;
    let phase = phase(&phase_value, lanes)?;
    let widest = access_bits.iter().copied().max().unwrap_or(0);
    let wanted = u64::from(widest / 8) << phase.len();
    let carried = u64::from(banks) * u64::from(bank_bytes);
    if wanted > carried {
        let (served, bytes) = (1u64 << phase.len(), widest / 8);
        return Err(phase_value.error(format!(
            "{served} lanes of {bytes} bytes are {wanted} bytes, but a wavefront of {banks} banks of {bank_bytes} bytes carries {carried}"
        )));
    }
    let instruction = table.optional("instruction").map(|value| value.text()).transpose()?;
    let (evidence, source) = (evidence(&table)?, source(&table)?);
    Ok(BankRow { directions, access_bits, instruction, banks, bank_bytes, phase, evidence, source })
}

fn phase(value: &Value<'_>, lanes: &Lanes) -> Outcome<Vec<u64>> {
    let warp = lanes.choices.iter().copied().max().unwrap_or(1);
    let mut space = Subspace::zero();
    let mut phase = Vec::new();
    for value in value.list()? {
        let vector = value.below(warp)?;
        if !space.insert(vector) {
            return Err(value.error(format!("{vector} is a sum (bit by bit, without carry) of those before it")));
        }
        phase.push(vector);
    }
    Ok(phase)
}

fn global(value: &Value<'_>) -> Outcome<Global> {
    let table = value.table(&["access_bits", "transaction_bytes", "stages", "evidence", "source"])?;
    Ok(Global {
        access_bits: widths(&table.value("access_bits")?)?.into_iter().map(|(_, bits)| bits).collect(),
        transaction_bytes: table.value("transaction_bytes")?.power_of_two(u32::MAX)?,
        stages: table.optional("stages").map_or(Ok(usual_stages()), |value| value.count())?,
        evidence: evidence(&table)?,
        source: source(&table)?,
    })
}

fn exchanges(value: &Value<'_>, lanes: &Lanes) -> Outcome<Vec<ExchangeRow>> {
    let mut rows: Vec<ExchangeRow> = Vec::new();
    for value in value.list()? {
        let table = value.table(&["kind", "bits", "lanes", "evidence", "source"])?;
        let kind_value = table.value("kind")?;
        let kind = kind_value.word(&EXCHANGES)?;
        let bits = width(&table.value("bits")?)?;
        if rows.iter().any(|row| row.kind == kind && row.bits == bits) {
            return Err(kind_value.error(format!("an earlier row is of this kind with {bits} bits too")));
        }
        let lanes = exchanged_lanes(&table, kind, lanes)?;
        rows.push(ExchangeRow { kind, bits, lanes, evidence: evidence(&table)?, source: source(&table)? });
    }
    Ok(rows)
}

/// Kinds of exchange by name.
const EXCHANGES: [(&str, ExchangeKind); 3] =
    [("index", ExchangeKind::Index), ("swap", ExchangeKind::Swap), ("xor", ExchangeKind::Xor)];

/// How lanes that exchange differ, for the kinds of exchange in which that is fixed.
fn exchanged_lanes(table: &Table<'_>, kind: ExchangeKind, lanes: &Lanes) -> Outcome<Vec<u32>> {
    if kind == ExchangeKind::Index {
        return match table.optional("lanes") {
            Some(given) => Err(given.error("exchanges of kind \"index\" read from any lane; leave it out")),
            None => Ok(Vec::new()),
        };
    }
    let warp = lanes.choices.iter().copied().max().unwrap_or(1);
    if kind == ExchangeKind::Xor {
        let given = table.optional("lanes").map_or(Ok(Vec::new()), |lanes| lanes.some())?;
        return given.iter().map(|value| value.below(warp).map(|mask| mask as u32)).collect();
    }
    let most = warp / 2;
    let given = table.value("lanes")?.some()?;
    given.iter().map(|value| value.power_of_two(most.max(1))).collect()
}

fn costs(value: &Value<'_>) -> Outcome<CostTable> {
    let table = value.table(&[
        "shared_store_wavefront",
        "shared_load_wavefront",
        "exchange",
        "exchange_xor",
        "permute",
        "select",
        "block_barrier",
        "warp_barrier",
        "cluster_barrier",
    ])?;
    let cluster_barrier = table.optional("cluster_barrier").map(|value| cost(&value)).transpose()?;
    let exchange_xor = table.optional("exchange_xor").map(|value| cost(&value)).transpose()?;
    let cost = |key: &str| cost(&table.value(key)?);
    Ok(CostTable {
        shared_store_wavefront: cost("shared_store_wavefront")?,
        shared_load_wavefront: cost("shared_load_wavefront")?,
        exchange: cost("exchange")?,
        exchange_xor,
        permute: cost("permute")?,
        select: cost("select")?,
        block_barrier: cost("block_barrier")?,
        warp_barrier: cost("warp_barrier")?,
        cluster_barrier,
    })
}

fn cost(value: &Value<'_>) -> Outcome<Cost> {
    let table = value.table(&["cycles", "latency", "evidence", "source"])?;
    let cycles = table.value("cycles")?.amount()?;
    let latency = table.value("latency")?.amount()?;
    Ok(Cost { cycles, latency, evidence: evidence(&table)?, source: source(&table)? })
}

fn matrix(value: &Value<'_>) -> Outcome<MatrixUnit> {
    let table = value.table(&["pipes", "bits_per_cycle", "lone_bits_per_cycle", "evidence", "source"])?;
    Ok(MatrixUnit {
        pipes: table.value("pipes")?.count()?,
        bits_per_cycle: table.value("bits_per_cycle")?.count()?,
        lone_bits_per_cycle: table.optional("lone_bits_per_cycle").map(|value| value.count()).transpose()?,
        evidence: evidence(&table)?,
        source: source(&table)?,
    })
}

fn throughput(value: &Value<'_>, shared: &Shared) -> Outcome<Throughput> {
    let figures = ["compute_units", "clock_mhz", "memory_gigabytes", "memory_latency", "issues_per_cycle"];
    let residency = ["warps_per_unit", "blocks_per_unit", "registers_per_unit", "shared_bytes_per_unit"];
    let table = value.table(&[&figures[..], &residency, &["evidence", "source"]].concat())?;
    let rate = |key: &str| {
        let value = table.value(key)?;
        match value.amount()? {
            rate if rate > 0.0 => Ok(rate),
            _ => Err(value.error("expected a number greater than zero, found 0")),
        }
    };
    let count = |key: &str| table.value(key)?.count();
    let shared_bytes_per_unit = count("shared_bytes_per_unit")?;
    if shared_bytes_per_unit < shared.bytes {
        let message = format!("expected at least `shared.bytes` ({}), found {shared_bytes_per_unit}", shared.bytes);
        return Err(table.value("shared_bytes_per_unit")?.error(message));
    }
    Ok(Throughput {
        compute_units: count("compute_units")?,
        clock_mhz: rate("clock_mhz")?,
        memory_gigabytes: rate("memory_gigabytes")?,
        memory_latency: table.value("memory_latency")?.amount()?,
        issues_per_cycle: rate("issues_per_cycle")?,
        warps_per_unit: count("warps_per_unit")?,
        blocks_per_unit: count("blocks_per_unit")?,
        registers_per_unit: count("registers_per_unit")?,
        shared_bytes_per_unit,
        evidence: evidence(&table)?,
        source: source(&table)?,
    })
}

fn tensor(value: &Value<'_>) -> Outcome<TensorMemory> {
    let keys =
        ["rows", "columns", "warp_rows", "least_columns", "column_cycles", "bits_per_cycle", "evidence", "source"];
    let table = value.table(&keys)?;
    let rows = table.value("rows")?.power_of_two(MOST_TENSOR_SIDE)?;
    let columns = table.value("columns")?.power_of_two(MOST_TENSOR_SIDE)?;
    let at_most = |key: &str, most: u32, named: &str| {
        let value = table.value(key)?;
        value.power_of_two(MOST_TENSOR_SIDE)?;
        at_most(&value, most, named)
    };
    Ok(TensorMemory {
        rows,
        columns,
        warp_rows: at_most("warp_rows", rows, "tensor.rows")?,
        least_columns: at_most("least_columns", columns, "tensor.columns")?,
        column_cycles: table.value("column_cycles")?.amount()?,
        bits_per_cycle: table.value("bits_per_cycle")?.count()?,
        evidence: evidence(&table)?,
        source: source(&table)?,
    })
}

fn functions(value: &Value<'_>) -> Outcome<Vec<NativeFunction>> {
    let mut rows: Vec<NativeFunction> = Vec::new();
    for value in value.list()? {
        let table = value.table(&["function", "element", "ulps", "evidence", "source"])?;
        let function_value = table.value("function")?;
        let function = function_value.text()?;
        let element = table.value("element")?.word(&[("f32", "f32"), ("f64", "f64")])?.to_owned();
        if rows.iter().any(|row| row.function == function && row.element == element) {
            return Err(function_value.error(format!("an earlier row is of this function of {element} too")));
        }
        let ulps = table.value("ulps")?.amount()?;
        rows.push(NativeFunction { function, element, ulps, evidence: evidence(&table)?, source: source(&table)? });
    }
    Ok(rows)
}

/// Widths of accesses in bits, narrowest first, each with its place.
fn widths<'d>(value: &Value<'d>) -> Outcome<Vec<(Value<'d>, u32)>> {
    let mut widths: Vec<(Value<'d>, u32)> = Vec::new();
    for value in value.some()? {
        let bits = width(&value)?;
        if let Some((_, before)) = widths.last().filter(|(_, before)| *before >= bits) {
            return Err(value.error(format!("expected more than {before}, since widths ascend; found {bits}")));
        }
        widths.push((value, bits));
    }
    Ok(widths)
}

fn width(value: &Value<'_>) -> Outcome<u32> {
    let bits = value.count()?;
    if bits.is_multiple_of(8) && bits <= MOST_ACCESS_BITS {
        return Ok(bits);
    }
    Err(value.error(format!("expected bits of whole bytes, at most {MOST_ACCESS_BITS}, found {bits}")))
}

fn at_most(value: &Value<'_>, most: u32, named: &str) -> Outcome<u32> {
    let number = value.count()?;
    if number > most {
        return Err(value.error(format!("expected at most `{named}` ({most}), found {number}")));
    }
    Ok(number)
}

fn evidence(table: &Table<'_>) -> Outcome<Evidence> {
    table.value("evidence")?.word(&[
        ("measured", Evidence::Measured),
        ("documented", Evidence::Documented),
        ("assumed", Evidence::Assumed),
    ])
}

fn source(table: &Table<'_>) -> Outcome<String> {
    table.value("source")?.text()
}
