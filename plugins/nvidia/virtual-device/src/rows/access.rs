//! PTX instructions that load and store.

use crate::machine::{Access, CachePath, Data, Operation, PtxSpace};
use crate::program::{Form, Operands, Row, Semantics};

const MODIFIERS: &str = "weak relaxed acquire release volatile mmio cta cluster gpu sys ca cg cs lu cv wb wt nc unified \
                         v2 v4 v8 global const shared shared::cta local param param::entry param::func L1:: L2:: level::";
const TYPES: &str = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64";

pub(super) const ROWS: &[Row] = &[
    Row { name: "ld", modifiers: MODIFIERS, types: TYPES, semantics: Semantics::Warp(load) },
    Row { name: "ldu", modifiers: MODIFIERS, types: TYPES, semantics: Semantics::Warp(load) },
    Row { name: "st", modifiers: MODIFIERS, types: TYPES, semantics: Semantics::Warp(store) },
];

fn space(form: &Form<'_>) -> PtxSpace {
    form.find(PtxSpace::named).unwrap_or(PtxSpace::Generic)
}

/// The modifiers of accesses that pass the first-level cache: cache operators, and strong accesses of a scope beyond the
/// block, which its multiprocessor alone does not keep coherent.
const BYPASSES: [&str; 7] = ["cg", "cv", "wt", "volatile", "mmio", "gpu", "sys"];

fn path(form: &Form<'_>) -> CachePath {
    if form.acquires_beyond_block() {
        CachePath::Acquired
    } else if BYPASSES.iter().any(|word| form.has(word)) {
        CachePath::Bypassed
    } else {
        CachePath::Cached
    }
}

/// Returns the number of elements that each lane loads or stores: 1, or 2 to 8 for vectors.
fn elements(form: &Form<'_>) -> usize {
    [("v2", 2), ("v4", 4), ("v8", 8)].into_iter().find(|(word, _)| form.has(word)).map_or(1, |(_, count)| count)
}

fn fits(form: &Form<'_>, found: usize) -> Result<(), String> {
    let expected = elements(form);
    if form.types.len() != 1 || expected * form.ty().width() as usize > 256 {
        return Err(form.unknown());
    }
    if expected == found { Ok(()) } else { Err(format!("`{}` takes {expected} registers, not {found}", form.opcode)) }
}

fn load(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    // A cache policy may be the third operand; it is ignored.
    operands.expect(2..=3)?;
    let to = operands.destinations(0)?;
    fits(form, to.len())?;
    let address = operands.address(1)?;
    Ok(Box::new(Access { space: space(form), address, ty: form.ty(), data: Data::Load(to), path: path(form) }))
}

fn store(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=3)?;
    let from = operands.sources(1, form.ty())?;
    fits(form, from.len())?;
    let address = operands.address(0)?;
    Ok(Box::new(Access { space: space(form), address, ty: form.ty(), data: Data::Store(from), path: path(form) }))
}
