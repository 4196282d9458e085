// rule: ttng.warp_group_dot: the result has A's rows and B's columns
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: tensor<64x64xf32, #mma3>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #nv, #smem, mutable>
    %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #nv, #smem, mutable> * !ttg.memdesc<64x128xf16, #nv, #smem, mutable> -> tensor<64x64xf32, #mma3>
    tt.return
  }
}
