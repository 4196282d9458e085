// shows: tt.splat: numbers, pointers, to several axes
tt.func public @k(%a: f32, %p: !tt.ptr<f32>, %c: i1) {
  %0 = tt.splat %a : f32 -> tensor<64xf32>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>>
  %2 = tt.splat %c : i1 -> tensor<1xi1>
  %3 = tt.splat %a : f32 -> tensor<1024x1024xf32>
  tt.return
}
