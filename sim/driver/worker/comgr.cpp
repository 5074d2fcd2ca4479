#include "comgr.hpp"

#include <amd_comgr.h>
#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/rocm_library.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim::driver {

// The entry points used, resolved from the library.
struct ComgrApi {
  decltype(&amd_comgr_create_data) create_data{};
  decltype(&amd_comgr_release_data) release_data{};
  decltype(&amd_comgr_set_data) set_data{};
  decltype(&amd_comgr_set_data_name) set_data_name{};
  decltype(&amd_comgr_get_data) get_data{};
  decltype(&amd_comgr_create_data_set) create_data_set{};
  decltype(&amd_comgr_destroy_data_set) destroy_data_set{};
  decltype(&amd_comgr_data_set_add) data_set_add{};
  decltype(&amd_comgr_action_data_count) action_data_count{};
  decltype(&amd_comgr_action_data_get_data) action_data_get_data{};
  decltype(&amd_comgr_create_action_info) create_action_info{};
  decltype(&amd_comgr_destroy_action_info) destroy_action_info{};
  decltype(&amd_comgr_action_info_set_isa_name) set_isa_name{};
  decltype(&amd_comgr_action_info_set_language) set_language{};
  decltype(&amd_comgr_action_info_set_option_list) set_option_list{};
  decltype(&amd_comgr_action_info_set_working_directory_path) set_working_directory{};
  decltype(&amd_comgr_action_info_set_logging) set_logging{};
  decltype(&amd_comgr_do_action) do_action{};
  // The actions by the numbers that this version of the library gives them.
  amd_comgr_action_kind_t add_headers{AMD_COMGR_ACTION_ADD_PRECOMPILED_HEADERS};
  amd_comgr_action_kind_t compile{AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC};
  amd_comgr_action_kind_t link{AMD_COMGR_ACTION_LINK_BC_TO_BC};
  amd_comgr_action_kind_t generate{AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE};
  amd_comgr_action_kind_t link_executable{AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE};
  bool llvm_17_or_later{};
};

namespace {

bool good(amd_comgr_status_t status) {
  return status == AMD_COMGR_STATUS_SUCCESS;
}

// A data set and what was added to it, released together.
class DataSet {
 public:
  explicit DataSet(const ComgrApi& api) : api_(&api) { good_ = good(api.create_data_set(&set_)); }
  ~DataSet() {
    if (good_) api_->destroy_data_set(set_);
  }
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  bool add(amd_comgr_data_kind_t kind, const std::string& name, const std::string& bytes) {
    amd_comgr_data_t data{};
    if (!good_ || !good(api_->create_data(kind, &data))) return false;
    const bool added = good(api_->set_data(data, bytes.size(), bytes.data())) &&
                       good(api_->set_data_name(data, name.c_str())) &&
                       good(api_->data_set_add(set_, data));
    api_->release_data(data);
    return added;
  }

  // The contents of every item of a kind.
  std::vector<std::string> contents(amd_comgr_data_kind_t kind) const {
    std::vector<std::string> all;
    std::size_t count = 0;
    if (!good_ || !good(api_->action_data_count(set_, kind, &count))) return all;
    for (std::size_t i = 0; i < count; ++i) {
      amd_comgr_data_t data{};
      if (!good(api_->action_data_get_data(set_, kind, i, &data))) continue;
      std::size_t size = 0;
      if (good(api_->get_data(data, &size, nullptr))) {
        std::string bytes(size, '\0');
        if (good(api_->get_data(data, &size, bytes.data()))) all.push_back(std::move(bytes));
      }
      api_->release_data(data);
    }
    return all;
  }

  [[nodiscard]] amd_comgr_data_set_t handle() const { return set_; }
  [[nodiscard]] bool valid() const { return good_; }

 private:
  const ComgrApi* api_;
  amd_comgr_data_set_t set_{};
  bool good_{};
};

class ActionInfo {
 public:
  ActionInfo(const ComgrApi& api, const CompileRequest& request) : api_(&api) {
    made_ = good(api.create_action_info(&info_));
    good_ = made_ && good(api.set_isa_name(info_, request.isa.c_str())) &&
            good(api.set_language(info_, AMD_COMGR_LANGUAGE_OPENCL_1_2)) &&
            good(api.set_logging(info_, true)) &&
            (request.working_directory.empty() ||
             good(api.set_working_directory(info_, request.working_directory.c_str())));
  }
  ~ActionInfo() {
    if (made_) api_->destroy_action_info(info_);
  }
  ActionInfo(const ActionInfo&) = delete;
  ActionInfo& operator=(const ActionInfo&) = delete;

  bool set_options(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    words.reserve(options.size());
    for (const auto& option : options) words.push_back(option.c_str());
    return good_ && good(api_->set_option_list(info_, words.data(), words.size()));
  }
  [[nodiscard]] amd_comgr_action_info_t handle() const { return info_; }
  [[nodiscard]] bool valid() const { return good_; }

 private:
  const ComgrApi* api_;
  amd_comgr_action_info_t info_{};
  bool made_{};
  bool good_{};
};

// One action; what the compiler said is appended to `log`.
bool act(const ComgrApi& api, amd_comgr_action_kind_t kind, const ActionInfo& info,
         const DataSet& input, DataSet& output, std::string& log) {
  const bool done = good(api.do_action(kind, info.handle(), input.handle(), output.handle()));
  for (const auto& text : output.contents(AMD_COMGR_DATA_KIND_LOG)) {
    log += text.substr(0, text.find('\0'));
  }
  return done;
}

// The compiler says nothing where it cannot write its temporary files.
CompileAnswer failed(std::string log, const char* step) {
  if (log.empty()) {
    const auto folder = ScratchFolder::create("compile");
    log = std::string("error: ") + step + " failed without a message" +
          (folder ? std::string() : ": " + folder.error().text()) + "\n";
  }
  return {CompileStatus::failed, std::move(log), {}};
}

// The optimisation level among the options, for code generation.
std::vector<std::string> codegen_options(const std::vector<std::string>& options) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = options[i];
    if (option.rfind("-O", 0) == 0 || option.rfind("-mcode-object-version", 0) == 0) {
      kept.push_back(option);
    } else if (option == "-mllvm" && i + 1 < options.size()) {
      kept.push_back(option);
      kept.push_back(options[++i]);
    }
  }
  return kept;
}

// LLVM 17 puts the function that takes printf's buffer into a program after the device libraries
// were linked, and no longer finds it there: a reference keeps it. At -O0 it replaces no call of
// printf, and loads spilled registers before it enables their lanes again.
void help_llvm_17(CompileRequest& request) {
  std::ranges::replace(request.options, "-O0", "-O1");
  if (request.source.find("printf") == std::string::npos) return;
  request.source +=
      "\n__global char* __printf_alloc(uint);\n"
      "__attribute__((used)) static void __ww_keeps_printf_alloc(void) { __printf_alloc(0); }\n";
}

CompileAnswer compile(const ComgrApi& api, const CompileRequest& request) {
  ActionInfo info(api, request);
  DataSet input(api);
  DataSet with_headers(api);
  DataSet bitcode(api);
  if (!info.valid() || !input.valid() || !with_headers.valid() || !bitcode.valid()) {
    return failed("error: the compiler library refused target " + request.isa + "\n", "set-up");
  }
  bool added = input.add(AMD_COMGR_DATA_KIND_SOURCE, "program.cl", request.source);
  for (const auto& header : request.headers) {
    added = added && input.add(AMD_COMGR_DATA_KIND_INCLUDE, header.name, header.text);
  }
  std::string log;
  if (!added || !info.set_options(request.options)) return failed(log, "set-up");
  if (!act(api, api.add_headers, info, input, with_headers, log)) {
    return failed(log, "adding the OpenCL C headers");
  }
  if (!act(api, api.compile, info, with_headers, bitcode, log)) {
    if (log.find("cannot find ROCm device library") != std::string::npos) {
      log += std::string("wirewatt: the device libraries are missing; install the package ") +
             std::string(kComgrLibrary.packages) + "\n";
      return {CompileStatus::no_compiler, std::move(log), {}};
    }
    return failed(log, "compilation");
  }
  auto outputs = bitcode.contents(AMD_COMGR_DATA_KIND_BC);
  if (outputs.size() != 1) return failed(log, "compilation");
  return {CompileStatus::success, std::move(log), std::move(outputs.front())};
}

CompileAnswer link(const ComgrApi& api, const CompileRequest& request) {
  ActionInfo info(api, request);
  DataSet input(api);
  DataSet linked(api);
  DataSet relocatable(api);
  DataSet executable(api);
  std::string log;
  bool added = info.valid();
  for (std::size_t i = 0; i < request.bitcodes.size(); ++i) {
    added = added && input.add(AMD_COMGR_DATA_KIND_BC, "unit" + std::to_string(i) + ".bc",
                               request.bitcodes[i]);
  }
  if (!added) return failed(log, "set-up");
  if (!act(api, api.link, info, input, linked, log)) {
    return failed(log, "linking");
  }
  if (request.operation == CompileOperation::library) {
    auto outputs = linked.contents(AMD_COMGR_DATA_KIND_BC);
    if (outputs.size() != 1) return failed(log, "linking");
    return {CompileStatus::success, std::move(log), std::move(outputs.front())};
  }
  if (!info.set_options(codegen_options(request.options))) return failed(log, "set-up");
  if (!act(api, api.generate, info, linked, relocatable, log)) {
    return failed(log, "code generation");
  }
  if (!info.set_options({})) return failed(log, "set-up");
  if (!act(api, api.link_executable, info, relocatable, executable, log)) {
    return failed(log, "linking");
  }
  auto outputs = executable.contents(AMD_COMGR_DATA_KIND_EXECUTABLE);
  if (outputs.size() != 1) return failed(log, "linking");
  return {CompileStatus::success, std::move(log), std::move(outputs.front())};
}

}  // namespace

Comgr::Comgr(std::unique_ptr<ComgrApi> api, std::string file)
    : api_(std::move(api)), file_(std::move(file)) {}
Comgr::~Comgr() = default;
Comgr::Comgr(Comgr&&) noexcept = default;

Result<Comgr> Comgr::load() {
  WW_ASSIGN(opened, open_rocm_library(kComgrLibrary));
  void* const library = opened.handle;
  auto api = std::make_unique<ComgrApi>();
  std::string missing;
  const auto resolve = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(::dlsym(library, name));
    if (entry == nullptr) missing = name;
  };
  resolve(api->create_data, "amd_comgr_create_data");
  resolve(api->release_data, "amd_comgr_release_data");
  resolve(api->set_data, "amd_comgr_set_data");
  resolve(api->set_data_name, "amd_comgr_set_data_name");
  resolve(api->get_data, "amd_comgr_get_data");
  resolve(api->create_data_set, "amd_comgr_create_data_set");
  resolve(api->destroy_data_set, "amd_comgr_destroy_data_set");
  resolve(api->data_set_add, "amd_comgr_data_set_add");
  resolve(api->action_data_count, "amd_comgr_action_data_count");
  resolve(api->action_data_get_data, "amd_comgr_action_data_get_data");
  resolve(api->create_action_info, "amd_comgr_create_action_info");
  resolve(api->destroy_action_info, "amd_comgr_destroy_action_info");
  resolve(api->set_isa_name, "amd_comgr_action_info_set_isa_name");
  resolve(api->set_language, "amd_comgr_action_info_set_language");
  resolve(api->set_option_list, "amd_comgr_action_info_set_option_list");
  resolve(api->set_working_directory, "amd_comgr_action_info_set_working_directory_path");
  resolve(api->set_logging, "amd_comgr_action_info_set_logging");
  resolve(api->do_action, "amd_comgr_do_action");
  decltype(&amd_comgr_get_version) version = nullptr;
  resolve(version, "amd_comgr_get_version");
  if (!missing.empty()) {
    return fail(ErrorCode::missing_dependency,
                opened.file + " has no " + missing +
                    " (version 2.4 or later is needed); install the package " +
                    std::string(kComgrLibrary.packages));
  }
  std::size_t major = 0;
  std::size_t minor = 0;
  version(&major, &minor);
  api->llvm_17_or_later = major > 2 || (major == 2 && minor >= 6);  // 2.6 is of ROCm 6.0
  if (major >= 3) {
    // Version 3 dropped some actions and numbered the rest anew.
    api->compile = static_cast<amd_comgr_action_kind_t>(12);
    api->link = static_cast<amd_comgr_action_kind_t>(3);
    api->generate = static_cast<amd_comgr_action_kind_t>(4);
    api->link_executable = static_cast<amd_comgr_action_kind_t>(7);
  }
  Dl_info place{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(version), &place) != 0;
  return Comgr(std::move(api), found && place.dli_fname != nullptr ? place.dli_fname : "");
}

bool Comgr::knows(const std::string& isa) const {
  CompileRequest request;
  request.isa = isa;
  return ActionInfo(*api_, request).valid();
}

CompileAnswer Comgr::run(CompileRequest request) const {
  if (api_->llvm_17_or_later) help_llvm_17(request);
  CompileAnswer made = answer(request);
  if (!file_.empty()) made.made_with = {file_};
  return made;
}

CompileAnswer Comgr::answer(const CompileRequest& request) const {
  switch (request.operation) {
    case CompileOperation::compile: return compile(*api_, request);
    case CompileOperation::link:
    case CompileOperation::library: return link(*api_, request);
    default: break;  // build; HIP does not come here
  }
  CompileAnswer bitcode = compile(*api_, request);
  if (bitcode.status != CompileStatus::success) return bitcode;
  CompileRequest rest = request;
  rest.operation = CompileOperation::link;
  rest.bitcodes = {std::move(bitcode.output)};
  CompileAnswer linked = link(*api_, rest);
  linked.log.insert(0, bitcode.log);
  return linked;
}

}  // namespace ww::sim::driver
