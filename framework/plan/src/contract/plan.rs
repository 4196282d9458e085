//! A plan: a unit, its repetitions, and the layouts that follow.

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{Queue, TargetDescription};

use super::cost::{self, ContractionCost};
use super::elements::in_byte;
use super::operand_load;
use super::operands::Operands;
use super::order::Order;
use super::tiling::Tiling;
use super::unit::Unit;
use super::{ContractError, MmaProblem};

/// Issues of a unit, or multiply-adds of a lane, that are written one after the other; more go in a loop.
const MOST_WRITTEN: u32 = 10;

/// How a block multiplies two matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct Contraction {
    /// What was asked.
    pub problem: MmaProblem,
    /// The layout of `a`, M x chunk: of registers, or where the unit reads it from shared memory, from offsets
    /// in elements of the unit's type, or in bytes where these are narrower.
    pub a: LinearLayout,
    /// The layout of `b`, chunk x N; likewise.
    pub b: LinearLayout,
    /// The layout of the sums, M x N.
    pub c: LinearLayout,
    /// The layouts of the scales of `a`, M x blocks of a chunk, and of `b`, N x blocks, where there are any.
    pub scales: [Option<LinearLayout>; 2],
    /// What it costs.
    pub cost: ContractionCost,
    pub(super) unit: Unit,
    pub(super) tiling: Tiling,
    pub(super) order: Order,
    width: u32,
}

impl Contraction {
    /// The plan of a unit with warps (log2) along M and N: as much of K at a time as half of a lane's registers
    /// hold, else as little as the unit takes.
    pub(super) fn new(
        problem: &MmaProblem,
        unit: &Unit,
        warps: [u32; 2],
        target: &TargetDescription,
    ) -> Result<Self, ContractError> {
        let k = problem.bits()[2];
        let limit = cost::limit(problem, target);
        let within = target.tensor.as_ref().map_or(0, |memory| memory.columns);
        let (mut smallest, mut reason) = (None, "there is nothing to multiply".to_owned());
        if !Tiling::new(unit, problem, warps, k).has_columns_beside() {
            let reasons = "registers repeat it along N less often than columns are wanted side by side".to_owned();
            return Err(ContractError::Impossible { reasons });
        }
        // No chunk ends within a byte.
        let least = problem.factors().map(in_byte).into_iter().fold(unit.tile[2], u32::max);
        for chunk in (least.min(k)..=k).rev() {
            let tiling = Tiling::new(unit, problem, warps, chunk);
            let plan = Self::of_tiling(problem, unit, tiling, natural_width(unit, &tiling), target)?;
            let columns = plan.tensor_columns();
            if columns > within {
                // A shorter chunk has fewer scales.
                reason = format!("it would take {columns} columns of tensor memory, of which there are {within}");
                continue;
            }
            let fits = plan.shared_bytes() <= u64::from(target.shared.static_bytes);
            if fits && plan.cost.registers <= limit / 2 && tiling.repeats().iter().sum::<u32>() <= MOST_WRITTEN {
                return Ok(plan);
            }
            smallest = Some(plan);
        }
        let fits = |plan: &Self| plan.cost.registers <= limit;
        match smallest {
            Some(plan) if fits(&plan) => Ok(plan),
            Some(plan) => {
                let needed = plan.cost.registers;
                Err(ContractError::Impossible { reasons: format!("a lane would need {needed} registers of {limit}") })
            }
            None => Err(ContractError::Impossible { reasons: reason }),
        }
    }

    fn of_tiling(
        problem: &MmaProblem,
        unit: &Unit,
        tiling: Tiling,
        width: u32,
        target: &TargetDescription,
    ) -> Result<Self, ContractError> {
        let natural = Order::identity(tiling.k_bits(), tiling.chunk);
        let order = match unit.scales {
            // Blocks of K are where the row has them.
            Some(_) => natural.clone(),
            None => Order::new(&tiling.held(unit), width, tiling.k_bits(), tiling.chunk),
        };
        let orders = problem.shuffled.map(|shuffled| if shuffled { &natural } else { &order });
        let (a, b, c) = (tiling.of_a(unit, orders[0])?, tiling.of_b(unit, orders[1])?, tiling.of_accumulator(unit)?);
        let mut held = [tiling.of_a(unit, &order)?, tiling.of_b(unit, &order)?];
        for (side, operands) in [&unit.a, &unit.b].into_iter().enumerate() {
            // A factor that is stored is scaled in the registers from which it is.
            if operands.memory.is_some() && problem.scales[side].is_some() {
                held[side] = operand_load::stored_from(problem, tiling.chunk, side, target)?;
            }
        }
        let scales = tiling.of_scales(unit, problem, [&held[0], &held[1]])?;
        let cost = ContractionCost::new(problem, (unit, &tiling), ([&a, &b], &c), &scales, target);
        let (problem, unit) = (problem.clone(), unit.clone());
        Ok(Self { problem, a, b, c, scales, cost, unit, tiling, order, width })
    }

    /// The same with 2^`width` elements of K side by side.
    pub(super) fn with_width(&self, width: u32, target: &TargetDescription) -> Result<Self, ContractError> {
        Self::of_tiling(&self.problem, &self.unit, self.tiling, width, target)
    }

    /// The widths (log2) that there are, that of the unit first.
    pub(super) fn widths(&self) -> Vec<u32> {
        let natural = natural_width(&self.unit, &self.tiling);
        let is_padded = self.unit.tile[2] > self.tiling.chunk;
        if self.unit.scales.is_some() || self.problem.shuffled.contains(&true) && is_padded {
            return vec![natural];
        }
        let most = (self.tiling.held(&self.unit).len() as u32).min(self.tiling.chunk);
        std::iter::once(natural).chain((0..=most).filter(|&width| width != natural)).collect()
    }

    /// The name of the instruction's row; absent for plain multiply-adds.
    #[must_use]
    pub fn row(&self) -> Option<&str> {
        self.unit.row.as_deref()
    }

    /// What multiplies, for people.
    #[must_use]
    pub fn unit_name(&self) -> &str {
        self.unit.name()
    }

    /// Whether the unit's first factor is `b`: C^T = B^T A^T.
    #[must_use]
    pub fn is_transposed(&self) -> bool {
        self.unit.transposed
    }

    /// Warps along M and along N. Those that issue together are along M.
    #[must_use]
    pub fn warps(&self) -> [u64; 2] {
        let [m, n] = self.tiling.warps;
        [1 << (m + self.unit.group), 1 << n]
    }

    /// The queue on which products complete; absent where they are done at once.
    #[must_use]
    pub fn queue(&self) -> Option<Queue> {
        self.unit.queue
    }

    /// Bytes of shared memory from which the unit reads factors.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        let bytes = |(layout, operands): (&LinearLayout, &Operands)| match &operands.memory {
            Some(memory) => u64::from(memory.bits / 8) << layout.in_bits(Dim::OFFSET),
            None => 0,
        };
        [(&self.a, &self.unit.a), (&self.b, &self.unit.b)].map(bytes).iter().sum()
    }

    /// Elements of K that are in registers at a time.
    #[must_use]
    pub fn chunk(&self) -> u64 {
        1 << self.tiling.chunk
    }

    /// How many times that makes K.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.problem.shape[2] / self.chunk()
    }

    /// Elements of K that a lane holds side by side.
    #[must_use]
    pub fn k_width(&self) -> u64 {
        1 << self.width
    }

    /// In which order a shuffled factor lies along K: the place in the matrix of each place in its memory.
    ///
    /// # Errors
    /// None for plans that were made here.
    pub fn shuffle(&self) -> Result<LinearLayout, ContractError> {
        let [_, _, k] = self.problem.bits();
        let own = |bit: u32| if bit < self.tiling.chunk { self.order.place(1 << bit) } else { 1 << bit };
        let columns: Vec<u64> = (0..k).map(own).collect();
        let [ins, outs] = [Dim::OFFSET, Dim::tensor(0)].map(|dim| Space::of_sizes(&[(dim, 1 << k)]));
        Ok(LinearLayout::from_columns(ins?, outs?, &columns)?)
    }
}

/// Log2 of what a lane of the unit holds of K side by side: the width with which K is read as the unit counts.
fn natural_width(unit: &Unit, tiling: &Tiling) -> u32 {
    let held = tiling.held(unit);
    (0..).zip(&held).take_while(|(bit, held)| bit == *held).count() as u32
}
