// rule: amdg.local_load_packed_transposed: M twice, K half
#v2t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#x = #ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [16, 16, 128], isTransposed = true}>
#y = #ttg.dot_op<{opIdx = 0, parent = #x, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x128xi8, #v2t, #smem, mutable>
    %0 = amdg.local_load_packed_transposed %m : !ttg.memdesc<64x128xi8, #v2t, #smem, mutable> -> tensor<64x128xi8, #y>
    tt.return
  }
}
