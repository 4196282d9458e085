// rule: tt.load: isVolatile is a boolean
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {isVolatile = 1 : i32} : !tt.ptr<f32>
  tt.return
}
