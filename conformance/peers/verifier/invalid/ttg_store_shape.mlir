// rule: ttg.local_store: the memory has the value's shape
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #b2>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #v2, #smem, mutable>
    ttg.local_store %a, %m : tensor<64x64xf16, #b2> -> !ttg.memdesc<64x32xf16, #v2, #smem, mutable>
    tt.return
  }
}
