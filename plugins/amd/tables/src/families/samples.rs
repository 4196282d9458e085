//! Sample layouts of this vendor's families for conformance suites: register layouts of the matrix instructions with
//! the largest K for each element width, and layouts of shared memory for staging operands.

use std::cmp::Reverse;

use tilewright_layout::{Dim, FamilyParameterValue, FamilySpec, LinearLayout, SampleLayout, SampleLayoutRequest};
use tilewright_target::Instruction;

use crate::instructions::instructions_of;

/// The layout family of an architecture's accumulators, with the value of the family's parameter `version`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Family {
    Mfma(i64),
    Wmma(i64),
}

impl Family {
    fn of(architecture: &str) -> Option<Self> {
        Some(match architecture {
            "gfx908" => Self::Mfma(1),
            "gfx90a" => Self::Mfma(2),
            "gfx942" => Self::Mfma(3),
            "gfx950" => Self::Mfma(4),
            "gfx1250" => Self::Wmma(3),
            name if name.starts_with("gfx11") => Self::Wmma(1),
            name if name.starts_with("gfx12") => Self::Wmma(2),
            _ => return None,
        })
    }

    /// Returns the number of lanes of a wave in layouts of the family.
    fn lanes(self) -> u32 {
        match self {
            Self::Mfma(_) => 64,
            Self::Wmma(_) => 32,
        }
    }
}

pub(super) fn typical(architecture: &str, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
    let Some(family) = Family::of(architecture) else { return Vec::new() };
    let SampleLayoutRequest { lanes, warps, element_bits } = use_case;
    if !warps.is_power_of_two() || !element_bits.is_power_of_two() || element_bits > 128 {
        return Vec::new();
    }
    let mut samples = vec![rotating(element_bits)];
    if lanes == family.lanes() {
        let grid = Grid::of(warps);
        let all = instructions_of(architecture);
        let fitting: Vec<_> = all.iter().filter_map(|row| SampleMma::of(row, use_case)).collect();
        for size in [32, 16] {
            let of_size = fitting.iter().filter(|mma| mma.m == size);
            let largest = of_size.min_by_key(|mma| Reverse(mma.k));
            samples.extend(largest.into_iter().flat_map(|mma| mma.samples(family, grid)));
        }
        if element_bits == 8 {
            samples.extend(scales(family, grid));
        }
    }
    samples
}

/// Returns a sample of `amd_rotating_shared` whose pattern repeats every 64 bytes of a row, so that lanes can access
/// both rows and columns eight bytes at a time.
fn rotating(element_bits: u32) -> SampleLayout {
    let spec = FamilySpec::new("amd_rotating_shared")
        .with_parameter("vec", i64::from((64 / element_bits).clamp(1, 8)))
        .with_parameter("per_phase", 1)
        .with_parameter("max_phase", 8)
        .with_parameter("order", [1, 0]);
    SampleLayout::new("shared-rotating", spec)
}

/// How a block's warps are distributed over a result: number of warps along the rows axis, and along the columns axis.
#[derive(Debug, Clone, Copy)]
struct Grid {
    rows: i64,
    columns: i64,
}

impl Grid {
    /// Returns the most nearly square grid of this many warps (a power of two), with more warps along the rows axis.
    fn of(warps: u32) -> Self {
        let columns = 1 << (warps.trailing_zeros() / 2);
        Self { rows: i64::from(warps) / columns, columns }
    }

    fn sizes(self) -> [i64; 2] {
        [self.rows, self.columns]
    }

    /// Returns the parameter `warp_bases`: for each bit of the warp index, the [row, column] step in numbers of tiles.
    /// The low bits step along the columns, the high bits along the rows.
    fn bases(self) -> FamilyParameterValue {
        let units = |size: i64| (0..size.trailing_zeros()).map(|bit| 1i64 << bit);
        let bases: Vec<[i64; 2]> =
            units(self.columns).map(|unit| [0, unit]).chain(units(self.rows).map(|unit| [unit, 0])).collect();
        FamilyParameterValue::from(&bases[..])
    }
}

/// A matrix instruction whose operand and result layouts can be samples: it multiplies one pair of matrices, not
/// several independent ones (blocks).
struct SampleMma {
    name: String,
    m: i64,
    n: i64,
    k: i64,
    /// Number of adjacent elements along K in a lane.
    width: i64,
    /// Width of a result element in bits.
    result_bits: u32,
}

impl SampleMma {
    fn of(row: &Instruction, use_case: SampleLayoutRequest) -> Option<Self> {
        let operand = |required: &str| row.find_register_operand(required).map(|(_, bits, layout)| (bits, layout));
        let ((bits, a), (result_bits, d)) = (operand("a")?, operand("d")?);
        let size = |layout: &LinearLayout, axis| 1i64 << layout.out_bits(Dim::tensor(axis));
        let (m, n, k) = (size(d, 0), size(d, 1), size(a, 1));
        let along_k = a.bases_of(Dim::REGISTER).into_iter().zip(0..).take_while(|(basis, bit)| basis[1] == 1 << bit);
        let width = 1 << along_k.count();
        let lanes = 1u32 << a.in_bits(Dim::LANE);
        let fits = bits == use_case.element_bits && lanes == use_case.lanes && d.outs().len() == 2;
        fits.then(|| Self { name: row.name.clone(), m, n, k, width, result_bits })
    }

    fn result(&self, family: Family, grid: Grid, transposed: bool) -> FamilySpec {
        let shape = [self.m, self.n, self.k];
        match family {
            Family::Mfma(version) => FamilySpec::new("amd_mfma")
                .with_parameter("version", version)
                .with_parameter("instr_shape", shape)
                .with_parameter("transposed", transposed)
                .with_parameter("warps_per_cta", grid.sizes())
                .with_parameter("element_bitwidth", i64::from(self.result_bits)),
            Family::Wmma(version) => FamilySpec::new("amd_wmma")
                .with_parameter("version", version)
                .with_parameter("instr_shape", shape)
                .with_parameter("transposed", transposed)
                .with_parameter("warp_bases", grid.bases()),
        }
    }

    fn samples(&self, family: Family, grid: Grid) -> Vec<SampleLayout> {
        let result = |transposed| self.result(family, grid, transposed);
        let operand = |index: i64| {
            let spec = FamilySpec::new("dot_operand")
                .with_parameter("operand_index", index)
                .with_parameter("k_width", self.width);
            spec.with_parent(result(false))
        };
        let name = match family {
            Family::Mfma(_) => format!("mfma{}", self.m),
            Family::Wmma(_) => format!("wmma{}", self.m),
        };
        let mut samples = vec![
            SampleLayout::new(&name, result(false)).for_operand(&self.name, "d"),
            SampleLayout::new(&format!("{name}-a"), operand(0)).for_operand(&self.name, "a"),
            SampleLayout::new(&format!("{name}-b"), operand(1)).for_operand(&self.name, "b"),
            SampleLayout::new(&format!("{name}-transposed"), result(true)),
        ];
        if matches!(family, Family::Mfma(_)) && self.m == 16 {
            samples.push(SampleLayout::new(
                &format!("{name}-tiles"),
                result(false).with_parameter("tiles_per_warp", [2, 2]),
            ));
        }
        samples
    }
}

/// Returns samples for the scales of A and of B; none if the architecture has no block-scaled instructions.
fn scales(family: Family, grid: Grid) -> Vec<SampleLayout> {
    let sample = |index: i64, rows: i64| match family {
        Family::Mfma(4) => {
            let spec = FamilySpec::new("mfma_scale")
                .with_parameter("operand_index", index)
                .with_parameter("mdim", rows)
                .with_parameter("tiles_per_warp", [1, 1])
                .with_parameter("warps_per_cta", grid.sizes());
            Some((format!("mfma{rows}-scale"), spec))
        }
        Family::Wmma(3) if rows == 16 => {
            let spec = FamilySpec::new("wmma_scale")
                .with_parameter("operand_index", index)
                .with_parameter("mdim", rows)
                .with_parameter("warp_bases", grid.bases());
            Some((format!("wmma{rows}-scale"), spec))
        }
        _ => None,
    };
    let all = [(0, 32), (1, 32), (0, 16), (1, 16)];
    let named = all.into_iter().filter_map(|(index, rows)| Some((sample(index, rows)?, ["a", "b"][index as usize])));
    named.map(|((name, spec), operand)| SampleLayout::new(&format!("{name}-{operand}"), spec)).collect()
}
