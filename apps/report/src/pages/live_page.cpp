// The page that `wirewatt top --web` serves. It asks its server for figures, and nothing else.
#include <fmt/format.h>

#include "pages/embedded.hpp"
#include "ww/report/pages.hpp"

namespace ww::report {

std::string live_page() {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<title>wirewatt top</title>\n<style>{}\n"
      "#rows svg {{ min-width: 8rem; height: 3rem; }}</style></head>\n<body>"
      "<header><h1 id=\"device\">wirewatt top</h1></header><main>\n"
      "<p class=\"warn\" id=\"virtual\" role=\"note\" hidden><strong>VIRTUAL.</strong> These "
      "figures come from a simulated chip. They are not a measurement of any real device.</p>\n"
      "<p class=\"warn\" id=\"misfit\" role=\"note\" hidden></p>\n"
      "<p class=\"mut\" id=\"source\"></p>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Power\"><table>"
      "<caption class=\"same\">Power</caption><thead><tr><th scope=\"col\">part</th>"
      "<th scope=\"col\" class=\"n\">power (95%)</th><th scope=\"col\">history</th>"
      "<th scope=\"col\">status</th></tr></thead><tbody id=\"rows\"></tbody></table></div>\n"
      "<p id=\"energy\"></p><p id=\"state\" role=\"status\"></p></main>\n"
      "<script>{}</script></body></html>\n",
      embedded_text("page.css"), embedded_text("live.js"));
}

}  // namespace ww::report
