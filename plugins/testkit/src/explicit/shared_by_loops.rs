//! Programs with several loops, or several copies of a loop, that fill one tensor in shared memory: the suite's dot,
//! divided along K.

use std::sync::Arc;

use super::{EmulatedDerivation, case, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::SynthesisOptions;

/// The dot of the suite as its parts: the text before the loop, the loop, the body of the loop, and the text after it.
struct DotText {
    before: String,
    looped: String,
    body: String,
    after: String,
}

impl DotText {
    fn new() -> Self {
        let (_, text) = case("explicit_gemm");
        let begin = text.find("    %sums = scf.for").expect("a loop");
        let end = begin + text[begin..].find("    }\n").expect("the end of the loop") + "    }\n".len();
        let looped = text[begin..end].to_owned();
        let body = looped.split_once('\n').and_then(|(_, body)| body.split_once("      scf.yield")).expect("a body").0;
        let constants = [2, 4].map(|number| format!("    %c{number} = arith.constant {number} : i32\n")).concat();
        Self {
            before: text[..begin].to_owned() + &constants,
            body: body.to_owned(),
            looped,
            after: text[end..].to_owned(),
        }
    }

    /// The loop over the iterations `bounds`, which adds to `empty` and has the result `result`.
    fn part(&self, bounds: [&str; 2], [empty, result]: [&str; 2]) -> String {
        let looped = self.looped.replace("%c0 to %turns", &format!("{} to {}", bounds[0], bounds[1]));
        looped.replace("%empty", empty).replace("%sums =", &format!("{result} ="))
    }

    fn program(&self, parts: &[&str]) -> String {
        format!("{}{}{}", self.before, parts.concat(), self.after)
    }

    /// Two loops, one after the other.
    fn two_loops(&self) -> [String; 2] {
        [self.part(["%c0", "%c2"], ["%empty", "%half"]), self.part(["%c2", "%turns"], ["%half", "%sums"])]
    }

    /// Two loops with equal bounds: the first result is stored, and then overwritten by the same result of the second.
    fn repeated(&self) -> String {
        let store = self.after.split("    tt.return").next().expect("a store").replace("%rounded", "%first");
        let first = self.part(["%c0", "%turns"], ["%empty", "%half"]);
        self.program(&[&first, &self.looped, &store.replace("%sums", "%half")])
    }

    /// Two loops within a third one of one iteration.
    fn nested(&self) -> String {
        let head =
            "    %sums = scf.for %o = %c0 to %c1 step %c1 iter_args(%acc = %empty) -> (tensor<64x64xf32>) : i32 {\n";
        let [first, second] = self.two_loops().map(|part| part.replace("%empty", "%acc").replace("%sums =", "%all ="));
        self.program(&[head, &first, &second, "      scf.yield %all : tensor<64x64xf32>\n    }\n"])
    }

    /// The first iteration before the loop.
    fn peeled(&self) -> String {
        let first = ["%ai", "%bi", "%ra", "%rb", "%next"]
            .into_iter()
            .fold(self.body.clone(), |body, name| body.replace(name, &format!("{name}0")));
        let first = first.replace("[%i]", "[%c0]").replace("%sum :", "%empty :");
        self.program(&[&first, &self.part(["%c1", "%turns"], ["%next0", "%sums"])])
    }

    /// A loop whose body has two iterations, and a loop with the last iteration.
    fn unrolled(&self) -> String {
        let second = ["%ai", "%bi", "%ra", "%rb"]
            .into_iter()
            .fold(self.body.clone(), |body, name| body.replace(name, &format!("{name}1")));
        let second = second.replace("%sum :", "%next :").replace("%next =", "%next1 =").replace("[%i]", "[%j]");
        let twice = self.part(["%c0", "%c4"], ["%empty", "%half"]).replace("step %c1", "step %c2");
        let (head, end) = twice.split_once("      scf.yield %next").expect("the end of the loop");
        let step = "      %j = arith.addi %i, %c1 : i32\n";
        let twice = format!("{head}{step}{second}      scf.yield %next1{end}");
        self.program(&[&twice, &self.part(["%c4", "%turns"], ["%half", "%sums"])])
    }
}

/// Executes programs whose loops or copies fill one tensor together, and checks their results. Loops that fill the
/// same tensors have as many buffers. Returns the solutions of the programs of two loops with parts of K, and of two
/// loops with equal bounds.
pub fn check_loops_filling_one_tensor(target: &dyn Target) -> [Arc<EmulatedDerivation>; 2] {
    let (case, dot) = (case("explicit_gemm").0, DotText::new());
    let solve = |text: &str| {
        let solved = synthesize_and_emulate(target, &case, text, SynthesisOptions::default());
        let loops = &solved.derivation.loops;
        assert!(loops.iter().all(|of| of.buffers == loops[0].buffers), "{}", solved.derivation);
        solved
    };
    for text in [dot.nested(), dot.peeled(), dot.unrolled()] {
        solve(&text);
    }
    [dot.program(&dot.two_loops().each_ref().map(String::as_str)), dot.repeated()].map(|text| {
        let solved = solve(&text);
        let without = synthesize_and_emulate(target, &case, &text, SynthesisOptions::default().with_pipelining(false));
        assert_eq!((solved.derivation.loops.len(), without.derivation.loops[0].stages), (2, 1));
        assert!(solved.derivation.prediction.cycles <= without.derivation.prediction.cycles, "{}", solved.derivation);
        solved
    })
}
