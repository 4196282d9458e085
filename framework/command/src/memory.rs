//! `tilewright memory`: chooses the shared-memory layout of a tensor from its stores and loads.

use std::io::Write;

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::Session;
use tilewright_layout::cute;
use tilewright_layout::{AttributeSyntaxes, Layout, layout_to_json, spec_to_json};
use tilewright_plan::movement::{
    GlobalTensor, PlanContext, RankedSharedLayouts, SharedLayoutCandidate, SharedLayoutKind, SharedLayoutSearchOptions,
    SharedMemoryAccessor, WarpAddressedSharedCopy, choose_shared_layout,
};
use tilewright_target::{Direction, InstructionKind};

use crate::failure::CommandError;
use crate::text_table::new_table;
use crate::{GlobalOptions, input};

/// Options of `tilewright memory`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of the target, e.g. `h100`.
    #[arg(long, value_name = "NAME")]
    target: String,
    /// The tensor's shape, as 128x64.
    #[arg(long, value_name = "SHAPE")]
    shape: String,
    /// The element type: f16, i8, ... or a width in bits.
    #[arg(long, value_name = "TYPE")]
    element: String,
    /// A register layout that is stored; may be given several times. `4*LAYOUT` counts four times.
    #[arg(long, value_name = "LAYOUT", required = true)]
    store: Vec<String>,
    /// A register layout that is loaded; may be given several times.
    #[arg(long, value_name = "LAYOUT")]
    load: Vec<String>,
    /// The first --store is an asynchronous copy from row-major global memory that takes one shared-memory address for
    /// a warp (such as AMD LDS DMA). Its LAYOUT determines the elements that each lane copies, at most this many bits
    /// in one instruction; they are written in the order of the lanes.
    #[arg(long, value_name = "BITS")]
    copy: Option<u32>,
    /// Only layouts of this kind; may be given several times: plain, functor, swizzle, padding, permuted_global.
    #[arg(long, value_name = "KIND", value_parser = parse_layout_kind)]
    only: Vec<SharedLayoutKind>,
    /// Max bytes of shared memory. Default: all that the target has.
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
    /// Tolerated wavefronts above the lower bound; among layouts within it, the one with the fewest bytes wins.
    #[arg(long, value_name = "WAVEFRONTS", default_value_t = 0)]
    excess: u64,
    /// Print the choice as JSON.
    #[arg(long)]
    json: bool,
}

/// Parses the name of a kind of shared-memory layout.
pub fn parse_layout_kind(name: &str) -> Result<SharedLayoutKind, String> {
    SharedLayoutKind::from_name(name).ok_or_else(|| {
        let known: Vec<_> = SharedLayoutKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("no kind of layout; known are {}", known.join(", "))
    })
}

/// Runs `tilewright memory`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let target = session.catalogue().get(&options.target)?;
    let accessors = accessors(&session, options)?;
    let constraints = SharedLayoutSearchOptions {
        kinds: if options.only.is_empty() { SharedLayoutKind::ALL.to_vec() } else { options.only.clone() },
        max_bytes: options.max_bytes,
        excess: options.excess,
        ..SharedLayoutSearchOptions::default()
    };
    let instructions = session.instructions_of(&options.target, &[InstructionKind::SharedMove])?;
    let context = PlanContext::new(target).with_instructions(&instructions);
    let choice = choose_shared_layout(&accessors, input::parse_element_bits(&options.element)?, &constraints, context)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", choice_to_json(&choice))?;
    } else {
        let attribute_syntaxes =
            session.attribute_syntaxes(Some(&options.target)).or_else(|_| session.attribute_syntaxes(None))?;
        write!(out, "{}", shown(&choice, &accessors, &attribute_syntaxes))?;
    }
    Ok(())
}

fn accessors(session: &Session, options: &Options) -> Result<Vec<SharedMemoryAccessor>, CommandError> {
    let shape = input::parse_shape(&options.shape)?;
    let read = |name: &str, text: &String, make: fn(_) -> SharedMemoryAccessor| {
        let (weight, text) = weighted(text);
        let layout = input::parse_distributed_layout(session, name, text, Some(&options.target), &shape)?;
        Ok(make(layout).with_weight(weight))
    };
    let stores = options.store.iter().map(|text| read("STORE", text, SharedMemoryAccessor::store));
    let loads = options.load.iter().map(|text| read("LOAD", text, SharedMemoryAccessor::load));
    let mut accessors = stores.chain(loads).collect::<Result<Vec<_>, CommandError>>()?;
    if let Some(access_bits) = options.copy {
        let global = GlobalTensor::row_major(&shape, 16);
        accessors[0].copy = Some(WarpAddressedSharedCopy { global, access_bits });
    }
    Ok(accessors)
}

/// Splits the weight off a layout's text, as in `4*LAYOUT`; the weight is 1 if there is none.
fn weighted(text: &str) -> (u64, &str) {
    let split = text.split_once('*').and_then(|(weight, layout)| Some((weight.trim().parse().ok()?, layout)));
    split.unwrap_or((1, text))
}

/// Describes the choice as text.
fn shown(
    choice: &RankedSharedLayouts,
    accessors: &[SharedMemoryAccessor],
    attribute_syntaxes: &AttributeSyntaxes,
) -> String {
    let chosen = choice.chosen();
    let mut text = format!("chosen {}: {}\n", chosen.kind, meaning(chosen.kind));
    text += &format!(
        "{} wavefronts a warp, {} of them by conflicts; at least {}, best known {}; {} bytes\n\n",
        chosen.weighted_wavefronts(),
        chosen.conflict_wavefronts(),
        choice.lower_bound,
        choice.fewest_known_wavefronts(),
        chosen.bytes
    );
    text += &format!("{}\n\n", by_accessor(chosen, accessors));
    text += &format!("{}\n", by_kind(choice));
    for (name, layout) in texts(chosen, attribute_syntaxes) {
        text += &format!("\n{name}:\n{layout}\n");
    }
    text
}

fn meaning(kind: SharedLayoutKind) -> &'static str {
    match kind {
        SharedLayoutKind::Plain => "elements one after the other",
        SharedLayoutKind::Functor => "a swizzle of CuTe's form over elements one after the other",
        SharedLayoutKind::Swizzle => "a linear layout",
        SharedLayoutKind::Padding => "padding after every so many elements",
        SharedLayoutKind::PermutedGlobal => "the copy fetches other elements, so that its writes are swizzled",
    }
}

fn by_accessor(chosen: &SharedLayoutCandidate, accessors: &[SharedMemoryAccessor]) -> String {
    let mut table =
        new_table(["per warp", "times", "wavefronts", "conflicts", "at least", "elements an access", "by"], 1..6);
    for (stats, accessor) in chosen.accessors.iter().zip(accessors) {
        let what = match (accessor.direction, &accessor.copy) {
            (Direction::Store, None) => "store",
            (Direction::Store, Some(_)) => "copy",
            (Direction::Load, _) => "load",
        };
        let numbers = [accessor.weight, stats.wavefronts, stats.excess, stats.min_wavefronts, stats.vector_elements];
        let mut row = vec![what.to_owned()];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(stats.instruction.clone().unwrap_or_else(|| "plain accesses".to_owned()));
        table.add_row(row);
    }
    table.trim_fmt()
}

/// Returns the table of the kinds of layouts, the best first.
fn by_kind(choice: &RankedSharedLayouts) -> String {
    let mut table = new_table(["kind", "wavefronts", "conflicts", "bytes", "transactions", ""], 1..5);
    for (at, candidate) in choice.candidates.iter().enumerate() {
        let transactions = candidate
            .fetch
            .as_ref()
            .map_or_else(String::new, |f| format!("{} of {}", f.transactions, f.straight_transactions));
        let numbers = [candidate.weighted_wavefronts(), candidate.conflict_wavefronts(), candidate.bytes];
        let mut row = vec![candidate.kind.to_string()];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(transactions);
        row.push(match (&candidate.rejected, at) {
            (Some(reason), _) => format!("rejected: {reason}"),
            (None, 0) => "chosen".to_owned(),
            (None, _) => why(candidate, choice.chosen()),
        });
        table.add_row(row);
    }
    for (kind, reason) in &choice.rejected {
        let mut row = vec![kind.to_string()];
        row.extend(std::iter::repeat_n("-".to_owned(), 4));
        row.push(format!("rejected: {reason}"));
        table.add_row(row);
    }
    table.trim_fmt()
}

/// Returns the reason why a candidate was not chosen.
fn why(candidate: &SharedLayoutCandidate, chosen: &SharedLayoutCandidate) -> String {
    let more = |own: u64, best: u64, what: &str| (own > best).then(|| format!("{} {what} more", own - best));
    more(candidate.weighted_wavefronts(), chosen.weighted_wavefronts(), "wavefronts")
        .or_else(|| more(candidate.bytes, chosen.bytes, "bytes"))
        .unwrap_or_else(|| "as good, and less simple".to_owned())
}

/// Returns the chosen layout as text, each with a label: as a family's attribute and in CuTe's notation, if these can
/// express it; and the layout by which a copy from global memory fetches the tensor, if there is a copy.
fn texts(chosen: &SharedLayoutCandidate, attribute_syntaxes: &AttributeSyntaxes) -> Vec<(&'static str, String)> {
    let memory = chosen.to_layout();
    let family = memory.to_spec().map(|spec| ("layout", attribute_syntaxes.print_spec(&spec)));
    let cute = cute::from_tensor_layout(&memory).ok().map(|cute| ("in CuTe's notation", cute.to_string()));
    let fetched = chosen.fetch.as_ref().and_then(|fetch| Layout::Distributed(fetch.layout.clone()).to_spec());
    let fetched = fetched.map(|spec| ("the copy fetches", attribute_syntaxes.print_spec(&spec)));
    family.into_iter().chain(cute).chain(fetched).collect()
}

/// Converts the choice to JSON.
pub fn choice_to_json(choice: &RankedSharedLayouts) -> Json {
    let chosen = choice.chosen();
    json!({
        "chosen": chosen.kind,
        "wavefronts": chosen.weighted_wavefronts(),
        "lower_bound": choice.lower_bound,
        "best_known": choice.fewest_known_wavefronts(),
        "gap": choice.wavefronts_above_bound(),
        "gap_to_best_known": choice.wavefronts_above_best_known(),
        "candidates": choice.candidates.iter().map(of_candidate).collect::<Vec<_>>(),
        "closed": choice.rejected.iter().map(|(kind, reason)| json!({ "kind": kind, "reason": reason })).collect::<Vec<_>>(),
    })
}

fn of_candidate(candidate: &SharedLayoutCandidate) -> Json {
    let memory = candidate.to_layout();
    let fetch = candidate.fetch.as_ref().map(|fetch| {
        let layout = layout_to_json(&fetch.layout);
        json!({ "layout": layout, "units": fetch.transactions, "straight_units": fetch.straight_transactions })
    });
    json!({
        "kind": candidate.kind,
        "wavefronts": candidate.weighted_wavefronts(),
        "excess": candidate.conflict_wavefronts(),
        "bytes": candidate.bytes,
        "accessors": candidate.accessors,
        "layout": memory.to_spec().map(|spec| spec_to_json(&spec)),
        "functor": candidate.functor.map(|functor| functor.to_string()),
        "cute": cute::from_tensor_layout(&memory).ok().map(|cute| cute.to_string()),
        "fetch": fetch,
        "closed": candidate.rejected,
    })
}
