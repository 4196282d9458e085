//! Thread-value layouts: which element of a tile each value of each thread is.

use super::{
    ComposedLayout, CuteError, CuteLayout, IntTuple, Tiler, composition, raked_product, right_inverse, zipped_divide,
};

/// A layout `(thread, value)` into a tile, whose elements are counted with the first axis fastest.
///
/// ```
/// use tilewright_layout::cute::ThreadValue;
/// // 8 threads along rows and 4 along columns, each holding two neighbours of a row.
/// let copy = ThreadValue::of_product(&"(8,4):(4,1)".parse()?, &"(1,2):(2,1)".parse()?)?;
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
    /// The layout `(thread, value)` into a tile of a size for each axis.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] where the layout has other than two modes,
    /// [`CuteError::OutsideTile`] where it reaches past the tile.
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

    /// Threads arranged over a tile by the layout `threads` (coordinates of the arrangement to a
    /// thread's number), each holding a block of values arranged by `values`: blocks side by side.
    ///
    /// # Errors
    /// [`CuteError::NotNumbered`] where the numbers of threads or of values leave gaps or repeat; as
    /// [`raked_product`] and [`composition`].
    pub fn of_product(threads: &CuteLayout, values: &CuteLayout) -> Result<Self, CuteError> {
        for arrangement in [threads, values] {
            let (numbered, size) = (right_inverse(arrangement)?.size(), arrangement.size());
            if numbered != size {
                return Err(CuteError::NotNumbered { layout: arrangement.to_string(), numbered, size });
            }
        }
        let numbered = raked_product(threads, values)?;
        let tile = IntTuple::flat(numbered.modes().iter().map(CuteLayout::size));
        // The product numbers the threads of a value first.
        let counts = IntTuple::flat([threads.size(), values.size()]);
        Self::new(&tile, right_inverse(&numbered)?.with_shape(&counts)?)
    }

    /// The sizes of the tile, one an axis.
    pub fn tile(&self) -> &IntTuple {
        &self.tile
    }

    /// The layout `(thread, value)`.
    pub fn layout(&self) -> &CuteLayout {
        &self.layout
    }

    /// The layout as one that may be under swizzles, for [`super::to_linear_modes`].
    ///
    /// # Errors
    /// None for a layout that exists; the type is that of every operation.
    pub fn composed(&self) -> Result<ComposedLayout, CuteError> {
        ComposedLayout::new(Vec::new(), 0, self.layout.clone())
    }

    /// What the threads see of a tensor: `(thread, value, repetition)`, the repetitions being the
    /// tiles of the tensor, a mode an axis.
    ///
    /// # Errors
    /// As [`zipped_divide`] and [`composition`].
    pub fn partition(&self, tensor: &CuteLayout) -> Result<CuteLayout, CuteError> {
        let divided = zipped_divide(tensor, &Tiler::of_shape(&self.tile)?)?;
        let mut parts = divided.modes().into_iter();
        let (Some(tile), Some(rest)) = (parts.next(), parts.next()) else {
            return Ok(divided);
        };
        let mut modes = composition(&tile, &self.layout)?.modes();
        modes.push(rest);
        CuteLayout::from_modes(modes)
    }
}
