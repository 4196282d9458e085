//! Layouts that the hardware fixes: canonical layouts of matrix descriptors, and boxes of bulk tensor copies.

use super::leaf::{Problem, written};
use super::{AccessAlternative, AccessSolution, MemorySynthesisError, SharedLayoutSolution, TensorAccess};
use crate::movement::{DescriptorMatch, build_operand_memory_layout, build_tensor_copy_memory_layout, min_box_count};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};

impl Problem<'_, '_> {
    /// Solves the problem with each layout that the hardware fixes for some alternative. Returns the cheapest solution
    /// (`None` if no fixed layout serves all accesses), and a text for each layout that fails: its name and the reason.
    pub(super) fn fixed(&self) -> Result<(Option<SharedLayoutSolution>, Vec<String>), MemorySynthesisError> {
        let mut best: Option<SharedLayoutSolution> = None;
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

    /// Returns the distinct layouts that alternatives of accesses fix, each with its name.
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
        for alternative in self.accesses.iter().flat_map(|access| &access.alternatives) {
            match alternative {
                AccessAlternative::Operand { operand, .. } => {
                    let Ok(matrix) = <[u64; 2]>::try_from(self.tensor.shape.as_slice()) else { continue };
                    for fixed_layout in &operand.layouts {
                        add(
                            &fixed_layout.name,
                            build_operand_memory_layout(operand, fixed_layout, matrix)?,
                            fixed_layout.alignment,
                        );
                    }
                }
                AccessAlternative::TensorCopy { operand, first, .. } => {
                    for fixed_layout in &operand.layouts {
                        let linear = build_tensor_copy_memory_layout(fixed_layout, &shape, *first, self.tensor.bits)?;
                        add(&fixed_layout.name, linear, fixed_layout.alignment);
                    }
                }
                AccessAlternative::Lanes(_) => {}
            }
        }
        Ok(all)
    }

    /// Chooses the cheapest alternative of each access in the memory layout `memory`, and returns the solution. `name`
    /// is the name of a canonical layout, `None` if the caller gives the memory layout. The error is the reason as
    /// text: the access that has no alternative there, or a contradiction to the program's explicit layout.
    pub(super) fn in_fixed(&self, name: Option<&str>, memory: &MemoryLayout) -> Result<SharedLayoutSolution, String> {
        if self.given.as_ref().is_some_and(|given| !given.admits(&memory.linear)) {
            return Err("the program has another explicit layout".to_owned());
        }
        let mut served = Vec::new();
        for (at, access) in self.accesses.iter().enumerate() {
            served.push(
                self.find_best_alternative(at, access, memory)
                    .ok_or_else(|| format!("`{}` is not possible by any alternative", access.name))?,
            );
        }
        let (layout, swizzles) = written(memory).map_err(|error| error.to_string())?;
        Ok(SharedLayoutSolution {
            term: None,
            layout,
            swizzles,
            memory: memory.clone(),
            fixed_layout: name.map(str::to_owned),
            price: self.priced(&served),
            served,
            nodes: 0,
            leaves: 0,
        })
    }

    /// Returns the solution of the access with index `at` by its cheapest alternative in the memory layout `memory`;
    /// `None` if no alternative is possible.
    fn find_best_alternative(
        &self,
        at: usize,
        access: &TensorAccess<'_>,
        memory: &MemoryLayout,
    ) -> Option<AccessSolution> {
        let mut best: Option<(f64, AccessSolution)> = None;
        for (index, alternative) in access.alternatives.iter().enumerate() {
            let by_itself = |issued: u64| AccessSolution {
                access: access.name.clone(),
                alternative: index,
                instruction: alternative.instruction().map(str::to_owned),
                bytes: 0,
                term: None,
                wavefronts: 0,
                lower_bound: 0,
                issued,
                permutes: 0,
                fetched: None,
            };
            let found = match alternative {
                AccessAlternative::Lanes(_) => self.served_in(at, index, memory),
                AccessAlternative::Operand { operand, .. } => {
                    DescriptorMatch::find(&memory.linear, operand).ok().map(|_| by_itself(0))
                }
                AccessAlternative::TensorCopy { operand, first, part, .. } => {
                    let box_count = min_box_count(&memory.linear, part.as_ref(), *first, self.tensor.bits, operand);
                    box_count.ok().map(|(box_count, _)| by_itself(box_count))
                }
            };
            let Some(found) = found else { continue };
            let price = match self.lanes(at, index) {
                Some(_) => self.price_of(at, &found),
                // Asynchronous alternatives are compared by their numbers of issues alone, because no lane waits for
                // their wavefronts.
                None => found.issued as f64 / 1024.0,
            };
            if best.as_ref().is_none_or(|(lower_bound, _)| price < *lower_bound) {
                best = Some((price, found));
            }
        }
        best.map(|(_, served)| served)
    }
}
