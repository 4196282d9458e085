// shows: tt.assert: of a scalar and of a tensor
tt.func public @k(%c: i1, %d: tensor<64xi1>) {
  tt.assert %c, "never" : i1
  tt.assert %d, "none of \22these\22" : tensor<64xi1>
  tt.return
}
