//! Loads the pixels of images that a copy in mode im2col takes; `image` defines them.

use super::image::Image;
use super::term::{Call, Term};
use super::write::ReplacementWriter;
use crate::op::name::{arith, tt};
use crate::transform::{IrCloner, Rewritten, resolve_captured_value, violation};
use crate::{BuildError, FunctionBuilder, TileType, Value, Values};

impl ReplacementWriter<'_> {
    /// Emits the load of the pixels that a copy takes, as a tensor of a row per pixel with its channels. The groups are
    /// the descriptor, the coordinates of the first pixel, the offsets along the spatial axes, and the memory.
    pub(super) fn pixels(&self, cloner: &mut IrCloner<'_, '_, '_>, call: &Call) -> Rewritten<Values> {
        let group = |index: usize| match call.arguments.get(index) {
            Some(Term::Operands(name)) => cloner.from.operands(self.op, name),
            _ => &[],
        };
        let descriptor = group(0).first().map(|&descriptor| resolve_captured_value(cloner.from, descriptor));
        let found = descriptor.and_then(|pointer| Some((pointer, self.images.get(&pointer)?)));
        let memory = group(3).first().and_then(|&memory| cloner.from.value_type(memory).as_memory());
        let (Some((pointer, image)), Some(&[pixels, channels])) = (found, memory.map(|memory| &memory.shape[..]))
        else {
            return Err(violation(cloner, self.op, "a copy of pixels without a descriptor or memory of two axes"));
        };
        let (coordinates, offsets) = (cloner.all(group(1)), cloner.all(group(2)));
        let image = image.in_clone(cloner);
        let pointer = cloner.clone_of(pointer);
        let tile = PixelTile { image: &image, coordinates: &coordinates, offsets: &offsets };
        let emitted = tile.load(cloner.to, pointer, [pixels, channels])?;
        Ok([emitted].into_iter().collect())
    }
}

impl Image {
    fn in_clone(&self, cloner: &IrCloner<'_, '_, '_>) -> Self {
        let all = |values: &[Value]| cloner.all(values).to_vec();
        Self {
            sizes: all(&self.sizes),
            strides: all(&self.strides),
            lower: all(&self.lower),
            upper: all(&self.upper),
            steps: all(&self.steps),
        }
    }
}

/// The pixels of a copy.
struct PixelTile<'a> {
    image: &'a Image,
    /// Coordinates of the first pixel, with batch and channel.
    coordinates: &'a [Value],
    /// Numbers that are added to the position of each pixel along the spatial axes, `i16`.
    offsets: &'a [Value],
}

/// Offsets of elements in an image, in elements, and whether each is inside.
#[derive(Clone, Copy)]
struct Place {
    offset: Value,
    inside: Value,
}

impl PixelTile<'_> {
    fn load(&self, to: &mut FunctionBuilder<'_>, pointer: Value, shape: [u64; 2]) -> Result<Value, BuildError> {
        let [pixels, channels] = shape;
        let rows = self.place_pixels(to, pixels)?.spread(to, 1, shape)?;
        let columns = self.place_channels(to, channels)?.spread(to, 0, shape)?;
        let offset = to.binary(arith::ADDI, rows.offset, columns.offset)?;
        let inside = to.binary(arith::ANDI, rows.inside, columns.inside)?;
        let base = to.splat(pointer, &shape)?;
        let pointers = to.binary(tt::ADDPTR, base, offset)?;
        let pointee = to.ty(pointer).pointee_type().unwrap_or(TileType::integer(8));
        let ty = TileType::tensor(shape, pointee, None);
        let zeros = to.zeros(&ty)?;
        let load =
            to.build_op(tt::LOAD).operands("ptr", &[pointers]).operands("mask", &[inside]).operands("other", &[zeros]);
        load.result(ty).value()
    }

    /// Emits the offset of each pixel, and whether it is inside of the image. Divides the index of a pixel in the
    /// bounding boxes into a position along each axis.
    fn place_pixels(&self, to: &mut FunctionBuilder<'_>, pixels: u64) -> Result<Place, BuildError> {
        let (image, shape) = (self.image, [pixels]);
        let mut index = to.range(pixels)?;
        let mut place: Option<Place> = None;
        for axis in (1..image.sizes.len() - 1).rev() {
            let spatial = axis - 1;
            let (lower, step) = (image.lower[spatial], image.steps[spatial]);
            let begin = to.binary(arith::SUBI, self.coordinates[axis], lower)?;
            let begin = to.binary(arith::DIVSI, begin, step)?;
            let first = to.splat(begin, &shape)?;
            index = to.binary(arith::ADDI, index, first)?;
            let count = self.count_pixels(to, axis)?;
            let count = to.splat(count, &shape)?;
            let position = to.binary(arith::REMSI, index, count)?;
            index = to.binary(arith::DIVSI, index, count)?;
            let steps = to.splat(step, &shape)?;
            let position = to.binary(arith::MULI, position, steps)?;
            let offset = to.unary(arith::EXTSI, self.offsets[spatial], TileType::integer(32))?;
            let origin = to.binary(arith::ADDI, lower, offset)?;
            let origin = to.splat(origin, &shape)?;
            let position = to.binary(arith::ADDI, position, origin)?;
            place = Some(self.place_along(to, axis, position, place)?);
        }
        let first = to.splat(self.coordinates[0], &shape)?;
        let batch = to.binary(arith::ADDI, index, first)?;
        self.place_along(to, 0, batch, place)
    }

    /// Emits the number of pixels of the bounding box along an axis.
    fn count_pixels(&self, to: &mut FunctionBuilder<'_>, axis: usize) -> Result<Value, BuildError> {
        let (image, spatial) = (self.image, axis - 1);
        let end = to.binary(arith::ADDI, image.sizes[axis], image.upper[spatial])?;
        let extent = to.binary(arith::SUBI, end, image.lower[spatial])?;
        let one = to.constant_i32(1)?;
        let last = to.binary(arith::SUBI, extent, one)?;
        let last = to.binary(arith::DIVSI, last, image.steps[spatial])?;
        to.binary(arith::ADDI, last, one)
    }

    fn place_channels(&self, to: &mut FunctionBuilder<'_>, channels: u64) -> Result<Place, BuildError> {
        let axis = self.image.sizes.len() - 1;
        let first = to.splat(self.coordinates[axis], &[channels])?;
        let index = to.range(channels)?;
        let channel = to.binary(arith::ADDI, index, first)?;
        let size = to.splat(self.image.sizes[axis], &[channels])?;
        let inside = to.compare("ult", channel, size)?;
        let wide = to.ty(channel).with_element(TileType::integer(64));
        let offset = to.unary(arith::EXTSI, channel, wide)?;
        Ok(Place { offset, inside })
    }

    /// Adds the position along an axis to `before`, the places along other axes.
    fn place_along(
        &self,
        to: &mut FunctionBuilder<'_>,
        axis: usize,
        position: Value,
        before: Option<Place>,
    ) -> Result<Place, BuildError> {
        let shape = to.ty(position).shape().unwrap_or_default().to_vec();
        let size = to.splat(self.image.sizes[axis], &shape)?;
        let inside = to.compare("ult", position, size)?;
        let wide = to.ty(position).with_element(TileType::integer(64));
        let position = to.unary(arith::EXTSI, position, wide)?;
        let stride = to.splat(self.image.strides[axis], &shape)?;
        let offset = to.binary(arith::MULI, position, stride)?;
        let offset = to.combine(arith::ADDI, before.map(|before| before.offset), offset)?;
        let inside = to.combine(arith::ANDI, before.map(|before| before.inside), inside)?;
        Ok(Place { offset, inside })
    }
}

impl Place {
    /// Repeats places along one axis of a tensor of two axes; the other axis becomes the axis `new`.
    fn spread(self, to: &mut FunctionBuilder<'_>, new: usize, shape: [u64; 2]) -> Result<Self, BuildError> {
        let [offset, inside] = [self.offset, self.inside].map(|value| {
            let mut single = shape;
            single[new] = 1;
            let element = to.ty(value).element().clone();
            let ty = TileType::tensor(single, element.clone(), None);
            let value = to.build_op(tt::EXPAND_DIMS).operand(value).attribute("axis", new as i32).result(ty).value()?;
            to.unary(tt::BROADCAST, value, TileType::tensor(shape, element, None))
        });
        Ok(Self { offset: offset?, inside: inside? })
    }
}
