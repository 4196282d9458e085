//! Jumps back become loops that do the same; what is no loop is refused.

use std::collections::BTreeSet;
use std::fmt::Write;

use tilewright_testkit::split_mix::SplitMix64;
use tilewright_tile::op::Dialects;
use tilewright_tile::text::print;
use tilewright_tile::transform::structure;

use super::interpreter::{run, run_within};
use super::{has, read, structured};

/// Where each block jumps to; nowhere where it returns.
type Jumps = Vec<Vec<usize>>;

/// Blocks that jump at random, back and forth, but not to the first.
fn random_jumps(random: &mut SplitMix64) -> Jumps {
    let blocks = 2 + random.below(7);
    let to = |random: &mut SplitMix64, block: usize| match random.below(3) {
        0 => 1 + random.below(blocks - 1),
        _ => (block + 1 + random.below(2)).min(blocks - 1),
    };
    let of = |block: usize| match (block + 1 == blocks, random.below(6)) {
        (true, _) | (_, 0) => vec![],
        (_, 1) => vec![to(random, block)],
        (_, 2) => vec![to(random, block), to(random, block), to(random, block)],
        _ => vec![to(random, block), to(random, block)],
    };
    (0..blocks).map(of).collect()
}

/// The blocks that can be reached from one, but not by way of another.
fn reached(jumps: &Jumps, from: usize, without: Option<usize>) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(block) = open.pop() {
        if Some(block) != without && found.insert(block) {
            open.extend(&jumps[block]);
        }
    }
    found
}

/// Whether blocks become one by taking away jumps to themselves, and making one of each block and the only one that jumps to it:
/// so the books say that all cycles are loops entered at one place (Hecht and Ullman, 1972).
fn is_reducible(jumps: &Jumps) -> bool {
    let mut all = reached(jumps, 0, None);
    let mut pairs: BTreeSet<(usize, usize)> =
        all.iter().flat_map(|from| jumps[*from].iter().map(|to| (*from, *to))).collect();
    loop {
        pairs.retain(|(from, to)| from != to);
        let single = |block: &usize| {
            let mut before = pairs.iter().filter(|(_, to)| to == block).map(|(from, _)| *from);
            let one = before.next().filter(|_| before.next().is_none());
            one.filter(|_| *block != 0).map(|one| (one, *block))
        };
        let Some((one, block)) = all.iter().find_map(single) else { return all.len() == 1 };
        let merged = |place: usize| if place == block { one } else { place };
        pairs =
            pairs.iter().map(|(from, to)| (merged(*from), merged(*to))).filter(|pair| *pair != (one, block)).collect();
        all.remove(&block);
    }
}

/// Whether there is a block from which no way leads to a return.
fn is_stuck(jumps: &Jumps) -> bool {
    let returns = |from: &usize| reached(jumps, *from, None).iter().any(|block| jumps[*block].is_empty());
    !reached(jumps, 0, None).iter().all(returns)
}

/// A function with these jumps, whose blocks take one number or two and use what blocks have made that are always passed before, and
/// stand before in the text.
fn text_of(jumps: &Jumps, random: &mut SplitMix64) -> String {
    let all = reached(jumps, 0, None);
    let takes: Vec<usize> = (0..jumps.len()).map(|block| if block == 0 { 0 } else { 1 + random.below(2) }).collect();
    let counts: Vec<usize> = jumps.iter().map(|_| 1 + random.below(2)).collect();
    let mut text = "module {\n tt.func public @f(%a: i32, %b: i32) -> i32 {\n".to_owned();
    text += "  %one = arith.constant 1 : i32\n  %seven = arith.constant 7 : i32\n";
    for (block, targets) in jumps.iter().enumerate() {
        if block > 0 {
            let arguments: Vec<_> = (0..takes[block]).map(|one| format!("%x{block}_{one}: i32")).collect();
            let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
            let _ = writeln!(text, " ^b{block}{arguments}:");
        }
        let passed = |other: &usize| *other < block && !reached(jumps, 0, Some(*other)).contains(&block);
        let others = all.iter().copied().filter(|_| all.contains(&block)).filter(passed);
        let mut known: Vec<String> = ["%a", "%b", "%one", "%seven"].map(str::to_owned).to_vec();
        for other in others {
            known.extend((0..takes[other]).map(|one| format!("%x{other}_{one}")));
            known.extend((0..counts[other]).map(|op| format!("%v{other}_{op}")));
        }
        known.extend((0..takes[block]).map(|one| format!("%x{block}_{one}")));
        for op in 0..counts[block] {
            let (a, b) = (&known[known.len() - 1 - random.below(3)], &known[random.below(known.len())]);
            let name = ["addi", "addi", "muli"][random.below(3)];
            let _ = writeln!(text, "  %v{block}_{op} = arith.{name} {a}, {b} : i32");
            known.push(format!("%v{block}_{op}"));
        }
        let pick = |random: &mut SplitMix64| known[random.below(known.len())].clone();
        let _ = writeln!(text, "  tt.print \"\" {{hex = false, isSigned = array<i32: 1>}} : {} : i32", pick(random));
        // What has just been made, so that loops come to an end.
        let late = |random: &mut SplitMix64| known[known.len() - 1 - random.below(3)].clone();
        let to = |random: &mut SplitMix64, target: usize| {
            let along: Vec<_> = (0..takes[target]).map(|_| late(random)).collect();
            let types = vec!["i32"; along.len()].join(", ");
            if along.is_empty() { format!("^b{target}") } else { format!("^b{target}({} : {types})", along.join(", ")) }
        };
        let there: Vec<_> = targets.iter().map(|target| to(random, *target)).collect();
        let (flag, other) = (late(random), pick(random));
        let _ = match &there[..] {
            [] => writeln!(text, "  tt.return {flag} : i32"),
            [one] => writeln!(text, "  cf.br {one}"),
            [yes, no] => {
                writeln!(
                    text,
                    "  %c{block} = arith.cmpi slt, {flag}, {other} : i32\n  cf.cond_br %c{block}, {yes}, {no}"
                )
            }
            [a, b, c, ..] => writeln!(text, "  cf.switch {flag} : i32, [\n default: {a},\n 1: {b},\n 7: {c}\n ]"),
        };
    }
    text + " }\n}\n"
}

#[test]
fn jumps_back_become_loops_that_do_the_same_or_are_refused() {
    let mut random = SplitMix64::new(11);
    let (mut loops, mut turns, mut elsewhere, mut stuck) = (0, 0, 0, 0);
    for _ in 0..3000 {
        let jumps = random_jumps(&mut random);
        let text = text_of(&jumps, &mut random);
        let module = read(&text);
        let refused = match (is_reducible(&jumps), is_stuck(&jumps)) {
            (false, _) => Some("it jumps back into what is entered elsewhere"),
            (true, true) => Some("nothing leaves the loop"),
            (true, false) => None,
        };
        if let Some(reason) = refused {
            let error = structure(&module, &Dialects::neutral()).expect_err(&text).to_string();
            assert!(error.contains(reason), "{error}\n{text}");
            *if reason.starts_with("nothing") { &mut stuck } else { &mut elsewhere } += 1;
            continue;
        }
        let done = structured(&module);
        assert!(!has(&done, " cf."), "{}", print(&done));
        let prints = |text: &str| text.matches("tt.print").count();
        assert!(prints(&print(&done)) <= prints(&text), "something is written twice: {text}\n{}", print(&done));
        loops += usize::from(has(&done, "scf.while"));
        for (a, b) in [(0, 0), (1, 0), (0, 1), (7, 3), (3, 7), (1, 100), (100, 2), (40_000, 1)] {
            // What does not come to an end needs not.
            if let Some(expected) = run_within(&module, "f", &[a, b], 400) {
                turns += usize::from(expected.printed.len() > jumps.len());
                assert_eq!(run(&done, "f", &[a, b]), expected, "{a} {b}\n{text}\n{}", print(&done));
            }
        }
    }
    assert!(loops > 400 && turns > 50 && elsewhere > 100 && stuck > 50, "{loops} {turns} {elsewhere} {stuck}");
}

/// The same text with its blocks but the first in another order.
fn with_blocks_elsewhere(text: &str, random: &mut SplitMix64) -> String {
    let body = text.strip_suffix(" }\n}\n").unwrap_or_else(|| panic!("{text}"));
    let mut blocks: Vec<&str> = body.split("\n ^").collect();
    for place in (2..blocks.len()).rev() {
        blocks.swap(place, 1 + random.below(place));
    }
    let blocks: Vec<&str> = blocks.iter().map(|block| block.trim_end_matches('\n')).collect();
    blocks.join("\n ^") + "\n }\n}\n"
}

#[test]
fn where_blocks_stand_in_the_text_changes_nothing() {
    let mut random = SplitMix64::new(5);
    let mut late = 0;
    for _ in 0..1000 {
        let text = text_of(&random_jumps(&mut random), &mut random);
        let elsewhere = with_blocks_elsewhere(&text, &mut random);
        let (module, other) = (read(&text), read(&elsewhere));
        let names =
            |text: &str| text.lines().filter_map(|line| Some(line.split_once(" = ")?.0.trim().to_owned())).collect();
        let (before, after): (Vec<String>, Vec<String>) = (names(&elsewhere), names(&print(&other)));
        // Blocks are moved only where a value is used before it is defined.
        late += usize::from(before != after);
        assert_eq!(print(&read(&print(&other))), print(&other), "{elsewhere}");
        for (a, b) in [(0, 0), (1, 7), (7, 1), (40_000, 3)] {
            assert_eq!(run_within(&other, "f", &[a, b], 400), run_within(&module, "f", &[a, b], 400), "{elsewhere}");
        }
    }
    assert!(late > 100, "{late}");
}

/// A value of the loop is used behind it.
#[test]
fn a_loop_of_jumps_is_a_while() {
    let module = read(
        "module {
           tt.func public @f(%n: i32, %m: i32) -> i32 {
             %zero = arith.constant 0 : i32
             %one = arith.constant 1 : i32
             cf.br ^head(%zero : i32)
           ^head(%i: i32):
             %square = arith.muli %i, %i : i32
             %next = arith.addi %i, %one : i32
             %more = arith.cmpi slt, %square, %n : i32
             cf.cond_br %more, ^head(%next : i32), ^done
           ^done:
             tt.return %square : i32
           }
         }",
    );
    let done = structured(&module);
    let expected = "module {
  tt.func public @f(%n: i32, %m: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
";
    assert!(print(&done).starts_with(expected), "{}", print(&done));
    assert_eq!(print(&done).matches("scf.while").count(), 1);
    // The least square that is not below n: 0, 1, 4, 9, 16.
    for (n, square) in [(0, 0), (1, 1), (2, 4), (5, 9), (9, 9), (10, 16)] {
        assert_eq!(run(&done, "f", &[n, 0]).given, [Some(square)], "{n}\n{}", print(&done));
    }
}

#[test]
fn what_is_no_loop_is_refused_at_its_place() {
    let refused =
        |text: &str| structure(&read(text), &Dialects::neutral()).expect_err("no loop").in_text(text).to_string();
    let endless = "module {
  tt.func public @f(%n: i32) {
    cf.br ^bb1(%n : i32)
  ^bb1(%i: i32):
    cf.br ^bb1(%i : i32)
  }
}";
    assert_eq!(refused(endless), "5:5: `cf.br`: nothing leaves the loop that begins here");
    let entered_twice = "module {
  tt.func public @f(%c: i1) {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    cf.br ^bb2
  ^bb2:
    cf.cond_br %c, ^bb1, ^bb3
  ^bb3:
    tt.return
  }
}";
    assert_eq!(
        refused(entered_twice),
        "5:5: `cf.br`: it jumps back into what is entered elsewhere: a loop is entered at the block that is jumped back \
         to alone, or written as `scf.for` or `scf.while`"
    );
}
