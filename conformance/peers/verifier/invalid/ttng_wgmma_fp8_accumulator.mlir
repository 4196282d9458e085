// rule: ttng.warp_group_dot: f8 into f32 takes maxNumImpreciseAcc of 32 or more
#nv8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#x = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 32]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: tensor<64x128xf32, #x>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x128xf8E5M2, #nv8, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<128x128xf8E5M2, #nv8, #smem, mutable>
    %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x128xf8E5M2, #nv8, #smem, mutable> * !ttg.memdesc<128x128xf8E5M2, #nv8, #smem, mutable> -> tensor<64x128xf32, #x>
    tt.return
  }
}
