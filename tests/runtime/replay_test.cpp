// Saved cases and `reprobe replay` from the outside, and files that are no cases.
#include "runtime/op/case_file.h"
#include "tests/runtime/run_fixture.h"

#include <functional>

namespace {

using namespace reprobe::test;
using nlohmann::json;
using reprobe::op::CaseFile;
using reprobe::op::CaseWriter;
using reprobe::op::DataLayout;
using reprobe::op::FileProblem;
using reprobe::report::MeasuredMode;

const std::string kProgram = OBSERVED_PROGRAM;

class Replay : public Run {
protected:
  /// Cases of a run go into "cases"; what the run itself measured comes back.
  Result save(const std::string& what, const std::string& options = "") {
    return run(kProgram + " " + what, "--save-case cases " + options);
  }
  Result replay(const std::string& options = "") {
    fs::remove(folder_ / "m.json");
    return shell("'" REPROBE_EXECUTABLE "' replay -o m.json cases " + options);
  }
  /// The case of an operator; there is one.
  fs::path case_of(const std::string& op) {
    fs::path found;
    for (const auto& file : fs::directory_iterator(folder_ / "cases"))
      if (file.path().filename().string().rfind(op + ".", 0) == 0)
        found = file.path();
    EXPECT_FALSE(found.empty()) << op;
    return found;
  }
  /// Replays one case after its header was changed and the file's hash made right again.
  Result replay_changed(const fs::path& path, const std::function<void(json&)>& change) {
    const std::string kept = contents(path);
    json header = reprobe::op::read_case_header(path, reprobe::op::kCaseSchema);
    change(header);
    reprobe::op::rewrite_case_header(path, header);
    Result result = replay();
    std::ofstream(path, std::ios::binary) << kept;
    return result;
  }
};

const MeasuredMode* mode_of(const Measurement* entry, const std::string& name) {
  for (const MeasuredMode& mode : entry->modes)
    if (mode.name == name)
      return &mode;
  return nullptr;
}

// The file.

void write_small(const fs::path& path) {
  DataLayout layout;
  const json stretch = layout.place(5);
  CaseWriter writer(path, {{"schema", reprobe::op::kCaseSchema}, {"stretch", stretch}}, layout);
  writer.append("hello", 5);
  writer.finish();
}

TEST_F(Replay, FileKeepsWhatWasWritten) {
  const fs::path path = folder_ / "small.case";
  write_small(path);
  const CaseFile file = reprobe::op::read_case_file(path, reprobe::op::kCaseSchema, 1 << 20);
  const auto [bytes, size] = file.stretch(file.header["stretch"]);
  EXPECT_EQ(std::string(bytes, size), "hello");
  json header = file.header;
  header["more"] = std::string(1000, 'x');
  reprobe::op::rewrite_case_header(path, header);
  const CaseFile changed = reprobe::op::read_case_file(path, reprobe::op::kCaseSchema, 1 << 20);
  EXPECT_EQ(changed.header["more"], std::string(1000, 'x'));
  EXPECT_EQ(changed.data, file.data);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1); // nothing beside it
}

TEST_F(Replay, FileCutAnywhereOrWithAnyByteChangedIsRefused) {
  const fs::path path = folder_ / "small.case";
  write_small(path);
  const std::string whole = contents(path);
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    try {
      reprobe::op::read_case_file(path, reprobe::op::kCaseSchema, 1 << 20);
      return false;
    } catch (const FileProblem&) {
      return true;
    }
  };
  ASSERT_FALSE(refused(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_TRUE(refused(whole.substr(0, length))) << length;
  EXPECT_TRUE(refused(whole + std::string(64, '\0')));
  const json header = [&] {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
    return reprobe::op::read_case_header(path, reprobe::op::kCaseSchema);
  }();
  const std::size_t header_end = 64 + header.dump().size(), data = (header_end + 63) / 64 * 64;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i >= header_end && i < data)
      continue; // zeros that nobody reads
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_TRUE(refused(changed)) << i;
  }
}

TEST_F(Replay, StretchesBeyondTheDataAreRefused) {
  CaseFile file;
  file.data.resize(64);
  const std::uint64_t most = ~std::uint64_t(0);
  for (const json& stretch :
       {json{{"at", 0u}, {"bytes", 65u}}, json{{"at", 64u}, {"bytes", 1u}}, json{{"at", most}, {"bytes", 2u}},
        json{{"at", 1u}, {"bytes", most}}, json{{"at", -1}, {"bytes", 1u}}, json{{"at", 0u}}, json(), json("at")})
    EXPECT_THROW(file.stretch(stretch), FileProblem) << stretch;
  EXPECT_EQ(file.stretch({{"at", 64u}, {"bytes", 0u}}).second, 0u);
}

// Cases of every kind.

TEST_F(Replay, ArgumentsOfEveryFormGiveTheProgramsOwnResults) {
  const Result alone = shell(kProgram + " arguments");
  const Result saved = save("arguments");
  EXPECT_EQ(saved.out, alone.out);
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  const Result replayed = replay();
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_EQ(listing(replayed.measurements), "");
  ASSERT_EQ(replayed.measurements.entries.size(), saved.measurements.entries.size());
  for (const Measurement& entry : replayed.measurements.entries) {
    ASSERT_TRUE(entry.processes) << entry.op;
    EXPECT_EQ(entry.processes->as_program, 1u) << entry.op << entry.signature;
  }
  const auto norm = find(replayed.measurements, "aten::batch_norm");
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->line, line_of(OBSERVED_SOURCE, "batch norm"));
  EXPECT_EQ(norm->outputs.size(), 3u); // with the running statistics, which its schema does not name
}

TEST_F(Replay, TrainingUnderDropoutAndAutocastIsReplayedAsTheProgramRanIt) {
  const Result alone = shell(kProgram + " train");
  const Result saved = save("train", "--per-signature 2 --rounds 2");
  EXPECT_EQ(saved.out, alone.out);
  const Result replayed = replay("--rounds 3");
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_EQ(listing(replayed.measurements), "");
  bool autocast = false;
  for (const Measurement& entry : replayed.measurements.entries) {
    autocast = autocast || entry.mode.at("autocast") == "bfloat16";
    EXPECT_EQ(entry.processes->as_program, 1u) << entry.op << entry.signature;
  }
  EXPECT_TRUE(autocast);
  EXPECT_NE(find(replayed.measurements, "aten::dropout"), nullptr);
}

TEST_F(Replay, ProgramsOwnOperatorsNeedTheProgram) {
  save("case-forms");
  const Result without = replay();
  const auto refused = find(without.measurements, "scripted::forms");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->verdict, "not-examined");
  EXPECT_SAYS(refused->reason, "give --program " + kProgram);
  EXPECT_EQ(without.exit_code, 0); // LibTorch's own operators were examined
  for (const std::string& how : {"--program " + kProgram, std::string("--trust-program")}) {
    const Result with = replay(how);
    EXPECT_EQ(with.exit_code, 1) << with.out << with.err;
    const auto entry = find(with.measurements, "scripted::forms");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->verdict, "varies") << entry->reason;
    EXPECT_EQ(entry->rounds, 20u);
    EXPECT_EQ(entry->distinct, 3u);
    EXPECT_EQ(entry->max_absolute, 2.0);
    EXPECT_EQ(entry->processes->as_program, 1u);
    for (const char* op : {"aten::dropout", "aten::normal_", "aten::logical_xor_"}) {
      ASSERT_NE(find(with.measurements, op), nullptr) << op;
      EXPECT_EQ(find(with.measurements, op)->verdict, "stable") << op;
    }
  }
  EXPECT_EQ(replay("--program ./no-such-program").exit_code, 0);
  EXPECT_SAYS(find(replay("--program true").measurements, "scripted::forms")->reason, "not linked to LibTorch");
}

TEST_F(Replay, CrashCostsItsCaseOnly) {
  save("case-modes");
  const Result result = replay("--trust-program --rounds 8");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const auto crashed = find(result.measurements, "scripted::only_in_main");
  ASSERT_NE(crashed, nullptr);
  EXPECT_EQ(crashed->verdict, "not-examined");
  EXPECT_SAYS(crashed->reason, "re-executing it crashed its process (signal 11");
  const auto after = find(result.measurements, "scripted::wobble");
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(after->distinct, 4u);
  EXPECT_EQ(after->rounds, 8u);
}

TEST_F(Replay, ProcessesAreCountedApartFromRounds) {
  const Result alone = shell(kProgram + " case-modes");
  const Result result = run(kProgram + " case-modes", "--processes 3 --rounds 4");
  EXPECT_EQ(result.out, alone.out);
  const auto entry = find(result.measurements, "scripted::per_process");
  ASSERT_NE(entry, nullptr) << result.err;
  EXPECT_EQ(entry->verdict, "varies") << entry->reason;
  ASSERT_TRUE(entry->processes);
  EXPECT_EQ(entry->processes->count, 3u);
  EXPECT_EQ(entry->processes->distinct, 3u);
  EXPECT_EQ(entry->processes->within, 1u);
  EXPECT_EQ(entry->processes->as_program, 0u);
  EXPECT_EQ(entry->distinct, 3u);
  EXPECT_EQ(entry->rounds, 12u);
  EXPECT_EQ(entry->differing_share, 1.0);
  EXPECT_TRUE(entry->case_file.empty()); // nobody asked to keep it
  const auto wobble = find(result.measurements, "scripted::wobble");
  EXPECT_EQ(wobble->processes->distinct, 1u);
  EXPECT_EQ(wobble->processes->within, 4u);
}

// Modes.

TEST_F(Replay, StrictSaysWhatThrowsWhatIsIdenticalAndWhatStillVaries) {
  const Result alone = shell(kProgram + " case-modes");
  const Result result = run(kProgram + " case-modes", "--strict --rounds 6");
  EXPECT_EQ(result.out, alone.out);
  EXPECT_EQ(result.exit_code, 0);
  const auto verdicts = [&](const char* op) {
    std::vector<std::string> found;
    const Measurement* entry = find(result.measurements, op);
    EXPECT_NE(entry, nullptr) << op;
    for (const char* mode : {"deterministic-off", "warn-only", "deterministic-on"})
      if (entry && mode_of(entry, mode))
        found.push_back(mode_of(entry, mode)->verdict);
    return found;
  };
  using Verdicts = std::vector<std::string>;
  EXPECT_EQ(verdicts("scripted::wobble"), (Verdicts{"varies", "varies", "varies"}));
  EXPECT_EQ(verdicts("scripted::heeds_strict"), (Verdicts{"varies", "stable", "stable"}));
  EXPECT_EQ(verdicts("scripted::refuses_strict"), (Verdicts{"varies", "varies", "throws"}));
  const auto refusing = find(result.measurements, "scripted::refuses_strict");
  EXPECT_SAYS(mode_of(refusing, "deterministic-on")->reason,
              "refuses_strict does not have a deterministic implementation");
  EXPECT_SAYS(mode_of(refusing, "warn-only")->reason,
              "warned: refuses_strict does not have a deterministic implementation");
  EXPECT_EQ(mode_of(find(result.measurements, "scripted::wobble"), "deterministic-on")->distinct, 4u);
  // The program's own verdicts stay, and what still varies comes first.
  EXPECT_EQ(refusing->verdict, "varies");
  EXPECT_LT(result.err.find("still varies under deterministic algorithms: scripted::wobble"),
            result.err.find("throws: refuses_strict"));
}

TEST_F(Replay, AutocastModesStartFromTheArgumentsThatTheProgramGave) {
  const Result alone = shell(kProgram + " case-autocast");
  const Result result = run(kProgram + " case-autocast", "--amp --ops aten::linear");
  EXPECT_EQ(result.out, alone.out);
  const auto entry = find(result.measurements, "aten::linear");
  ASSERT_NE(entry, nullptr) << result.err;
  const auto full = mode_of(entry, "fp32"), half = mode_of(entry, "autocast-float16"),
             brain = mode_of(entry, "autocast-bfloat16"), tf32 = mode_of(entry, "tf32");
  ASSERT_TRUE(full && half && brain && tf32);
  EXPECT_EQ(full->dtype, "float32");
  EXPECT_FALSE(full->precision);
  EXPECT_EQ(half->dtype, "float16");
  EXPECT_EQ(brain->dtype, "bfloat16");
  for (const MeasuredMode* mode : {full, half, brain}) {
    EXPECT_EQ(mode->verdict, "stable") << mode->name << mode->reason;
    EXPECT_EQ(mode->distinct, 1u);
    EXPECT_EQ(mode->max_ulp, 0) << "precision is no nondeterminism";
    EXPECT_EQ(mode->reason, "");
  }
  ASSERT_TRUE(half->precision && brain->precision);
  EXPECT_GT(half->precision->max_absolute, 0);
  EXPECT_GT(brain->precision->max_absolute, half->precision->max_absolute);
  EXPECT_EQ(tf32->verdict, "not-examined");
}

TEST_F(Replay, ArgumentsThatWereCastBeforeAreNamed) {
  const Result result = run(kProgram + " case-autocast", "--amp --ops 'aten::addmm' --ops 'aten::mm' --ops 'aten::matmul'");
  ASSERT_EQ(result.measurements.entries.size(), 1u) << result.err;
  const Measurement& entry = result.measurements.entries.front();
  EXPECT_SAYS(mode_of(&entry, "fp32")->reason, "had been cast by autocast before they were saved");
}

// Files that are no cases.

TEST_F(Replay, DamagedCasesAreNamedAndTheOthersReplayed) {
  save("case-forms");
  const fs::path dropout = case_of("aten--dropout"), normal = case_of("aten--normal_");
  fs::resize_file(dropout, fs::file_size(dropout) - 1);
  std::string bytes = contents(normal);
  bytes[bytes.size() - 70] ^= 1;
  std::ofstream(normal, std::ios::binary) << bytes;
  std::ofstream(folder_ / "cases" / "empty.case");
  const Result result = replay();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::size_t refused = 0;
  for (const Measurement& entry : result.measurements.entries) {
    if (entry.reason.find("the case cannot be used") == std::string::npos)
      continue;
    ++refused;
    EXPECT_EQ(entry.verdict, "not-examined");
  }
  EXPECT_EQ(refused, 3u) << listing(result.measurements);
  EXPECT_EQ(find(result.measurements, "aten::logical_xor_")->verdict, "stable");
}

TEST_F(Replay, HostileHeadersAreRefusedBeforeAnythingIsExecuted) {
  save("case-forms", "--ops aten::logical_xor_");
  const fs::path path = case_of("aten--logical_xor_");
  const std::int64_t huge = std::int64_t(1) << 62;
  const std::vector<std::function<void(json&)>> changes = {
      [&](json& h) { h["tensors"][0]["sizes"] = {huge, huge}; },
      [&](json& h) { h["tensors"][0]["sizes"][0] = -1; },
      [&](json& h) { h["tensors"][0]["strides"] = {huge, huge}; },
      [&](json& h) { h["tensors"][0]["strides"].push_back(1); },
      [&](json& h) { h["tensors"][0]["offset"] = huge; },
      [&](json& h) { h["tensors"][0]["offset"] = -1; },
      [&](json& h) { h["tensors"][0]["storage"] = 99; },
      [&](json& h) { h["tensors"][0]["dtype"] = "complex128"; },
      [&](json& h) { h["tensors"][0]["dtype"] = "float1024"; },
      [&](json& h) { h["tensors"][0]["conjugate"] = true; },
      [&](json& h) { h["tensors"][1]["same_as"] = 7; },
      [&](json& h) { h["tensors"][0].erase("sizes"); },
      [&](json& h) { h["tensors"] = 5; },
      [&](json& h) { h["storages"][0]["begin"] = 1; },
      [&](json& h) { h["storages"][0]["bytes"] = 1; },
      [&](json& h) { h["storages"][0]["alignment"] = 64; },
      [&](json& h) { h["storages"][0]["data"]["bytes"] = std::uint64_t(huge) * 2; },
      [&](json& h) { h["storages"][0]["device"] = "nowhere:1"; },
      [&](json& h) { h["arguments"][0] = {{"tensor", 1}}; },
      [&](json& h) { h["arguments"][0] = {{"int", 1}}; },
      [&](json& h) { h["arguments"][0] = {{"list", json::array({1})}}; },
      [&](json& h) { h["arguments"].push_back({{"none", true}}); },
      [&](json& h) { h["generators"] = {{{"device", "cpu"}, {"drawn", true}, {"state", {{"at", 0}, {"bytes", 9999999}}}}}; },
      [&](json& h) { h["flags"]["autocast"]["cpu"]["dtype"] = "none"; },
      [&](json& h) { h["flags"] = nullptr; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Result result = replay_changed(path, changes[i]);
    EXPECT_EQ(result.exit_code, 3) << i << result.out << result.err;
    ASSERT_EQ(result.measurements.entries.size(), 1u) << i;
    EXPECT_SAYS(result.measurements.entries[0].reason, "the case cannot be used") << i;
  }
  for (const char* op : {"aten::from_file", "aten::set_", "aten::no_such_operator"}) {
    const Result result = replay_changed(path, [&](json& h) { h["operator"] = op; });
    EXPECT_EQ(result.exit_code, 3) << op;
    EXPECT_EQ(result.measurements.entries[0].verdict, "not-examined") << op;
  }
  EXPECT_EQ(replay().exit_code, 0);
}

TEST_F(Replay, DevicesThatAreMissingAreSaid) {
  save("case-forms", "--ops aten::logical_xor_");
  const Result result = replay_changed(case_of("aten--logical_xor_"), [](json& header) {
    header["device"] = "cuda:0";
    for (json& storage : header["storages"])
      storage["device"] = "cuda:0";
  });
  const Measurement& entry = result.measurements.entries.at(0);
  if (entry.verdict == "not-examined") // no GPU here
    EXPECT_SAYS(entry.reason, "device cuda:0 is not on this machine");
  else
    EXPECT_EQ(entry.device, "cuda:0");
}

TEST_F(Replay, LimitOnTheSizeOfACase) {
  const Result result = save("arguments", "--case-limit 16 --ops aten::mul");
  EXPECT_SAYS(result.err, "no case of aten::mul was saved");
  EXPECT_SAYS(result.err, "over the size limit of a case (--case-limit)");
}

TEST_F(Replay, OptionsThatMakeNoSense) {
  fs::create_directory(folder_ / "cases");
  EXPECT_EQ(replay().exit_code, 2); // an empty folder
  for (const char* options : {"--rounds 1", "--processes 0", "--budget 0", "--program x --trust-program"})
    EXPECT_EQ(replay(options).exit_code, 2) << options;
  EXPECT_EQ(run("true", "--processes -1").exit_code, 2);
  std::ofstream(folder_ / "file");
  EXPECT_EQ(run("true", "--save-case file").exit_code, 3);
}

} // namespace
