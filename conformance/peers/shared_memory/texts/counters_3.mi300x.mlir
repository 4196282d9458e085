// shows: two counters that wrap at 3
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [2, 2], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared_t = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @slots(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %cm1 = arith.constant -1 : i32
    %width = arith.constant dense<64> : tensor<32x1xi32, #columns>
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #columns}>>
    %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #columns}>> -> tensor<32x1xi32, #columns>
    %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #columns}>> -> tensor<1x64xi32, #columns>
    %r2 = arith.muli %r1, %width : tensor<32x1xi32, #columns>
    %r3 = tt.broadcast %r2 : tensor<32x1xi32, #columns> -> tensor<32x64xi32, #columns>
    %k3 = tt.broadcast %k1 : tensor<1x64xi32, #columns> -> tensor<32x64xi32, #columns>
    %x = arith.addi %r3, %k3 : tensor<32x64xi32, #columns>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>, #columns>
    %to = tt.addptr %qs, %x : tensor<32x64x!tt.ptr<f32>, #columns>, tensor<32x64xi32, #columns>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>, #columns>
    %from = tt.addptr %ps, %x : tensor<32x64x!tt.ptr<f32>, #columns>, tensor<32x64xi32, #columns>
    %v = arith.constant dense<1.0> : tensor<32x64xf32, #rows>
    %slots = ttg.local_alloc : () -> !ttg.memdesc<3x32x64xf32, #shared, #smem, mutable>
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%w = %c0, %g = %cm1) -> (i32, i32) : i32 {
    %w2_in = arith.addi %w, %c1 : i32
    %w2_full = arith.cmpi sge, %w2_in, %c3 : i32
    %w2 = arith.select %w2_full, %c0, %w2_in : i32
    %g2_in = arith.addi %g, %c1 : i32
    %g2_full = arith.cmpi sge, %g2_in, %c3 : i32
    %g2 = arith.select %g2_full, %c0, %g2_in : i32
    %a = ttg.memdesc_index %slots[%w2] : !ttg.memdesc<3x32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %b = ttg.memdesc_index %slots[%g2] : !ttg.memdesc<3x32x64xf32, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    ttg.local_store %v, %a : tensor<32x64xf32, #rows> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %l = ttg.local_load %b : !ttg.memdesc<32x64xf32, #shared, #smem, mutable> -> tensor<32x64xf32, #columns>
    tt.store %to, %l : tensor<32x64x!tt.ptr<f32>, #columns>
    scf.yield %w2, %g2 : i32, i32
    }
    tt.return
  }
}
