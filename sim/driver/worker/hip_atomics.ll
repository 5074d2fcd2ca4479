; What HIP's atomicInc() and atomicDec() call. The headers of HIP 5.2 name intrinsics of a compiler
; that gave each type of pointer a name of its own; clang 19 no longer knows them, and such a program
; does not link. These are the same operations, at the device's scope, by names that it links.

@llvm.amdgcn.atomic.inc.i32.p0i32 = alias i32 (ptr, i32, i32, i32, i1), ptr @__wirewatt_atomic_inc
@llvm.amdgcn.atomic.dec.i32.p0i32 = alias i32 (ptr, i32, i32, i32, i1), ptr @__wirewatt_atomic_dec

define weak_odr hidden i32 @__wirewatt_atomic_inc(ptr %address, i32 %most, i32, i32, i1 zeroext) alwaysinline {
  %old = atomicrmw uinc_wrap ptr %address, i32 %most syncscope("agent-one-as") monotonic
  ret i32 %old
}

define weak_odr hidden i32 @__wirewatt_atomic_dec(ptr %address, i32 %most, i32, i32, i1 zeroext) alwaysinline {
  %old = atomicrmw udec_wrap ptr %address, i32 %most syncscope("agent-one-as") monotonic
  ret i32 %old
}
