// shows: tt.print: nothing, one value, several
tt.func public @k(%x: i32, %y: tensor<64xf32>, %p: !tt.ptr<f32>) {
  tt.print "here" {hex = false, isSigned = array<i32>}
  tt.print "x: " {hex = false, isSigned = array<i32: 1>} : %x : i32
  tt.print "all: " {hex = true, isSigned = array<i32: 1, 0, 0>} : %x, %y, %p : i32, tensor<64xf32>, !tt.ptr<f32>
  tt.return
}
