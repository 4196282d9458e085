//! Instructions by which a kernel creates tensor maps: `tensormap.replace` sets fields in shared memory,
//! `tensormap.cp_fenceproxy` copies the map to global memory. Its fence has no effect, as all fences. Source: PTX ISA,
//! "tensormap.replace", "tensormap.cp_fenceproxy".

use tilewright_target::Direction;

use crate::machine::{CachePath, DeviceFaultKind, LANES, MAP_BYTES, Operation, PtxSpace, Running, Tensor, each};
use crate::program::{Form, Operands, Row, Semantics};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "tensormap.replace",
        modifiers: "tile global_address rank box_dim global_dim global_stride element_stride elemtype \
                    interleave_layout swizzle_mode fill_mode global shared::cta b1024",
        types: "b32 b64",
        semantics: Semantics::Warp(replace),
    },
    Row {
        name: "tensormap.cp_fenceproxy",
        modifiers: "global shared::cta tensormap::generic release cta cluster gpu sys sync aligned",
        types: "",
        semantics: Semantics::Warp(copy),
    },
];

/// The fields of a tensor map that `tensormap.replace` can set.
const FIELDS: [&str; 10] = [
    "global_address",
    "rank",
    "box_dim",
    "global_dim",
    "global_stride",
    "element_stride",
    "elemtype",
    "interleave_layout",
    "swizzle_mode",
    "fill_mode",
];

/// Decodes `tensormap.replace` with operands `[map], {axis,} value`.
fn replace(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let field = FIELDS.into_iter().find(|field| form.has(field)).ok_or_else(|| form.unknown())?;
    let has_axis = field.ends_with("_dim") || field.ends_with("_stride");
    operands.expect(2 + usize::from(has_axis)..=2 + usize::from(has_axis))?;
    let map = operands.address(0)?;
    let axis = if has_axis { operands.constant(1)? as usize } else { 0 };
    let value = operands.source(1 + usize::from(has_axis), form.ty())?;
    let space = form.find(PtxSpace::named).unwrap_or(PtxSpace::Generic);
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let value = warp.read_defined(value, lane, "a field of a tensor map")?;
            let at = warp.resolve(space, &map, lane)?;
            let wrong = |message: String| DeviceFaultKind::Instruction(format!("lane {lane}: {message}"));
            let bytes = read_map(warp, at, lane)?;
            let known = if bytes == [0; MAP_BYTES] { Some(Tensor::blank()) } else { Tensor::from_bytes(&bytes) };
            let mut tensor = known.ok_or_else(|| wrong(format!("there is no map of a tensor at {:#x}", at.1)))?;
            tensor.replace(field, axis, value).map_err(wrong)?;
            warp.store(at, &tensor.to_bytes(), true, lane)?;
        }
        Ok(())
    }))
}

/// Decodes `tensormap.cp_fenceproxy` with operands `[to], [from], 128`. All lanes copy the same map, so the warp copies
/// it once.
fn copy(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let (to, from) = (operands.address(0)?, operands.address(1)?);
    if operands.constant(2)? != MAP_BYTES as u64 {
        return Err(format!("a tensor map has {MAP_BYTES} bytes"));
    }
    Ok(each(move |warp| {
        warp.check_convergent(u32::MAX)?;
        let Some(lane) = warp.lanes().next() else { return Ok(()) };
        let from = warp.resolve(PtxSpace::Shared, &from, lane)?;
        let to = warp.resolve(PtxSpace::Global, &to, lane)?;
        let bytes = read_map(warp, from, lane)?;
        warp.store(to, &bytes, true, lane)?;
        let mut written = [None; LANES];
        written[lane] = Some(to);
        warp.count((Direction::Store, CachePath::Bypassed), &written, MAP_BYTES as u32)
    }))
}

/// Reads the 128 bytes of a tensor map; a fault unless the address is a multiple of 128.
fn read_map(warp: &mut Running<'_>, at: (PtxSpace, u64), lane: usize) -> Result<[u8; MAP_BYTES], DeviceFaultKind> {
    let (direction, (space, address), alignment) = (Direction::Load, at, MAP_BYTES as u64);
    if !address.is_multiple_of(alignment) {
        return Err(DeviceFaultKind::Misaligned { direction, space, address, alignment, lane: lane as u32 });
    }
    let mut bytes = [0; MAP_BYTES];
    warp.load(at, &mut bytes, lane)?;
    Ok(bytes)
}
