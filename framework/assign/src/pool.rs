//! Layouts and views as numbers, so that each is made, named and compared once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::layouts::{LayoutTransfer, in_order, name};
use tilewright_layout::{LayoutError, LinearLayout};
use tilewright_tile::LayoutName;

/// A layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LayoutId(u32);

/// A view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ViewId(u32);

impl ViewId {
    /// [`View::Same`].
    pub(super) const SAME: Self = Self(0);
}

/// All layouts and views of a function.
#[derive(Debug)]
pub(super) struct Pool {
    layouts: RefCell<Vec<Arc<LinearLayout>>>,
    numbers: RefCell<HashMap<Arc<LinearLayout>, LayoutId>>,
    names: RefCell<HashMap<LayoutId, LayoutName>>,
    views: RefCell<Vec<LayoutTransfer>>,
    view_numbers: RefCell<HashMap<LayoutTransfer, ViewId>>,
    seen: RefCell<HashMap<(LayoutId, ViewId), Option<LayoutId>>>,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            layouts: RefCell::default(),
            numbers: RefCell::default(),
            names: RefCell::default(),
            views: RefCell::new(vec![LayoutTransfer::Same]),
            view_numbers: RefCell::new(HashMap::from([(LayoutTransfer::Same, ViewId::SAME)])),
            seen: RefCell::default(),
        }
    }
}

impl Pool {
    /// The number of a layout, whose dims are put in order.
    pub(super) fn layout(&self, layout: &LinearLayout) -> Result<LayoutId, LayoutError> {
        let layout = in_order(layout)?;
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

    /// The layout of a number.
    pub(super) fn get(&self, id: LayoutId) -> Arc<LinearLayout> {
        Arc::clone(&self.layouts.borrow()[id.0 as usize])
    }

    /// What types call it.
    pub(super) fn name(&self, id: LayoutId) -> LayoutName {
        if let Some(known) = self.names.borrow().get(&id) {
            return known.clone();
        }
        let name = name(&self.get(id));
        self.names.borrow_mut().insert(id, name.clone());
        name
    }

    /// The number of a view.
    pub(super) fn view(&self, view: LayoutTransfer) -> ViewId {
        if let Some(&known) = self.view_numbers.borrow().get(&view) {
            return known;
        }
        let mut views = self.views.borrow_mut();
        let id = ViewId(views.len() as u32);
        views.push(view.clone());
        self.view_numbers.borrow_mut().insert(view, id);
        id
    }

    /// The layout that a view makes of one; nothing where it makes none.
    pub(super) fn seen(&self, layout: LayoutId, view: ViewId) -> Option<LayoutId> {
        if view == ViewId::SAME {
            return Some(layout);
        }
        if let Some(&known) = self.seen.borrow().get(&(layout, view)) {
            return known;
        }
        let made = self.views.borrow()[view.0 as usize].of(&self.get(layout));
        let found = made.and_then(|made| self.layout(&made)).ok();
        self.seen.borrow_mut().insert((layout, view), found);
        found
    }
}
