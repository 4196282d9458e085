// rule: amdg.buffer_load_to_local: a target that can
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<f16>, %o: tensor<64x64xi32, #b2>) {
    %d = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %0 = amdg.buffer_load_to_local %p[%o] into %d : !tt.ptr<f16>[tensor<64x64xi32, #b2>] -> <64x64xf16, #v2, #smem, mutable>
    tt.return
  }
}
