// rule: amdg.local_load_packed_transposed: the result is a dot operand
#v2t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#a2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x256xi8, #v2t, #smem, mutable>
    %0 = amdg.local_load_packed_transposed %m : !ttg.memdesc<32x256xi8, #v2t, #smem, mutable> -> tensor<64x128xi8, #a2>
    tt.return
  }
}
