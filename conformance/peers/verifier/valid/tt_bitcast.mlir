// shows: tt.bitcast: numbers and pointers
tt.func public @k(%a: tensor<64xi32>, %p: !tt.ptr<i1>, %b: f16) {
  %0 = tt.bitcast %a : tensor<64xi32> -> tensor<64xf32>
  %1 = tt.bitcast %p : !tt.ptr<i1> -> !tt.ptr<i8>
  %2 = tt.bitcast %b : f16 -> bf16
  tt.return
}
