// shows: attributes of each kind on an operation
tt.func public @k(%x: i32) {
  %0 = arith.addi %x, %x {a, b = 1, c = "s", d = [1, 2], e = {f = unit}, g = array<i32: 1>, h = @k, i = f32, j = dense<1> : tensor<2xi32>, k = -1.0 : f64} : i32
  tt.return
}
