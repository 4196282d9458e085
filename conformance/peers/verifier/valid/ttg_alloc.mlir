// shows: ttg.local_alloc: with a value and without, aligned
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #b2>) {
    %0 = ttg.local_alloc %a : (tensor<64x64xf16, #b2>) -> !ttg.memdesc<64x64xf16, #w2, #smem>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    %2 = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<3x64x64xf16, #w2, #smem, mutable>
    %3 = ttg.local_alloc %a : (tensor<64x64xf16, #b2>) -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    ttg.local_dealloc %1 : !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    tt.return
  }
}
