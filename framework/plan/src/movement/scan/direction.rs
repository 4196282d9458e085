//! Direction of a scan along its axis.

/// The direction of a scan along its axis. `Reverse` is the attribute `reverse` of Triton's `tt.scan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanDirection {
    /// The scan starts at coordinate 0 and goes up.
    Forward,
    /// The scan starts at the last coordinate and goes down.
    Reverse,
}
