; What wall_clock64() of HIP 6's headers calls, for a device library that is older than these: the
; counter that runs at one rate whatever the chip's clock.

declare i64 @llvm.readsteadycounter()

define weak_odr hidden i64 @__ockl_steadyctr_u64() alwaysinline {
  %now = call i64 @llvm.readsteadycounter()
  ret i64 %now
}
