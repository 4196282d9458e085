//! Layouts: parsing, printing, queries and algebra.

use std::ffi::{CString, c_char};

use tilewright::LayoutRequest;
use tilewright_layout::cute;
use tilewright_layout::{Dim, Layout, LinearLayout, layout_to_json};

use crate::blob::tw_blob;
use crate::boundary::{borrowed, fill, guarded, out_pointer, read_array, read_optional_text, read_text};
use crate::error::{Failure, TW_ERROR_INPUT, tw_error};
use crate::handle::{destroy, handle, text};
use crate::session::tw_session;

/// The dims that a layout maps from: register, lane, warp and block; for a memory layout offset and block.
pub const TW_SIDE_IN: u32 = 0;
/// The dims that a layout maps to: the axes of a tensor.
pub const TW_SIDE_OUT: u32 = 1;

/// A layout of a tensor: a linear map over F2; a memory layout may add padding.
pub struct tw_layout {
    pub(crate) layout: Layout,
    sides: [Vec<(CString, u64)>; 2],
}

impl tw_layout {
    pub(crate) fn of(layout: Layout) -> Self {
        let linear = layout.linear();
        let named = |(dim, bits): (Dim, u32)| (text(dim.to_string()), 1 << bits);
        let sides = [linear.ins().iter().map(named).collect(), linear.outs().iter().map(named).collect()];
        Self { layout, sides }
    }

    fn side(&self, side: u32) -> Result<&[(CString, u64)], Failure> {
        let dims = usize::try_from(side).ok().and_then(|side| self.sides.get(side));
        dims.map(Vec::as_slice)
            .ok_or_else(|| Failure::argument(format!("there is no side {side}; TW_SIDE_IN or TW_SIDE_OUT")))
    }

    /// Returns the linear map of a layout; an error if the layout has padding.
    pub(crate) fn unpadded(&self, name: &str) -> Result<&LinearLayout, Failure> {
        match &self.layout {
            Layout::Memory(memory) if !memory.padding.is_empty() => {
                Err(Failure::new(TW_ERROR_INPUT, format!("`{name}` is padded; expected a layout without padding")))
            }
            layout => Ok(layout.linear()),
        }
    }
}

/// An input or output dim of a layout, with its name and size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tw_dim {
    /// The size of this struct, which the caller sets.
    pub struct_size: usize,
    /// The name of the dim: "register", "lane", "warp", "block", "offset", "row", "col", "dim0", "dim1", ... Lives as
    /// long as the layout.
    pub name: *const c_char,
    /// Number of positions along the dim, a power of two.
    pub size: u64,
}

/// Parses a layout for a tensor with the `rank` sizes `shape`. `layout` is a family's attribute in Triton's syntax
/// (`#ttg.blocked<{...}>`), or JSON of a family or of bases; a family is a named constructor of layouts. With a null
/// `target`, all plugins are searched for the family. Available since 1.0.
///
/// # Safety
/// `session` is a handle, `layout` and `target` are texts, `shape` points to `rank` sizes; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_read(
    session: *const tw_session,
    target: *const c_char,
    layout: *const c_char,
    shape: *const u64,
    rank: usize,
    out: *mut *mut tw_layout,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` is a handle and that `out` may be written.
        let (session, out) = unsafe { (borrowed("session", session)?, out_pointer(out)?) };
        // SAFETY: the caller promises that `target` is null or a C string, and `layout` a C string.
        let (target, text) = unsafe { (read_optional_text("target", target)?, read_text("layout", layout)?) };
        // SAFETY: the caller promises that `shape` points to `rank` sizes.
        let shape = unsafe { read_array("shape", shape, rank) }?;
        let request = LayoutRequest::from_text(text)?;
        let layout = session.heard(|| request.resolve_layout(&session.session, target, shape))?;
        *out = handle(tw_layout::of(layout));
        Ok(())
    })
}

/// Prints a layout as `linear` (an attribute with bases), `json` (its bases) or `cute` (CuTe notation). Available since
/// 1.0.
///
/// # Safety
/// `session` and `layout` are handles, `notation` is a text; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_write(
    session: *const tw_session,
    layout: *const tw_layout,
    notation: *const c_char,
    out: *mut *mut tw_blob,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `session` and `layout` are handles and that `out` may be written.
        let (session, layout, out) =
            unsafe { (borrowed("session", session)?, borrowed("layout", layout)?, out_pointer(out)?) };
        // SAFETY: the caller promises that `notation` is a C string.
        let notation = unsafe { read_text("notation", notation) }?;
        *out = handle(tw_blob::of(written(session, &layout.layout, notation)?));
        Ok(())
    })
}

fn written(session: &tw_session, layout: &Layout, notation: &str) -> Result<String, Failure> {
    let wrong = |message: String| Failure::new(TW_ERROR_INPUT, message);
    match notation {
        "json" => Ok(layout_to_json(layout.linear()).to_string()),
        "cute" => {
            cute::from_tensor_layout(layout).map(|cute| cute.to_string()).map_err(|error| wrong(error.to_string()))
        }
        "linear" => {
            let spec = layout
                .to_spec()
                .ok_or_else(|| wrong("no attribute represents the bases of this layout; use `json`".to_owned()))?;
            Ok(session.heard(|| session.session.attribute_syntaxes(None))?.print_spec(&spec))
        }
        _ => Err(Failure::argument(format!("there is no notation `{notation}`; there are linear, json and cute"))),
    }
}

/// Returns the number of dims on a side, `TW_SIDE_IN` or `TW_SIDE_OUT`; zero for null and for other numbers. Available
/// since 1.0.
///
/// # Safety
/// `layout` is null, or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_dim_count(layout: *const tw_layout, side: u32) -> usize {
    // SAFETY: the caller promises that `layout` is null or a handle.
    let layout = unsafe { layout.as_ref() };
    layout.and_then(|layout| layout.side(side).ok()).map_or(0, <[_]>::len)
}

/// Returns the dim of a layout at `index` on a side, the most minor first. Available since 1.0.
///
/// # Safety
/// `layout` is a handle; `out` points to a struct that begins with its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_dim(
    layout: *const tw_layout,
    side: u32,
    index: usize,
    out: *mut tw_dim,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `layout` is a handle.
        let dims = unsafe { borrowed("layout", layout) }?.side(side)?;
        let Some((name, size)) = dims.get(index) else {
            return Err(Failure::argument(format!("there is no dim {index}; there are {}", dims.len())));
        };
        let dim = tw_dim { struct_size: size_of::<tw_dim>(), name: name.as_ptr(), size: *size };
        // SAFETY: the caller promises that `out` points to a struct that begins with its size.
        unsafe { fill("out", &dim, out) }
    })
}

/// Maps a position by a layout: takes one coordinate for each input dim, in order, and returns one for each output dim.
/// Offsets of a padded layout are those before padding. Available since 1.0.
///
/// # Safety
/// `layout` is a handle; `position` points to `in_count` numbers, `coordinates` to space for `out_count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_apply(
    layout: *const tw_layout,
    position: *const u64,
    in_count: usize,
    coordinates: *mut u64,
    out_count: usize,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `layout` is a handle.
        let linear = unsafe { borrowed("layout", layout) }?.layout.linear();
        // SAFETY: the caller promises that `position` points to `in_count` numbers.
        let position = unsafe { read_array("position", position, in_count) }?;
        let (ins, outs) = (linear.ins().len(), linear.outs().len());
        if (in_count, out_count) != (ins, outs) || coordinates.is_null() {
            let message = format!(
                "the layout maps {ins} coordinates to {outs}; {in_count} coordinates and space for {out_count} were \
                 passed"
            );
            return Err(Failure::argument(message));
        }
        let position: Vec<_> = linear.ins().dims().zip(position.iter().copied()).collect();
        for (index, (_, coordinate)) in linear.apply(&position)?.iter().enumerate() {
            // SAFETY: the caller promises space for `out_count` coordinates, which was checked to be the number of
            // output dims.
            unsafe { coordinates.add(index).write(*coordinate) };
        }
        Ok(())
    })
}

/// Returns 1 if two layouts are the same map, regardless of their families, else 0; 0 if one is null. Available since
/// 1.0.
///
/// # Safety
/// Both are null, or handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_equal(one: *const tw_layout, other: *const tw_layout) -> i32 {
    // SAFETY: the caller promises that both are null or handles.
    let both = unsafe { one.as_ref().zip(other.as_ref()) };
    i32::from(both.is_some_and(|(one, other)| one.layout == other.layout))
}

/// Applies `function` to the linear maps of two layouts, and writes a handle to the resulting layout to `out`. An error
/// if one of the layouts has padding.
unsafe fn of_two(
    one: *const tw_layout,
    other: *const tw_layout,
    out: *mut *mut tw_layout,
    function: impl FnOnce(&LinearLayout, &LinearLayout) -> Result<LinearLayout, tilewright_layout::LayoutError>,
) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the calling interface function requires that `one` and `other` are handles and that `out` may be
        // written.
        let (one, other, out) = unsafe { (borrowed("one", one)?, borrowed("other", other)?, out_pointer(out)?) };
        *out = handle(tw_layout::of(function(one.unpadded("one")?, other.unpadded("other")?)?.into()));
        Ok(())
    })
}

/// Composes two layouts: first `one`, then `other`. Available since 1.0.
///
/// # Safety
/// `one` and `other` are handles; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_compose(
    one: *const tw_layout,
    other: *const tw_layout,
    out: *mut *mut tw_layout,
) -> *mut tw_error {
    // SAFETY: the caller promises that `one` and `other` are handles and that `out` may be written.
    unsafe { of_two(one, other, out, LinearLayout::compose) }
}

/// Composes `one` with the inverse of `other`: maps positions of `one` to positions of `other` with the same elements.
/// Available since 1.0.
///
/// # Safety
/// `one` and `other` are handles; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_invert_and_compose(
    one: *const tw_layout,
    other: *const tw_layout,
    out: *mut *mut tw_layout,
) -> *mut tw_error {
    // SAFETY: the caller promises that `one` and `other` are handles and that `out` may be written.
    unsafe { of_two(one, other, out, LinearLayout::invert_and_compose) }
}

/// Returns the direct sum of two layouts: in a shared output dim, the coordinates of `other` are shifted above those of
/// `one`. Available since 1.0.
///
/// # Safety
/// `one` and `other` are handles; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_direct_sum(
    one: *const tw_layout,
    other: *const tw_layout,
    out: *mut *mut tw_layout,
) -> *mut tw_error {
    // SAFETY: the caller promises that `one` and `other` are handles and that `out` may be written.
    unsafe { of_two(one, other, out, LinearLayout::direct_sum) }
}

/// Returns the inverse of a layout that holds every element once. Available since 1.0.
///
/// # Safety
/// `layout` is a handle; `out` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_invert(layout: *const tw_layout, out: *mut *mut tw_layout) -> *mut tw_error {
    guarded(|| {
        // SAFETY: the caller promises that `layout` is a handle and that `out` may be written.
        let (layout, out) = unsafe { (borrowed("layout", layout)?, out_pointer(out)?) };
        *out = handle(tw_layout::of(layout.unpadded("layout")?.invert()?.into()));
        Ok(())
    })
}

/// Frees a layout. Available since 1.0.
///
/// # Safety
/// `layout` is null, or a handle that was not destroyed and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_layout_destroy(layout: *mut tw_layout) {
    // SAFETY: the caller promises that `layout` is null or a handle that nothing else uses.
    unsafe { destroy(layout) }
}
