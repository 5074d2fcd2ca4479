; Conversions with a rounding of their own (__double2float_rd() and its like), which HIP 6's headers
; call and older device libraries do not have. Toward minus infinity: rtn; toward plus infinity: rtp;
; toward zero: rtz. A float is first rounded to the nearest, and the result is compared with what it
; was made of; of an integer the bits are counted.

declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.abs.i64(i64, i1)

; The half below another one.
define internal half @ww.below.half(half %from) alwaysinline {
  %bits = bitcast half %from to i16
  %magnitude = and i16 %bits, 32767
  %is_zero = icmp eq i16 %magnitude, 0
  %is_negative = icmp slt i16 %bits, 0
  %away = add i16 %bits, 1
  %toward = sub i16 %bits, 1
  %next = select i1 %is_negative, i16 %away, i16 %toward
  %below = select i1 %is_zero, i16 -32767, i16 %next
  %result = bitcast i16 %below to half
  ret half %result
}

; The float below another one.
define internal float @ww.below.float(float %from) alwaysinline {
  %bits = bitcast float %from to i32
  %magnitude = and i32 %bits, 2147483647
  %is_zero = icmp eq i32 %magnitude, 0
  %is_negative = icmp slt i32 %bits, 0
  %away = add i32 %bits, 1
  %toward = sub i32 %bits, 1
  %next = select i1 %is_negative, i32 %away, i32 %toward
  %below = select i1 %is_zero, i32 -2147483647, i32 %next
  %result = bitcast i32 %below to float
  ret float %result
}

; The first bits of a number, so many; the rest are zeros.
define internal i64 @ww.first_bits(i64 %from, i64 %kept) alwaysinline {
  %zeros = call i64 @llvm.ctlz.i64(i64 %from, i1 false)
  %unused = add i64 %zeros, %kept
  %beyond = sub i64 64, %unused
  %lost = call i64 @llvm.smax.i64(i64 %beyond, i64 0)
  %shifted = lshr i64 %from, %lost
  %result = shl i64 %shifted, %lost
  ret i64 %result
}

; Of a magnitude, toward zero and away from it.
define internal float @ww.toward_zero.float(i64 %from) alwaysinline {
  %kept = call i64 @ww.first_bits(i64 %from, i64 24)
  %result = uitofp i64 %kept to float
  ret float %result
}
define internal float @ww.away.float(i64 %from) alwaysinline {
  %kept = call i64 @ww.first_bits(i64 %from, i64 24)
  %least = uitofp i64 %kept to float
  %bits = bitcast float %least to i32
  %is_less = icmp ne i64 %kept, %from
  %step = zext i1 %is_less to i32
  %next = add i32 %bits, %step
  %result = bitcast i32 %next to float
  ret float %result
}

; Of a magnitude, toward zero and away from it.
define internal double @ww.toward_zero.double(i64 %from) alwaysinline {
  %kept = call i64 @ww.first_bits(i64 %from, i64 53)
  %result = uitofp i64 %kept to double
  ret double %result
}
define internal double @ww.away.double(i64 %from) alwaysinline {
  %kept = call i64 @ww.first_bits(i64 %from, i64 53)
  %least = uitofp i64 %kept to double
  %bits = bitcast double %least to i64
  %is_less = icmp ne i64 %kept, %from
  %step = zext i1 %is_less to i64
  %next = add i64 %bits, %step
  %result = bitcast i64 %next to double
  ret double %result
}

define weak_odr hidden half @__ocml_cvtrtn_f16_f32(float %from) alwaysinline {
  %nearest = fptrunc float %from to half
  %back = fpext half %nearest to float
  %is_above = fcmp ogt float %back, %from
  %below = call half @ww.below.half(half %nearest)
  %result = select i1 %is_above, half %below, half %nearest
  ret half %result
}
define weak_odr hidden half @__ocml_cvtrtp_f16_f32(float %from) alwaysinline {
  %mirrored = fneg float %from
  %below = call half @__ocml_cvtrtn_f16_f32(float %mirrored)
  %result = fneg half %below
  ret half %result
}
define weak_odr hidden half @__ocml_cvtrtz_f16_f32(float %from) alwaysinline {
  %is_negative = fcmp olt float %from, 0.0
  %up = call half @__ocml_cvtrtp_f16_f32(float %from)
  %down = call half @__ocml_cvtrtn_f16_f32(float %from)
  %result = select i1 %is_negative, half %up, half %down
  ret half %result
}

define weak_odr hidden float @__ocml_cvtrtn_f32_f64(double %from) alwaysinline {
  %nearest = fptrunc double %from to float
  %back = fpext float %nearest to double
  %is_above = fcmp ogt double %back, %from
  %below = call float @ww.below.float(float %nearest)
  %result = select i1 %is_above, float %below, float %nearest
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtp_f32_f64(double %from) alwaysinline {
  %mirrored = fneg double %from
  %below = call float @__ocml_cvtrtn_f32_f64(double %mirrored)
  %result = fneg float %below
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtz_f32_f64(double %from) alwaysinline {
  %is_negative = fcmp olt double %from, 0.0
  %up = call float @__ocml_cvtrtp_f32_f64(double %from)
  %down = call float @__ocml_cvtrtn_f32_f64(double %from)
  %result = select i1 %is_negative, float %up, float %down
  ret float %result
}

define weak_odr hidden float @__ocml_cvtrtn_f32_s64(i64 %from) alwaysinline {
  %magnitude = call i64 @llvm.abs.i64(i64 %from, i1 false)
  %is_negative = icmp slt i64 %from, 0
  %below = call float @ww.away.float(i64 %magnitude)
  %mirrored = fneg float %below
  %above = call float @ww.toward_zero.float(i64 %magnitude)
  %result = select i1 %is_negative, float %mirrored, float %above
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtn_f32_u64(i64 %from) alwaysinline {
  %result = call float @ww.toward_zero.float(i64 %from)
  ret float %result
}

define weak_odr hidden float @__ocml_cvtrtn_f32_s32(i32 %from) alwaysinline {
  %wide = sext i32 %from to i64
  %result = call float @__ocml_cvtrtn_f32_s64(i64 %wide)
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtn_f32_u32(i32 %from) alwaysinline {
  %wide = zext i32 %from to i64
  %result = call float @__ocml_cvtrtn_f32_u64(i64 %wide)
  ret float %result
}

define weak_odr hidden float @__ocml_cvtrtp_f32_s64(i64 %from) alwaysinline {
  %magnitude = call i64 @llvm.abs.i64(i64 %from, i1 false)
  %is_negative = icmp slt i64 %from, 0
  %below = call float @ww.toward_zero.float(i64 %magnitude)
  %mirrored = fneg float %below
  %above = call float @ww.away.float(i64 %magnitude)
  %result = select i1 %is_negative, float %mirrored, float %above
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtp_f32_u64(i64 %from) alwaysinline {
  %result = call float @ww.away.float(i64 %from)
  ret float %result
}

define weak_odr hidden float @__ocml_cvtrtp_f32_s32(i32 %from) alwaysinline {
  %wide = sext i32 %from to i64
  %result = call float @__ocml_cvtrtp_f32_s64(i64 %wide)
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtp_f32_u32(i32 %from) alwaysinline {
  %wide = zext i32 %from to i64
  %result = call float @__ocml_cvtrtp_f32_u64(i64 %wide)
  ret float %result
}

define weak_odr hidden float @__ocml_cvtrtz_f32_s64(i64 %from) alwaysinline {
  %magnitude = call i64 @llvm.abs.i64(i64 %from, i1 false)
  %is_negative = icmp slt i64 %from, 0
  %below = call float @ww.toward_zero.float(i64 %magnitude)
  %mirrored = fneg float %below
  %above = call float @ww.toward_zero.float(i64 %magnitude)
  %result = select i1 %is_negative, float %mirrored, float %above
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtz_f32_u64(i64 %from) alwaysinline {
  %result = call float @ww.toward_zero.float(i64 %from)
  ret float %result
}

define weak_odr hidden float @__ocml_cvtrtz_f32_s32(i32 %from) alwaysinline {
  %wide = sext i32 %from to i64
  %result = call float @__ocml_cvtrtz_f32_s64(i64 %wide)
  ret float %result
}
define weak_odr hidden float @__ocml_cvtrtz_f32_u32(i32 %from) alwaysinline {
  %wide = zext i32 %from to i64
  %result = call float @__ocml_cvtrtz_f32_u64(i64 %wide)
  ret float %result
}

define weak_odr hidden double @__ocml_cvtrtn_f64_s64(i64 %from) alwaysinline {
  %magnitude = call i64 @llvm.abs.i64(i64 %from, i1 false)
  %is_negative = icmp slt i64 %from, 0
  %below = call double @ww.away.double(i64 %magnitude)
  %mirrored = fneg double %below
  %above = call double @ww.toward_zero.double(i64 %magnitude)
  %result = select i1 %is_negative, double %mirrored, double %above
  ret double %result
}
define weak_odr hidden double @__ocml_cvtrtn_f64_u64(i64 %from) alwaysinline {
  %result = call double @ww.toward_zero.double(i64 %from)
  ret double %result
}

define weak_odr hidden double @__ocml_cvtrtp_f64_s64(i64 %from) alwaysinline {
  %magnitude = call i64 @llvm.abs.i64(i64 %from, i1 false)
  %is_negative = icmp slt i64 %from, 0
  %below = call double @ww.toward_zero.double(i64 %magnitude)
  %mirrored = fneg double %below
  %above = call double @ww.away.double(i64 %magnitude)
  %result = select i1 %is_negative, double %mirrored, double %above
  ret double %result
}
define weak_odr hidden double @__ocml_cvtrtp_f64_u64(i64 %from) alwaysinline {
  %result = call double @ww.away.double(i64 %from)
  ret double %result
}

define weak_odr hidden double @__ocml_cvtrtz_f64_s64(i64 %from) alwaysinline {
  %magnitude = call i64 @llvm.abs.i64(i64 %from, i1 false)
  %is_negative = icmp slt i64 %from, 0
  %below = call double @ww.toward_zero.double(i64 %magnitude)
  %mirrored = fneg double %below
  %above = call double @ww.toward_zero.double(i64 %magnitude)
  %result = select i1 %is_negative, double %mirrored, double %above
  ret double %result
}
define weak_odr hidden double @__ocml_cvtrtz_f64_u64(i64 %from) alwaysinline {
  %result = call double @ww.toward_zero.double(i64 %from)
  ret double %result
}
