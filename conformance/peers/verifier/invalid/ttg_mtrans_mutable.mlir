// rule: ttg.memdesc_trans: mutable memory stays mutable
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#v2t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m_value = arith.constant dense<0.000000e+00> : tensor<64x32xf16, #b2>
    %m = ttg.local_alloc %m_value : (tensor<64x32xf16, #b2>) -> !ttg.memdesc<64x32xf16, #v2, #smem>
    %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x32xf16, #v2, #smem> -> !ttg.memdesc<32x64xf16, #v2t, #smem, mutable>
    tt.return
  }
}
