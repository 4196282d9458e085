//! Back edges become loops with the same semantics; irreducible control flow is rejected.

use std::collections::BTreeSet;
use std::fmt::Write;

use tilewright_testkit::seeded_rng::SeededRng;
use tilewright_tile::op::Dialects;
use tilewright_tile::text::print_module;
use tilewright_tile::transform::structurize;

use super::interpreter::{run, run_within};
use super::{has, read, structured};

/// For each block, its successors; a block without successors returns.
type SuccessorLists = Vec<Vec<usize>>;

/// Random successors of blocks: forward and backward branches, but none to the entry.
fn random_successors(random: &mut SeededRng) -> SuccessorLists {
    let blocks = 2 + random.below(7);
    let to = |random: &mut SeededRng, block: usize| match random.below(3) {
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

/// The blocks that are reachable from the block `from` without passing through the block `without`.
fn reached(successors: &SuccessorLists, from: usize, without: Option<usize>) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(block) = open.pop() {
        if Some(block) != without && found.insert(block) {
            open.extend(&successors[block]);
        }
    }
    found
}

/// Whether the graph is reducible: removing self loops and merging blocks with their only predecessor leaves one block
/// (Hecht and Ullman, 1972).
fn is_reducible(successors: &SuccessorLists) -> bool {
    let mut all = reached(successors, 0, None);
    let mut pairs: BTreeSet<(usize, usize)> =
        all.iter().flat_map(|from| successors[*from].iter().map(|to| (*from, *to))).collect();
    loop {
        pairs.retain(|(from, to)| from != to);
        let single = |block: &usize| {
            let mut before = pairs.iter().filter(|(_, to)| to == block).map(|(from, _)| *from);
            let one = before.next().filter(|_| before.next().is_none());
            one.filter(|_| *block != 0).map(|one| (one, *block))
        };
        let Some((one, block)) = all.iter().find_map(single) else { return all.len() == 1 };
        let merged = |index: usize| if index == block { one } else { index };
        pairs =
            pairs.iter().map(|(from, to)| (merged(*from), merged(*to))).filter(|pair| *pair != (one, block)).collect();
        all.remove(&block);
    }
}

/// Whether a block cannot reach a return.
fn is_stuck(successors: &SuccessorLists) -> bool {
    let returns = |from: &usize| reached(successors, *from, None).iter().any(|block| successors[*block].is_empty());
    !reached(successors, 0, None).iter().all(returns)
}

/// The text of a function with these branches. Its blocks take one or two arguments, and use values of blocks that
/// dominate them and precede them in the text.
fn text_of(successors: &SuccessorLists, random: &mut SeededRng) -> String {
    let all = reached(successors, 0, None);
    let takes: Vec<usize> =
        (0..successors.len()).map(|block| if block == 0 { 0 } else { 1 + random.below(2) }).collect();
    let counts: Vec<usize> = successors.iter().map(|_| 1 + random.below(2)).collect();
    let mut text = "module {\n tt.func public @f(%a: i32, %b: i32) -> i32 {\n".to_owned();
    text += "  %one = arith.constant 1 : i32\n  %seven = arith.constant 7 : i32\n";
    for (block, targets) in successors.iter().enumerate() {
        if block > 0 {
            let arguments: Vec<_> = (0..takes[block]).map(|one| format!("%x{block}_{one}: i32")).collect();
            let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
            let _ = writeln!(text, " ^b{block}{arguments}:");
        }
        let passed = |other: &usize| *other < block && !reached(successors, 0, Some(*other)).contains(&block);
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
        let pick = |random: &mut SeededRng| known[random.below(known.len())].clone();
        let _ = writeln!(text, "  tt.print \"\" {{hex = false, isSigned = array<i32: 1>}} : {} : i32", pick(random));
        // A recent value, so that loops terminate.
        let recent = |random: &mut SeededRng| known[known.len() - 1 - random.below(3)].clone();
        let to = |random: &mut SeededRng, target: usize| {
            let along: Vec<_> = (0..takes[target]).map(|_| recent(random)).collect();
            let types = vec!["i32"; along.len()].join(", ");
            if along.is_empty() { format!("^b{target}") } else { format!("^b{target}({} : {types})", along.join(", ")) }
        };
        let there: Vec<_> = targets.iter().map(|target| to(random, *target)).collect();
        let (flag, other) = (recent(random), pick(random));
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
fn back_edges_become_equivalent_loops_or_are_rejected() {
    let mut random = SeededRng::new(11);
    let (mut loops, mut iterated, mut elsewhere, mut stuck) = (0, 0, 0, 0);
    for _ in 0..3000 {
        let successors = random_successors(&mut random);
        let text = text_of(&successors, &mut random);
        let module = read(&text);
        let refused = match (is_reducible(&successors), is_stuck(&successors)) {
            (false, _) => Some("it branches back into a loop that is also entered elsewhere"),
            (true, true) => Some("has no exit"),
            (true, false) => None,
        };
        if let Some(reason) = refused {
            let error = structurize(&module, &Dialects::neutral()).expect_err(&text).to_string();
            assert!(error.contains(reason), "{error}\n{text}");
            *if reason == "has no exit" { &mut stuck } else { &mut elsewhere } += 1;
            continue;
        }
        let done = structured(&module);
        assert!(!has(&done, " cf."), "{}", print_module(&done));
        let prints = |text: &str| text.matches("tt.print").count();
        assert!(
            prints(&print_module(&done)) <= prints(&text),
            "something is written twice: {text}\n{}",
            print_module(&done)
        );
        loops += usize::from(has(&done, "scf.while"));
        for (a, b) in [(0, 0), (1, 0), (0, 1), (7, 3), (3, 7), (1, 100), (100, 2), (40_000, 1)] {
            // Programs that do not terminate are not compared.
            if let Some(expected) = run_within(&module, "f", &[a, b], 400) {
                iterated += usize::from(expected.printed.len() > successors.len());
                assert_eq!(run(&done, "f", &[a, b]), expected, "{a} {b}\n{text}\n{}", print_module(&done));
            }
        }
    }
    assert!(loops > 400 && iterated > 50 && elsewhere > 100 && stuck > 50, "{loops} {iterated} {elsewhere} {stuck}");
}

/// The same text with its blocks, except the entry, in another order.
fn with_blocks_elsewhere(text: &str, random: &mut SeededRng) -> String {
    let body = text.strip_suffix(" }\n}\n").unwrap_or_else(|| panic!("{text}"));
    let mut blocks: Vec<&str> = body.split("\n ^").collect();
    for index in (2..blocks.len()).rev() {
        blocks.swap(index, 1 + random.below(index));
    }
    let blocks: Vec<&str> = blocks.iter().map(|block| block.trim_end_matches('\n')).collect();
    blocks.join("\n ^") + "\n }\n}\n"
}

#[test]
fn where_blocks_stand_in_the_text_changes_nothing() {
    let mut random = SeededRng::new(5);
    let mut recent = 0;
    for _ in 0..1000 {
        let text = text_of(&random_successors(&mut random), &mut random);
        let elsewhere = with_blocks_elsewhere(&text, &mut random);
        let (module, other) = (read(&text), read(&elsewhere));
        let names =
            |text: &str| text.lines().filter_map(|line| Some(line.split_once(" = ")?.0.trim().to_owned())).collect();
        let (before, after): (Vec<String>, Vec<String>) = (names(&elsewhere), names(&print_module(&other)));
        // Blocks are reordered only if a use precedes its definition.
        recent += usize::from(before != after);
        assert_eq!(print_module(&read(&print_module(&other))), print_module(&other), "{elsewhere}");
        for (a, b) in [(0, 0), (1, 7), (7, 1), (40_000, 3)] {
            assert_eq!(run_within(&other, "f", &[a, b], 400), run_within(&module, "f", &[a, b], 400), "{elsewhere}");
        }
    }
    assert!(recent > 100, "{recent}");
}

/// A value of the loop is used after it.
#[test]
fn a_back_edge_becomes_a_while() {
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
    assert!(print_module(&done).starts_with(expected), "{}", print_module(&done));
    assert_eq!(print_module(&done).matches("scf.while").count(), 1);
    // The smallest square that is not less than n: 0, 1, 4, 9, 16.
    for (n, square) in [(0, 0), (1, 1), (2, 4), (5, 9), (9, 9), (10, 16)] {
        assert_eq!(run(&done, "f", &[n, 0]).given, [Some(square)], "{n}\n{}", print_module(&done));
    }
}

#[test]
fn irreducible_control_flow_is_rejected_at_its_location() {
    let refused = |text: &str| {
        structurize(&read(text), &Dialects::neutral()).expect_err("no loop").to_text_error(text).to_string()
    };
    let endless = "module {
  tt.func public @f(%n: i32) {
    cf.br ^bb1(%n : i32)
  ^bb1(%i: i32):
    cf.br ^bb1(%i : i32)
  }
}";
    assert_eq!(refused(endless), "5:5: `cf.br`: the loop that begins here has no exit");
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
        "5:5: `cf.br`: it branches back into a loop that is also entered elsewhere (irreducible control flow): enter \
         the loop only at the target of its back edge, or use `scf.for` or `scf.while`"
    );
}
