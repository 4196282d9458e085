// rule: ttng.async_tma_copy_global_to_local: the memory is nvmma_shared
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #w2>, %i: i32, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<64x64xf16, #w2>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    tt.return
  }
}
