//! Tests of the choice of cases: globs, lists and shards.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

use super::{Tests, code, command, prepared, stdout};

pub const TESTS: Tests = &[
    ("exclusions_leave_out", exclusions_leave_out),
    ("lists_of_cases_choose_them", lists_of_cases_choose_them),
    ("lists_of_cases_that_are_not_there_are_refused", lists_of_cases_that_are_not_there_are_refused),
    ("shards_are_disjoint_and_together_all", shards_are_disjoint_and_together_all),
    ("a_case_stays_in_its_shard", a_case_stays_in_its_shard),
    ("smoke_runs_have_a_few_cases_of_each_group", smoke_runs_have_a_few_cases_of_each_group),
];

fn listed(line: &str) -> BTreeSet<String> {
    stdout(&format!("--target toy --list {line}")).lines().map(str::to_owned).collect()
}

fn exclusions_leave_out() {
    let all = listed("deeds/pass deeds/many");
    let some = listed("deeds/pass deeds/many --exclude deeds/many/0* --exclude */layout");
    assert_eq!(all.len() - some.len(), 11);
    assert!(some.contains("deeds/pass/emulated") && some.contains("deeds/many/10"), "{some:?}");
    assert_eq!(code("--target toy deeds/pass deeds/fail --exclude deeds/fail"), 0);
    let nothing = command("--target toy deeds/fail --exclude deeds");
    assert_eq!(nothing.status.code(), Some(3), "a run of nothing has not passed");
}

fn lists_of_cases_choose_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cases");
    let text = "# what to look at\ndeeds/many/03\n\ntoy deeds/pass/layout  # of one target\ntwin deeds/fail\n";
    std::fs::write(&file, text).expect("a list");
    let list = format!("--case-list {}", file.display());
    let of_toy = ["deeds/many/03", "deeds/pass/layout"].map(str::to_owned);
    assert_eq!(listed(&list), of_toy.clone().into());
    assert_eq!(listed(&format!("{list} deeds/many")), ["deeds/many/03".to_owned()].into());
    let both = stdout(&format!("--target toy --target twin --list {list}"));
    assert_eq!(both, "toy deeds/many/03\ntoy deeds/pass/layout\ntwin deeds/fail\ntwin deeds/many/03\n");

    let mut child = prepared("--target toy --list --case-list -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{}\n{}\n", of_toy[0], of_toy[1]));
}

fn lists_of_cases_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cases");
    std::fs::write(&file, "deeds/pass/layout\ndeeds/pas/layout\n").expect("a list");
    let output = command(&format!("--target toy --case-list {}", file.display()));
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("cases:2: there is no case `deeds/pas/layout`"), "{errors}");
    assert_eq!(code("--target toy --case-list /no/such/list"), 2);
}

fn shards_are_disjoint_and_together_all() {
    let shards: Vec<_> = (1..=4).map(|shard| listed(&format!("--shard {shard}/4"))).collect();
    let together: BTreeSet<_> = shards.iter().flatten().cloned().collect();
    assert_eq!(together, listed(""));
    assert_eq!(shards.iter().map(BTreeSet::len).sum::<usize>(), together.len());
    assert!(shards.iter().all(|shard| !shard.is_empty()), "{shards:?}");
    for wrong in ["0/4", "5/4", "1", "1/0", "a/b"] {
        assert_eq!(code(&format!("--target toy --shard {wrong}")), 2, "{wrong}");
    }
}

/// A case stays in its shard. The expected shards were computed elsewhere: the first eight bytes of `printf %s NAME |
/// sha256sum`, modulo 4. Machines that run shards must agree on them, in all versions.
fn a_case_stays_in_its_shard() {
    for (name, shard) in [("deeds/pass/layout", 3), ("deeds/fail", 3), ("deeds/many/07", 4)] {
        for of in 1..=4 {
            let holds = listed(&format!("--shard {of}/4")).contains(name);
            assert_eq!(holds, of == shard, "{name} in {of}/4");
        }
    }
}

fn smoke_runs_have_a_few_cases_of_each_group() {
    let some = listed("--smoke");
    assert_eq!(some, listed(""), "of a small group there is all");
    assert_eq!(some, listed("--smoke"));
    assert!(some.is_subset(&listed("")));
    assert_eq!(code("--target toy --smoke --thorough"), 2);
    let output = command("--target toy --smoke --timeout 1");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("a sample of 38 of 38 cases (100 %) of toy"), "{stderr}");
}
