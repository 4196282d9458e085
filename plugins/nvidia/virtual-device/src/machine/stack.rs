//! The reconvergence stack of a warp. Lanes that diverge at an instruction reconverge at the step (index of an
//! instruction) that [`Program::reconvergence`] has for it.
//!
//! [`Program::reconvergence`]: super::super::program::Program::reconvergence

use super::registers::LANES;

/// Lanes of a warp that execute the same instructions together, from step `step` (index of an instruction) on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    step: u32,
    /// Step at which these lanes reconverge with the entry below this one on the stack.
    reconvergence: u32,
    lanes: u32,
}

/// The reconvergence stack of a warp; the last entry is executing.
#[derive(Debug)]
pub(super) struct Stack {
    paths: Vec<Path>,
}

/// Step index that stands for the end of the program.
const END: u32 = u32::MAX;

impl Stack {
    pub(super) fn new(lanes: u32) -> Self {
        Self { paths: vec![Path { step: 0, reconvergence: END, lanes }] }
    }

    /// Returns the next step (index of an instruction) and the mask of lanes that execute it; `None` if all lanes have
    /// exited. Removes entries whose lanes have reconverged.
    pub(super) fn top(&mut self) -> Option<(u32, u32)> {
        while let Some(path) = self.paths.last() {
            if path.lanes != 0 && (path.step != path.reconvergence || self.paths.len() == 1) {
                return Some((path.step, path.lanes));
            }
            self.paths.pop();
        }
        None
    }

    /// Returns the mask of lanes that have not exited.
    pub(super) fn alive(&self) -> u32 {
        self.paths.iter().fold(0, |all, path| all | path.lanes)
    }

    pub(super) fn follow(&mut self) {
        if let Some(path) = self.paths.last_mut() {
            path.step += 1;
        }
    }

    /// Branches: moves the lanes of the mask `lanes` to the step `target`, while the other running lanes continue with
    /// the next step. They reconverge at the step `reconvergence`.
    pub(super) fn jump(&mut self, lanes: u32, target: u32, reconvergence: u32) {
        let Some(path) = self.paths.last_mut() else { return };
        if path.lanes == lanes {
            path.step = target;
            return;
        }
        let next = path.step + 1;
        self.diverge(&[(lanes, target), (!lanes, next)], reconvergence);
    }

    /// Moves each lane of the mask `lanes` to its step in `targets`; the other running lanes continue with the next
    /// step. All reconverge at the step `reconvergence`.
    pub(super) fn scatter(&mut self, lanes: u32, targets: &[u32; LANES], reconvergence: u32) {
        let Some(&path) = self.paths.last() else { return };
        let mut groups: Vec<(u32, u32)> = Vec::new();
        for lane in (0..LANES).filter(|lane| path.lanes >> lane & 1 == 1) {
            let target = if lanes >> lane & 1 == 1 { targets[lane] } else { path.step + 1 };
            match groups.iter_mut().find(|(_, known)| *known == target) {
                Some((lanes, _)) => *lanes |= 1 << lane,
                None => groups.push((1 << lane, target)),
            }
        }
        match groups.as_slice() {
            &[(_, target)] => self.jump(path.lanes, target, reconvergence),
            groups => self.diverge(groups, reconvergence),
        }
    }

    fn diverge(&mut self, groups: &[(u32, u32)], reconvergence: u32) {
        let is_last = self.paths.len() == 1;
        let Some(path) = self.paths.last_mut() else { return };
        let (all, below) = (path.lanes, path.reconvergence);
        if below == reconvergence && !is_last {
            // The entry below already has this reconvergence step and all lanes of the diverging entry.
            self.paths.pop();
        } else {
            path.step = reconvergence;
        }
        for &(lanes, step) in groups.iter().rev() {
            self.paths.push(Path { step, reconvergence, lanes: lanes & all });
        }
    }

    /// Switches to another entry of the stack that reconverges with the running one only at the end of the program.
    /// Returns whether such an entry exists.
    pub(super) fn rotate(&mut self) -> bool {
        let Some(first) = self.paths.iter().skip(1).position(|path| path.reconvergence == END && path.lanes != 0)
        else {
            return false;
        };
        let first = first + 1;
        let is_among_them = self.paths.last().is_some_and(|path| path.reconvergence == END);
        if !is_among_them || self.paths.len() - first < 2 {
            return false;
        }
        self.paths[first..].rotate_right(1);
        true
    }

    /// Removes the lanes of a mask from all entries, because they exit.
    pub(super) fn end(&mut self, lanes: u32) {
        self.paths.iter_mut().for_each(|path| path.lanes &= !lanes);
    }
}
