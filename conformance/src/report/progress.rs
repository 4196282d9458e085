//! Shows the progress of a run on standard error: a bar on a terminal, elsewhere a line at least every ten seconds.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// Interval between lines of progress, which are written even if no case ends.
const EVERY: Duration = Duration::from_secs(9);

/// The progress display of a run, on standard error.
pub(crate) struct Progress {
    counts: Arc<Counts>,
    shown: Shown,
}

enum Shown {
    Bar(ProgressBar),
    /// Lines written by a thread, which ends when the sender is dropped.
    Lines(Option<mpsc::Sender<()>>, Option<JoinHandle<()>>),
}

#[derive(Debug)]
struct Counts {
    /// Number of cases to run, without cases that already have a result of an earlier run.
    cases: usize,
    finished: AtomicUsize,
    failed: AtomicUsize,
    started: Instant,
}

impl Progress {
    /// Starts the progress display of a run of `cases` cases.
    pub(crate) fn begin(cases: usize) -> Self {
        let (finished, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let counts = Arc::new(Counts { cases, finished, failed, started: Instant::now() });
        let shown = if std::io::stderr().is_terminal() { bar(cases) } else { lines(&counts) };
        Self { counts, shown }
    }

    /// Counts a case that has ended, and shows the new count.
    pub(crate) fn count(&self, failed: bool) {
        self.counts.finished.fetch_add(1, Ordering::Relaxed);
        let failed = self.counts.failed.fetch_add(usize::from(failed), Ordering::Relaxed) + usize::from(failed);
        if let Shown::Bar(bar) = &self.shown {
            bar.set_message(format!("{failed} failed"));
            bar.inc(1);
        }
    }

    /// Calls `write` while the progress bar is hidden, so that the text does not mix with the bar.
    pub(crate) fn suspended<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.shown {
            Shown::Bar(bar) => bar.suspend(write),
            Shown::Lines(..) => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &mut self.shown {
            Shown::Bar(bar) => bar.finish_and_clear(),
            Shown::Lines(sender, writer) => {
                drop(sender.take());
                // A panic of the writing thread affects only the display, so it is ignored.
                drop(writer.take().map(JoinHandle::join));
            }
        }
    }
}

fn bar(cases: usize) -> Shown {
    let bar = ProgressBar::new(cases as u64);
    let template = "{bar:30} {pos} of {len}, {msg}, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message("0 failed");
    bar.enable_steady_tick(Duration::from_millis(500));
    Shown::Bar(bar)
}

fn lines(counts: &Arc<Counts>) -> Shown {
    let (sender, end) = mpsc::channel();
    let counts = Arc::clone(counts);
    let write = move || {
        while end.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{}", counts.line());
        }
    };
    Shown::Lines(Some(sender), Some(std::thread::spawn(write)))
}

impl Counts {
    fn line(&self) -> String {
        let (finished, failed) = (self.finished.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        let rate = finished as f64 / self.started.elapsed().as_secs_f64();
        let left = match Duration::try_from_secs_f64((self.cases - finished.min(self.cases)) as f64 / rate) {
            Ok(left) => format!("about {} left", HumanDuration(left)),
            Err(_) => "time left not known yet".to_owned(),
        };
        let percent = 100 * finished / self.cases.max(1);
        format!("{finished} of {} cases ({percent} %), {failed} failed, {rate:.1} cases/s, {left}", self.cases)
    }
}
