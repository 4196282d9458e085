// shows: tt.addptr: each width of offset
tt.func public @k(%p: !tt.ptr<f32>, %a: i8, %b: i32, %c: i64, %q: tensor<64x!tt.ptr<i8>>, %o: tensor<64xi16>) {
  %0 = tt.addptr %p, %a : !tt.ptr<f32>, i8
  %1 = tt.addptr %0, %b : !tt.ptr<f32>, i32
  %2 = tt.addptr %1, %c : !tt.ptr<f32>, i64
  %3 = tt.addptr %q, %o : tensor<64x!tt.ptr<i8>>, tensor<64xi16>
  tt.return
}
