// shows: amdg.async_tdm_copy_global_to_local: warps share the pieces of a partitioned tensor
#in = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#m = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 0, partitionLayout = #in}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %m: !ttg.memdesc<64x32xf16, #m, #smem, mutable>) {
    %t = amdg.async_tdm_copy_global_to_local %d into %m {warp_used_hint = 3 : i32} : !tt.tensordesc<64x32xf16> -> !ttg.memdesc<64x32xf16, #m, #smem, mutable>
    tt.return
  }
}
