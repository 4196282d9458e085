//! Selects the cases of a smoke run (a short run that covers every subject).

use std::collections::{BTreeMap, BTreeSet};

use crate::CaseGroup;
use crate::shard::name_hash;

/// Number of cases of each group in a smoke run, in addition to one for each of the group's subjects.
const OF_GROUP: usize = 96;

/// Reduces the names to a sample: one case of each subject (such as an instruction) of a group, and some further cases
/// of each group. The cases with the lowest hashes of their names are taken, so that the sample is the same in every
/// run.
pub(super) fn sample(names: &mut Vec<String>, groups: &[Box<dyn CaseGroup>]) {
    names.sort_by_cached_key(|name| name_hash(name));
    let (mut shown, mut others) = (BTreeSet::new(), BTreeMap::new());
    names.retain(|name| {
        let word = name.split('/').next().unwrap_or_default();
        let subject = groups.iter().find(|group| group.name() == word).and_then(|group| group.subject(name));
        if subject.is_some_and(|subject| shown.insert(subject.to_owned())) {
            return true;
        }
        let others: &mut usize = others.entry(word.to_owned()).or_default();
        *others += 1;
        *others <= OF_GROUP
    });
    names.sort();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Context};

    struct Rows;

    impl CaseGroup for Rows {
        fn name(&self) -> &str {
            "rows"
        }

        fn subject<'a>(&self, name: &'a str) -> Option<&'a str> {
            name.split('/').nth(1)
        }

        fn cases(&self, _: &Context) -> Vec<Case> {
            Vec::new()
        }
    }

    #[test]
    fn a_sample_has_every_subject_and_some_of_each_group() {
        let groups: [Box<dyn CaseGroup>; 1] = [Box::new(Rows)];
        let named = |group: &str| (0..400).map(|case| format!("{group}/{}/{case}", case / 2)).collect::<Vec<_>>();
        let mut names = [named("other"), named("rows")].concat();
        sample(&mut names, &groups);
        let of = |group: &str| names.iter().filter(|name| name.starts_with(group)).count();
        assert_eq!(of("other"), OF_GROUP);
        // One case of each subject, and `OF_GROUP` of the others.
        assert_eq!(of("rows"), 200 + OF_GROUP);
        let subjects: BTreeSet<_> = names.iter().filter_map(|name| Rows.subject(name)).collect();
        assert_eq!(subjects.len(), 200);
        assert!(names.is_sorted());
    }
}
