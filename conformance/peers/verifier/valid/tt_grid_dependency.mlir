// shows: tt.grid_dependency_wait and tt.grid_dependency_launch_dependents
tt.func public @k() {
  tt.grid_dependency_wait
  tt.grid_dependency_launch_dependents
  tt.return
}
