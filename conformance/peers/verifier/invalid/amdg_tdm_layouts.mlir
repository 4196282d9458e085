// rule: amdg.async_tdm_copy_global_to_local: the memory has the descriptor's layout
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#x = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #v2>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    %0 = amdg.async_tdm_copy_global_to_local %d into %m : !tt.tensordesc<64x64xf16, #v2> -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    tt.return
  }
}
