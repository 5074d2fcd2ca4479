// Asian options by Monte Carlo, as the AMD APP SDK's scalar kernel: random words, normal draws and
// prices stay in registers; four neighbours hand each other a byte of their words through local
// memory, as the shifts of a word of 128 bits. Two paths a work-item.
constant uint kMasks[4] = {0xfdff37ffu, 0xef7f3f7du, 0xff777b7du, 0x7ff7fb2fu};
uint mixed(uint s, uint k) { return 1812433253u * (s ^ (s >> 30)) + k; }
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void price_paths(__global const uint* seeds, __global float* prices, __global float* slopes,
                 float strike, float start, float drift, float volatility, float slope_drift,
                 float sigma, float step_years, int points) {
  __local uint to_right[64];
  __local uint to_left[64];
  __local float2 sums[64];
  const uint lane = get_local_id(0);
  const uint i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  const uint group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  uint seed = seeds[i];
  float2 price = start, total = start, slope = 0.0f, logarithm = 0.0f;
  for (int point = 1; point < points; ++point) {
    uint state[5], word[4];
    state[0] = seed;
    for (uint k = 1u; k < 5u; ++k) state[k] = mixed(state[k - 1u], k);
    uint older = state[3], newer = state[4];
    for (uint k = 0; k < 4u; ++k) {  // the fourth word is not used, in the sample either
      barrier(CLK_LOCAL_MEM_FENCE);
      to_left[lane] = older;
      to_right[lane] = state[k];
      barrier(CLK_LOCAL_MEM_FENCE);
      uint up = state[k] << 24, down = older >> 24;
      if (lane % 4u != 0u) up |= to_right[lane - 1u] >> 8;
      if (lane % 4u != 3u) down |= to_left[lane + 1u] << 8;
      const uint masked = (state[(k + 2u) % 5u] >> 13) & kMasks[lane % 4u];
      word[k] = state[k] ^ up ^ masked ^ down ^ (newer << 15);
      older = newer;
      newer = word[k];
    }
    seed = word[2];
    const float radius = sqrt(-2.0f * log(word[0] / 4294967296.0f));
    const float angle = 6.28318530717958f * word[1] / 4294967296.0f;
    const float2 growth = drift + volatility * radius * (float2)(cos(angle), sin(angle));
    logarithm += growth;
    price *= exp(growth);
    total += price;
    slope += price * (logarithm - slope_drift * step_years * point) / sigma;
  }
  const float2 mean = total / points, gain = mean - strike;
  sums[lane] = (float2)(0.0f);
  if (gain.x > 0.0f) sums[lane] += (float2)(gain.x, slope.x / points);
  if (gain.y > 0.0f) sums[lane] += (float2)(gain.y, slope.y / points);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_size = 32u; half_size >= 4u; half_size /= 2u) {
    if (lane < half_size) sums[lane] += sums[lane + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane < 4u) {
    prices[4u * group + lane] = sums[lane].x;
    slopes[4u * group + lane] = sums[lane].y;
  }
}
