// shows: a tensor's type: a space before the bracket
tt.func public @k(%a: tensor <64xi32>) {
  %0 = arith.addi %a, %a : tensor <64xi32>
  tt.return
}
