// rule: an A of e2m1 in tensor memory is not padded if B is no 8-bit float
#a = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#d = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#s = #ttng.tensor_memory_scales_encoding<>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: !ttg.memdesc<128x64xi8, #a, #tmem>, %b: !ttg.memdesc<64x128xi8, #b, #smem>, %d: !ttg.memdesc<128x128xf32, #d, #tmem, mutable>, %s: !ttg.memdesc<128x4xi8, #s, #tmem>, %t: !ttg.memdesc<128x4xi8, #s, #tmem>, %p: i1) {
    ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %t, %p, %p lhs = e2m1 rhs = e2m1 : !ttg.memdesc<128x64xi8, #a, #tmem>, !ttg.memdesc<64x128xi8, #b, #smem>, !ttg.memdesc<128x128xf32, #d, #tmem, mutable>, !ttg.memdesc<128x4xi8, #s, #tmem>, !ttg.memdesc<128x4xi8, #s, #tmem>
    tt.return
  }
}
