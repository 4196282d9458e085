//! Interner of layouts and layout transfers: each layout is stored and named once, and each transfer is applied once.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

use super::layouts::{LayoutTransfer, format_layout_attribute, to_canonical_dim_order};
use tilewright_layout::{LayoutError, LinearLayout};
use tilewright_tile::LayoutAttribute;

/// The index of an interned layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LayoutId(u32);

/// The index of an interned layout transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TransferId(u32);

impl TransferId {
    /// The index of the identity, [`LayoutTransfer::Same`].
    pub(super) const IDENTITY: Self = Self(0);
}

/// The layouts and layout transfers that occur in a function, each stored once and referred to by an index.
#[derive(Debug)]
pub(super) struct Interner {
    layouts: RefCell<Vec<Arc<LinearLayout>>>,
    numbers: RefCell<FxHashMap<Arc<LinearLayout>, LayoutId>>,
    names: RefCell<FxHashMap<LayoutId, LayoutAttribute>>,
    transfers: RefCell<Vec<LayoutTransfer>>,
    transfer_ids: RefCell<FxHashMap<LayoutTransfer, TransferId>>,
    transferred: RefCell<FxHashMap<(LayoutId, TransferId), Option<LayoutId>>>,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            layouts: RefCell::default(),
            numbers: RefCell::default(),
            names: RefCell::default(),
            transfers: RefCell::new(vec![LayoutTransfer::Same]),
            transfer_ids: RefCell::new(FxHashMap::from_iter([(LayoutTransfer::Same, TransferId::IDENTITY)])),
            transferred: RefCell::default(),
        }
    }
}

impl Interner {
    /// Interns a layout, with its dims in the order of [`to_canonical_dim_order`]; returns its index among the interned
    /// layouts.
    pub(super) fn layout(&self, layout: &LinearLayout) -> Result<LayoutId, LayoutError> {
        let layout = to_canonical_dim_order(layout)?;
        if let Some(&known) = self.numbers.borrow().get(&layout) {
            return Ok(known);
        }
        let mut layouts = self.layouts.borrow_mut();
        let id = LayoutId(layouts.len() as u32);
        let layout = Arc::new(layout);
        layouts.push(Arc::clone(&layout));
        self.numbers.borrow_mut().insert(layout, id);
        Ok(id)
    }

    /// Returns the layout with the index `id`.
    pub(super) fn get(&self, id: LayoutId) -> Arc<LinearLayout> {
        Arc::clone(&self.layouts.borrow()[id.0 as usize])
    }

    /// Returns the name by which types refer to the layout with the index `id`.
    pub(super) fn name(&self, id: LayoutId) -> LayoutAttribute {
        if let Some(known) = self.names.borrow().get(&id) {
            return known.clone();
        }
        let name = format_layout_attribute(&self.get(id));
        self.names.borrow_mut().insert(id, name.clone());
        name
    }

    /// Interns a layout transfer; returns its index.
    pub(super) fn transfer(&self, transfer: LayoutTransfer) -> TransferId {
        if let Some(&known) = self.transfer_ids.borrow().get(&transfer) {
            return known;
        }
        let mut transfers = self.transfers.borrow_mut();
        let id = TransferId(transfers.len() as u32);
        transfers.push(transfer.clone());
        self.transfer_ids.borrow_mut().insert(transfer, id);
        id
    }

    /// Applies a layout transfer to a layout; `None` if the transfer does not apply to the layout.
    pub(super) fn apply(&self, layout: LayoutId, transfer: TransferId) -> Option<LayoutId> {
        if transfer == TransferId::IDENTITY {
            return Some(layout);
        }
        if let Some(&known) = self.transferred.borrow().get(&(layout, transfer)) {
            return known;
        }
        let image = self.transfers.borrow()[transfer.0 as usize].apply(&self.get(layout));
        let found = image.and_then(|image| self.layout(&image)).ok();
        self.transferred.borrow_mut().insert((layout, transfer), found);
        found
    }
}
