//! Descriptors of images, for copies of pixels to shared memory (mode im2col of CUDA's bulk tensor copies).
//!
//! A descriptor of images describes a tensor with a batch axis, one to three spatial axes, and a contiguous channel
//! axis. It has a bounding box of pixels, which may begin and end outside of the image, and the step between pixels
//! along each axis. A copy takes pixels of the bounding box, one after the other from its coordinates on, the last
//! spatial axis fastest, and behind the last pixel those of the next image of the batch. It adds offsets to the
//! positions of pixels, and reads zeros outside of the image.
//!
//! No operation of a program states these numbers, so they become arguments of the function, and a copy is an ordinary
//! load from computed addresses.
//!
//! Source: PTX ISA, "Im2col mode"; CUDA Driver API, `cuTensorMapEncodeIm2col`.

use std::collections::HashMap;

use super::ForeignOpReplacements;
use super::plain::element;
use super::term::{Call, Term};
use crate::transform::resolve_captured_value;
use crate::{Attributes, Block, Function, FunctionBody, Op, TileType, TileViolation, Value};

/// Name of the list function of import terms that loads pixels.
pub(super) const PIXELS: &str = "pixels";

/// Alignment of tensors that bulk tensor copies read, and of their strides, in bytes.
const ALIGNMENT: u32 = 16;

const DIVISIBILITY: &str = "tt.divisibility";

/// Maximum number of axes of a tensor of images, with batch and channels.
const MAX_RANK: usize = 5;

/// The numbers of a descriptor of images: arguments of the function. The pointer is the descriptor's argument.
#[derive(Debug, Clone)]
pub(super) struct Image {
    /// Size along each axis, in elements.
    pub(super) sizes: Vec<Value>,
    /// Stride along each axis, in elements.
    pub(super) strides: Vec<Value>,
    /// Begin of the bounding box along each spatial axis, relative to the first pixel.
    pub(super) lower: Vec<Value>,
    /// End of the bounding box along each spatial axis, relative to the last pixel.
    pub(super) upper: Vec<Value>,
    /// Step between pixels along each spatial axis.
    pub(super) steps: Vec<Value>,
}

/// For each argument that is a descriptor of images, its numbers.
pub(super) type Images = HashMap<Value, Image>;

/// Replaces each descriptor of images among a function's arguments by a pointer, and appends its other numbers to the
/// arguments.
///
/// # Errors
/// A [`TileViolation`] at a copy whose descriptor is no argument of the function, or that has other coordinates than
/// another copy of the descriptor.
pub(super) fn expand_images(
    mut function: Function,
    imports: &ForeignOpReplacements,
) -> Result<(Function, Images), TileViolation> {
    let mut images = Images::new();
    let Some(mut body) = function.body.take() else { return Ok((function, images)) };
    for value in body.values() {
        if let Some(pointee) = image_element(body.value_type(value), imports) {
            body.set_type(value, TileType::pointer(pointee));
        }
    }
    if let Some(&entry) = body.blocks(body.root()).first() {
        for op in body.walk_region(body.root()) {
            let Some(copy) = PixelCopy::find(&body, op, imports) else { continue };
            let new = copy
                .new_image(&body, entry, &images)
                .map_err(|message| TileViolation::of(&function, body.op(op), message))?;
            if let Some(argument) = new {
                let image = append_image(&mut function, &mut body, (entry, argument), copy.coordinates.len());
                images.insert(body.arguments(entry)[argument], image);
            }
        }
        function.signature.arguments =
            body.arguments(entry).iter().map(|&value| body.value_type(value).clone()).collect();
    }
    function.body = Some(body);
    Ok((function, images))
}

/// Appends the numbers of a descriptor of images of `rank` axes to the arguments; `argument` is the index of its
/// pointer.
fn append_image(
    function: &mut Function,
    body: &mut FunctionBody,
    (entry, argument): (Block, usize),
    rank: usize,
) -> Image {
    let pointee = body.value_type(body.arguments(entry)[argument]).pointee_type();
    let bytes = pointee.and_then(|pointee| pointee.element_bits()).map_or(1, |bits| bits / 8).max(1);
    function.arguments[argument].set(DIVISIBILITY, ALIGNMENT as i32);
    let mut append = |count: usize, bits: u32, divisor: Option<u32>| -> Vec<Value> {
        let mut attributes = Attributes::default();
        if let Some(divisor) = divisor {
            attributes.set(DIVISIBILITY, divisor as i32);
        }
        function.arguments.extend(std::iter::repeat_n(attributes, count));
        (0..count).map(|_| body.add_argument(entry, TileType::integer(bits))).collect()
    };
    Image {
        sizes: append(rank, 32, None),
        strides: append(rank, 64, Some(ALIGNMENT / bytes)),
        lower: append(rank - 2, 32, None),
        upper: append(rank - 2, 32, None),
        steps: append(rank - 2, 32, None),
    }
}

/// Returns the element type of the images that a descriptor type describes; `None` if it is none.
fn image_element(ty: &TileType, imports: &ForeignOpReplacements) -> Option<TileType> {
    let TileType::Foreign(text) = ty else { return None };
    let (name, parameters) = text.split_once('<')?;
    if !imports.images.contains(name) {
        return None;
    }
    let block = parameters.split([',', '>']).next()?;
    element(block.rsplit('x').next()?.trim())
}

/// The operands of a copy of pixels.
struct PixelCopy {
    descriptor: Value,
    coordinates: Vec<Value>,
}

impl PixelCopy {
    /// Returns the operands of an operation that copies pixels by its import rule; `None` if it copies none.
    fn find(body: &FunctionBody, op: Op, imports: &ForeignOpReplacements) -> Option<Self> {
        let replacement = imports.operations.get(body.op(op).name())?;
        let call = replacement.terms_for(body.op(op)).iter().find_map(find_pixels)?;
        let operands = |index: usize| match call.arguments.get(index) {
            Some(Term::Operands(name)) => body.operands(op, name).to_vec(),
            _ => Vec::new(),
        };
        Some(Self { descriptor: *operands(0).first()?, coordinates: operands(1) })
    }

    /// Returns the index of the argument of the function that is the copy's descriptor; `None` if `images` has it. The
    /// error is the reason why the copy has no meaning.
    fn new_image(&self, body: &FunctionBody, entry: Block, images: &Images) -> Result<Option<usize>, String> {
        let (rank, pointer) = (self.coordinates.len(), resolve_captured_value(body, self.descriptor));
        let argument = body.arguments(entry).iter().position(|&argument| argument == pointer);
        let argument = argument.ok_or("its descriptor of images is no argument of the function")?;
        if !(3..=MAX_RANK).contains(&rank) {
            return Err(format!("{rank} coordinates of an image: expected 3 to {MAX_RANK}"));
        }
        match images.get(&pointer) {
            None => Ok(Some(argument)),
            Some(image) if image.sizes.len() == rank => Ok(None),
            Some(image) => Err(format!("{rank} coordinates, and another copy of the image has {}", image.sizes.len())),
        }
    }
}

/// Returns the call of the list function [`PIXELS`] in a term.
fn find_pixels(term: &Term) -> Option<&Call> {
    let Term::Call(call) = term else { return None };
    if call.name == PIXELS { Some(call) } else { call.arguments.iter().find_map(find_pixels) }
}
