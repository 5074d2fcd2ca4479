// European options in closed form; the normal distribution by Abramowitz and Stegun 26.2.17.
float cumulative_normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float tail = 0.3989422804f * exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.0f ? 1.0f - tail : tail;
}
__kernel void black_scholes(__global const float* price, __global const float* strike,
                            __global const float* years, __global float* call, __global float* put,
                            float rate, float volatility) {
  const uint i = get_global_id(0);
  const float s = price[i], x = strike[i], t = years[i];
  const float root = sqrt(t);
  const float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float n1 = cumulative_normal(d1), n2 = cumulative_normal(d2);
  const float discount = exp(-rate * t);
  call[i] = s * n1 - x * discount * n2;
  put[i] = x * discount * (1.0f - n2) - s * (1.0f - n1);
}
