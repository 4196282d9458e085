//! Conversions whose code the vendors' crates look at: the layouts as text, the plan, the kernel,
//! and what the code must show, which comes from the layouts alone.

use tilewright_kernel::{Kernel, Module, verify};
use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::conversion_kernel;
use tilewright_plan::movement::{Means, Path, Plan, SharedBits, candidates};
use tilewright_plugin::{Artifact, CompileOptions, Emit, Target};

use crate::layouts::distributed;
use crate::movement::Movement;

/// A conversion, why it is looked at, and the way on which it is looked at, the best or not.
pub struct Case {
    pub name: &'static str,
    pub path: Path,
    pub bits: u32,
    pub shape: &'static [u64],
    pub src: String,
    pub dst: String,
    /// Whether the target's instructions that move tiles may be used.
    pub tiles: bool,
    /// Bytes of shared memory at most, where that is less than all.
    pub scratch: Option<u64>,
    /// What instructions of the code begin with, of each at least one: what the case is looked at for.
    pub shows: &'static [&'static str],
}

/// A planned conversion as a kernel.
pub struct Planned {
    pub plan: Plan,
    pub kernel: Kernel,
    /// Whether some threads of the source hold nothing that others do not.
    pub replicated: bool,
    /// Bits of the different elements that one thread of the source holds.
    pub held_bits: u64,
}

/// Bits of the different elements that the registers of one thread hold.
fn bits_of_thread(layout: &LinearLayout, bits: u32) -> u64 {
    u64::from(bits) << Subspace::span(layout.columns_of(Dim::REGISTER).iter().copied()).dimension()
}

fn is_replicated(layout: &LinearLayout) -> bool {
    let dims = [Dim::REGISTER, Dim::LANE, Dim::WARP];
    let mut columns = dims.iter().flat_map(|&dim| layout.columns_of(dim));
    let mut span = Subspace::default();
    columns.any(|&column| !span.insert(column))
}

impl Case {
    /// A conversion by plain accesses and exchanges.
    pub fn new(name: &'static str, path: Path, bits: u32, shape: &'static [u64], src: String, dst: String) -> Self {
        Self { name, path, bits, shape, src, dst, tiles: false, scratch: None, shows: &[] }
    }

    /// The same, whose code must have these instructions.
    pub fn showing(self, shows: &'static [&'static str]) -> Self {
        Self { shows, ..self }
    }

    /// The same, by instructions that move tiles too.
    #[allow(dead_code, reason = "each test program uses its own part of this")]
    pub fn by_tiles(self) -> Self {
        Self { tiles: true, ..self }
    }

    /// The same, with no more than so many bytes of shared memory.
    pub fn within(self, bytes: u64) -> Self {
        Self { scratch: Some(bytes), ..self }
    }

    pub fn planned(&self, target: &dyn Target) -> Planned {
        let (src, dst) = (distributed(target, &self.src, self.shape), distributed(target, &self.dst, self.shape));
        let means = Means::of(target.description());
        let means = if self.tiles { means.with_instructions(target.instructions()) } else { means };
        let means = self.scratch.map_or(means, |bytes| means.with_scratch(bytes));
        let (plans, closed) = candidates(&src, &dst, self.bits, means).unwrap();
        let plan = plans.into_iter().find(|plan| plan.path == self.path);
        let plan = plan.unwrap_or_else(|| panic!("{}: {closed:?}", self.name));
        assert_eq!(
            self.tiles,
            plan.figures.counts.matrix_stores + plan.figures.counts.matrix_loads > 0,
            "{}: {plan:?}",
            self.name
        );
        let kernel = conversion_kernel("convert", &src, &dst, self.bits, &plan).unwrap();
        let replicated = is_replicated(&src);
        self.moves_what_the_layouts_say(&src, &dst, &plan, replicated);
        Planned { replicated, held_bits: bits_of_thread(&src, self.bits), plan, kernel }
    }

    /// What the plan says that a lane moves, held against the layouts.
    fn moves_what_the_layouts_say(&self, src: &LinearLayout, dst: &LinearLayout, plan: &Plan, replicated: bool) {
        let found = plan.figures.shared_bits;
        if plan.path != Path::Shared {
            return assert_eq!(found, SharedBits::default(), "{}", self.name);
        }
        assert_eq!(found.loaded, bits_of_thread(dst, self.bits), "{}: a lane loads what it wants, once", self.name);
        let held = bits_of_thread(src, self.bits);
        let tensor = u64::from(self.bits) * self.shape.iter().product::<u64>();
        let threads = 1u64 << (src.in_bits(Dim::LANE) + src.in_bits(Dim::WARP));
        // Threads that hold the same may share the work.
        let least = if replicated { tensor.div_ceil(threads) } else { held };
        assert!((least..=held).contains(&found.stored), "{}: {} of {held} bits stored", self.name, found.stored);
    }
}

impl Case {
    /// Whether the mnemonics of the code have what the case is looked at for.
    pub fn is_shown(&self, mnemonics: &[&str]) {
        for shown in self.shows {
            assert!(mnemonics.iter().any(|one| one.starts_with(shown)), "{}: no {shown} in {mnemonics:?}", self.name);
        }
    }
}

impl Planned {
    /// What the code must do, by the plan.
    pub fn movement(&self) -> Movement {
        let (counts, shared) = (self.plan.figures.counts, self.plan.figures.shared_bits);
        Movement {
            stored_bits: shared.stored,
            loaded_bits: shared.loaded,
            exchanges: counts.exchanges,
            block_barriers: counts.barriers,
            warp_barriers: counts.warp_barriers,
            tiles: counts.matrix_stores + counts.matrix_loads,
        }
    }

    /// Whether code does what the plan says. Where threads that hold the same share the stores, the code
    /// has the stores of all of them, tiles too, and a code generator may write those of two branches once: as
    /// written it stores no less than one thread does and no more than one holds.
    pub fn is_done_by(&self, found: Movement) -> bool {
        let expected = self.movement();
        let Movement { stored_bits, tiles, .. } = expected;
        let most = if self.replicated { self.held_bits.max(stored_bits) } else { stored_bits };
        let most_tiles = if self.replicated && self.plan.figures.counts.matrix_stores > 0 {
            tiles + self.plan.figures.counts.matrix_stores * (most / stored_bits - 1)
        } else {
            tiles
        };
        (stored_bits..=most).contains(&found.stored_bits)
            && (tiles..=most_tiles).contains(&found.tiles)
            && Movement { stored_bits, tiles, ..found } == expected
    }

    /// The kernel as code.
    pub fn compiled(&self, target: &dyn Target, emit: &[Emit]) -> Artifact {
        let module = Module { kernels: vec![self.kernel.clone()] };
        verify(&module).unwrap();
        target.compile(&module, &CompileOptions { emit: emit.to_vec(), optimisation: 2 }).unwrap()
    }
}
