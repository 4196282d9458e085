//! What follows for the result of an operation from what is known of its operands.

use super::fact::power_in;
use super::{Along, Fact, Range};
use crate::tile::{Attribute, Body, Op, Type};

/// What is known of the results; nothing where the operation says nothing of them.
pub(super) fn results(body: &Body, op: Op, known: &dyn Fn(usize) -> Option<Fact>) -> Option<Fact> {
    let operation = body.op(op);
    let ty = body.ty(*operation.results.first()?);
    let is_integral = matches!(ty.element(), Type::Integer(..) | Type::Index | Type::Pointer(_));
    if !is_integral {
        return None;
    }
    let apply = Apply { ty, bits: ty.element_bits().unwrap_or(64) };
    let one = || known(0);
    let two = || Some((known(0)?, known(1)?));
    let word = |name: &str| operation.attributes.get(name).and_then(Attribute::as_text);
    let number = |name: &str| operation.attributes.get(name).and_then(Attribute::as_integer);
    Some(match operation.name() {
        "arith.constant" => apply.constant(operation.attributes.get("value")?)?,
        "tt.make_range" => apply.range(number("start")?, number("end")?),
        "tt.get_program_id" => apply.bounded(Range { least: 0, greatest: i64::from(i32::MAX) - 1 }),
        "tt.get_num_programs" => apply.bounded(Range { least: 1, greatest: i64::from(i32::MAX) }),
        "tt.splat" => apply.splat(&one()?),
        "tt.unsplat" => apply.all_of(&one()?),
        "tt.expand_dims" => apply.expanded(&one()?, usize::try_from(number("axis")?).ok()?),
        "tt.broadcast" => apply.broadcast(&one()?, body.ty(operation.operands[0]).shape()?),
        "tt.trans" => apply.transposed(&one()?, operation.attributes.get("order")?)?,
        "tt.reshape" if operation.attributes.get("allow_reorder").is_none() => apply.reshaped(&one()?),
        "tt.cat" | "tt.join" => two().map(|(a, b)| apply.all_of(&a.or(&b)))?,
        "tt.split" | "tt.gather" => apply.all_of(&one()?),
        "ttg.convert_layout" | "arith.index_cast" | "arith.extsi" => apply.kept(&one()?),
        "arith.index_castui" | "arith.extui" => apply.widened(&one()?, body.ty(operation.operands[0]).element_bits()?),
        "arith.trunci" => apply.cut(&one()?),
        "arith.addi" | "tt.addptr" => two().map(|(a, b)| apply.sum(&a, &b))?,
        "arith.subi" => two().map(|(a, b)| apply.difference(&a, &b))?,
        "arith.muli" => two().map(|(a, b)| apply.product(&a, &b))?,
        "arith.divsi" | "arith.divui" => two().and_then(|(a, b)| apply.quotient(&a, &b))?,
        "arith.remsi" | "arith.remui" => two().and_then(|(a, b)| apply.remainder(&a, &b))?,
        "arith.andi" => two().map(|(a, b)| apply.and(&a, &b))?,
        "arith.ori" | "arith.xori" => two().map(|(a, b)| apply.bitwise(&a, &b))?,
        "arith.shli" => two().and_then(|(a, b)| apply.shifted_up(&a, &b))?,
        "arith.shrsi" => two().and_then(|(a, b)| apply.shifted_down(&a, &b))?,
        "arith.shrui" => two().filter(|(a, _)| a.range.is_natural()).and_then(|(a, b)| apply.shifted_down(&a, &b))?,
        "arith.maxsi" => two().map(|(a, b)| apply.extreme(&a, &b, i64::max))?,
        "arith.minsi" => two().map(|(a, b)| apply.extreme(&a, &b, i64::min))?,
        "arith.maxui" | "arith.minui" => two().map(|(a, b)| apply.all_of(&a.or(&b)))?,
        "arith.select" => apply.choice(&one()?, &known(1)?, &known(2)?),
        "arith.cmpi" => two().map(|(a, b)| apply.comparison(word("predicate").unwrap_or_default(), &a, &b))?,
        _ => return None,
    })
}

/// Makes facts of a result.
struct Apply<'a> {
    ty: &'a Type,
    bits: u32,
}

impl Apply<'_> {
    fn sizes(&self) -> &[u64] {
        self.ty.shape().unwrap_or(&[1])
    }

    /// Along each axis.
    fn each(&self, range: Range, along: impl Fn(usize) -> Along) -> Fact {
        let mut fact = Fact::nothing(self.ty);
        let sizes = self.sizes();
        for (axis, place) in fact.axes.iter_mut().enumerate() {
            let found = along(axis);
            let size = sizes.get(axis).copied().unwrap_or(1);
            *place = Along { contiguity: found.contiguity.min(size), constancy: found.constancy.min(size), ..found };
        }
        fact.range = range;
        fact
    }

    /// Where neither neighbours follow each other nor more is known than what divides all elements.
    fn plain(&self, range: Range, divisibility: impl Fn(usize) -> u64, constancy: impl Fn(usize) -> u64) -> Fact {
        self.each(range, |axis| Along { contiguity: 1, divisibility: divisibility(axis), constancy: constancy(axis) })
    }

    fn bounded(&self, range: Range) -> Fact {
        self.plain(range, |_| 1, |_| 1)
    }

    fn constant(&self, value: &Attribute) -> Option<Fact> {
        if let Some(value) = value.as_integer() {
            return Some(Fact::constant(value, self.ty));
        }
        let Attribute::Dense(dense) = value else { return None };
        let number = |bits: &u64| crate::tile::Number { bits: *bits, ty: dense.ty.element().clone() }.as_integer();
        let numbers: Vec<i64> = dense.elements.iter().filter_map(number).collect();
        if let [value] = numbers[..] {
            return Some(Fact::constant(value, self.ty));
        }
        let range = numbers.iter().map(|value| Range::of(*value)).reduce(Range::or)?;
        let divisibility = numbers.iter().map(|value| power_in(*value)).min()?;
        Some(self.plain(range, |_| divisibility, |_| 1))
    }

    fn range(&self, start: i64, end: i64) -> Fact {
        let count = u64::try_from(end.saturating_sub(start)).unwrap_or(1);
        let range = Range { least: start, greatest: end.saturating_sub(1) };
        self.each(range, |_| Along { contiguity: count, divisibility: power_in(start), constancy: 1 })
    }

    fn splat(&self, of: &Fact) -> Fact {
        let sizes = self.sizes();
        self.plain(of.range, |_| of.divisibility_of_all(), |axis| sizes[axis])
    }

    /// What holds of all elements, wherever they are.
    fn all_of(&self, of: &Fact) -> Fact {
        self.plain(of.range, |_| of.divisibility_of_all(), |_| 1)
    }

    fn kept(&self, of: &Fact) -> Fact {
        self.each(of.range, |axis| of.axes[axis])
    }

    fn expanded(&self, of: &Fact, new: usize) -> Fact {
        self.each(of.range, |axis| match axis.cmp(&new) {
            std::cmp::Ordering::Less => of.axes[axis],
            std::cmp::Ordering::Equal => Along { divisibility: of.divisibility_of_all(), ..Along::NOTHING },
            std::cmp::Ordering::Greater => of.axes[axis - 1],
        })
    }

    fn broadcast(&self, of: &Fact, from: &[u64]) -> Fact {
        let sizes = self.sizes();
        self.each(of.range, |axis| match from[axis] == sizes[axis] {
            true => of.axes[axis],
            false => Along { contiguity: 1, divisibility: of.divisibility_of(axis, 1), constancy: sizes[axis] },
        })
    }

    fn transposed(&self, of: &Fact, order: &Attribute) -> Option<Fact> {
        let Attribute::Array(_, order) = order else { return None };
        let axes = order.iter().all(|axis| (*axis as usize) < of.axes.len());
        axes.then(|| self.each(of.range, |axis| of.axes[order[axis] as usize]))
    }

    /// Elements stay in their order, row by row: groups along the last axis stay groups.
    fn reshaped(&self, of: &Fact) -> Fact {
        let last = of.axes.len() - 1;
        let sizes = self.sizes();
        self.each(of.range, |axis| {
            if axis + 1 < sizes.len() {
                return Along { divisibility: of.divisibility_of_all(), ..Along::NOTHING };
            }
            let contiguity = of.axes[last].contiguity.min(sizes[axis]);
            let constancy = of.axes[last].constancy.min(sizes[axis]);
            Along { contiguity, divisibility: of.divisibility_of(last, contiguity), constancy }
        })
    }

    /// Integers of fewer bits, read without a sign.
    fn widened(&self, of: &Fact, bits: u32) -> Fact {
        if of.range.is_natural() {
            return self.kept(of);
        }
        let greatest = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
        // A group that begins at a multiple of its size does not cross from -1 to 0.
        self.each(Range { least: 0, greatest }, |axis| self.unbroken(of, axis))
    }

    fn cut(&self, of: &Fact) -> Fact {
        let whole = Range::of_bits(self.bits);
        match of.range.least >= whole.least && of.range.greatest <= whole.greatest {
            true => self.kept(of),
            false => self.each(whole, |axis| {
                let along = self.unbroken(of, axis);
                // Only so many bits are left to be divided.
                Along { contiguity: along.contiguity.min(1 << self.bits.min(62)), ..along }
            }),
        }
    }

    /// The same in groups that begin at a multiple of their size.
    fn unbroken(&self, of: &Fact, axis: usize) -> Along {
        let along = of.axes[axis];
        let contiguity = along.contiguity.min(along.divisibility);
        Along { contiguity, divisibility: of.divisibility_of(axis, contiguity), ..along }
    }

    /// A sum, or a pointer moved by elements.
    fn sum(&self, a: &Fact, b: &Fact) -> Fact {
        let is_pointer = matches!(self.ty.element(), Type::Pointer(_));
        let range = match is_pointer {
            true => a.range,
            false => a.range.corners(b.range, self.bits, |a, b| a + b),
        };
        let unit = if is_pointer { power_in(a.step as i64) } else { 1 };
        self.each(range, |axis| {
            let (left, right) = (a.axes[axis], b.axes[axis]);
            let contiguity = left.contiguity.min(right.constancy).max(left.constancy.min(right.contiguity));
            let moved = b.divisibility_of(axis, contiguity).saturating_mul(unit);
            Along {
                contiguity,
                divisibility: a.divisibility_of(axis, contiguity).min(moved),
                constancy: left.constancy.min(right.constancy),
            }
        })
    }

    fn difference(&self, a: &Fact, b: &Fact) -> Fact {
        self.each(a.range.corners(b.range, self.bits, |a, b| a - b), |axis| {
            let (left, right) = (a.axes[axis], b.axes[axis]);
            let contiguity = left.contiguity.min(right.constancy);
            Along {
                contiguity,
                divisibility: a.divisibility_of(axis, contiguity).min(b.divisibility_of(axis, contiguity)),
                constancy: left.constancy.min(right.constancy),
            }
        })
    }

    fn product(&self, a: &Fact, b: &Fact) -> Fact {
        match (a.range.single(), b.range.single()) {
            (Some(1), _) => return self.kept(b),
            (_, Some(1)) => return self.kept(a),
            _ => {}
        }
        let range = a.range.corners(b.range, self.bits, |a, b| a * b);
        let zero = range.single() == Some(0);
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).saturating_mul(b.divisibility_of(axis, 1)).min(power_in(0)),
            |axis| if zero { u64::MAX } else { a.axes[axis].constancy.min(b.axes[axis].constancy) },
        )
    }

    /// Neighbours that follow each other and begin at a multiple of a power of two that divides `b`, and is no more than
    /// how many they are, lie between the same two multiples of `b`.
    fn group(a: &Fact, b: &Fact, axis: usize) -> u64 {
        let along = a.axes[axis];
        along.contiguity.min(along.divisibility).min(b.axes[axis].constancy).min(b.divisibility_of(axis, 1))
    }

    fn quotient(&self, a: &Fact, b: &Fact) -> Option<Fact> {
        if !a.range.is_natural() || b.range.least < 1 {
            return None;
        }
        let range = a.range.corners(b.range, self.bits, |a, b| a / b);
        let by = b.range.single().filter(|by| by.count_ones() == 1).map(|by| by as u64);
        Some(self.plain(
            range,
            |axis| match by {
                // All of a group are its first one, divided.
                Some(by) if Self::group(a, b, axis) == by => (a.divisibility_of(axis, by) / by).max(1),
                Some(by) => (a.divisibility_of(axis, 1) / by).max(1),
                None => 1,
            },
            |axis| Self::group(a, b, axis).max(a.axes[axis].constancy.min(b.axes[axis].constancy)),
        ))
    }

    fn remainder(&self, a: &Fact, b: &Fact) -> Option<Fact> {
        if !a.range.is_natural() || b.range.least < 1 {
            return None;
        }
        let range = Range { least: 0, greatest: a.range.greatest.min(b.range.greatest - 1) };
        Some(self.each(range, |axis| {
            let contiguity = Self::group(a, b, axis);
            Along {
                contiguity,
                divisibility: a.divisibility_of(axis, contiguity).min(b.divisibility_of(axis, 1)),
                constancy: a.axes[axis].constancy.min(b.axes[axis].constancy),
            }
        }))
    }

    fn and(&self, a: &Fact, b: &Fact) -> Fact {
        // Low bits alone are a remainder, of negative numbers too.
        let mask = b.range.single().filter(|mask| *mask > 0 && (*mask & (mask + 1)) == 0);
        if let Some(mask) = mask {
            let by = mask as u64 + 1;
            return self.each(Range { least: 0, greatest: mask }, |axis| {
                let along = a.axes[axis];
                let contiguity = along.contiguity.min(along.divisibility).min(by);
                Along { contiguity, divisibility: a.divisibility_of(axis, contiguity), constancy: along.constancy }
            });
        }
        let range = match (a.range.is_natural(), b.range.is_natural()) {
            (true, true) => Range { least: 0, greatest: a.range.greatest.min(b.range.greatest) },
            (true, false) => Range { least: 0, greatest: a.range.greatest },
            (false, true) => Range { least: 0, greatest: b.range.greatest },
            (false, false) => Range::of_bits(self.bits),
        };
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).max(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    fn bitwise(&self, a: &Fact, b: &Fact) -> Fact {
        let range = match a.range.is_natural() && b.range.is_natural() {
            true => {
                let most = (a.range.greatest | b.range.greatest) as u64;
                // No bit above the highest of both.
                Range { least: 0, greatest: u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0) as i64 }
            }
            false => Range::of_bits(self.bits),
        };
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).min(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    fn power(&self, b: &Fact) -> Option<Fact> {
        let places = b.range.single().filter(|places| (0..i64::from(self.bits.min(62))).contains(places))?;
        let mut fact = Fact::constant(1 << places, self.ty);
        fact.range = Range::of(1 << places);
        Some(fact)
    }

    fn shifted_up(&self, a: &Fact, b: &Fact) -> Option<Fact> {
        Some(self.product(a, &self.power(b)?))
    }

    fn shifted_down(&self, a: &Fact, b: &Fact) -> Option<Fact> {
        let by = self.power(b)?;
        if a.range.is_natural() {
            return self.quotient(a, &by);
        }
        let places = b.range.single()?;
        let range = Range { least: a.range.least >> places, greatest: a.range.greatest >> places };
        Some(self.plain(range, |_| 1, |axis| Self::group(a, &by, axis).max(a.axes[axis].constancy)))
    }

    fn extreme(&self, a: &Fact, b: &Fact, of: impl Fn(i64, i64) -> i64) -> Fact {
        let range = Range { least: of(a.range.least, b.range.least), greatest: of(a.range.greatest, b.range.greatest) };
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).min(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    fn choice(&self, condition: &Fact, a: &Fact, b: &Fact) -> Fact {
        let either = a.or(b);
        // A scalar condition is the same for all elements.
        let scalar = condition.axes.len() != either.axes.len();
        self.each(either.range, |axis| {
            let same = if scalar { u64::MAX } else { condition.axes[axis].constancy };
            let along = either.axes[axis];
            let contiguity = along.contiguity.min(same);
            Along {
                contiguity,
                divisibility: either.divisibility_of(axis, contiguity),
                constancy: along.constancy.min(same),
            }
        })
    }

    /// Truth values: where numbers that follow each other lie on one side of a bound, they are the same.
    fn comparison(&self, predicate: &str, a: &Fact, b: &Fact) -> Fact {
        let always = match predicate {
            "slt" if a.range.greatest < b.range.least => Some(1),
            "slt" if a.range.least >= b.range.greatest => Some(0),
            "sge" if a.range.least >= b.range.greatest => Some(1),
            "sge" if a.range.greatest < b.range.least => Some(0),
            "sle" if a.range.greatest <= b.range.least => Some(1),
            "sgt" if a.range.least > b.range.greatest => Some(1),
            _ => None,
        };
        if let Some(value) = always {
            return Fact::constant(value, self.ty);
        }
        let natural = a.range.is_natural() && b.range.is_natural();
        let (below, above) = match predicate {
            "slt" | "sge" => (true, false),
            "sgt" | "sle" => (false, true),
            "ult" | "uge" => (natural, false),
            "ugt" | "ule" => (false, natural),
            _ => (false, false),
        };
        self.plain(
            Range::of_bits(1),
            |_| 1,
            |axis| {
                let plain = a.axes[axis].constancy.min(b.axes[axis].constancy);
                let left = if below { Self::group(a, b, axis) } else { 1 };
                let right = if above { Self::group(b, a, axis) } else { 1 };
                plain.max(left).max(right)
            },
        )
    }
}
