// rule: amdg.async_tdm_scatter: memory of this vendor
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<16x64xf16>, %x: tensor<16xi16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #nv, #smem, mutable>
    %0 = amdg.async_tdm_scatter %d[%x] from %m : tensor<16xi16>, !ttg.memdesc<16x64xf16, #nv, #smem, mutable> -> !tt.tensordesc<16x64xf16>
    tt.return
  }
}
