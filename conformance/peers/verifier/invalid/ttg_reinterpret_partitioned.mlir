// rule: ttg.memdesc_reinterpret: no partitioned memory
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#x = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 0, partitionLayout = #v2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #x, #smem, mutable>
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64x32xf16, #x, #smem, mutable> -> !ttg.memdesc<2048xf16, #v1, #smem, mutable>
    tt.return
  }
}
