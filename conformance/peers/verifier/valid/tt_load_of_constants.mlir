// shows: !tt.ptr: the address spaces global and constant
tt.func public @k(%p: !tt.ptr<f32, "constant">, %q: !tt.ptr<f32, "global">, %r: !tt.ptr<f32>) {
  %0 = tt.load %p : !tt.ptr<f32, "constant">
  %1 = tt.load %q : !tt.ptr<f32, "global">
  tt.store %r, %0 : !tt.ptr<f32>
  tt.return
}
