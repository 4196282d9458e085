// shows: #gluon.coalesced_encoding: on tensors
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<64x64x!tt.ptr<f32>, #gluon.coalesced_encoding>) {
    %0 = tt.load %p : tensor<64x64x!tt.ptr<f32>, #gluon.coalesced_encoding>
    tt.return
  }
}
