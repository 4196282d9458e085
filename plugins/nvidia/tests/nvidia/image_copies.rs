//! Programs that copy pixels of images to shared memory (CUDA's bulk tensor copies in mode im2col).

use crate::prelude::*;

/// A copy of `f16` pixels. The shape and the coordinates have batch, spatial axes and channels.
struct ImageCopy {
    shape: &'static [i64],
    coordinates: &'static [i64],
    offsets: &'static [i64],
    /// Begin and end of the bounding box, relative to the first and to the last pixel.
    lower: &'static [i64],
    upper: &'static [i64],
    steps: &'static [i64],
    /// Number of pixels and of channels of a block.
    block: [i64; 2],
}

const COPIES: [ImageCopy; 4] = [
    ImageCopy {
        shape: &[4, 17, 128],
        coordinates: &[1, 5, 64],
        offsets: &[3],
        lower: &[-2],
        upper: &[-2],
        steps: &[1],
        block: [128, 64],
    },
    ImageCopy {
        shape: &[3, 9, 11, 64],
        coordinates: &[0, 1, 3, 0],
        offsets: &[0, 2],
        lower: &[-1, -1],
        upper: &[-1, -1],
        steps: &[1, 1],
        block: [64, 64],
    },
    ImageCopy {
        shape: &[2, 12, 10, 40],
        coordinates: &[0, 3, -1, 8],
        offsets: &[1, 0],
        lower: &[-1, -1],
        upper: &[0, 0],
        steps: &[2, 1],
        block: [32, 64],
    },
    ImageCopy {
        shape: &[2, 4, 5, 6, 64],
        coordinates: &[0, 1, 2, 1, 0],
        offsets: &[0, 1, 1],
        lower: &[0, -1, -1],
        upper: &[0, -1, 1],
        steps: &[1, 1, 2],
        block: [64, 64],
    },
];

impl ImageCopy {
    /// Returns a program that copies the pixels to shared memory, and stores them to `y`.
    fn program(&self) -> String {
        let Self { coordinates, offsets, block: [pixels, channels], .. } = self;
        let names = |letter: char, count: usize| (0..count).map(|axis| format!("%{letter}{axis}")).collect::<Vec<_>>();
        let (at, by) = (names('c', coordinates.len()), names('o', offsets.len()));
        let typed = |names: &[String], ty: &str| {
            names.iter().map(|name| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
        };
        let tile = TileAddressText {
            name: "y",
            rows: *pixels as u64,
            columns: *channels as u64,
            pitch: *channels as u64,
            layout: Some("#b"),
        };
        let bytes = pixels * channels * 2;
        let (memory, barrier) = (
            format!("!ttg.memdesc<{pixels}x{channels}xf16, #nv, #smem, mutable>"),
            "!ttg.memdesc<1xi64, #v, #smem, mutable>",
        );
        format!(
            "#v = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#nv = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
#b = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32}} {{
  tt.func public @k(%d: !ttng.tensordesc_im2col<{pixels}x{channels}xf16, #nv>, %y: !tt.ptr<f16>, {}, {}) {{
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> {barrier}
    %m = ttg.local_alloc : () -> {memory}
    ttng.init_barrier %bar, 1 : {barrier}
    ttng.barrier_expect %bar, {bytes}, %true : {barrier}
    ttng.async_tma_copy_global_to_local %d[{}] offsets = [{}] %m, %bar, %true : !ttng.tensordesc_im2col<{pixels}x{channels}xf16, #nv>, {barrier} -> {memory}
    ttng.wait_barrier %bar, %zero : {barrier}
    %t = ttg.local_load %m : {memory} -> tensor<{pixels}x{channels}xf16, #b>
    {}{}    tt.store %at, %t : tensor<{pixels}x{channels}x!tt.ptr<f16>, #b>
    tt.return
  }}
}}
",
            typed(&at, "i32"),
            typed(&by, "i16"),
            at.join(", "),
            by.join(", "),
            tile.offsets(),
            tile.addresses("at", "y", "f16"),
        )
    }

    /// Returns the numbers behind the pointers: coordinates, offsets, and the numbers of the descriptor.
    fn numbers(&self) -> Vec<u64> {
        let words = |numbers: &[i64]| numbers.iter().map(|&number| u64::from(number as u32)).collect::<Vec<_>>();
        let offsets = self.offsets.iter().map(|&offset| u64::from(offset as u16)).collect();
        let strides = (1..=self.shape.len()).map(|axis| self.shape[axis..].iter().product::<i64>() as u64).collect();
        let corners = [self.lower, self.upper, self.steps].map(words);
        [vec![words(self.coordinates), offsets, words(self.shape), strides], corners.to_vec()].concat().concat()
    }

    /// Returns the index in the image of each element of the block, pixel by pixel as PTX ISA describes the traversal
    /// of the bounding box; `None` outside of the image.
    fn elements(&self) -> Vec<Option<usize>> {
        let spatial = self.offsets.len();
        let (mut at, mut batch) = (self.coordinates[1..=spatial].to_vec(), self.coordinates[0]);
        let mut elements = Vec::new();
        for _ in 0..self.block[0] {
            for channel in 0..self.block[1] {
                let moved = at.iter().zip(self.offsets).map(|(at, by)| at + by);
                let place: Vec<i64> =
                    [batch].into_iter().chain(moved).chain([self.coordinates[spatial + 1] + channel]).collect();
                let is_inside = place.iter().zip(self.shape).all(|(at, size)| (0..*size).contains(at));
                let index = place.iter().zip(self.shape).fold(0, |index, (at, size)| index * size + at);
                elements.push(is_inside.then_some(index as usize));
            }
            let mut axis = spatial;
            loop {
                if axis == 0 {
                    batch += 1;
                    break;
                }
                axis -= 1;
                at[axis] += self.steps[axis];
                if at[axis] < self.shape[axis + 1] + self.upper[axis] {
                    break;
                }
                at[axis] = self.lower[axis];
            }
        }
        elements
    }
}

/// For images of one to three spatial axes, copies take the pixels of the bounding box, and zeros outside of the image.
/// The assembler, if there is one, accepts the code.
#[test]
fn image_copies_take_the_pixels_of_the_bounding_box() {
    for (name, copy) in ["h100", "b200", "a100"].iter().flat_map(|name| COPIES.iter().map(move |copy| (name, copy))) {
        let (target, text) = (target(name), copy.program());
        let kernel = program_kernel(&target, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let image: Vec<u16> = (1..).take(copy.shape.iter().product::<i64>() as usize).collect();
        let bytes: Vec<u8> = image.iter().flat_map(|word| word.to_le_bytes()).collect();
        let expected = copy.elements();
        let given = [InitialBuffer::Bytes(bytes), InitialBuffer::Empty(expected.len() * 2)];
        let (left, _) = run_block(&target, &kernel, &given, &copy.numbers()).unwrap_or_else(|fault| panic!("{fault}"));
        let found = left[1].chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let expected = expected.into_iter().map(|index| index.map_or(0, |index| image[index]));
        assert!(found.eq(expected), "{name}, image {:?}", copy.shape);
        assembled(&target, vec![kernel]);
    }
}
