// shows: tt.call: with values, several results, before the function is written
tt.func public @k(%x: i32, %p: !tt.ptr<f32>) {
  %0:2 = tt.call @two(%x, %p) : (i32, !tt.ptr<f32>) -> (i32, f32)
  tt.call @none() : () -> ()
  tt.return
}
tt.func private @two(%x: i32, %p: !tt.ptr<f32>) -> (i32, f32) attributes {noinline = true} {
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return %x, %0 : i32, f32
}
tt.func private @none() attributes {noinline = false} {
  tt.return
}
