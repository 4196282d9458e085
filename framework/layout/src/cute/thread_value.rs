//! Thread-value layouts: the element of a tile for each value of each thread.

use super::{
    ComposedLayout, CuteError, CuteLayout, IntTuple, Tiler, composition, raked_product, right_inverse, zipped_divide,
};

/// A thread-value layout: maps `(thread, value)` to an element of a tile, counted with the first axis fastest.
///
/// ```
/// use tilewright_layout::cute::ThreadValue;
/// // 8 threads along rows and 4 along columns, each holding two neighbours of a row.
/// let copy = ThreadValue::from_product(&"(8,4):(4,1)".parse()?, &"(1,2):(2,1)".parse()?)?;
/// assert_eq!(copy.tile().to_string(), "(8,8)");
/// assert_eq!(copy.layout().to_string(), "((4,8),2):((16,1),8)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ThreadValue {
    tile: IntTuple,
    layout: CuteLayout,
}

impl ThreadValue {
    /// Creates the thread-value layout `layout`, from `(thread, value)` to the elements of a tile with the sizes
    /// `tile`, after checks.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] if the layout does not have two modes, [`CuteError::OutsideTile`] if it reaches
    /// beyond the tile.
    pub fn new(tile: &IntTuple, layout: CuteLayout) -> Result<Self, CuteError> {
        if layout.rank() != 2 {
            return Err(CuteError::NotCongruent {
                left: layout.to_string(),
                right: "(thread, value)".to_owned(),
                remedy: "give one mode for threads and one for their values",
            });
        }
        let (size, last) = (tile.product()?, layout.cosize() - 1);
        if last >= size {
            return Err(CuteError::OutsideTile { last, tile: tile.to_string(), size });
        }
        let sizes = tile.modes().iter().map(IntTuple::product).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { tile: IntTuple::flat(sizes), layout })
    }

    /// The thread-value layout whose threads cover a tile by the layout `threads` (from grid coordinates to the thread
    /// index); each thread holds a block of elements by the layout `values` (from coordinates in the block to the value
    /// index). Blocks lie next to each other.
    ///
    /// # Errors
    /// [`CuteError::NotNumbered`] if the indices of threads or of values have gaps or repeat; as [`raked_product`] and
    /// [`composition`].
    pub fn from_product(threads: &CuteLayout, values: &CuteLayout) -> Result<Self, CuteError> {
        for numbering in [threads, values] {
            let (numbered, size) = (right_inverse(numbering)?.size(), numbering.size());
            if numbered != size {
                return Err(CuteError::NotNumbered { layout: numbering.to_string(), numbered, size });
            }
        }
        let numbered = raked_product(threads, values)?;
        let tile = IntTuple::flat(numbered.modes().iter().map(CuteLayout::size));
        // The product numbers the threads of one value before the next value.
        let counts = IntTuple::flat([threads.size(), values.size()]);
        Self::new(&tile, right_inverse(&numbered)?.with_shape(&counts)?)
    }

    /// Sizes of the tile, one for each axis.
    pub fn tile(&self) -> &IntTuple {
        &self.tile
    }

    /// The layout from `(thread, value)` to an element of the tile.
    pub fn layout(&self) -> &CuteLayout {
        &self.layout
    }

    /// The layout as a [`ComposedLayout`], for [`super::to_linear_modes`].
    ///
    /// # Errors
    /// None for a valid layout; it returns a `Result` as every operation does.
    pub fn composed(&self) -> Result<ComposedLayout, CuteError> {
        ComposedLayout::new(Vec::new(), 0, self.layout.clone())
    }

    /// Partitions a tensor among the threads: `(thread, value, repetition)`. The repetitions are the tiles of the
    /// tensor, one mode for each axis.
    ///
    /// # Errors
    /// As [`zipped_divide`] and [`composition`].
    pub fn partition(&self, tensor: &CuteLayout) -> Result<CuteLayout, CuteError> {
        let divided = zipped_divide(tensor, &Tiler::from_shape(&self.tile)?)?;
        let mut tile_and_rest = divided.modes().into_iter();
        let (Some(tile), Some(rest)) = (tile_and_rest.next(), tile_and_rest.next()) else {
            return Ok(divided);
        };
        let mut modes = composition(&tile, &self.layout)?.modes();
        modes.push(rest);
        CuteLayout::from_modes(modes)
    }
}
