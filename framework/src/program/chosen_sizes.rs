//! The sizes of tiles that were chosen for a program that names several.

use std::fmt;

/// The sizes that were chosen, and how many were looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChosenSizes {
    /// Each size with its name.
    pub sizes: Vec<(String, u64)>,
    /// Programs that were solved.
    pub solved: usize,
    /// Sizes that have no solution, each with the reason.
    pub unsatisfied: Vec<(Vec<u64>, String)>,
    /// Sizes that give no program, each with the reason.
    pub refused: Vec<(Vec<u64>, String)>,
    /// Sizes that were not looked at, since others had used up what may be.
    pub left_out: usize,
    /// The predicted cycles of a launch for each solved choice of sizes.
    pub predicted: Vec<(Vec<u64>, f64)>,
}

/// The sizes, and how they were found.
impl fmt::Display for ChosenSizes {
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
        writeln!(f, ", of {looked_at} that were looked at ({} left out)", self.left_out)?;
        for (sizes, cycles) in &self.predicted {
            writeln!(f, "  {}: {cycles:.0} cycles", listed(sizes))?;
        }
        for (sizes, reason) in self.unsatisfied.iter().chain(&self.refused) {
            writeln!(f, "  {}: {reason}", listed(sizes))?;
        }
        Ok(())
    }
}
