//! The tile sizes that were chosen for a program whose text leaves them open.

use std::fmt;

/// The chosen tile sizes of a program, and the extent of the search for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChosenTileSizes {
    /// The name and the chosen value of each tile size that the text leaves open, in the order of the text. The size
    /// combinations in the fields below list their values in this order.
    pub sizes: Vec<(String, u64)>,
    /// Number of size combinations for which layouts were solved; zero if all sizes were given, so that nothing was
    /// searched.
    pub solved: usize,
    /// The size combinations for which synthesis found no layouts, each with the reason.
    pub unsatisfied: Vec<(Vec<u64>, String)>,
    /// The size combinations that do not give a valid program, each with the error.
    pub refused: Vec<(Vec<u64>, String)>,
    /// Number of size combinations that were not tried, because the search stops at a max number of combinations.
    pub left_out: usize,
    /// The size combinations with layouts, each with the predicted cycles of a whole launch.
    pub predicted: Vec<(Vec<u64>, f64)>,
}

/// Prints the chosen sizes, and all combinations that were tried.
impl fmt::Display for ChosenTileSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |sizes: &[u64]| {
            let named = self.sizes.iter().zip(sizes).map(|((name, _), size)| format!("{name} = {size}"));
            named.collect::<Vec<_>>().join(", ")
        };
        let own: Vec<u64> = self.sizes.iter().map(|(_, size)| *size).collect();
        write!(f, "sizes: {}", listed(&own))?;
        if self.solved == 0 {
            return writeln!(f, ", as given");
        }
        let looked_at = self.solved + self.unsatisfied.len() + self.refused.len();
        writeln!(f, ", best of {looked_at} tried ({} left out)", self.left_out)?;
        for (sizes, cycles) in &self.predicted {
            writeln!(f, "  {}: {cycles:.0} cycles", listed(sizes))?;
        }
        for (sizes, reason) in self.unsatisfied.iter().chain(&self.refused) {
            writeln!(f, "  {}: {reason}", listed(sizes))?;
        }
        Ok(())
    }
}
