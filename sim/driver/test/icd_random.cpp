// Random kernels with much private memory, through the loader: arrays of every width at indices
// that differ from lane to lane, packed records, functions whose arguments overflow the registers.
// Each is built without optimisation and with all of it, and must give what the host computes.
//   icd_random [FIRST_SEED, default 100]     WW_RANDOM: how many kernels (default 4)
// Two of the default seeds, 101 and 103, read back what they have just stored while older loads of
// the same lines are under way.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace {

using U64 = std::uint64_t;

constexpr std::size_t kItems = 192;

// The private arrays: each reads back as a whole number.
struct Array {
  const char* name;
  const char* type;
  unsigned count;  // a power of two
  // How a ulong is stored there, and what then is read: OpenCL C and the same on the host.
  const char* store;
  const char* load;
  U64 (*kept)(U64 value);
};

template <class T>
U64 kept_as(U64 value) {
  return static_cast<U64>(static_cast<std::int64_t>(static_cast<T>(value)));
}

constexpr Array kArrays[] = {
    {"a_uchar", "uchar", 64, "%s = (uchar)(%s)", "(ulong)%s", kept_as<std::uint8_t>},
    {"a_short", "short", 32, "%s = (short)(%s)", "(ulong)(long)%s", kept_as<std::int16_t>},
    {"a_int", "int", 32, "%s = (int)(%s)", "(ulong)(long)%s", kept_as<std::int32_t>},
    {"a_long", "long", 16, "%s = (long)(%s)", "(ulong)%s", kept_as<std::int64_t>},
    {"a_double", "double", 16, "%s = (double)(int)(%s)", "(ulong)(long)%s", kept_as<std::int32_t>},
    {"a_float4", "float4", 8, "%s.yw = (float2)((short)(%s))", "(ulong)(long)%s.w",
     kept_as<std::int16_t>},
    {"a_ulong3", "ulong3", 8, "%s.yz = (ulong2)(%s)", "%s.z", kept_as<std::int64_t>},
    {"a_packed", "packed", 8, "%s.s = (short)(%s)", "(ulong)(long)%s.s", kept_as<std::int16_t>},
    {"b_packed", "packed", 8, "%s.d = (double)(int)(%s)", "(ulong)(long)%s.d",
     kept_as<std::int32_t>},
    {"c_packed", "packed", 8, "%s.l = (long)(%s)", "(ulong)%s.l", kept_as<std::int64_t>},
};
constexpr std::size_t kArrayCount = std::size(kArrays);

struct State {
  U64 item{};
  U64 x{};
  U64 sum{};
  U64 round{};
  std::array<std::vector<U64>, kArrayCount> arrays;
};

// "%s" in a pattern becomes the texts, in turn.
std::string filled(std::string pattern, const std::vector<std::string>& texts) {
  std::size_t at = 0;
  for (const auto& text : texts) {
    at = pattern.find("%s", at);
    if (at == std::string::npos) break;
    pattern.replace(at, 2, text);
    at += text.size();
  }
  return pattern;
}

struct Node {
  enum class Kind { item, input, sum, round, constant, load, operation, call } kind{};
  U64 number{};  // the constant, the array, the operation
  std::vector<Node> parts;
};

constexpr std::size_t kArguments = 40;  // of `many`: more than go in registers
constexpr const char* kOperations[] = {"+", "-", "*", "^", "&", "|", "<<", ">>"};

U64 value_of(const Node& node, const State& state) {
  const auto part = [&](std::size_t i) { return value_of(node.parts[i], state); };
  switch (node.kind) {
    case Node::Kind::item: return state.item;
    case Node::Kind::input: return state.x;
    case Node::Kind::sum: return state.sum;
    case Node::Kind::round: return state.round;
    case Node::Kind::constant: return node.number;
    case Node::Kind::load: {
      const auto& array = state.arrays[node.number];
      return array[part(0) & (array.size() - 1)];
    }
    case Node::Kind::operation: {
      const U64 a = part(0);
      const U64 b = part(1);
      switch (node.number) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return a ^ b;
        case 4: return a & b;
        case 5: return a | b;
        case 6: return a << (b & 63);
        default: return a >> (b & 63);
      }
    }
    case Node::Kind::call: {
      U64 total = 0;
      for (std::size_t i = 0; i < kArguments; ++i) {
        const U64 argument = part(i % node.parts.size()) + i;
        // Keeps the argument as its parameter's type does.
        const U64 kept = i % 3 == 0   ? argument
                         : i % 3 == 1 ? kept_as<std::int32_t>(argument)
                                      : kept_as<std::int8_t>(argument);
        total = total * 5 + kept;
      }
      return total;
    }
  }
  return 0;
}

std::string text_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::item: return "i";
    case Node::Kind::input: return "x";
    case Node::Kind::sum: return "sum";
    case Node::Kind::round: return "r";
    case Node::Kind::constant: return std::to_string(node.number) + "ul";
    case Node::Kind::load: {
      const Array& array = kArrays[node.number];
      return "(" +
             filled(array.load, {std::string(array.name) + "[(" + text_of(node.parts[0]) + ") & " +
                                 std::to_string(array.count - 1) + "]"}) +
             ")";
    }
    case Node::Kind::operation: {
      const bool shift = node.number >= 6;
      return "(" + text_of(node.parts[0]) + " " + kOperations[node.number] + " (" +
             text_of(node.parts[1]) + (shift ? " & 63" : "") + "))";
    }
    case Node::Kind::call: {
      std::string text = "many(";
      for (std::size_t i = 0; i < kArguments; ++i) {
        if (i != 0) text += ", ";
        text += i % 3 == 0 ? "" : i % 3 == 1 ? "(int)" : "(char)";
        text += "(" + text_of(node.parts[i % node.parts.size()]) + " + " + std::to_string(i) + ")";
      }
      return text + ")";
    }
  }
  return "0";
}

struct Statement {
  int array{-1};  // -1: adds to the sum
  Node index;
  Node value;
};

class Kernel {
 public:
  explicit Kernel(unsigned seed) : random_(seed) {
    for (int i = 0; i < 14; ++i) {
      Statement statement;
      statement.array = below(4) == 0 ? -1 : static_cast<int>(below(kArrayCount));
      statement.index = expression(1, false);
      statement.value = expression(3, true);
      statements_.push_back(std::move(statement));
    }
  }

  [[nodiscard]] std::string source() const {
    std::string text =
        "typedef struct __attribute__((packed)) { char c; long l; double d; short s; } packed;\n"
        "__attribute__((noinline)) ulong many(";
    for (std::size_t i = 0; i < kArguments; ++i) {
      if (i != 0) text += ", ";
      text += i % 3 == 0 ? "ulong" : i % 3 == 1 ? "int" : "char";
      text += " p" + std::to_string(i);
    }
    text += ") {\n  ulong total = 0;\n";
    for (std::size_t i = 0; i < kArguments; ++i) {
      text += "  total = total * 5 + (ulong)" + std::string(i % 3 == 0 ? "" : "(long)") + "p" +
              std::to_string(i) + ";\n";
    }
    text +=
        "  return total;\n}\n"
        "__kernel void k(__global const ulong* in, __global ulong* out) {\n"
        "  const ulong i = get_global_id(0);\n  const ulong x = in[i];\n  ulong sum = x;\n";
    for (const Array& array : kArrays) {
      const std::string name = array.name;
      text += "  " + std::string(array.type) + " " + name + "[" + std::to_string(array.count) +
              "];\n  for (uint j = 0; j < " + std::to_string(array.count) + "; ++j) { " +
              filled(array.store, {name + "[j]", "x >> (j & 31)"}) + "; }\n";
    }
    text += "  for (ulong r = 0; r < 3; ++r) {\n";
    for (const Statement& statement : statements_) {
      const std::string value = text_of(statement.value);
      if (statement.array < 0) {
        text += "    sum = sum * 7 + " + value + ";\n";
        continue;
      }
      const Array& array = kArrays[statement.array];
      text += "    " +
              filled(array.store, {std::string(array.name) + "[(" + text_of(statement.index) +
                                       ") & " + std::to_string(array.count - 1) + "]",
                                   value}) +
              ";\n";
    }
    text += "  }\n";
    for (const Array& array : kArrays) {
      text += "  for (uint j = 0; j < " + std::to_string(array.count) + "; ++j) sum = sum * 31 + " +
              filled(array.load, {std::string(array.name) + "[j]"}) + ";\n";
    }
    return text + "  out[i] = sum;\n}\n";
  }

  [[nodiscard]] U64 expected(U64 item, U64 x) const {
    State state;
    state.item = item;
    state.x = state.sum = x;
    for (std::size_t a = 0; a < kArrayCount; ++a) {
      for (unsigned j = 0; j < kArrays[a].count; ++j) {
        state.arrays[a].push_back(kArrays[a].kept(x >> (j & 31)));
      }
    }
    for (state.round = 0; state.round < 3; ++state.round) {
      for (const Statement& statement : statements_) {
        const U64 value = value_of(statement.value, state);
        if (statement.array < 0) {
          state.sum = state.sum * 7 + value;
          continue;
        }
        auto& array = state.arrays[static_cast<std::size_t>(statement.array)];
        array[value_of(statement.index, state) & (array.size() - 1)] =
            kArrays[statement.array].kept(value);
      }
    }
    for (const auto& array : state.arrays) {
      for (const U64 value : array) state.sum = state.sum * 31 + value;
    }
    return state.sum;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  Node expression(int depth, bool calls) {
    const std::size_t choice = depth == 0 ? below(5) : below(12);
    if (choice < 4) {
      constexpr Node::Kind kLeaves[] = {Node::Kind::item, Node::Kind::input, Node::Kind::sum,
                                        Node::Kind::round};
      return {kLeaves[choice], 0, {}};
    }
    if (choice == 4) return {Node::Kind::constant, random_() >> below(48), {}};
    if (choice < 8) return {Node::Kind::load, below(kArrayCount), {expression(depth - 1, false)}};
    if (choice == 8 && calls) {
      return {Node::Kind::call, 0, {expression(1, false), expression(1, false)}};
    }
    return {Node::Kind::operation,
            below(std::size(kOperations)),
            {expression(depth - 1, calls), expression(depth - 1, false)}};
  }

  std::mt19937_64 random_;
  std::vector<Statement> statements_;
};

bool good(cl_int code, const char* what) {
  if (code != CL_SUCCESS) std::fprintf(stderr, "%s gave %d\n", what, code);
  return code == CL_SUCCESS;
}

struct Device {
  cl_device_id id{};
  cl_context context{};
  cl_command_queue queue{};
};

// The kernel's results; none where something fails.
std::vector<U64> results(const Device& device, const std::string& source, const char* options,
                         std::vector<U64>& in) {
  cl_int code = CL_SUCCESS;
  const char* text = source.c_str();
  cl_program program = clCreateProgramWithSource(device.context, 1, &text, nullptr, &code);
  std::vector<U64> out(kItems);
  if (!good(clBuildProgram(program, 1, &device.id, options, nullptr, nullptr), "build")) return {};
  cl_kernel kernel = clCreateKernel(program, "k", &code);
  const std::size_t bytes = kItems * sizeof(U64);
  cl_mem from = clCreateBuffer(device.context, CL_MEM_COPY_HOST_PTR, bytes, in.data(), &code);
  cl_mem to = clCreateBuffer(device.context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  clSetKernelArg(kernel, 0, sizeof from, &from);
  clSetKernelArg(kernel, 1, sizeof to, &to);
  const bool ran = good(clEnqueueNDRangeKernel(device.queue, kernel, 1, nullptr, &kItems, nullptr,
                                               0, nullptr, nullptr),
                        "launch") &&
                   good(clEnqueueReadBuffer(device.queue, to, CL_TRUE, 0, bytes, out.data(), 0,
                                            nullptr, nullptr),
                        "read");
  clReleaseMemObject(from);
  clReleaseMemObject(to);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  return ran ? out : std::vector<U64>{};
}

}  // namespace

int main(int argc, char** argv) {
  const char* asked = std::getenv("WW_RANDOM");
  const unsigned count = asked != nullptr ? static_cast<unsigned>(std::atoi(asked)) : 4;
  const unsigned first = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 100;
  cl_platform_id platform{};
  Device device;
  cl_int code = CL_SUCCESS;
  if (!good(clGetPlatformIDs(1, &platform, nullptr), "platform") ||
      !good(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device.id, nullptr), "device")) {
    return 1;
  }
  device.context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
  device.queue = clCreateCommandQueue(device.context, device.id, 0, &code);
  std::mt19937_64 random(first);
  std::vector<U64> in(kItems);
  for (U64& x : in) x = random() >> (random() % 64);
  unsigned wrong = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const Kernel kernel(seed);
    const std::string source = kernel.source();
    for (const char* options : {"-cl-opt-disable", "-O3"}) {
      const std::vector<U64> got = results(device, source, options, in);
      bool same = got.size() == kItems;
      for (std::size_t i = 0; same && i < kItems; ++i) {
        const U64 expected = kernel.expected(i, in[i]);
        if (got[i] == expected) continue;
        std::printf("seed %u, %s, item %zu: %llx, wanted %llx\n", seed, options, i,
                    static_cast<unsigned long long>(got[i]),
                    static_cast<unsigned long long>(expected));
        same = false;
      }
      if (!same) {
        if (wrong == 0) std::fputs(source.c_str(), stderr);
        ++wrong;
      }
    }
  }
  clReleaseCommandQueue(device.queue);
  clReleaseContext(device.context);
  std::printf("%u kernels, %u of %u builds wrong\n", count, wrong, 2 * count);
  return wrong == 0 && count > 0 ? 0 : 1;
}
