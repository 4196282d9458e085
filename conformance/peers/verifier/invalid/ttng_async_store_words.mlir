// rule: ttng.async_shared_store: a lane stores words
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}>
#d = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: tensor<512xbf16, #l>, %m: !ttg.memdesc<512xbf16, #d, #smem, mutable>, %b: !ttg.memdesc<2xi64, #b, #smem, mutable>) {
    ttng.async_shared_store %x, %m, %b : tensor<512xbf16, #l> -> !ttg.memdesc<512xbf16, #d, #smem, mutable>, !ttg.memdesc<2xi64, #b, #smem, mutable>
    tt.return
  }
}
