// rule: ttng.warp_group_dot: A in registers has 32 bits for kWidth
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#x = #ttg.dot_op<{opIdx = 0, parent = #mma3, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #x>, %c: tensor<64x64xf32, #mma3>) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    %0 = ttng.warp_group_dot %a, %b, %c : tensor<64x64xf16, #x> * !ttg.memdesc<64x64xf16, #nv, #smem, mutable> -> tensor<64x64xf32, #mma3>
    tt.return
  }
}
