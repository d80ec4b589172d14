
%pair = type { double, double }
define void @scale(ptr %p, double %factor) {
  %y = getelementptr inbounds %pair, ptr %p, i32 0, i32 1
  %old = load double, ptr %y
  %new = fmul double %old, %factor
  store double %new, ptr %y
  ret void
}
