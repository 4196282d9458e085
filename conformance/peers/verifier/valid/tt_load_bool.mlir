// shows: tt.load: pointers to i1
tt.func public @k(%p: tensor<64x!tt.ptr<i1>>) {
  %0 = tt.load %p : tensor<64x!tt.ptr<i1>>
  tt.return
}
