//! The worker process of the runner: runs the cases named on standard input and reports how each ended.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use super::record::Record;
use crate::group::list_some;
use crate::{Case, CaseGroup, Context, Outcome, Verdict};

/// Reads case names, one a line up to an empty line, and runs the cases in this order; `open` returns their context.
///
/// Ends the process when standard input ends early, since the runner process is then gone.
///
/// # Errors
/// Standard input or output fails.
pub(crate) fn serve(groups: &[Box<dyn CaseGroup>], open: impl FnOnce() -> Result<Context, String>) -> io::Result<()> {
    let names = read_names(&mut io::stdin().lock())?;
    end_with_standard_input();
    panic::set_hook(Box::new(|info| {
        let position =
            info.location().map(|position| format!(" at {}:{}", position.file(), position.line())).unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("no message");
        PANIC.with_borrow_mut(|last| *last = format!("panicked{position}: {message}"));
    }));
    let out = &mut io::stdout();
    let prepared = open().and_then(|context| {
        // Only groups with a case in the batch list their cases, to save time.
        let requested: BTreeSet<_> = names.iter().filter_map(|name| name.split('/').next()).collect();
        let cases =
            list_some(groups, &context, |group| requested.contains(group)).map_err(|error| error.to_string())?;
        Ok((context, choose(cases, &names)?))
    });
    match prepared {
        Err(message) => Record::Unable { message }.write(out),
        Ok((context, cases)) => run(&cases, &context, out),
    }
}

thread_local! {
    /// Source location and message of the last panic on this thread.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn read_names(input: &mut dyn BufRead) -> io::Result<Vec<String>> {
    input.lines().take_while(|line| line.as_ref().map_or(true, |line| !line.is_empty())).collect()
}

/// Starts a thread that ends the process when standard input closes. A runner that was killed cannot kill its workers,
/// but the system closes its end of the pipe.
fn end_with_standard_input() {
    std::thread::spawn(|| {
        // The runner sends nothing more, so the read returns only when the runner is gone.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(3);
    });
}

fn choose(cases: Vec<Case>, names: &[String]) -> Result<Vec<Case>, String> {
    let mut by_name: HashMap<_, _> = cases.into_iter().map(|case| (case.name().to_owned(), case)).collect();
    let missing = |name: &String| format!("there is no case `{name}` in the worker: its group lists other cases there");
    names.iter().map(|name| by_name.remove(name).ok_or_else(|| missing(name))).collect()
}

fn run(cases: &[Case], context: &Context, out: &mut dyn Write) -> io::Result<()> {
    Record::Ready.write(out)?;
    for case in cases {
        Record::Start { name: case.name().to_owned() }.write(out)?;
        let outcome = run_case(case, context);
        Record::End { name: case.name().to_owned(), outcome }.write(out)?;
    }
    Record::Done.write(out)
}

fn run_case(case: &Case, context: &Context) -> Outcome {
    context.forget_requested();
    let start = Instant::now();
    let result = panic::catch_unwind(AssertUnwindSafe(|| case.run(context)));
    let verdict = result.unwrap_or_else(|_| Verdict::crash(PANIC.with_borrow(Clone::clone)));
    let duration = start.elapsed();
    let layouts = if verdict.status.is_failure() { context.take_requested() } else { Vec::new() };
    Outcome { status: verdict.status, level: verdict.level, detail: verdict.detail, duration, layouts }
}
