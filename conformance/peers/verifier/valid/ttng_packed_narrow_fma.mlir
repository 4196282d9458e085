// shows: ttng.packed_arith: fused products of 8 bits
#p = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#h = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#o = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:107", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a0: tensor<128x8xf8E5M2, #p>, %a1: tensor<128x8xf8E8M0FNU, #p>, %a2: tensor<128x8xf8E5M2, #p>) {
    %r = ttng.packed_arith fma %a0, %a1, %a2 : (tensor<128x8xf8E5M2, #p>, tensor<128x8xf8E8M0FNU, #p>, tensor<128x8xf8E5M2, #p>) -> tensor<128x8xf8E5M2, #p>
    tt.return
  }
}
