// shows: nvws: a buffer put and got
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>
    %0 = nvws.aref.create %m : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>]>
    %1, %2 = nvws.aref.put.enter %0[%i, %i] : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>]> -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>, !ttg.async.token
    nvws.aref.put.exit %0[%i], %2 [#nvws.async_op<none>] : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>]>, !ttg.async.token
    %3, %4 = nvws.aref.get.enter %0[%i, %i] : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>]> -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>, !ttg.async.token
    %5 = nvws.aref.buffer %0[%i], %4 : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>]>, !ttg.async.token -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    nvws.aref.get.exit %0[%i], %4 [#nvws.async_op<tc5mma>] : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>]>, !ttg.async.token
    tt.return
  }
}
