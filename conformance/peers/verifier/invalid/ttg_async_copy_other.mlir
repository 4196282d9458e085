// rule: ttg.async_copy_global_to_local: other has what the pointers point to
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<64x64x!tt.ptr<f16>, #b2>, %k: tensor<64x64xi1, #b2>, %o: tensor<64x64xf32, #b2>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %0 = ttg.async_copy_global_to_local %p, %m mask %k other %o : tensor<64x64x!tt.ptr<f16>, #b2> -> <64x64xf16, #v2, #smem, mutable>
    tt.return
  }
}
