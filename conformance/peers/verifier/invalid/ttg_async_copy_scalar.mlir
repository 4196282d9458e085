// rule: ttg.async_copy_global_to_local: the addresses are a tensor of pointers
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<f16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %0 = "ttg.async_copy_global_to_local"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!tt.ptr<f16>, !ttg.memdesc<64x64xf16, #v2, #smem, mutable>) -> !ttg.async.token
    tt.return
  }
}
