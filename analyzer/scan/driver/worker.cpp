#include "analyzer/scan/driver/worker.h"

#include "analyzer/scan/driver/device_pass.h"
#include "analyzer/scan/driver/precompiled_headers.h"
#include "analyzer/scan/facts/facts_binary.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace reprobe::scan {
namespace {

constexpr unsigned kBackgroundSeconds = 600; // of processor time

TranslationUnit failed_unit(const ParseRequest& request, const std::string& reason) {
  TranslationUnit unit;
  const std::filesystem::path relative = request.main_file.lexically_relative(request.root);
  const bool below = !relative.empty() && *relative.begin() != "..";
  unit.main_file = (below ? relative : request.main_file).generic_string();
  unit.language = request.language;
  unit.inferred_flags = request.inferred_flags;
  unit.flags = request.fact_flags;
  unit.status = "failed";
  unit.reason = reason;
  return unit;
}

// What a worker sends back.
std::string pack(const Extraction& extraction) {
  Bytes out;
  out.number(extraction.precompiled_used);
  out.number(extraction.seen.complete);
  extraction.seen.write(out);
  return out.take() + to_binary(extraction.unit);
}

std::optional<Extraction> unpack(const std::string& bytes) {
  try {
    ByteReader in(bytes);
    Extraction out;
    out.precompiled_used = in.number_up_to(1) == 1;
    const bool complete = in.number_up_to(1) == 1;
    out.seen = Observations::read(in);
    out.seen.complete = complete;
    std::optional<TranslationUnit> unit = from_binary(in.rest());
    if (!unit)
      return std::nullopt;
    out.unit = std::move(*unit);
    return out;
  } catch (const BadBytes&) {
    return std::nullopt;
  }
}

class Parser {
public:
  Parser(const std::vector<ParseRequest>& requests, const Limits& limits,
         const std::function<void(std::size_t)>& progress, Cache* cache)
      : requests_(requests), limits_(limits), progress_(progress), cache_(cache), units_(requests.size()),
        pool_(limits) {
    if (cache_)
      headers_.emplace(*cache_);
  }

  std::vector<TranslationUnit> run() {
    std::vector<std::size_t> to_parse;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      std::optional<TranslationUnit> known = cache_ ? cache_->find(requests_[i]) : std::nullopt;
      if (known)
        finish(i, std::move(*known));
      else
        to_parse.push_back(i);
    }
    plan(to_parse);
    pool_.run([&] { report(); });
    report();
    if (cache_) {
      make_headers_in_background();
      cache_->finish();
    }
    return std::move(units_);
  }

private:
  void report() {
    if (progress_)
      progress_(done_);
  }

  void finish(std::size_t index, TranslationUnit unit) {
    units_[index] = std::move(unit);
    ++done_;
  }

  struct Member {
    std::size_t index; // of its request
    HeaderUse use;
  };

  // Files that share a large header come together; with enough of them the header is made first.
  void plan(const std::vector<std::size_t>& files) {
    std::map<Digest, std::vector<Member>> groups;
    for (std::size_t i : files) {
      std::optional<HeaderUse> use = headers_ && cache_->usable() ? header_use(requests_[i]) : std::nullopt;
      if (!use) {
        add_parse(i, {});
      } else if (std::optional<PrecompiledHeader> header = headers_->find(*use)) {
        add_parse(i, header);
      } else {
        const Digest family = use->family;
        groups[family].push_back({i, std::move(*use)});
      }
    }
    const unsigned jobs = limits_.jobs ? limits_.jobs : std::max(1u, std::thread::hardware_concurrency());
    for (auto& [family, members] : groups) {
      const HeaderUse& use = members.front().use;
      const bool possible = headers_->worth_making(use);
      if (possible && members.size() > jobs) {
        add_header(std::move(members));
        continue;
      }
      if (possible)
        wanted_.push_back(use);
      for (const Member& member : members)
        add_parse(member.index, {});
    }
  }

  void add_header(std::vector<Member> members) {
    const HeaderUse use = members.front().use;
    pool_.add_first({[this, use] { return std::string(headers_->make(use, true) ? "made" : ""); },
                     [this, use, members = std::move(members)](Outcome) {
                       headers_->forget(use);
                       for (const Member& member : members)
                         add_parse(member.index, headers_->find(member.use));
                     }});
  }

  void add_parse(std::size_t index, const std::optional<PrecompiledHeader>& header, bool graphs = true) {
    ParseRequest request = requests_[index];
    request.graphs = request.graphs && graphs;
    if (cache_)
      request.cache = cache_->folder();
    if (header) {
      request.precompiled = header->file;
      request.precompiled_header = header->header;
      request.precompiled_moved = header->moved;
    }
    pool_.add({[request] { return pack(extract_host_and_device(request)); },
               [this, index, graphs, header](Outcome outcome) { take(index, graphs, header, outcome); }});
  }

  void take(std::size_t index, bool graphs, const std::optional<PrecompiledHeader>& header,
            const Outcome& outcome) {
    const ParseRequest& request = requests_[index];
    if (outcome.crashed && header) {
      add_parse(index, {});
      return;
    }
    if (outcome.crashed && graphs) {
      add_parse(index, {}, false); // building control flow graphs is the part that odd code breaks
      return;
    }
    if (!outcome.failure.empty()) {
      finish(index, failed_unit(request, outcome.failure));
      return;
    }
    std::optional<Extraction> extraction = unpack(outcome.result);
    if (!extraction) {
      finish(index, failed_unit(request, "the parser's answer could not be read"));
      return;
    }
    if (!graphs) {
      TranslationUnit& unit = extraction->unit;
      unit.status = unit.status == "failed" ? "failed" : "partial";
      unit.reason += (unit.reason.empty() ? "" : "; ") +
                     std::string("the order of events is approximate: clang crashed on the control flow");
    }
    if (cache_)
      cache_->store(request, *extraction, header && extraction->precompiled_used ? &header->basis : nullptr);
    finish(index, std::move(extraction->unit));
  }

  // The answer does not wait for it. It is nobody's child, has no terminal and gives way to all other work.
  void make_headers_in_background() {
    if (wanted_.empty())
      return;
    const pid_t child = fork();
    if (child > 0)
      waitpid(child, nullptr, 0);
    if (child != 0)
      return;
    if (setsid() < 0 || fork() != 0)
      _exit(0);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream : {0, 1, 2})
      dup2(nothing, stream);
    close_range(3, ~0U, 0);
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
      std::signal(signal, SIG_DFL);
    setpriority(PRIO_PROCESS, 0, 19);
    const rlimit none{0, 0}, time{kBackgroundSeconds, kBackgroundSeconds};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
    if (limits_.memory) {
      const rlimit memory{limits_.memory, limits_.memory};
      setrlimit(RLIMIT_AS, &memory);
    }
    (void)!chdir("/");
    try {
      for (const HeaderUse& use : wanted_)
        headers_->make(use, false);
    } catch (...) {
    }
    _exit(0);
  }

  const std::vector<ParseRequest>& requests_;
  const Limits limits_;
  const std::function<void(std::size_t)>& progress_;
  Cache* cache_;
  std::optional<PrecompiledHeaders> headers_;
  std::vector<TranslationUnit> units_;
  ProcessPool pool_;
  std::vector<HeaderUse> wanted_; // made after the answer
  std::size_t done_ = 0;
};

} // namespace

std::vector<TranslationUnit> parse_all(const std::vector<ParseRequest>& requests, const Limits& limits,
                                       const std::function<void(std::size_t)>& progress, Cache* cache) {
  return Parser(requests, limits, progress, cache).run();
}

} // namespace reprobe::scan
