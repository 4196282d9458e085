// shows: tt.make_range: from 0, and from elsewhere
tt.func public @k() {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %1 = tt.make_range {end = 96 : i32, start = 64 : i32} : tensor<32xi32>
  %2 = tt.make_range {start = -8 : i32, end = 8 : i32} : tensor<16xi32>
  tt.return
}
