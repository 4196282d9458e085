//! A plan: a unit, its repetitions, and the layouts that follow.

use crate::layout::LinearLayout;
use crate::movement::{Means, MovementError};
use crate::target::TargetDescription;

use super::cost::{self, ContractionCost};
use super::feed::{Feed, Matrix};
use super::order::Order;
use super::tiling::Tiling;
use super::unit::Unit;
use super::{ContractError, Question};

/// Issues of a unit, or multiply-adds of a lane, that are written one after the other; more go in a loop.
const MOST_WRITTEN: u32 = 10;

/// How a block multiplies two matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct Contraction {
    /// What was asked.
    pub question: Question,
    /// The layout of `a`, M x chunk.
    pub a: LinearLayout,
    /// The layout of `b`, chunk x N.
    pub b: LinearLayout,
    /// The layout of the sums, M x N.
    pub c: LinearLayout,
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
        question: &Question,
        unit: &Unit,
        warps: [u32; 2],
        target: &TargetDescription,
    ) -> Result<Self, ContractError> {
        let k = question.bits()[2];
        let limit = cost::limit(question, target);
        let mut smallest = None;
        for chunk in (unit.tile[2].min(k)..=k).rev() {
            let tiling = Tiling::new(unit, question, warps, chunk);
            let plan = Self::of_tiling(question, unit, tiling, natural_width(unit, &tiling), target)?;
            if plan.cost.registers <= limit / 2 && tiling.repeats().iter().sum::<u32>() <= MOST_WRITTEN {
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
            None => Err(ContractError::Impossible { reasons: "there is nothing to multiply".to_owned() }),
        }
    }

    fn of_tiling(
        question: &Question,
        unit: &Unit,
        tiling: Tiling,
        width: u32,
        target: &TargetDescription,
    ) -> Result<Self, ContractError> {
        let order = Order::new(&tiling.held(unit), width, tiling.k_bits(), tiling.chunk);
        let (a, b, c) = (tiling.of_a(unit, &order)?, tiling.of_b(unit, &order)?, tiling.of_sums(unit)?);
        let nothing = ContractionCost {
            issues: 0,
            issue_cycles: 0.0,
            traffic_cycles: 0.0,
            cast_cycles: 0.0,
            conversion_cycles: 0.0,
            registers: 0,
        };
        let (question, unit) = (question.clone(), unit.clone());
        let mut plan = Self { question, a, b, c, cost: nothing, unit, tiling, order, width };
        plan.cost = ContractionCost::of(&plan, target);
        Ok(plan)
    }

    /// The same with 2^`width` elements of K side by side.
    pub(super) fn with_width(&self, width: u32, target: &TargetDescription) -> Result<Self, ContractError> {
        Self::of_tiling(&self.question, &self.unit, self.tiling, width, target)
    }

    /// The widths (log2) that there are, that of the unit first.
    pub(super) fn widths(&self) -> Vec<u32> {
        let natural = natural_width(&self.unit, &self.tiling);
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

    /// Warps along M and along N.
    #[must_use]
    pub fn warps(&self) -> [u64; 2] {
        self.tiling.warps.map(|bits| 1 << bits)
    }

    /// Elements of K that are in registers at a time.
    #[must_use]
    pub fn chunk(&self) -> u64 {
        1 << self.tiling.chunk
    }

    /// How many times that makes K.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.question.shape[2] / self.chunk()
    }

    /// Elements of K that a lane holds side by side.
    #[must_use]
    pub fn k_width(&self) -> u64 {
        1 << self.width
    }

    /// How both factors, row-major in global memory, reach their layouts a chunk at a time.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn feeds(&self, means: Means<'_>) -> Result<[Feed; 2], MovementError> {
        let ([m, n, k], chunk) = (self.question.shape, self.chunk());
        let a = Matrix { shape: [m, chunk], stride: k, grain: chunk };
        let b = Matrix { shape: [chunk, n], stride: n, grain: chunk * n };
        let means = means.with_scratch(means.scratch_bytes / 2);
        let of = |layout, matrix, bits| Feed::new(layout, matrix, bits, means);
        Ok([of(&self.a, a, self.question.a.bits())?, of(&self.b, b, self.question.b.bits())?])
    }
}

/// Log2 of what a lane of the unit holds of K side by side: the width with which K is read as the unit counts.
fn natural_width(unit: &Unit, tiling: &Tiling) -> u32 {
    let held = tiling.held(unit);
    (0..).zip(&held).take_while(|(bit, held)| bit == *held).count() as u32
}
