// AMD GPU code objects: ELF files with kernel descriptors and MessagePack metadata.
//
// Source: LLVM "User Guide for AMDGPU Backend", code object V2 to V5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::binpatch {

// "gfx701" as numbers: major 7, minor 0, stepping 1.
struct GfxTarget {
  int major{};
  int minor{};
  int stepping{};
  // NOLINTNEXTLINE(modernize-use-nullptr): version 14 reads a comparison with 0 into it
  auto operator<=>(const GfxTarget&) const = default;
};
[[nodiscard]] std::string to_string(GfxTarget target);  // "gfx90a"
[[nodiscard]] Result<GfxTarget> parse_gfx_target(std::string_view text);

// Targets whose code every processor of a family runs: "gfx9-generic" and its like, of code object
// version 6.
[[nodiscard]] bool is_generic_target(std::string_view target);
// Whether code for the target, a processor or a generic one, runs on the processor ("gfx906").
[[nodiscard]] bool runs_on(std::string_view target, std::string_view processor);

// One explicit or hidden kernel argument, from the metadata.
struct KernelArgument {
  std::string name;           // may be empty
  std::string type_name;      // "float*", may be empty
  std::string value_kind;     // "global_buffer", "by_value", "dynamic_shared_pointer", "hidden_..."
  std::string address_space;  // "global", "local", "constant", or empty
  std::string access;         // "read_only", ..., or empty
  std::uint32_t offset{};     // in the kernarg segment [bytes]
  std::uint32_t size{};       // [bytes]
  std::uint32_t pointee_align{};
  bool is_const{};
  bool is_volatile{};
  bool is_restrict{};
};

// The 64-byte kernel descriptor (amdhsa), fields as in the LLVM guide.
struct KernelDescriptor {
  std::uint32_t group_segment_fixed_size{};
  std::uint32_t private_segment_fixed_size{};
  std::uint32_t kernarg_size{};
  std::int64_t kernel_code_entry_byte_offset{};
  std::uint32_t compute_pgm_rsrc1{};
  std::uint32_t compute_pgm_rsrc2{};
  std::uint32_t compute_pgm_rsrc3{};
  std::uint16_t kernel_code_properties{};
};

struct Kernel {
  std::string name;    // "l2_read"
  std::string symbol;  // "l2_read.kd"
  KernelDescriptor descriptor;
  std::uint64_t descriptor_address{};
  std::uint64_t entry_address{};      // virtual address of the first instruction
  std::uint64_t entry_file_offset{};  // the same place in the file
  std::uint64_t code_size{};          // bytes of the kernel's function symbol
  std::vector<KernelArgument> arguments;
  std::uint32_t kernarg_segment_size{};
  std::uint32_t kernarg_segment_align{};
  std::uint32_t wavefront_size{64};
  std::uint32_t sgpr_count{};
  std::uint32_t vgpr_count{};
  std::uint32_t max_flat_workgroup_size{};
  // It calls by pointer or recursively: private_segment_fixed_size is not all that it takes.
  bool uses_dynamic_stack{};
  // The compiler assumed that work-groups divide the range evenly.
  bool needs_even_workgroups{};
  std::optional<std::array<std::uint32_t, 3>> required_workgroup_size;
  std::optional<std::array<std::uint32_t, 3>> workgroup_size_hint;
  std::string vector_type_hint;  // "float4"; empty: none given
};

// A loadable segment (PT_LOAD).
struct Segment {
  std::uint64_t address{};
  std::uint64_t memory_size{};
  std::uint64_t file_offset{};
  std::uint64_t file_size{};
  bool executable{};
  bool writable{};
};

// A dynamic relocation that the loader applies: R_AMDGPU_ABS64 or R_AMDGPU_RELATIVE64.
struct Relocation {
  std::uint64_t address{};  // where the 8-byte value goes
  std::uint64_t value{};    // symbol value plus addend; add the load address
};

// A variable of the program in device memory: a symbol that hosts ask for by name.
struct Variable {
  std::string name;
  std::uint64_t address{};  // add the load address
  std::uint64_t size{};     // [bytes]
};

class CodeObject {
 public:
  // Takes a copy. Hostile input gives parse_error with the offending part, never a crash.
  static Result<CodeObject> parse(std::span<const std::byte> bytes);

  // For a generic target: the first processor of its family, whose instructions the code uses.
  [[nodiscard]] GfxTarget target() const { return target_; }
  // "gfx90a", or "gfx9-generic".
  [[nodiscard]] const std::string& target_name() const { return target_name_; }
  // Errors unsupported (another target's code), bad_data (a generic target without its version).
  [[nodiscard]] Status check_runs_on(std::string_view processor) const;
  [[nodiscard]] int version() const { return version_; }  // code object version: 2 to 6
  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }
  [[nodiscard]] const Kernel* find_kernel(std::string_view name) const;
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const std::vector<Relocation>& relocations() const { return relocations_; }
  // Variables of code objects from version 3 on.
  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  // Whether the kernels' arguments are known: they are not in files without
  // metadata and in those of version 2 whose YAML is not as LLVM writes it. Such files can be
  // patched and disassembled, not launched.
  [[nodiscard]] bool has_arguments() const { return has_arguments_; }
  // The printf format strings of the metadata ("amdhsa.printf"), in order.
  [[nodiscard]] const std::vector<std::string>& printf_formats() const { return printf_formats_; }
  // The kernel's code, from its entry to the end of its function symbol.
  [[nodiscard]] std::span<const std::byte> code(const Kernel& kernel) const;

 private:
  CodeObject() = default;
  std::vector<std::byte> bytes_;
  GfxTarget target_;
  std::string target_name_;
  std::uint32_t generic_version_{};
  int version_{};
  bool has_arguments_{};
  std::vector<Kernel> kernels_;
  std::vector<Segment> segments_;
  std::vector<Relocation> relocations_;
  std::vector<Variable> variables_;
  std::vector<std::string> printf_formats_;
};

}  // namespace ww::binpatch
