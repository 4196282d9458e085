// rule: ttng.warp_group_dot: A lies in nvmma_shared memory or is a dot operand
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: tensor<64x64xf32, #mma3>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #w2, #smem, mutable> * !ttg.memdesc<64x64xf16, #nv, #smem, mutable> -> tensor<64x64xf32, #mma3>
    tt.return
  }
}
