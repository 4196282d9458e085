// shows: ttg.warp_specialize: layouts of the partition's warps
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b1n1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    ttg.warp_specialize(%x)
    default {
      %0 = tt.splat %x : i32 -> tensor<128xi32, #b1>
      ttg.warp_yield
    }
    partition0(%a: i32) num_warps(1) {
      %0 = tt.splat %a : i32 -> tensor<128xi32, #b1n1>
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
