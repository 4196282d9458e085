//! Elements narrower than a byte: conversion between a tensor and its tensor of bytes.

use crate::layouts;
use tilewright_layout::cute::Swizzle;
use tilewright_layout::{Dim, LayoutError, LinearLayout, MemoryLayout, Space};

/// The packing of elements narrower than a byte: the coordinate bits that select an element within its byte.
#[derive(Debug, Clone)]
pub(super) struct Packing {
    /// Log2 of the sizes of the tensor's axes.
    axes: Vec<u32>,
    /// The coordinate bits that number the elements of a byte, lowest offset bit first.
    within: Vec<u32>,
}

impl Packing {
    pub(super) fn new(axes: &[u32], within: &[u32]) -> Self {
        Self { axes: axes.to_vec(), within: within.to_vec() }
    }

    /// Iterates over the coordinate bits that select a byte: all bits except those that select an element within its
    /// byte.
    fn kept(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.axes.iter().sum()).filter(|bit| !self.within.contains(bit))
    }

    /// Converts a packed coordinate of the tensor to the packed coordinate of its byte: the bits within a byte are
    /// dropped.
    pub(super) fn narrow(&self, column: u64) -> u64 {
        self.kept().enumerate().fold(0, |all, (at, bit)| all | (column >> bit & 1) << at)
    }

    fn widen(&self, column: u64) -> u64 {
        self.kept().enumerate().fold(0, |all, (at, bit)| all | (column >> at & 1) << bit)
    }

    fn outs(&self, of: impl Fn(u32, u32) -> u32) -> Result<Space, LayoutError> {
        let mut outs = Space::default();
        let mut first = 0;
        for (axis, &size) in self.axes.iter().enumerate() {
            outs.push(Dim::tensor(axis), of(first, size))?;
            first += size;
        }
        Ok(outs)
    }

    /// Converts the register layout of the tensor's elements to the register layout of its bytes.
    pub(super) fn registers(&self, layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        if self.within.is_empty() {
            return Ok(layout.clone());
        }
        let left =
            |first: u32, size: u32| (first..first + size).filter(|bit| !self.within.contains(bit)).count() as u32;
        let columns: Vec<u64> = layout.columns().iter().map(|&column| self.narrow(column)).collect();
        let all = LinearLayout::from_columns(layout.ins().clone(), self.outs(left)?, &columns)?;
        Ok(all.remove_zero_bases(Dim::REGISTER))
    }

    /// Converts the memory layout of the tensor's bytes to the memory layout of its elements.
    pub(super) fn memory(&self, bytes: &MemoryLayout) -> Result<MemoryLayout, LayoutError> {
        if self.within.is_empty() {
            return Ok(bytes.clone());
        }
        let within = self.within.iter().map(|&bit| 1u64 << bit);
        let columns: Vec<u64> =
            within.chain(bytes.linear.columns_of(Dim::OFFSET).iter().map(|&column| self.widen(column))).collect();
        let linear = layouts::in_memory(&columns, &self.outs(|_, size| size)?)?;
        Ok(MemoryLayout { linear, padding: Vec::new(), alignment: bytes.alignment })
    }

    /// Converts a swizzle of byte offsets to the same swizzle of element offsets; `None` if CuTe cannot express it.
    pub(super) fn swizzle(&self, bytes: Swizzle) -> Option<Swizzle> {
        Swizzle::new(bytes.bits(), bytes.base() + self.within.len() as u32, bytes.shift()).ok()
    }
}
