//! Shuffles between the lanes of a warp: `shfl.sync`. Source: PTX ISA, `shfl.sync`, its pseudocode.

use super::super::machine::LANES;
use crate::machine::{Operation, Running, each};
use crate::program::{Form, Operands, Row, Semantics, Type};

pub(super) const ROWS: &[Row] =
    &[Row { name: "shfl.sync", modifiers: "up down bfly idx", types: "b32", semantics: Semantics::Warp(shuffle) }];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Up,
    Down,
    Xor,
    Index,
}

impl Mode {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "up" => Self::Up,
            "down" => Self::Down,
            "bfly" => Self::Xor,
            "idx" => Self::Index,
            _ => return None,
        })
    }

    /// Returns the index of the lane that `lane` reads from, and whether that lane is in the same segment; `b` and `c`
    /// are the operands of `shfl.sync`.
    fn source(self, lane: i64, b: u64, c: u64) -> (i64, bool) {
        let (by, bound, segment) = ((b & 0x1f) as i64, (c & 0x1f) as i64, (c >> 8 & 0x1f) as i64);
        let (first, last) = (lane & segment, lane & segment | bound & !segment);
        match self {
            Self::Up => (lane - by, lane - by >= last),
            Self::Down => (lane + by, lane + by <= last),
            Self::Xor => (lane ^ by, lane ^ by <= last),
            Self::Index => (first | by & !segment, (first | by & !segment) <= last),
        }
    }
}

fn shuffle(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(5..=5)?;
    let mode = form.find(Mode::named).filter(|_| form.words.len() == 1).ok_or_else(|| form.unknown())?;
    let word = Type::named("u32").unwrap_or(form.ty());
    let [to, in_segment] = operands.destination_pair(0)?;
    let [from, b, c, members] =
        [operands.source(1, word)?, operands.source(2, word)?, operands.source(3, word)?, operands.source(4, word)?];
    Ok(each(move |warp: &mut Running<'_>| {
        warp.members(members)?;
        let (values, defined) = (*warp.registers.row(from), warp.registers.defined(from));
        let active = warp.active;
        let mut by = None;
        for lane in warp.lanes() {
            let [b, c] = [
                warp.read_defined(b, lane, "the source lane")?,
                warp.read_defined(c, lane, "the bound of the segment")?,
            ];
            let (source, is_in) = mode.source(lane as i64, b, c);
            let source = if is_in { source.clamp(0, LANES as i64 - 1) as usize } else { lane };
            warp.set(in_segment, lane, is_in.into());
            by = Some(by.map_or(source ^ lane, |by| if by == source ^ lane { by } else { usize::MAX }));
            match to {
                // If the source lane is inactive or has not written the register, the result is undefined.
                Some(to) if active & defined & 1 << source == 0 => warp.registers.unset(to.register, lane),
                to => warp.set(to, lane, values[source]),
            }
        }
        warp.counts.shuffles += 1;
        warp.counts.shuffles_xor += u64::from(mode == Mode::Xor);
        Ok(())
    }))
}
