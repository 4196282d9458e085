// shows: TDM copies into padded and plain memory and back, with an mbarrier and a hint
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#x = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %0 = amdg.async_tdm_copy_global_to_local %d into %m : !tt.tensordesc<64x64xf16> -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    %1 = amdg.async_tdm_copy_global_to_local %d into %n, barrier = %b {warp_used_hint = 3 : i32} : !tt.tensordesc<64x64xf16>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %2 = amdg.async_tdm_copy_local_to_global %d from %m : !ttg.memdesc<64x64xf16, #x, #smem, mutable> -> !tt.tensordesc<64x64xf16>
    %3 = amdg.async_tdm_copy_local_to_global %d from %n, barrier = %b : !ttg.memdesc<64x64xf16, #v2, #smem, mutable>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !tt.tensordesc<64x64xf16>
    tt.return
  }
}
