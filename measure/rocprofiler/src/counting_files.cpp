#include "ww/rocprofiler/counting_files.hpp"

#include <nlohmann/json.hpp>

namespace ww::rocprofiler {
namespace {

constexpr const char* kForm = "wirewatt-counting/2";

nlohmann::json to_json(const CountedAgent& agent) {
  return {{"id", agent.id},           {"pci", agent.pci},
          {"part", agent.part},       {"description", agent.description},
          {"missing", agent.missing}, {"crowded_out", agent.crowded_out}};
}

CountedAgent agent_of(const nlohmann::json& json) {
  CountedAgent agent;
  json.at("id").get_to(agent.id);
  json.at("pci").get_to(agent.pci);
  json.at("part").get_to(agent.part);
  json.at("description").get_to(agent.description);
  json.at("missing").get_to(agent.missing);
  json.at("crowded_out").get_to(agent.crowded_out);
  return agent;
}

}  // namespace

std::string to_text(const CountingNote& note) {
  auto agents = nlohmann::json::array();
  for (const CountedAgent& agent : note.agents) agents.push_back(to_json(agent));
  const nlohmann::json json{{"form", kForm},
                            {"version", note.version},
                            {"rocm_release", note.rocm_release},
                            {"library", note.library},
                            {"agents", agents},
                            {"refusal", note.refusal},
                            {"metrics_path", note.metrics_path},
                            {"finished", note.finished},
                            {"slept", note.slept},
                            {"dispatches", note.dispatches},
                            {"records", note.records},
                            {"left_out", note.left_out},
                            {"samples", note.samples},
                            {"partial", note.partial},
                            {"restarts", note.restarts},
                            {"trouble", note.trouble},
                            {"cpu_s", note.cpu_s}};
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<CountingNote> parse_note(const std::string& text, const std::string& source) {
  const auto refused = [&] {
    return fail(ErrorCode::parse_error, std::string("is no note of the form ") + kForm, source);
  };
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("form") || json["form"] != kForm) return refused();
  CountingNote note;
  try {
    json.at("version").get_to(note.version);
    json.at("rocm_release").get_to(note.rocm_release);
    json.at("library").get_to(note.library);
    for (const auto& agent : json.at("agents")) note.agents.push_back(agent_of(agent));
    json.at("refusal").get_to(note.refusal);
    json.at("metrics_path").get_to(note.metrics_path);
    json.at("finished").get_to(note.finished);
    json.at("slept").get_to(note.slept);
    json.at("dispatches").get_to(note.dispatches);
    json.at("records").get_to(note.records);
    json.at("left_out").get_to(note.left_out);
    json.at("samples").get_to(note.samples);
    json.at("partial").get_to(note.partial);
    json.at("restarts").get_to(note.restarts);
    json.at("trouble").get_to(note.trouble);
    json.at("cpu_s").get_to(note.cpu_s);
  } catch (const nlohmann::json::exception&) {
    return refused();
  }
  return note;
}

}  // namespace ww::rocprofiler
