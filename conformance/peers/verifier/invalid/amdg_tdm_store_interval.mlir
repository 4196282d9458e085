// rule: amdg.async_tdm_copy_local_to_global: the interval is the last axis
#smem = #ttg.shared_memory
#x = #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [64, 64]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    %0 = amdg.async_tdm_copy_local_to_global %d from %m : !ttg.memdesc<64x64xf16, #x, #smem, mutable> -> !tt.tensordesc<64x64xf16>
    tt.return
  }
}
