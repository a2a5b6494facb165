#include "analyzer/lsp/server.h"

#include "analyzer/lsp/messages.h"
#include "analyzer/lsp/scan_process.h"
#include "analyzer/lsp/text.h"
#include "analyzer/report/findings.h"
#include "rules/error.h"
#include "rules/registry.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <poll.h>
#include <unistd.h>

namespace reprobe::lsp {
namespace fs = std::filesystem;

namespace {

// Of JSON-RPC and of the protocol.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kUnknownMethod = -32601,
              kInvalidParameters = -32602, kNotInitialized = -32002;
constexpr int kError = 1, kWarning = 2, kInformation = 3; // severities of diagnostics and of log messages

struct Document {
  std::string path;
  Json version;
  Text text;
  Text scanned;                          // what the findings speak of
  std::vector<report::Finding> findings; // of this document
  std::unique_ptr<ScanProcess> scan;
};

class Server {
public:
  Server(int input, int output, const ServerOptions& options)
      : input_(input), output_(output), options_(options) {}

  int run() {
    std::signal(SIGPIPE, SIG_IGN);
    while (!exit_code_) {
      start_waiting_scans();
      wait();
    }
    return *exit_code_;
  }

private:
  // --- the loop ---

  void wait() {
    std::vector<pollfd> events{{input_, POLLIN, 0}};
    std::vector<std::string> uris;
    for (const auto& [uri, document] : documents_)
      if (document.scan) {
        events.push_back({document.scan->descriptor(), POLLIN, 0});
        uris.push_back(uri);
      }
    if (poll(events.data(), events.size(), -1) < 0) {
      exit_code_ = errno == EINTR ? exit_code_ : std::optional(3);
      return;
    }
    for (std::size_t i = 0; i < uris.size(); ++i)
      if (events[i + 1].revents)
        take_findings(uris[i]);
    if (events[0].revents)
      read_input();
  }

  void read_input() {
    char buffer[65536];
    const ssize_t got = read(input_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR)
      return;
    if (got <= 0) {
      exit_code_ = shut_down_ ? 0 : 1; // the editor is gone
      return;
    }
    reader_.add(buffer, static_cast<std::size_t>(got));
    while (const auto text = reader_.next()) {
      receive(*text);
      if (exit_code_)
        return;
    }
    if (reader_.is_lost())
      exit_code_ = 3;
  }

  void send(Json message) {
    message["jsonrpc"] = "2.0";
    const std::string bytes = framed(message);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t put = write(output_, bytes.data() + done, bytes.size() - done);
      if (put < 0 && errno == EINTR)
        continue;
      if (put <= 0) {
        exit_code_ = 3;
        return;
      }
      done += static_cast<std::size_t>(put);
    }
  }

  void reply(const Json& id, Json result) { send({{"id", id}, {"result", std::move(result)}}); }
  void refuse(const Json& id, int code, const std::string& why) {
    send({{"id", id}, {"error", {{"code", code}, {"message", why}}}});
  }
  void notify(const char* method, Json parameters) {
    send({{"method", method}, {"params", std::move(parameters)}});
  }
  void log(int severity, const std::string& message) {
    notify("window/logMessage", {{"type", severity}, {"message", "reprobe: " + message}});
  }

  // --- messages ---

  void receive(const std::string& text) {
    const Json message = Json::parse(text, nullptr, false);
    if (message.is_discarded())
      return refuse(nullptr, kParseError, "no JSON");
    if (!message.is_object())
      return refuse(nullptr, kInvalidRequest, "not an object");
    const Json id = message.value("id", Json());
    const bool is_request = message.contains("id");
    if (!message.contains("method")) {
      if (!message.contains("result") && !message.contains("error"))
        refuse(id, kInvalidRequest, "neither a request nor a reply");
      return; // a reply: nothing is ever asked
    }
    if (!message["method"].is_string())
      return refuse(id, kInvalidRequest, "\"method\" must be a string");
    const std::string method = message["method"];
    try {
      const Json parameters = message.value("params", Json::object());
      if (is_request)
        answer(method, id, parameters);
      else
        heed(method, parameters);
    } catch (const Json::exception& problem) {
      if (is_request)
        refuse(id, kInvalidParameters, problem.what());
      else
        log(kWarning, method + ": " + problem.what());
    }
  }

  void answer(const std::string& method, const Json& id, const Json& parameters) {
    if (method == "initialize")
      return initialized_ ? refuse(id, kInvalidRequest, "initialized already")
                          : reply(id, initialize(parameters));
    if (!initialized_)
      return refuse(id, kNotInitialized, "\"initialize\" comes first");
    if (shut_down_)
      return refuse(id, kInvalidRequest, "shut down already");
    if (method == "shutdown") {
      shut_down_ = true;
      documents_.clear(); // ends what is running
      waiting_.clear();
      return reply(id, nullptr);
    }
    if (method == "textDocument/hover")
      return reply(id, hover(parameters));
    if (method == "textDocument/codeAction")
      return reply(id, code_actions(parameters));
    refuse(id, kUnknownMethod, method);
  }

  void heed(const std::string& method, const Json& parameters) {
    if (method == "exit") {
      exit_code_ = shut_down_ ? 0 : 1;
      return;
    }
    if (!initialized_ || shut_down_)
      return;
    if (method == "textDocument/didOpen")
      open(parameters.at("textDocument"));
    else if (method == "textDocument/didChange")
      change(parameters);
    else if (method == "textDocument/didSave")
      save(parameters);
    else if (method == "textDocument/didClose")
      close(parameters.at("textDocument").at("uri"));
  }

  Json initialize(const Json& parameters) {
    initialized_ = true;
    if (const Json uri = parameters.value("rootUri", Json()); uri.is_string())
      root_ = path_of(uri);
    const Json general = parameters.value("capabilities", Json::object()).value("general", Json::object());
    for (const Json& encoding : general.value("positionEncodings", Json::array()))
      utf8_ |= encoding == "utf-8";
    return {{"capabilities",
             {{"positionEncoding", utf8_ ? "utf-8" : "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", 1}, {"save", {{"includeText", true}}}}},
              {"hoverProvider", true},
              {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}}}},
            {"serverInfo", {{"name", "reprobe"}, {"version", options_.version}}}};
  }

  // --- documents ---

  void open(const Json& item) {
    const std::string uri = item.at("uri"), path = path_of(uri);
    if (path.empty())
      return log(kInformation, "only files are scanned, not " + uri);
    Document document;
    document.path = path;
    document.version = item.value("version", Json());
    document.text = Text(item.at("text").get<std::string>());
    documents_.insert_or_assign(uri, std::move(document));
    want_scan(uri);
  }

  void change(const Json& parameters) {
    const auto found = documents_.find(parameters.at("textDocument").at("uri").get<std::string>());
    const Json& changes = parameters.at("contentChanges");
    if (found == documents_.end() || changes.empty())
      return;
    found->second.text = Text(changes.back().at("text").get<std::string>());
    found->second.version = parameters.at("textDocument").value("version", Json());
  }

  void save(const Json& parameters) {
    const std::string uri = parameters.at("textDocument").at("uri");
    const auto found = documents_.find(uri);
    if (found == documents_.end())
      return;
    if (const Json text = parameters.value("text", Json()); text.is_string())
      found->second.text = Text(text.get<std::string>());
    want_scan(uri);
  }

  void close(const std::string& uri) {
    std::erase(waiting_, uri);
    if (documents_.erase(uri))
      notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  }

  // --- scans ---

  void want_scan(const std::string& uri) {
    documents_.at(uri).scan.reset(); // of a text that is gone
    if (std::find(waiting_.begin(), waiting_.end(), uri) == waiting_.end())
      waiting_.push_back(uri);
  }

  void start_waiting_scans() {
    auto running =
        static_cast<unsigned>(std::count_if(documents_.begin(), documents_.end(),
                                            [](const auto& entry) { return entry.second.scan != nullptr; }));
    for (; !waiting_.empty() && running < std::max(1u, options_.jobs); waiting_.pop_front()) {
      Document& document = documents_.at(waiting_.front());
      try {
        document.scan = std::make_unique<ScanProcess>(document.path, document.text.bytes(),
                                                      folder_of(document), options_.scan_options);
        document.scanned = document.text;
        ++running;
      } catch (const Error& problem) {
        log(kError, problem.what());
      }
    }
  }

  // Where the scan runs: findings name files relative to it.
  std::string folder_of(const Document& document) const {
    const fs::path folder = fs::path(document.path).parent_path();
    const fs::path below = folder.lexically_relative(root_);
    const bool inside = !root_.empty() && !below.empty() && *below.begin() != "..";
    std::error_code error;
    return (inside && fs::is_directory(root_, error) ? fs::path(root_) : folder).string();
  }

  void take_findings(const std::string& uri) {
    Document& document = documents_.at(uri);
    const std::string text = document.scan->result();
    document.scan.reset();
    document.findings.clear();
    try {
      report::Findings findings = report::findings_from_json(text, document.path);
      const fs::path folder = folder_of(document);
      for (report::Finding& finding : findings.findings) {
        std::error_code error;
        if (fs::weakly_canonical(folder / finding.source.file, error) ==
            fs::weakly_canonical(document.path, error))
          document.findings.push_back(std::move(finding));
      }
      for (const report::ExaminedFile& file : findings.examined)
        if (file.status == "failed")
          log(kWarning, file.file + ": not examined: " + file.reason);
    } catch (const Error&) {
      log(kWarning, document.path + ": the scan gave no findings; run `reprobe scan` on it to see why");
    }
    publish(uri, document);
  }

  void publish(const std::string& uri, const Document& document) {
    Json diagnostics = Json::array();
    for (const report::Finding& finding : document.findings)
      diagnostics.push_back(diagnostic(finding, document));
    Json parameters{{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
    if (document.version.is_number_integer())
      parameters["version"] = document.version;
    notify("textDocument/publishDiagnostics", std::move(parameters));
  }

  Json range_of(const report::SourceRange& source, const Text& text) const {
    const std::size_t end_line = source.end_line ? source.end_line : source.line;
    const std::size_t end_column = source.end_column ? source.end_column : source.column;
    return {{"start", text.position(source.line, source.column, utf8_)},
            {"end", text.position(end_line, end_column, utf8_)}};
  }

  Json diagnostic(const report::Finding& finding, const Document& document) const {
    const std::string message =
        finding.fix.empty() ? finding.message : finding.message + "\nfix: " + finding.fix;
    Json out{{"range", range_of(finding.source, document.scanned)},
             {"severity", finding.severity == "error"     ? kError
                          : finding.severity == "warning" ? kWarning
                                                          : kInformation},
             {"code", finding.rule},
             {"source", "reprobe"},
             {"message", message}};
    for (const report::Note& note : finding.notes) {
      const fs::path path = fs::path(folder_of(document)) / note.source.file;
      out["relatedInformation"].push_back({{"location",
                                            {{"uri", uri_of(path.lexically_normal().string())},
                                             {"range", range_of(note.source, document.scanned)}}},
                                           {"message", note.message}});
    }
    return out;
  }

  // --- what the editor asks ---

  static bool precedes(const Json& a, const Json& b) {
    return std::pair(a.at("line").get<std::size_t>(), a.at("character").get<std::size_t>()) <=
           std::pair(b.at("line").get<std::size_t>(), b.at("character").get<std::size_t>());
  }

  static bool touch(const Json& a, const Json& b) {
    return precedes(a.at("start"), b.at("end")) && precedes(b.at("start"), a.at("end"));
  }

  const Document* document_of(const Json& parameters) const {
    const auto found = documents_.find(parameters.at("textDocument").at("uri").get<std::string>());
    return found == documents_.end() ? nullptr : &found->second;
  }

  Json hover(const Json& parameters) const {
    const Document* document = document_of(parameters);
    const Json& place = parameters.at("position");
    if (!document)
      return nullptr;
    std::string pages;
    Json range;
    for (const report::Finding& finding : document->findings) {
      const Json where = range_of(finding.source, document->scanned);
      const rules::Rule* rule = rules::Registry::builtin().find(finding.rule);
      if (!rule || !touch(where, {{"start", place}, {"end", place}}))
        continue;
      pages += (pages.empty() ? "" : "\n\n---\n\n") + rule->page;
      range = where;
    }
    return pages.empty() ? Json()
                         : Json{{"contents", {{"kind", "markdown"}, {"value", pages}}}, {"range", range}};
  }

  // Only for the text that was scanned: in another one the places mean something else.
  Json code_actions(const Json& parameters) const {
    Json actions = Json::array();
    const Document* document = document_of(parameters);
    const Json& wanted = parameters.at("range");
    if (!document || document->scanned.bytes() != document->text.bytes())
      return actions;
    for (const report::Finding& finding : document->findings) {
      if (finding.replacements.empty() || !touch(range_of(finding.source, document->text), wanted))
        continue;
      Json edits = Json::array();
      for (const report::Replacement& replacement : finding.replacements)
        if (replacement.source.file == finding.source.file)
          edits.push_back({{"range",
                            {{"start", document->text.position(replacement.offset, utf8_)},
                             {"end", document->text.position(
                                         std::size_t(replacement.offset) + replacement.length, utf8_)}}},
                           {"newText", replacement.after}});
      if (edits.size() != finding.replacements.size())
        continue; // it reaches into another file
      const report::Replacement& first = finding.replacements.front();
      actions.push_back(
          {{"title", "reprobe: replace " + first.before + " by " + first.after},
           {"kind", "quickfix"},
           {"isPreferred", true},
           {"diagnostics", {diagnostic(finding, *document)}},
           {"edit", {{"changes", {{parameters.at("textDocument").at("uri").get<std::string>(), edits}}}}}});
    }
    return actions;
  }

  int input_, output_;
  const ServerOptions& options_;
  MessageReader reader_;
  std::map<std::string, Document> documents_; // by URI
  std::deque<std::string> waiting_;           // URIs to scan
  std::string root_;
  bool utf8_ = false, initialized_ = false, shut_down_ = false;
  std::optional<int> exit_code_;
};

} // namespace

int serve(int input, int output, const ServerOptions& options) {
  return Server(input, output, options).run();
}

} // namespace reprobe::lsp
