// rule: tt.load: cachePolicy is a cache policy
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = 5 : i32} : !tt.ptr<f32>
  tt.return
}
