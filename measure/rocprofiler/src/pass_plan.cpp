#include "ww/rocprofiler/pass_plan.hpp"

#include <algorithm>

namespace ww::rocprofiler {

std::string_view block_of(std::string_view counter) {
  return counter.substr(0, counter.find('_'));
}

std::string_view base_of(std::string_view counter) {
  constexpr std::string_view kSum = "_sum";
  if (counter.ends_with(kSum)) counter.remove_suffix(kSum.size());
  return counter;
}

std::vector<std::vector<std::string>> plan_passes(const std::vector<std::string>& counters,
                                                  std::size_t per_block) {
  std::vector<std::vector<std::string>> passes;
  for (const std::string& counter : counters) {
    const auto has_place = [&](const std::vector<std::string>& pass) {
      return std::ranges::count(pass, block_of(counter), block_of) <
             static_cast<std::ptrdiff_t>(per_block);
    };
    auto pass = std::ranges::find_if(passes, has_place);
    if (pass == passes.end()) pass = passes.emplace(passes.end());
    pass->push_back(counter);
  }
  return passes;
}

}  // namespace ww::rocprofiler
