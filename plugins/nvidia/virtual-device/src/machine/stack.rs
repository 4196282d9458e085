//! Which lanes of a warp are where: lanes that part meet again where the program says ([`Program::meeting`]).
//!
//! [`Program::meeting`]: super::super::program::Program::meeting

use super::registers::LANES;

/// Lanes that go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    step: u32,
    /// Where they meet the path below.
    meeting: u32,
    lanes: u32,
}

/// The paths of a warp; the last one runs.
#[derive(Debug)]
pub(super) struct Stack {
    paths: Vec<Path>,
}

/// Behind all steps.
const END: u32 = u32::MAX;

impl Stack {
    pub(super) fn new(lanes: u32) -> Self {
        Self { paths: vec![Path { step: 0, meeting: END, lanes }] }
    }

    /// The step that runs next, and the lanes that execute it; none where all have ended.
    pub(super) fn top(&mut self) -> Option<(u32, u32)> {
        while let Some(path) = self.paths.last() {
            if path.lanes != 0 && (path.step != path.meeting || self.paths.len() == 1) {
                return Some((path.step, path.lanes));
            }
            self.paths.pop();
        }
        None
    }

    /// Lanes that have not ended.
    pub(super) fn alive(&self) -> u32 {
        self.paths.iter().fold(0, |all, path| all | path.lanes)
    }

    pub(super) fn follow(&mut self) {
        if let Some(path) = self.paths.last_mut() {
            path.step += 1;
        }
    }

    /// Some of the running lanes go to a step, the others on; they meet at `meeting`.
    pub(super) fn jump(&mut self, lanes: u32, target: u32, meeting: u32) {
        let Some(path) = self.paths.last_mut() else { return };
        if path.lanes == lanes {
            path.step = target;
            return;
        }
        let next = path.step + 1;
        self.part(&[(lanes, target), (!lanes, next)], meeting);
    }

    /// Each of the given lanes goes to its own step, the others on.
    pub(super) fn scatter(&mut self, lanes: u32, targets: &[u32; LANES], meeting: u32) {
        let Some(&path) = self.paths.last() else { return };
        let mut ways: Vec<(u32, u32)> = Vec::new();
        for lane in (0..LANES).filter(|lane| path.lanes >> lane & 1 == 1) {
            let target = if lanes >> lane & 1 == 1 { targets[lane] } else { path.step + 1 };
            match ways.iter_mut().find(|(_, known)| *known == target) {
                Some((lanes, _)) => *lanes |= 1 << lane,
                None => ways.push((1 << lane, target)),
            }
        }
        match ways.as_slice() {
            &[(_, target)] => self.jump(path.lanes, target, meeting),
            ways => self.part(ways, meeting),
        }
    }

    fn part(&mut self, ways: &[(u32, u32)], meeting: u32) {
        let is_last = self.paths.len() == 1;
        let Some(path) = self.paths.last_mut() else { return };
        let (all, below) = (path.lanes, path.meeting);
        if below == meeting && !is_last {
            // The path below already waits there for all of them.
            self.paths.pop();
        } else {
            path.step = meeting;
        }
        for &(lanes, step) in ways.iter().rev() {
            self.paths.push(Path { step, meeting, lanes: lanes & all });
        }
    }

    /// Lets another path run whose lanes meet the running ones nowhere before the end; false where there is none.
    pub(super) fn iteration(&mut self) -> bool {
        let Some(first) = self.paths.iter().skip(1).position(|path| path.meeting == END && path.lanes != 0) else {
            return false;
        };
        let first = first + 1;
        let is_among_them = self.paths.last().is_some_and(|path| path.meeting == END);
        if !is_among_them || self.paths.len() - first < 2 {
            return false;
        }
        self.paths[first..].rotate_right(1);
        true
    }

    /// Lanes end.
    pub(super) fn end(&mut self, lanes: u32) {
        self.paths.iter_mut().for_each(|path| path.lanes &= !lanes);
    }
}
