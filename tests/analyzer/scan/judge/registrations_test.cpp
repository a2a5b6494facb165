#include "analyzer/scan/judge/registrations.h"

#include <gtest/gtest.h>

namespace reprobe::scan {
namespace {

using Names = std::vector<std::string>;

TEST(LibraryOf, UndoesTheNamesOfTheMacros) {
  EXPECT_EQ(library_of("TORCH_LIBRARY_init_voxel"), "voxel");
  EXPECT_EQ(library_of("TORCH_LIBRARY_IMPL_init_my_ops_CUDA_12"), "my_ops");
  EXPECT_EQ(library_of("TORCH_LIBRARY_FRAGMENT_init_my_ops_3"), "my_ops");
  EXPECT_EQ(library_of("(anonymous namespace)::TORCH_LIBRARY_init_voxel"), "voxel");
  EXPECT_EQ(library_of("main"), "");
  EXPECT_EQ(library_of("TORCH_LIBRARY_IMPL_init_"), "");
}

Function function(const std::string& usr, const std::string& name, std::uint32_t line) {
  Function result;
  result.usr = usr;
  result.name = name;
  result.range.begin = {0, line, 1, line * 100};
  return result;
}

Value text(const std::string& literal) {
  Value value;
  value.kind = Value::Kind::string;
  value.text = literal;
  return value;
}

Value reference_to(const std::string& usr) {
  Value value;
  value.kind = Value::Kind::function;
  value.id = usr;
  return value;
}

Event call(const std::string& callee, const std::string& usr, std::vector<Value> arguments = {}) {
  Event event;
  event.callee = callee;
  event.callee_usr = usr;
  event.arguments = std::move(arguments);
  return event;
}

// registration -> pool_cpu -> helper, with a lambda that threads run; `other` belongs to nothing.
TranslationUnit example(const std::string& registering, const std::string& schema) {
  TranslationUnit unit;
  unit.main_file = "pool.cpp";
  unit.files = {{"pool.cpp", true, ""}};
  unit.functions = {function("reg", registering, 1), function("cpu", "pool_cpu", 2), function("help", "helper", 3),
                    function("lambda", "pool_cpu::<lambda>", 4), function("other", "other", 5)};
  unit.functions[0].events = {call("torch::Library::impl", "", {text(schema), reference_to("cpu")})};
  unit.functions[1].events = {call("helper", "help")};
  unit.functions[3].is_lambda = true;
  unit.functions[3].owner = "cpu";
  return unit;
}

TEST(Registrations, FollowImplementationsToWhatTheyRun) {
  const std::vector<TranslationUnit> units = {example("TORCH_LIBRARY_IMPL_init_voxel_CPU_3", "pool")};
  const Codebase project(units);
  const Registrations registrations(project);
  for (const std::size_t index : {1u, 2u, 3u})
    EXPECT_EQ(registrations.operators_run_by(&units[0].functions[index]), Names{"voxel::pool"}) << index;
  EXPECT_EQ(registrations.operators_run_by(&units[0].functions[4]), Names{});
}

TEST(Registrations, SchemasAndOverloadsNameTheirOperator) {
  for (const char* schema : {"pool(Tensor x) -> Tensor", "pool.out", "voxel::pool"}) {
    const std::vector<TranslationUnit> units = {example("TORCH_LIBRARY_init_voxel", schema)};
    const Codebase project(units);
    EXPECT_EQ(Registrations(project).operators_run_by(&units[0].functions[1]), Names{"voxel::pool"}) << schema;
  }
}

TEST(Registrations, OtherFunctionsThatCallImplRegisterNothing) {
  const std::vector<TranslationUnit> units = {example("setup", "pool")};
  const Codebase project(units);
  EXPECT_EQ(Registrations(project).operators_run_by(&units[0].functions[1]), Names{});
}

} // namespace
} // namespace reprobe::scan
