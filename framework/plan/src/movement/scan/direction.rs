//! Direction of a scan along its axis.

/// From which end of the axis a scan begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanDirection {
    /// From coordinate 0 up.
    Up,
    /// From the last coordinate down.
    Down,
}
