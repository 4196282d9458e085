//! Operations that reorder, split or rename the dims of a layout and keep the map.

use crate::f2::Columns;

use super::space::{Move, scatter};
use super::{Dim, LayoutError, LinearLayout, Space};

impl LinearLayout {
    /// The same map with the out dims listed in the given order.
    ///
    /// # Errors
    /// `order` is not a permutation of the out dims.
    #[doc(alias = "transposeOuts")]
    pub fn transpose_outs(&self, order: &[Dim]) -> Result<Self, LayoutError> {
        let mut result = Self { ins: self.ins.clone(), outs: reordered(&self.outs, order)?, columns: Columns::new() };
        let moves = self.outs.embedding(&result.outs)?;
        result.columns.extend(self.columns.iter().map(|&column| scatter(&moves, column)));
        Ok(result)
    }

    /// The same map with the input dims listed in the given order.
    ///
    /// # Errors
    /// `order` is not a permutation of the input dims.
    #[doc(alias = "transposeIns")]
    pub fn transpose_ins(&self, order: &[Dim]) -> Result<Self, LayoutError> {
        let ins = reordered(&self.ins, order)?;
        let columns = order.iter().flat_map(|&dim| self.columns_of(dim)).copied().collect();
        Ok(Self { ins, outs: self.outs.clone(), columns })
    }

    /// Replaces the out dims by `outs`; every packed out coordinate stays the same.
    ///
    /// # Errors
    /// The total size of `outs` differs from before, or a size is no power of two.
    #[doc(alias = "reshapeOuts")]
    pub fn reshape_outs(&self, outs: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let outs = same_size(&self.outs, outs)?;
        Ok(Self { ins: self.ins.clone(), outs, columns: self.columns.clone() })
    }

    /// Replaces the input dims by `ins`; the map from packed inputs stays the same.
    ///
    /// # Errors
    /// The total size of `ins` differs from before, or a size is no power of two.
    #[doc(alias = "reshapeIns")]
    pub fn reshape_ins(&self, ins: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let ins = same_size(&self.ins, ins)?;
        Ok(Self { ins, outs: self.outs.clone(), columns: self.columns.clone() })
    }

    /// Merges all out dims into one, which has the name of the first; a layout without out dims stays as it is.
    #[must_use]
    #[doc(alias = "flattenOuts")]
    pub fn flatten_outs(&self) -> Self {
        Self { ins: self.ins.clone(), outs: flattened(&self.outs), columns: self.columns.clone() }
    }

    /// Merges all input dims into one, which has the name of the first; a layout without input dims stays as it is.
    #[must_use]
    #[doc(alias = "flattenIns")]
    pub fn flatten_ins(&self) -> Self {
        Self { ins: flattened(&self.ins), outs: self.outs.clone(), columns: self.columns.clone() }
    }

    /// Drops out dims of size one.
    #[must_use]
    #[doc(alias = "squeezeOuts")]
    pub fn squeeze_outs(&self) -> Self {
        Self { ins: self.ins.clone(), outs: squeezed(&self.outs), columns: self.columns.clone() }
    }

    /// Drops input dims of size one.
    #[must_use]
    #[doc(alias = "squeezeIns")]
    pub fn squeeze_ins(&self) -> Self {
        Self { ins: squeezed(&self.ins), outs: self.outs.clone(), columns: self.columns.clone() }
    }

    /// Adds an out dim of size one behind the others.
    ///
    /// # Errors
    /// The dim is there already.
    #[doc(alias = "unsqueezeOut")]
    pub fn unsqueeze_outs(&self, dim: Dim) -> Result<Self, LayoutError> {
        let mut outs = self.outs.clone();
        outs.push(dim, 0)?;
        Ok(Self { ins: self.ins.clone(), outs, columns: self.columns.clone() })
    }

    /// Adds an input dim of size one behind the others.
    ///
    /// # Errors
    /// The dim is there already.
    #[doc(alias = "unsqueezeIn")]
    pub fn unsqueeze_ins(&self, dim: Dim) -> Result<Self, LayoutError> {
        let mut ins = self.ins.clone();
        ins.push(dim, 0)?;
        Ok(Self { ins, outs: self.outs.clone(), columns: self.columns.clone() })
    }

    /// Gives an input dim another name.
    ///
    /// # Errors
    /// The dim is absent, or the new name is taken.
    #[doc(alias = "renameInDim")]
    #[doc(alias = "renameLinearLayoutDims")]
    pub fn rename_in(&self, from: Dim, to: Dim) -> Result<Self, LayoutError> {
        let ins = renamed(&self.ins, from, to)?;
        Ok(Self { ins, outs: self.outs.clone(), columns: self.columns.clone() })
    }

    /// Gives an out dim another name.
    ///
    /// # Errors
    /// The dim is absent, or the new name is taken.
    #[doc(alias = "renameOutDim")]
    #[doc(alias = "renameLinearLayoutDims")]
    pub fn rename_out(&self, from: Dim, to: Dim) -> Result<Self, LayoutError> {
        let outs = renamed(&self.outs, from, to)?;
        Ok(Self { ins: self.ins.clone(), outs, columns: self.columns.clone() })
    }

    /// Drops an axis of the tensor, and names the later axes one lower (Triton `removeStandardDim`).
    ///
    /// # Errors
    /// The axis is absent.
    #[doc(alias = "removeStandardDim")]
    pub fn remove_axis(&self, axis: Dim) -> Result<Self, LayoutError> {
        require(&self.outs, axis)?;
        let ins: Vec<_> = self.ins.dims().collect();
        let outs: Vec<_> = self.outs.dims().filter(|&dim| dim != axis).collect();
        Ok(self.sublayout(&ins, &outs)?.renumber_axes())
    }

    /// Names the tensor axes among the out dims `dim0`, `dim1`, ..., in the order of their numbers.
    #[must_use]
    pub fn renumber_axes(&self) -> Self {
        let mut axes: Vec<_> = self.outs.dims().filter(|dim| dim.as_tensor_axis().is_some()).collect();
        axes.sort();
        let mut outs = Space::default();
        for (dim, bits) in self.outs.iter() {
            let number = axes.iter().position(|&axis| axis == dim);
            // Cannot fail: the names are distinct, and the space is no larger than the valid one that it renames.
            let _ = outs.push_new(number.map_or(dim, Dim::tensor), bits);
        }
        Self { ins: self.ins.clone(), outs, columns: self.columns.clone() }
    }

    /// Sets the size of an input dim: shrinking drops its top bases, growing appends zero bases.
    ///
    /// # Errors
    /// The dim is absent, the size is no power of two, or 64 bits are exceeded.
    #[doc(alias = "resizeInDim")]
    pub fn resize_in(&self, dim: Dim, size: u64) -> Result<Self, LayoutError> {
        let sized = Space::from_sizes(&[(dim, size)])?;
        if !self.ins.contains(dim) {
            return Err(LayoutError::NoSuchDim { dim });
        }
        let bits = sized.total_bits() as usize;
        let mut ins = Space::default();
        let mut columns = Columns::new();
        for (d, old) in self.ins.iter() {
            let own = self.columns_of(d);
            if d == dim {
                ins.push(d, bits as u32)?;
                columns.extend(own.iter().copied().chain(std::iter::repeat(0)).take(bits));
            } else {
                ins.push(d, old)?;
                columns.extend_from_slice(own);
            }
        }
        Ok(Self { ins, outs: self.outs.clone(), columns })
    }

    /// Sets the size of an out dim. A basis whose coordinate along `dim` no longer fits moves by zero along it, as for
    /// a tensor smaller than the layout's tile; its other coordinates stay (Triton `resizeOutDim`).
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let (axis, bases) = (Dim::tensor(0), |list: [u64; 3]| list.map(|by| vec![by]).to_vec());
    /// let layout = LinearLayout::from_bases(&[(Dim::LANE, bases([1, 6, 2]))], &[(axis, 8)])?;
    /// assert_eq!(layout.resize_out(axis, 4)?.bases_of(Dim::LANE), bases([1, 0, 2]));
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// The dim is absent, the size is no power of two, or 64 bits are exceeded.
    #[doc(alias = "resizeOutDim")]
    pub fn resize_out(&self, dim: Dim, size: u64) -> Result<Self, LayoutError> {
        let sized = Space::from_sizes(&[(dim, size)])?;
        if !self.outs.contains(dim) {
            return Err(LayoutError::NoSuchDim { dim });
        }
        self.with_out_bits(|d, bits| if d == dim { sized.total_bits() } else { bits })
    }

    /// The same map onto out dims of other sizes: `sized` returns the new number of bits of a dim from the dim and the
    /// old number. A basis coordinate that no longer fits becomes zero.
    pub(super) fn with_out_bits(&self, sized: impl Fn(Dim, u32) -> u32) -> Result<Self, LayoutError> {
        let mut outs = Space::default();
        for (dim, bits) in self.outs.iter() {
            outs.push_new(dim, sized(dim, bits))?;
        }
        let resizing = self.outs.resizing(&outs)?;
        let columns = self.columns.iter().map(|&column| resizing.apply(column)).collect();
        Ok(Self { ins: self.ins.clone(), outs, columns })
    }

    /// The part of the map from the given input dims to the given out dims, both in this layout's
    /// order; sizes stay.
    ///
    /// # Errors
    /// A dim is absent.
    pub fn sublayout(&self, ins: &[Dim], outs: &[Dim]) -> Result<Self, LayoutError> {
        for &dim in ins {
            require(&self.ins, dim)?;
        }
        for &dim in outs {
            require(&self.outs, dim)?;
        }
        let mut kept_ins = Space::default();
        let mut kept_outs = Space::default();
        for (dim, bits) in self.ins.iter().filter(|(dim, _)| ins.contains(dim)) {
            kept_ins.push(dim, bits)?;
        }
        for (dim, bits) in self.outs.iter().filter(|(dim, _)| outs.contains(dim)) {
            kept_outs.push(dim, bits)?;
        }
        let mut moves = kept_outs.embedding(&self.outs)?;
        moves.iter_mut().for_each(Move::reverse);
        let columns = kept_ins.dims().flat_map(|dim| self.columns_of(dim));
        let columns = columns.map(|&column| scatter(&moves, column)).collect();
        Ok(Self { ins: kept_ins, outs: kept_outs, columns })
    }

    /// Whether the part of the map from the given input dims to the given out dims is zero.
    ///
    /// # Errors
    /// A dim is absent.
    #[doc(alias = "sublayoutIsZero")]
    pub fn sublayout_is_zero(&self, ins: &[Dim], outs: &[Dim]) -> Result<bool, LayoutError> {
        Ok(self.sublayout(ins, outs)?.columns.iter().all(|&column| column == 0))
    }

    /// Drops the zero bases of one input dim and moves the others down.
    #[must_use]
    #[doc(alias = "removeZeroBasesAlongDim")]
    pub fn remove_zero_bases(&self, dim: Dim) -> Self {
        let mut result = self.clone();
        result.drop_zero_bases(dim);
        result
    }

    /// As [`LinearLayout::remove_zero_bases`], in place.
    pub(super) fn drop_zero_bases(&mut self, dim: Dim) {
        let own = self.ins.range_of(dim);
        let zeros = self.columns[own.clone()].iter().filter(|&&column| column == 0).count();
        if zeros == 0 {
            return;
        }
        let mut at = 0;
        self.columns.retain(|column| {
            at += 1;
            *column != 0 || !own.contains(&(at - 1))
        });
        let mut ins = Space::default();
        for (d, bits) in self.ins.iter() {
            // Cannot fail: a space no larger than a valid one is valid.
            let _ = ins.push_new(d, if d == dim { bits - zeros as u32 } else { bits });
        }
        self.ins = ins;
    }

    /// Concatenates the input dims of two layouts onto one out space; the input dims of `other` follow those of this
    /// layout.
    ///
    /// # Errors
    /// The out spaces differ, or an input dim is in both.
    #[doc(alias = "concatIns")]
    pub fn concat_ins(&self, other: &Self) -> Result<Self, LayoutError> {
        if self.outs != other.outs {
            return Err(LayoutError::DimsDiffer { left: dim_names(&self.outs), right: dim_names(&other.outs) });
        }
        let mut ins = self.ins.clone();
        for (dim, bits) in other.ins.iter() {
            ins.push(dim, bits)?;
        }
        let columns = self.columns.iter().chain(&other.columns).copied().collect();
        Ok(Self { ins, outs: self.outs.clone(), columns })
    }

    /// Concatenates the out dims of two layouts of one input space; the out dims of `other` follow those of this
    /// layout.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let [rows, columns] = [0, 1].map(Dim::tensor);
    /// let both = LinearLayout::identity(4, Dim::LANE, rows)?.concat_outs(&LinearLayout::zeros(4, Dim::LANE, columns, 2)?)?;
    /// assert_eq!(both.apply(&[(Dim::LANE, 3)])?, [(rows, 3), (columns, 0)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// The input spaces differ, an out dim is in both, or more than 64 bits.
    #[doc(alias = "concatOuts")]
    pub fn concat_outs(&self, other: &Self) -> Result<Self, LayoutError> {
        if self.ins != other.ins {
            return Err(LayoutError::DimsDiffer { left: dim_names(&self.ins), right: dim_names(&other.ins) });
        }
        let mut outs = self.outs.clone();
        for (dim, bits) in other.outs.iter() {
            outs.push(dim, bits)?;
        }
        let above = other.columns.iter().map(|&column| column.checked_shl(self.outs.total_bits()).unwrap_or(0));
        let columns = self.columns.iter().zip(above).map(|(&own, above)| own | above).collect();
        Ok(Self { ins: self.ins.clone(), outs, columns })
    }
}

fn require(space: &Space, dim: Dim) -> Result<(), LayoutError> {
    if space.contains(dim) { Ok(()) } else { Err(LayoutError::NoSuchDim { dim }) }
}

fn reordered(space: &Space, order: &[Dim]) -> Result<Space, LayoutError> {
    let mut result = Space::default();
    for &dim in order {
        require(space, dim)?;
        result.push(dim, space.bits_of(dim))?;
    }
    if result.len() != space.len() {
        return Err(LayoutError::DimsDiffer { left: dim_names(space), right: dim_names(&result) });
    }
    Ok(result)
}

fn same_size(space: &Space, dims: &[(Dim, u64)]) -> Result<Space, LayoutError> {
    let result = Space::from_sizes(dims)?;
    if result.total_bits() != space.total_bits() {
        return Err(LayoutError::ReshapeSize { before: space.total_bits(), after: result.total_bits() });
    }
    Ok(result)
}

fn flattened(space: &Space) -> Space {
    let mut result = Space::default();
    if let Some(first) = space.dims().next() {
        // Cannot fail: a single dim with the bits of a valid space is valid.
        let _ = result.push(first, space.total_bits());
    }
    result
}

fn squeezed(space: &Space) -> Space {
    let mut result = Space::default();
    for (dim, bits) in space.iter().filter(|&(_, bits)| bits > 0) {
        // Cannot fail: these are some of the dims of a valid space.
        let _ = result.push_new(dim, bits);
    }
    result
}

fn renamed(space: &Space, from: Dim, to: Dim) -> Result<Space, LayoutError> {
    require(space, from)?;
    let mut result = Space::default();
    for (dim, bits) in space.iter() {
        result.push(if dim == from { to } else { dim }, bits)?;
    }
    Ok(result)
}

/// The names of the dims of a space, for messages.
pub(super) fn dim_names(space: &Space) -> String {
    let names: Vec<_> = space.dims().map(|dim| dim.to_string()).collect();
    format!("({})", names.join(", "))
}
