// rule: amdg.async_tdm_gather: the descriptor has the gaps of memory
#bl = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#ix = #ttg.slice<{dim = 1, parent = #bl}>
#m = #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [8, 32]}>
#d = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 32]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<8x32xf16, #d>, %m: !ttg.memdesc<8x32xf16, #m, #smem, mutable>, %i: tensor<8xi32, #ix>) {
    %t = amdg.async_tdm_gather %d[%i] to %m : tensor<8xi32, #ix>, !ttg.memdesc<8x32xf16, #m, #smem, mutable> -> !tt.tensordesc<8x32xf16, #d>
    tt.return
  }
}
