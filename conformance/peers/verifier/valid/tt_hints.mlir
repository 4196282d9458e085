// shows: attributes that passes read: of a loop, of a value
tt.func public @k(%n: i32, %x: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = arith.muli %x, %x {tt.divisibility = dense<16> : tensor<1xi32>, tt.contiguity = dense<1> : tensor<1xi32>} : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
  } {tt.num_stages = 3 : i32, tt.loop_unroll_factor = 2 : i32, tt.disallow_acc_multi_buffer, tt.flatten, tt.warp_specialize}
  tt.return
}
