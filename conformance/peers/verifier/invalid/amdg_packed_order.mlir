// rule: amdg.local_load_packed_transposed: A lies along its rows
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#x = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [16, 16, 128], isTransposed = true}>
#y = #ttg.dot_op<{opIdx = 0, parent = #x, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x256xi8, #v2, #smem, mutable>
    %0 = amdg.local_load_packed_transposed %m : !ttg.memdesc<32x256xi8, #v2, #smem, mutable> -> tensor<64x128xi8, #y>
    tt.return
  }
}
