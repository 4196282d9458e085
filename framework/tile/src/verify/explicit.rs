//! Rules of explicit-memory operations: views of global memory, tensors in shared memory, copies.

use super::{CheckResult, OpContext, ensure};
use crate::op::name::{ttg, tw};
use crate::op_attrs::MMA_TO_DOT_ATTRIBUTES;
use crate::view_layout::DynamicCuteLayout;
use crate::{Attribute, TileType, Value, ValueUses};
use tilewright_layout::similar_name_hint;

impl OpContext<'_> {
    pub(super) fn explicit(&self) -> CheckResult {
        match self.operation.name() {
            tw::GLOBAL_VIEW => self.global_view(),
            tw::SLICE => self.slice(),
            tw::GATHER => self.listed(),
            tw::SHARED_TENSOR => self.known_attributes(&[]).and_then(|()| self.shared_tensor()),
            tw::COPY => self.known_attributes(&[]).and_then(|()| self.copy()),
            tw::MMA => {
                self.known_attributes(&MMA_TO_DOT_ATTRIBUTES.map(|(name, _)| name))?;
                self.mma_requests()?;
                self.mma()
            }
            tw::CAST | tw::REARRANGE => self.kept(),
            tw::REDUCE => self.reduced(),
            _ => Ok(()),
        }
    }

    fn written_layout(&self) -> Result<Option<DynamicCuteLayout>, String> {
        let text = self.operation.attributes.get("layout").and_then(Attribute::as_text);
        text.map(|text| DynamicCuteLayout::parse(text).map_err(|error| error.to_string())).transpose()
    }

    /// Checks that the operation has no attributes but those of its definition, `others`, and those with the prefix of a
    /// dialect: a mistyped request would have no effect.
    fn known_attributes(&self, others: &[&str]) -> CheckResult {
        let defined = self.operation.definition.attributes.iter().map(|attribute| &*attribute.name);
        let known: Vec<&str> = defined.chain(others.iter().copied()).collect();
        let unknown = |(name, _): &(&str, &Attribute)| !name.contains('.') && !known.contains(name);
        match self.operation.attributes.iter().find(unknown) {
            Some((name, _)) => Err(format!("there is no attribute `{name}`{}", similar_name_hint(&known, name))),
            None => Ok(()),
        }
    }

    /// Checks the numbers by which a dot pins a choice: powers of two.
    fn mma_requests(&self) -> CheckResult {
        let is_size = |number: i64| u64::try_from(number).is_ok_and(u64::is_power_of_two);
        for name in ["kWidth", "nWidth"] {
            let Some(stated) = self.operation.attributes.get(name) else { continue };
            ensure(stated.as_integer().is_some_and(is_size), || {
                format!("`{name} = {stated}`: expected a power of two")
            })?;
        }
        let Some(warps) = self.operation.attributes.get("warps") else { return Ok(()) };
        let is_pair = |counts: Vec<i64>| counts.len() == 2 && counts.into_iter().all(is_size);
        ensure(warps.as_integers().is_some_and(is_pair), || {
            format!("`warps = {warps}`: expected `array<i64: M, N>`, the powers of two of warps along M and along N")
        })
    }

    fn global_view(&self) -> CheckResult {
        let Some(layout) = self.written_layout()? else { return Ok(()) };
        let (Some(TileType::View(view)), Some(pointer)) = (self.result_type(), self.operand_type("ptr")) else {
            return Ok(());
        };
        ensure(layout.shape() == view.shape, || {
            format!("its layout is of another shape than `{}`", TileType::View(view.clone()))
        })?;
        let strides = self.body.operands(self.op, "strides").len();
        ensure(strides == layout.operands, || {
            format!("{strides} strides are passed, the layout needs {}", layout.operands)
        })?;
        let pointee = pointer.pointee_type();
        let is_narrow = view.element.element_bits().is_some_and(|bits| bits < 8);
        let packed = is_narrow && pointee == Some(TileType::integer(8));
        let is_own = pointee.as_ref() == Some(&view.element);
        ensure(!is_own || !is_narrow || view.element == TileType::integer(1), || {
            format!("`{pointer}` has no addresses: memory packs `{}` in bytes; pass `!tt.ptr<i8>`", view.element)
        })?;
        ensure(packed || is_own, || {
            format!("`{pointer}` is seen as elements of `{}`: expected these, or bytes of narrower ones", view.element)
        })
    }

    fn slice(&self) -> CheckResult {
        let (Some(TileType::View(from)), Some(TileType::View(to))) = (self.operand_type("src"), self.result_type())
        else {
            return Ok(());
        };
        let count = self.body.operands(self.op, "index").len();
        let kept = from.shape.len().checked_sub(count).unwrap_or(usize::MAX);
        ensure(from.shape.get(..kept) == Some(&to.shape[..]) && from.element == to.element, || {
            let (from, to) = (TileType::View(from.clone()), TileType::View(to.clone()));
            format!("{count} indices along the last axes of `{from}` leave no `{to}`")
        })
    }

    /// Checks `tw.gather`: the result has as many indices along the axis as the list.
    fn listed(&self) -> CheckResult {
        let (Some(TileType::View(from)), Some(TileType::View(to))) = (self.operand_type("src"), self.result_type())
        else {
            return Ok(());
        };
        let list = self.operand_type("list").and_then(TileType::shape).unwrap_or_default();
        let axis = self.integer_attribute("axis").and_then(|axis| usize::try_from(axis).ok());
        let axis = axis.filter(|axis| *axis < from.shape.len());
        let Some(axis) = axis else { return Err(format!("`{}` has no such axis", TileType::View(from.clone()))) };
        let mut expected = from.shape.clone();
        ensure(list.len() == 1, || format!("a list of coordinates has one axis, and this has {}", list.len()))?;
        expected[axis] = Some(list[0]);
        ensure(expected == to.shape && from.element == to.element, || {
            let (from, to) = (TileType::View(from.clone()), TileType::View(to.clone()));
            format!("{} coordinates along axis {axis} of `{from}` do not form a `{to}`", list[0])
        })
    }

    fn shared_tensor(&self) -> CheckResult {
        let shape = self.result_type().and_then(TileType::shape).unwrap_or_default();
        // A program may order any number of buffers: only the tiles in them have a layout.
        let is_ring = self.operation.results.first().is_some_and(|tensor| self.is_only_indexed(*tensor));
        let odd = shape.iter().skip(usize::from(is_ring)).find(|size| !size.is_power_of_two());
        ensure(odd.is_none(), || {
            let remedy = "only the first axis may be another, if `ttg.memdesc_index` alone selects buffers along it";
            format!("the size {} is not a power of two; {remedy}", odd.unwrap_or(&0))
        })?;
        if let Some(layout) = self.written_layout()? {
            let sizes: Option<Vec<u64>> = layout.shape().into_iter().collect();
            ensure(layout.operands == 0 && sizes.as_deref() == Some(shape), || {
                format!("its layout is not of the shape {shape:?}, all numbers known")
            })?;
        }
        let stages = self.integer_attribute("stages").unwrap_or(1);
        ensure((1..=16).contains(&stages), || format!("{stages} stages: expected 1 to 16"))
    }

    /// Whether all uses of a tensor in shared memory select one of its buffers by an index.
    fn is_only_indexed(&self, tensor: Value) -> bool {
        let uses = ValueUses::of(self.body);
        let users = uses.of_value(tensor);
        !users.is_empty() && users.iter().all(|(op, _)| self.body.op(*op).name() == ttg::MEMDESC_INDEX)
    }

    /// Checks a copy: it either has a result in registers or fills a destination; bounds apply to global memory only.
    fn copy(&self) -> CheckResult {
        let (Some(from), to) = (self.operand_type("src"), self.operand_type("dst")) else { return Ok(()) };
        let result = self.result_type();
        let to = match (to, result) {
            (Some(to), None) | (None, Some(to)) => to,
            (Some(_), Some(_)) => return Err("a copy with a destination has no result".to_owned()),
            (None, None) => return Err("a copy needs a destination or a result".to_owned()),
        };
        ensure(!matches!((from, to), (TileType::View(_), TileType::View(_))), || {
            "global memory is copied to shared memory or registers".to_owned()
        })?;
        ensure(!matches!((from, to), (TileType::Tensor(_), TileType::Tensor(_))), || {
            "registers become others by `tw.rearrange`".to_owned()
        })?;
        let (from_shape, to_shape) = (tile(from)?, tile(to)?);
        ensure(from_shape == to_shape && from.element() == to.element(), || {
            format!("`{from}` is copied to `{to}`: expected the same shape and elements")
        })?;
        let bounds = self.body.operands(self.op, "bounds").len();
        ensure(bounds == 0 || bounds == from_shape.len(), || {
            format!("{bounds} bounds of {} axes: expected one for each", from_shape.len())
        })?;
        let is_global = matches!(from, TileType::View(_)) || matches!(to, TileType::View(_));
        ensure(bounds == 0 || is_global, || "only what is in global memory may be missing".to_owned())
    }

    fn mma(&self) -> CheckResult {
        let shape = |group: &str| self.operand_type(group).and_then(TileType::shape).unwrap_or_default();
        let (a, b, c) = (shape("a"), shape("b"), shape("c"));
        let fits = a.len() == 2 && b.len() == 2 && c == [a[0], b[1]] && a[1] == b[0];
        ensure(fits, || format!("a dot of {a:?} and {b:?} does not have the result {c:?}"))
    }

    fn kept(&self) -> CheckResult {
        let (Some(from), Some(to)) = (self.operand_type("src"), self.result_type()) else { return Ok(()) };
        let is_cast = self.operation.name() == tw::CAST;
        ensure(from.shape() == to.shape() && (is_cast || from.element() == to.element()), || {
            format!("`{from}` becomes `{to}`: expected the same shape{}", if is_cast { "" } else { " and elements" })
        })
    }

    fn reduced(&self) -> CheckResult {
        let (Some(from), Some(to)) = (self.operand_type("src"), self.result_type()) else { return Ok(()) };
        let mut expected = from.shape().unwrap_or_default().to_vec();
        let axis = self
            .integer_attribute("axis")
            .and_then(|axis| usize::try_from(axis).ok())
            .filter(|axis| *axis < expected.len());
        let Some(axis) = axis else { return Err(format!("`{from}` has no such axis")) };
        expected.remove(axis);
        ensure(to.shape() == Some(&expected[..]) && from.element() == to.element(), || {
            format!("`{from}` becomes `{to}` along axis {axis}: expected {expected:?}, of the same elements")
        })
    }
}

/// The shape of a tensor that a copy reads or fills.
fn tile(ty: &TileType) -> Result<Vec<u64>, String> {
    let sizes = match ty {
        TileType::View(view) => view.static_shape(),
        other => other.shape().map(<[u64]>::to_vec),
    };
    let sizes = sizes.ok_or_else(|| format!("`{ty}` is copied, and has axes of unknown sizes: slice them"))?;
    match sizes.iter().find(|size| !size.is_power_of_two()) {
        Some(size) => Err(format!("the size {size} of `{ty}` is not a power of two")),
        None => Ok(sizes),
    }
}
