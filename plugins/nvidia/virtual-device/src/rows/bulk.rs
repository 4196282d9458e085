//! Instructions for bulk tensor copies and 1-D bulk copies between global memory and the executing block's shared
//! memory.

use std::ops::Range;

use tilewright_target::Direction;

use super::atomic;
use crate::machine::{
    Address, BULK_ALIGNMENT, CachePath, Compute, DeviceFaultKind, MAP_BYTES, Operation, PtxSpace, Running, Tensor, each,
};
use crate::program::{Form, Operands, Row, Semantics, Type};

const COPY_MODIFIERS: &str = "shared::cluster shared::cta global tile mbarrier::complete_tx::bytes bulk_group L2::";
const TENSOR_MODIFIERS: &str =
    "1d 2d 3d 4d 5d shared::cluster shared::cta global tile mbarrier::complete_tx::bytes bulk_group L2::";

const REDUCTION_MODIFIERS: &str =
    "1d 2d 3d 4d 5d shared::cta global tile bulk_group add min max inc dec and or xor L2::";

pub(super) const ROWS: &[Row] = &[
    Row { name: "cp.async.bulk", modifiers: COPY_MODIFIERS, types: "", semantics: Semantics::Warp(bulk_copy_1d) },
    Row {
        name: "cp.async.bulk.tensor",
        modifiers: TENSOR_MODIFIERS,
        types: "",
        semantics: Semantics::Warp(tensor_copy),
    },
    Row {
        name: "cp.reduce.async.bulk.tensor",
        modifiers: REDUCTION_MODIFIERS,
        types: "",
        semantics: Semantics::Warp(tensor_copy),
    },
    Row { name: "cp.async.bulk.commit_group", modifiers: "", types: "", semantics: Semantics::Warp(commit) },
    Row { name: "cp.async.bulk.wait_group", modifiers: "read", types: "", semantics: Semantics::Warp(wait) },
];

/// Required alignment in bytes of the address of a box in shared memory.
const BOX_ALIGNMENT: u64 = 128;

/// Whether a bulk copy writes shared memory: the first space in the opcode is the destination. Returns an error message
/// if the completion mechanism does not fit the direction.
fn is_to_shared(form: &Form<'_>) -> Result<bool, String> {
    let at = |required: &[&str]| form.words.iter().position(|word| required.contains(word));
    match (at(&["shared::cluster", "shared::cta"]), at(&["global"])) {
        (Some(shared), Some(global)) => {
            let arrives = form.has("mbarrier::complete_tx::bytes");
            let is_to = shared < global;
            if is_to == arrives && is_to != form.has("bulk_group") { Ok(is_to) } else { Err(form.unknown()) }
        }
        _ => Err(form.unknown()),
    }
}

fn word(form: &Form<'_>) -> Type {
    Type::named("u32").unwrap_or(form.ty())
}

fn aligned(
    address: u64,
    alignment: u64,
    direction: Direction,
    space: PtxSpace,
    lane: usize,
) -> Result<u64, DeviceFaultKind> {
    match address.is_multiple_of(alignment) {
        true => Ok(address),
        false => Err(DeviceFaultKind::Misaligned { direction, space, address, alignment, lane: lane as u32 }),
    }
}

/// Decodes the operands `[to], [from], bytes{, [mbarrier]}` of a 1-D bulk copy.
fn bulk_copy_1d(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let to_shared = is_to_shared(form)?;
    let hinted = usize::from(form.has("L2::cache_hint"));
    let count = 3 + usize::from(to_shared) + hinted;
    operands.expect(count..=count)?;
    let (to, from) = (operands.address(0)?, operands.address(1)?);
    let bytes = operands.source(2, word(form))?;
    let mbarrier = if to_shared { Some(operands.address(3)?) } else { None };
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let bytes = warp.read_defined(bytes, lane, "the size of the copy")?;
            if bytes == 0 || !bytes.is_multiple_of(BULK_ALIGNMENT) {
                let message = format!("lane {lane} copies {bytes} bytes; expected a multiple of {BULK_ALIGNMENT}");
                return Err(DeviceFaultKind::Instruction(message));
            }
            let (inside, outside) = if to_shared { (&to, &from) } else { (&from, &to) };
            let (shared, global) = (Direction::Store, Direction::Load);
            let (shared, global) = if to_shared { (shared, global) } else { (global, shared) };
            let inside = aligned(
                warp.resolve(PtxSpace::Shared, inside, lane)?.1,
                BULK_ALIGNMENT,
                shared,
                PtxSpace::Shared,
                lane,
            )?;
            let outside = aligned(
                warp.resolve(PtxSpace::Global, outside, lane)?.1,
                BULK_ALIGNMENT,
                global,
                PtxSpace::Global,
                lane,
            )?;
            copied(warp, bytes, global, std::iter::once(outside..outside + bytes));
            match &mbarrier {
                Some(mbarrier) => {
                    let mut data = vec![0; bytes as usize];
                    warp.load((PtxSpace::Global, outside), &mut data, lane)?;
                    let mbarrier = warp.resolve(PtxSpace::Shared, mbarrier, lane)?.1;
                    warp.bulk_send(lane, mbarrier, vec![(inside, data)])?;
                }
                None => warp.bulk_take(lane, vec![(inside, outside, bytes)], None)?,
            }
        }
        Ok(())
    }))
}

/// Adds a bulk copy to the counts. `bytes` is its size in shared memory; `pieces` are the ranges of global-memory
/// addresses, whose sectors are counted once each.
fn copied(warp: &mut Running<'_>, bytes: u64, direction: Direction, pieces: impl IntoIterator<Item = Range<u64>>) {
    warp.counts.bulk_copies += 1;
    warp.counts.bulk_bytes += bytes;
    warp.traffic.count(direction, CachePath::Bypassed, pieces);
}

/// A decoded bulk tensor copy or bulk tensor reduction.
struct TensorCopy {
    /// Address of the box in shared memory.
    inside: Address,
    map: Address,
    coordinates: Vec<u32>,
    /// Address of the mbarrier at which a copy to shared memory arrives; `None` for a copy from shared memory.
    mbarrier: Option<Address>,
    /// The operation of a bulk reduction (`cp.reduce`), such as `add`; `None` for a copy.
    reduction: Option<&'static str>,
}

/// The operations that bulk reductions (`cp.reduce.async.bulk.tensor`) support.
const REDUCTIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];

/// Decodes a bulk tensor copy. Its operands are `[to], [map, {coordinates}], [mbarrier]` for a copy to shared memory,
/// and `[map, {coordinates}], [from]` for one from shared memory.
fn tensor_copy(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let to_shared = is_to_shared(form)?;
    let hinted = usize::from(form.has("L2::cache_hint"));
    let count = 2 + usize::from(to_shared) + hinted;
    operands.expect(count..=count)?;
    let signed = Type::named("s32").unwrap_or(form.ty());
    let (inside, (map, coordinates)) = match to_shared {
        true => (operands.address(0)?, operands.tensor(1, signed)?),
        false => (operands.address(1)?, operands.tensor(0, signed)?),
    };
    let rank = form.find(|word| word.strip_suffix('d')?.parse::<usize>().ok());
    if rank != Some(coordinates.len()) {
        return Err(format!("`{}` with {} coordinates", form.opcode, coordinates.len()));
    }
    let mbarrier = if to_shared { Some(operands.address(2)?) } else { None };
    let reduction = REDUCTIONS.into_iter().find(|operation| form.has(operation));
    if form.opcode.starts_with("cp.reduce") != reduction.is_some() {
        return Err(form.unknown());
    }
    let copied = TensorCopy { inside, map, coordinates, mbarrier, reduction };
    Ok(each(move |warp| warp.lanes().try_for_each(|lane| copied.issue(warp, lane))))
}

impl TensorCopy {
    fn issue(&self, warp: &mut Running<'_>, lane: usize) -> Result<(), DeviceFaultKind> {
        let tensor = self.tensor(warp, lane)?;
        let mut origin = Vec::new();
        for &register in &self.coordinates {
            origin.push(warp.read_defined(register, lane, "a coordinate of the box")? as u32 as i32);
        }
        let to_shared = self.mbarrier.is_some();
        let (shared, global) = match to_shared {
            true => (Direction::Store, Direction::Load),
            false => (Direction::Load, Direction::Store),
        };
        let inside = warp.resolve(PtxSpace::Shared, &self.inside, lane)?.1;
        let inside = aligned(inside, BOX_ALIGNMENT, shared, PtxSpace::Shared, lane)?;
        let pieces: Vec<_> = tensor.pieces(&origin, inside).collect();
        let element = tensor.element_bytes;
        let touched = pieces.iter().filter_map(|piece| piece.address).map(|at| at..at + element);
        copied(warp, tensor.box_bytes(), global, touched);
        let Some(mbarrier) = &self.mbarrier else {
            let taken = pieces.iter().filter_map(|piece| Some((piece.at, piece.address?, element))).collect();
            return warp.bulk_take(lane, taken, self.update(&tensor, lane)?);
        };
        let mut sent = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut data = vec![tensor.outside; element as usize];
            if let Some(address) = piece.address {
                warp.load((PtxSpace::Global, address), &mut data, lane)?;
            }
            sent.push((piece.at, data));
        }
        let mbarrier = warp.resolve(PtxSpace::Shared, mbarrier, lane)?.1;
        warp.bulk_send(lane, mbarrier, sent)
    }

    /// Returns the function that computes an element's new value in a bulk reduction; `None` for a copy.
    fn update(&self, tensor: &Tensor, lane: usize) -> Result<Option<Compute>, DeviceFaultKind> {
        let Some(operation) = self.reduction else { return Ok(None) };
        let ty = tensor.element().and_then(Type::named);
        let form = |ty| Form { opcode: "red", words: vec![operation], types: vec![ty], instructions: &[] };
        let update = ty.and_then(|ty| atomic::updated(&form(ty)));
        let message = || format!("lane {lane}: `{operation}` of elements of {:?} is not supported", tensor.element());
        update.map(Some).ok_or_else(|| DeviceFaultKind::Instruction(message()))
    }

    /// Reads and decodes the tensor map whose address the lane `lane` gives.
    fn tensor(&self, warp: &mut Running<'_>, lane: usize) -> Result<Tensor, DeviceFaultKind> {
        let resolved = warp.resolve(PtxSpace::Generic, &self.map, lane)?;
        let mut bytes = [0; MAP_BYTES];
        warp.load(resolved, &mut bytes, lane)?;
        let wrong = |message: String| DeviceFaultKind::Instruction(format!("lane {lane}: {message}"));
        let tensor = Tensor::from_bytes(&bytes);
        let tensor = tensor.ok_or_else(|| wrong(format!("there is no map of a tensor at {:#x}", resolved.1)))?;
        match tensor.rank == self.coordinates.len() {
            true => Ok(tensor),
            false => Err(wrong(format!("a map of {} axes for {} coordinates", tensor.rank, self.coordinates.len()))),
        }
    }
}

fn commit(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(0..=0)?;
    Ok(each(|warp| {
        warp.lanes().for_each(|lane| warp.bulk_commit(lane));
        Ok(())
    }))
}

fn wait(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let (outstanding, only_read) = (operands.constant(0)? as usize, form.has("read"));
    Ok(each(move |warp| warp.lanes().try_for_each(|lane| warp.bulk_wait(lane, outstanding, only_read))))
}
