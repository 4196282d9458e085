//! PTX of another compiler: three kernels written in Triton's language and compiled by Triton 3.9.0 for `cuda:80`,
//! without debug lines.

use crate::virtual_device::bench::{Given, Shape, run};

fn singles(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn read(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Returns a number from -8 to 8 in steps of an eighth, in a scrambled order.
fn number(index: usize) -> f32 {
    ((index * 37 + 11) % 129) as f32 / 8.0 - 8.0
}

/// Arguments for the scratch memory that Triton's kernels take; these kernels do not access it.
const NOTHING: [Given; 2] = [Given::Long(0), Given::Long(0)];

fn given(own: Vec<Given>) -> Vec<Given> {
    own.into_iter().chain(NOTHING).collect()
}

#[test]
fn a_masked_sum_of_vectors() {
    let n = 1000;
    let [x, y] = [0, 500].map(|from| (from..from + n).map(number).collect::<Vec<_>>());
    let arguments = given(vec![
        Given::Buffer(singles(x.clone())),
        Given::Buffer(singles(y.clone())),
        Given::Buffer(singles(vec![99.0; n])),
        Given::Word(n as u32 - 1),
    ]);
    let shape = Shape { grid: [4, 1, 1], ..Shape::warps(4) };
    let (left, report) = run(include_str!("../../data/ptx/triton_add.ptx"), "add", shape, &arguments).unwrap();
    let accumulator: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).take(n - 1).chain([99.0]).collect();
    assert_eq!(read(&left[2]), accumulator, "the element beyond the mask stays as it was");
    // 999 words in sectors of eight; each lane stores two adjacent words one after the other, so that each sector is
    // touched twice.
    assert_eq!(report.transactions_stored, 250);
}

#[test]
fn a_softmax_of_rows() {
    let (rows, columns) = (3, 200);
    let x: Vec<f32> = (0..rows * columns).map(number).collect();
    let arguments = given(vec![
        Given::Buffer(singles(x.clone())),
        Given::Buffer(singles(vec![99.0; rows * columns])),
        Given::Word(columns as u32),
    ]);
    let shape = Shape { grid: [rows as u32, 1, 1], shared_bytes: 16, ..Shape::warps(4) };
    let (left, report) = run(include_str!("../../data/ptx/triton_softmax.ptx"), "softmax", shape, &arguments).unwrap();
    for (row, got) in x.chunks(columns).zip(read(&left[1]).chunks(columns)) {
        let exponentials: Vec<f64> = row.iter().map(|&x| f64::from(x).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        for (expected, &got) in exponentials.iter().map(|e| e / sum).zip(got) {
            assert!((f64::from(got) - expected).abs() <= 1e-6 * expected, "{got} is not {expected}");
        }
    }
    assert!(report.counts.shuffles > 0 && report.counts.barriers > 0, "{report:?}");
}

#[test]
fn a_pipelined_gemm() {
    let (m, n, k) = (32, 32, 128);
    // Integers and halves are used, so that every sum is exact.
    let half = |index: usize| (number(index) * 2.0).round() / 2.0;
    let bits = |value: f32| f16(value).to_le_bytes();
    let a: Vec<f32> = (0..m * k).map(half).collect();
    let b: Vec<f32> = (0..k * n).map(|index| half(index * 5 + 3)).collect();
    let arguments = given(vec![
        Given::Buffer(a.iter().copied().flat_map(bits).collect()),
        Given::Buffer(b.iter().copied().flat_map(bits).collect()),
        Given::Buffer(vec![0xff; m * n * 4]),
        Given::Word(k as u32),
    ]);
    let shape = Shape { shared_bytes: 8192, ..Shape::warps(4) };
    let (left, report) = run(include_str!("../../data/ptx/triton_matmul.ptx"), "matmul", shape, &arguments).unwrap();
    for (index, got) in read(&left[2]).into_iter().enumerate() {
        let (row, column) = (index / n, index % n);
        let expected: f32 = (0..k).map(|at| a[row * k + at] * b[at * n + column]).sum();
        assert_eq!(got, expected, "row {row}, column {column}");
    }
    assert!(report.counts.asynchronous_copies > 0 && report.counts.matrix_loads > 0, "{report:?}");
    assert_eq!(report.metrics()["matrix_work"], (m * n * k) as u64);
}

/// Returns the bits of a small number as binary16, which represents it exactly.
fn f16(value: f32) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 23 & 0xff) as u16 - (127 - 15);
    (bits >> 16) as u16 & 0x8000 | exponent << 10 | (bits >> 13) as u16 & 0x3ff
}
