// shows: ttng.async_shared_store: into the memory of another block
#smem = #ttg.shared_memory
#bb = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#y = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%v: tensor<128x64xf32, #x>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf32, #y, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bb, #smem, mutable>
    ttng.async_shared_store %v, %m, %b : tensor<128x64xf32, #x> -> !ttg.memdesc<128x64xf32, #y, #smem, mutable>, !ttg.memdesc<2xi64, #bb, #smem, mutable>
    tt.return
  }
}
