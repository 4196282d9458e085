//! Layouts that the hardware fixes: arrangements that a matrix unit reads, boxes that are copied whole.

use super::leaf::{Problem, written};
use super::{AccessAlternative, AccessSolution, MemorySynthesisError, Solution, TensorAccess};
use crate::movement::{DescriptorMatch, arranged, boxed, tensor_copies_in};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};

impl Problem<'_, '_> {
    /// The best of the layouts that the ways of some access fix; none where no way fixes any. With it why others do not
    /// serve all.
    pub(super) fn fixed(&self) -> Result<(Option<Solution>, Vec<String>), MemorySynthesisError> {
        let mut best: Option<Solution> = None;
        let mut reasons = Vec::new();
        for (name, memory) in self.fixed_layouts()? {
            match self.in_fixed(Some(&name), &memory) {
                Ok(found) if best.as_ref().is_none_or(|best| found.price < best.price) => best = Some(found),
                Ok(_) => {}
                Err(reason) => reasons.push(format!("{name}: {reason}")),
            }
        }
        Ok((best, reasons))
    }

    /// The layouts that ways name, each once.
    fn fixed_layouts(&self) -> Result<Vec<(String, MemoryLayout)>, MemorySynthesisError> {
        let mut all: Vec<(String, MemoryLayout)> = Vec::new();
        let shape: Vec<(Dim, u64)> =
            (self.tensor.shape.iter().enumerate()).map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
        let mut add = |name: &str, linear: Option<LinearLayout>, alignment: u32| {
            let new = linear.filter(|linear| all.iter().all(|(_, known)| known.linear.columns() != linear.columns()));
            if let Some(linear) = new {
                all.push((name.to_owned(), MemoryLayout { linear, padding: Vec::new(), alignment: Some(alignment) }));
            }
        };
        for way in self.accesses.iter().flat_map(|access| &access.ways) {
            match way {
                AccessAlternative::Operand { operand, .. } => {
                    let Ok(matrix) = <[u64; 2]>::try_from(self.tensor.shape.as_slice()) else { continue };
                    for arrangement in &operand.arrangements {
                        add(&arrangement.name, arranged(operand, arrangement, matrix)?, arrangement.alignment);
                    }
                }
                AccessAlternative::Boxes { operand, first, .. } => {
                    for arrangement in &operand.arrangements {
                        let linear = boxed(arrangement, &shape, *first, self.tensor.bits)?;
                        add(&arrangement.name, linear, arrangement.alignment);
                    }
                }
                AccessAlternative::Lanes(_) => {}
            }
        }
        Ok(all)
    }

    /// How all accesses go in a memory, arranged under this name; why one does not.
    pub(super) fn in_fixed(&self, name: Option<&str>, memory: &MemoryLayout) -> Result<Solution, String> {
        if self.given.as_ref().is_some_and(|given| !given.admits(&memory.linear)) {
            return Err("the program gives another layout".to_owned());
        }
        let mut served = Vec::new();
        for (at, access) in self.accesses.iter().enumerate() {
            served.push(
                self.best_way(at, access, memory)
                    .ok_or_else(|| format!("`{}` goes by none of its ways", access.name))?,
            );
        }
        let (layout, swizzles) = written(memory).map_err(|error| error.to_string())?;
        Ok(Solution {
            term: None,
            layout,
            swizzles,
            memory: memory.clone(),
            arrangement: name.map(str::to_owned),
            price: self.priced(&served),
            served,
            nodes: 0,
            leaves: 0,
        })
    }

    /// The cheapest way of an access in a memory.
    fn best_way(&self, at: usize, access: &TensorAccess<'_>, memory: &MemoryLayout) -> Option<AccessSolution> {
        let mut best: Option<(f64, AccessSolution)> = None;
        for (number, way) in access.ways.iter().enumerate() {
            let by_itself = |issued: u64| AccessSolution {
                access: access.name.clone(),
                way: number,
                instruction: way.instruction().map(str::to_owned),
                bytes: 0,
                term: None,
                wavefronts: 0,
                least: 0,
                issued,
                fetched: None,
            };
            let found = match way {
                AccessAlternative::Lanes(_) => self.served_in(at, number, memory),
                AccessAlternative::Operand { operand, .. } => {
                    DescriptorMatch::of(&memory.linear, operand).ok().map(|_| by_itself(0))
                }
                AccessAlternative::Boxes { operand, first, .. } => {
                    let boxes = tensor_copies_in(&memory.linear, *first, self.tensor.bits, operand);
                    boxes.ok().map(|(boxes, _)| by_itself(boxes))
                }
            };
            let Some(found) = found else { continue };
            let price = match self.lanes(at, number) {
                Some(_) => self.price_of(at, &found),
                // Neither lanes nor their wavefronts: only how often it is issued tells such ways apart.
                None => found.issued as f64 / 1024.0,
            };
            if best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, found));
            }
        }
        best.map(|(_, served)| served)
    }
}
