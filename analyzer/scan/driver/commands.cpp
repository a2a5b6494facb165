#include "analyzer/scan/driver/commands.h"

#include "analyzer/scan/facts/paths.h"
#include "rules/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

namespace reprobe::scan {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uintmax_t kLargestDatabase = 1u << 30; // bytes
constexpr std::uintmax_t kLargestResponse = 1u << 20;
constexpr int kDeepestResponse = 8;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

template <std::size_t N>
bool is_one_of(const std::string& word, const std::array<const char*, N>& known) {
  return std::any_of(known.begin(), known.end(), [&](const char* each) { return word == each; });
}

// Options that take the next word, of g++, clang and nvcc, and mean nothing here.
constexpr std::array kSkippedWithValue = {"-o",
                                          "-MF",
                                          "-MT",
                                          "-MQ",
                                          "-MJ",
                                          "-arch",
                                          "--gpu-architecture",
                                          "-code",
                                          "--gpu-code",
                                          "-gencode",
                                          "--generate-code",
                                          "-ccbin",
                                          "--compiler-bindir",
                                          "-Xptxas",
                                          "--ptxas-options",
                                          "-Xcudafe",
                                          "--cudafe-options",
                                          "-Xlinker",
                                          "--linker-options",
                                          "-Xnvlink",
                                          "--nvlink-options",
                                          "-Xarchive",
                                          "--archive-options",
                                          "-Xassembler",
                                          "-t",
                                          "--threads",
                                          "-maxrregcount",
                                          "--maxrregcount",
                                          "-l",
                                          "-L",
                                          "--library",
                                          "--library-path",
                                          "-odir",
                                          "--output-directory",
                                          "--output-file",
                                          "--dependency-output",
                                          "-keep-dir",
                                          "--keep-dir",
                                          "-default-stream",
                                          "--default-stream",
                                          "-diag-suppress",
                                          "--diag-suppress",
                                          "-cudart",
                                          "--cudart",
                                          "-time",
                                          "--time",
                                          "--split-compile",
                                          "-split-compile",
                                          "-aux-info",
                                          "--param",
                                          "-target",
                                          "-Xclang",
                                          "-Xpreprocessor",
                                          "-mllvm",
                                          "-plugin",
                                          "-load",
                                          "-wrapper",
                                          "-B",
                                          "-specs",
                                          "-T",
                                          "-u",
                                          "-z",
                                          "-e",
                                          "-fplugin",
                                          "-dumpbase",
                                          "-dumpdir",
                                          "-dumpbase-ext",
                                          "-sysroot-name",
                                          "-run-args",
                                          "--run-args",
                                          "-include-pch",
                                          "-ivfsoverlay",
                                          "-serialize-diagnostics",
                                          "--serialize-diagnostics",
                                          "-working-directory"};

// Options of the above and their joined forms that load code, run programs or write files.
constexpr std::array kDangerous = {"-o",
                                   "-M",
                                   "-fplugin",
                                   "-fpass-plugin",
                                   "-load",
                                   "-plugin",
                                   "-Xclang",
                                   "-mllvm",
                                   "-wrapper",
                                   "-B",
                                   "-specs",
                                   "--specs",
                                   "-save-temps",
                                   "--save-temps",
                                   "-dump",
                                   "-fdump",
                                   "-keep",
                                   "--keep",
                                   "-odir",
                                   "--output-directory",
                                   "--output-file",
                                   "-Xpreprocessor",
                                   "-fprofile",
                                   "-ftime-trace",
                                   "-serialize-diagnostics",
                                   "--serialize-diagnostics",
                                   "-ccbin",
                                   "--compiler-bindir",
                                   "-ivfsoverlay",
                                   "-fmodules-cache-path",
                                   "-fcrash-diagnostics",
                                   "-run",
                                   "--run",
                                   "-fmodule",
                                   "-gen-",
                                   "-emit",
                                   "--analyze",
                                   "-fuse-ld",
                                   "-coverage",
                                   "--coverage",
                                   "-MJ",
                                   "-Wp,",
                                   "-fstack-usage",
                                   "-fcallgraph-info",
                                   "-fsave-optimization-record",
                                   "-foptimization-record",
                                   "-fthinlto",
                                   "-aux-info",
                                   "-include-pch",
                                   "-include-pth",
                                   "-emit-ast",
                                   "-time",
                                   "--time",
                                   "-cc1",
                                   "-x=",
                                   "-index-store-path",
                                   "-fdiagnostics-"};

// Their value, not the option's name, says what they are.
const std::array kFloatingPoint = {"-ffast-math",
                                   "-Ofast",
                                   "-funsafe-math-optimizations",
                                   "-fassociative-math",
                                   "-freciprocal-math",
                                   "-ffinite-math-only",
                                   "-fno-signed-zeros",
                                   "-fno-trapping-math",
                                   "-frounding-math",
                                   "--use_fast_math",
                                   "-use_fast_math",
                                   "-fno-math-errno",
                                   "-mfma",
                                   "-mno-fma",
                                   "-fopenmp",
                                   "-fno-fast-math"};
constexpr std::array kFloatingPointPrefix = {"-ffp-contract",
                                             "-ffp-model",
                                             "-fexcess-precision",
                                             "-march=",
                                             "-mtune=native",
                                             "-mavx",
                                             "-mfpmath",
                                             "-fmad",
                                             "--fmad",
                                             "-ftz",
                                             "--ftz",
                                             "-prec-div",
                                             "--prec-div",
                                             "-prec-sqrt",
                                             "--prec-sqrt",
                                             "-fdenormal-fp-math"};

// Kept as they are.
const std::array kKept = {"-nostdinc",       "-nostdinc++",  "-fsigned-char", "-funsigned-char",
                          "-fms-extensions", "-fno-char8_t", "-fchar8_t",     "-ansi",
                          "-undef",          "-fshort-enums"};

// Options whose value is a path or a macro: the spelling to pass on, and the ways to write them.
struct Valued {
  const char* kept;
  const char* written;
  bool joined; // the value may follow without space
};
constexpr std::array<Valued, 21> kValued = {{{"-isystem", "-isystem", true},
                                             {"-isystem", "--system-include", false},
                                             {"-iquote", "-iquote", true},
                                             {"-idirafter", "-idirafter", true},
                                             {"-isystem", "-cxx-isystem", true},
                                             {"-include", "-include", false},
                                             {"-include", "--pre-include", false},
                                             {"-imacros", "-imacros", false},
                                             {"-isysroot", "-isysroot", true},
                                             {"--sysroot=", "--sysroot", false},
                                             {"-I", "--include-path", false},
                                             {"-I", "--include-directory", false},
                                             {"-D", "--define-macro", false},
                                             {"-U", "--undefine-macro", false},
                                             {"-iprefix", "-iprefix", false},
                                             {"-iwithprefix", "-iwithprefix", false},
                                             {"-stdlib=", "--stdlib", false},
                                             {"-stdlib=", "-stdlib", false},
                                             {"-I", "-I", true},
                                             {"-D", "-D", true},
                                             {"-U", "-U", true}}};

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',')
      word += text[++i];
    else if (text[i] == ',')
      out.push_back(std::move(word)), word.clear();
    else
      word += text[i];
  }
  out.push_back(std::move(word));
  return out;
}

class Translator {
public:
  Translator(const DatabaseEntry& entry, Translation& out) : entry_(entry), out_(out) {}

  void run() {
    std::vector<std::string> words = entry_.arguments;
    while (words.size() > 1 && is_launcher(words.front()))
      words.erase(words.begin());
    if (words.empty())
      return;
    const fs::path compiler = words.front();
    words.erase(words.begin());
    nvcc_ = compiler.filename().string().starts_with("nvcc");
    if (nvcc_ && compiler.has_parent_path())
      out_.cuda = (entry_.directory / compiler.parent_path().parent_path()).lexically_normal();
    read(expand(words, 0));
  }

private:
  static bool is_launcher(const std::string& word) {
    const std::string name = fs::path(word).filename().string();
    return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc";
  }

  std::vector<std::string> expand(const std::vector<std::string>& words, int depth) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string file;
      if (words[i].size() > 1 && words[i][0] == '@')
        file = words[i].substr(1);
      else if ((words[i] == "--options-file" || words[i] == "-optf") && i + 1 < words.size())
        file = words[++i];
      else if (words[i].starts_with("--options-file="))
        file = words[i].substr(15);
      else if (words[i].starts_with("-optf="))
        file = words[i].substr(6);
      if (file.empty()) {
        out.push_back(words[i]);
        continue;
      }
      for (const std::string& name : split_commas(file))
        append_response(out, entry_.directory / name, depth);
    }
    return out;
  }

  void append_response(std::vector<std::string>& out, const fs::path& file, int depth) {
    std::error_code error;
    if (!is_regular(file) || depth >= kDeepestResponse || fs::file_size(file, error) > kLargestResponse ||
        error) {
      out_.unreadable.insert(file.lexically_normal().string());
      return;
    }
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const auto words = expand(split_command(text.str()), depth + 1);
    out.insert(out.end(), words.begin(), words.end());
  }

  void read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const bool more = i + 1 < words.size();
      if (word == "--")
        break; // files follow
      if (read_host_options(word, more ? &words[i + 1] : nullptr, i))
        continue;
      if (read_valued(word, more ? &words[i + 1] : nullptr, i))
        continue;
      if (read_standard(word, more ? &words[i + 1] : nullptr, i))
        continue;
      if (is_one_of(word, kKept)) {
        out_.arguments.push_back(word);
        continue;
      }
      note(word);
      if (is_one_of(word, kSkippedWithValue) && more) {
        const std::string& value = words[i + 1];
        // `-Xclang -load -Xclang x.so`: the interesting word is the next one
        if (word == "-Xclang" && value.starts_with("-"))
          note(value);
        ++i;
      }
    }
  }

  // nvcc hands these to the host compiler.
  bool read_host_options(const std::string& word, const std::string* next, std::size_t& i) {
    std::string value;
    if (word == "-Xcompiler" || word == "--compiler-options") {
      if (!next)
        return true;
      value = *next, ++i;
    } else if (word.starts_with("-Xcompiler=")) {
      value = word.substr(11);
    } else if (word.starts_with("--compiler-options=")) {
      value = word.substr(19);
    } else {
      return false;
    }
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    read(split_commas(value));
    return true;
  }

  bool read_valued(const std::string& word, const std::string* next, std::size_t& i) {
    for (const Valued& option : kValued) {
      const std::string written = option.written;
      std::string value;
      if (word == written) {
        if (!next)
          return true;
        value = *next, ++i;
      } else if (word.starts_with(written + "=") && written.size() > 2) {
        value = word.substr(written.size() + 1); // nvcc's form, and --sysroot=
      } else if (option.joined && word.starts_with(written)) {
        value = word.substr(written.size());
      } else {
        continue;
      }
      keep(option.kept, value);
      return true;
    }
    return false;
  }

  void keep(const std::string& option, const std::string& value) {
    // nvcc takes a list
    if (nvcc_ && (option == "-I" || option == "-isystem")) {
      for (const std::string& each : split_commas(value))
        keep_one(option, each);
      return;
    }
    keep_one(option, value);
  }

  void keep_one(const std::string& option, const std::string& value) {
    if (value.empty())
      return; // the next word would become its value
    if (option.ends_with("="))
      out_.arguments.push_back(option + value);
    else if (option.size() == 2)
      out_.arguments.push_back(option + value);
    else
      out_.arguments.push_back(option), out_.arguments.push_back(value);
  }

  bool read_standard(const std::string& word, const std::string* next, std::size_t& i) {
    if (word == "-x" || word == "--x" || word == "--language") {
      if (!next)
        return true;
      set_language(*next), ++i;
    } else if (word.starts_with("-x") && word.size() > 2 && word[2] != '=') {
      set_language(word.substr(2));
    } else if (word.starts_with("--x=") || word.starts_with("-x=")) {
      set_language(word.substr(word.find('=') + 1));
    } else if ((word == "-std" || word == "--std") && next) {
      out_.arguments.push_back("-std=" + *next), ++i;
    } else if (word.starts_with("-std=") || word.starts_with("--std=")) {
      out_.arguments.push_back("-std=" + word.substr(word.find('=') + 1));
    } else {
      return false;
    }
    return true;
  }

  void set_language(const std::string& name) {
    if (name == "cu" || name == "cuda" || name == "hip")
      out_.language = "cuda";
    else if (name.starts_with("c++"))
      out_.language = "c++";
    else if (name == "c" || name == "c-header")
      out_.language = "c";
  }

  void note(const std::string& word) {
    const auto begins = [&](const char* prefix) { return word.starts_with(prefix); };
    if (is_one_of(word, kFloatingPoint) ||
        std::any_of(kFloatingPointPrefix.begin(), kFloatingPointPrefix.end(), begins)) {
      if (std::find(out_.fact_flags.begin(), out_.fact_flags.end(), word) == out_.fact_flags.end())
        out_.fact_flags.push_back(word);
      return;
    }
    if (std::any_of(kDangerous.begin(), kDangerous.end(), begins))
      out_.dropped.insert(word.substr(0, std::min(word.find_first_of("=,"), std::size_t(40))));
  }

  const DatabaseEntry& entry_;
  Translation& out_;
  bool nvcc_ = false;
};

std::vector<std::string> arguments_of(const json& entry, const std::string& where) {
  if (const auto found = entry.find("arguments"); found != entry.end()) {
    if (!found->is_array())
      throw Error("not a compilation database", where, "\"arguments\" is not an array");
    std::vector<std::string> out;
    for (const json& word : *found) {
      if (!word.is_string())
        throw Error("not a compilation database", where, "an argument is not a string");
      out.push_back(word.get<std::string>());
    }
    return out;
  }
  const auto found = entry.find("command");
  if (found == entry.end() || !found->is_string())
    throw Error("not a compilation database", where, "an entry has neither \"arguments\" nor \"command\"");
  return split_command(found->get<std::string>());
}

} // namespace

std::vector<std::string> split_command(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  bool started = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote)
        quote = 0;
      else if (c == '\\' && quote == '"' && i + 1 < text.size() &&
               (text[i + 1] == '"' || text[i + 1] == '\\'))
        word += text[++i];
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c, started = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\n')
        word += text[i + 1], started = true;
      ++i;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (started || !word.empty())
        out.push_back(std::move(word));
      word.clear(), started = false;
    } else {
      word += c;
    }
  }
  if (started || !word.empty())
    out.push_back(std::move(word));
  return out;
}

std::vector<const DatabaseEntry*> Database::find(const fs::path& file) const {
  std::vector<const DatabaseEntry*> out;
  if (const auto found = by_file.find(file.string()); found != by_file.end())
    for (std::size_t index : found->second)
      out.push_back(&entries[index]);
  return out;
}

Database read_database(const fs::path& file) {
  const std::string where = file.string();
  std::error_code error;
  if (!is_regular(file))
    throw Error("cannot read the compilation database", where,
                fs::exists(file, error) ? "not a regular file" : "no such file",
                "configure with CMAKE_EXPORT_COMPILE_COMMANDS=ON, or leave -p away");
  if (fs::file_size(file, error) > kLargestDatabase)
    throw Error("cannot read the compilation database", where, "larger than 1 GiB");
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw Error("cannot read the compilation database", where, "permission denied");
  const json parsed = json::parse(in, nullptr, false);
  if (parsed.is_discarded())
    throw Error("cannot read the compilation database", where, "not JSON", "generate it again");
  if (!parsed.is_array())
    throw Error("not a compilation database", where, "the top level is not an array");

  Database database;
  database.path = fs::absolute(file);
  const fs::path folder = database.path.parent_path();
  for (const json& entry : parsed) {
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string())
      throw Error("not a compilation database", where, "an entry has no \"file\"");
    DatabaseEntry out;
    const auto directory = entry.find("directory");
    out.directory =
        directory != entry.end() && directory->is_string() ? fs::path(directory->get<std::string>()) : folder;
    if (out.directory.is_relative())
      out.directory = folder / out.directory;
    out.file = (out.directory / entry["file"].get<std::string>()).lexically_normal();
    if (const fs::path real = fs::weakly_canonical(out.file, error); !error)
      out.file = real;
    out.arguments = arguments_of(entry, where);
    database.by_file[out.file.string()].push_back(database.entries.size());
    database.entries.push_back(std::move(out));
  }
  return database;
}

Translation translate(const DatabaseEntry& entry) {
  Translation out;
  Translator(entry, out).run();
  if (out.language.empty())
    out.language = language_of(entry.file);
  return out;
}

std::string language_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".C" || extension == ".H")
    return "c++";
  const std::string name = lower(extension);
  if (name == ".c")
    return "c";
  if (name == ".cu" || name == ".cuh" || name == ".hip") // HIP is CUDA by other names
    return "cuda";
  for (const char* known :
       {".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".ipp", ".inl", ".tpp", ".cppm"})
    if (name == known)
      return "c++";
  return {};
}

bool is_header(const fs::path& file) {
  const std::string name = lower(file.extension().string());
  for (const char* known : {".h", ".hh", ".hpp", ".hxx", ".cuh", ".ipp", ".inl", ".tpp"})
    if (name == known)
      return true;
  return false;
}

std::vector<std::string> clang_command(const fs::path& file, const Translation& translation,
                                       const Toolchain& tools,
                                       const std::vector<std::string>& extra_arguments) {
  const bool cuda = translation.language == "cuda", c = translation.language == "c";
  std::vector<std::string> out = {c ? "clang" : "clang++",
                                  "-fsyntax-only",
                                  "-resource-dir",
                                  tools.clang_resources.string(),
                                  "-x",
                                  cuda ? "cuda"
                                  : c  ? "c"
                                       : "c++",
                                  "-Wno-unknown-cuda-version"};
  if (cuda) {
    // The host pass sees kernel bodies too; device libraries are not needed for facts.
    for (const char* option : {"--cuda-host-only", "-nocudalib", "-nogpulib", "--cuda-gpu-arch=sm_80"})
      out.push_back(option);
    out.push_back(tools.cuda.empty() ? "-nocudainc" : "--cuda-path=" + tools.cuda.string());
  }
  const bool standard = std::any_of(translation.arguments.begin(), translation.arguments.end(),
                                    [](const std::string& word) { return word.starts_with("-std="); });
  if (!standard && !c)
    out.push_back("-std=gnu++17");
  out.insert(out.end(), translation.arguments.begin(), translation.arguments.end());
  const auto add = [&](const char* option, const fs::path& folder) {
    out.push_back(option);
    out.push_back(folder.string());
  };
  for (const fs::path& folder : tools.torch_includes)
    add("-idirafter", folder);
  for (const fs::path& folder : tools.cuda_includes)
    add("-idirafter", folder);
  for (const fs::path& folder : tools.last_includes)
    add("-idirafter", folder);
  out.insert(out.end(), extra_arguments.begin(), extra_arguments.end());
  out.push_back("--");
  out.push_back(file.string());
  return out;
}

} // namespace reprobe::scan
