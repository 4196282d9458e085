// shows: ttng.tc_gen5_commit: with a predicate and descriptors
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %r = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.tc_gen5_commit %r : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.tc_gen5_commit %r, %t : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.tc_gen5_commit %r, %t descs %m, %m : !ttg.memdesc<1xi64, #v1, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
