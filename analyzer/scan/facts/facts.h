// What one translation unit says that can matter for reproducibility, without any rule's opinion of it.
//
// Facts are made once per source file (and per set of flags), are serialisable, and carry enough of the control
// flow graph that `flow` and `judge` need no syntax tree. They hold every call that is not resolved inside the
// user's own file, not just those that today's rules name: a new rule must not need a new parse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprobe::scan {

// Names are those of the declaration that overload resolution found, qualified, without template arguments, inline
// namespaces (std::__cxx11, CUB's) and anonymous namespaces: torch::manual_seed is "at::manual_seed" (a using
// declaration), torch::rand is "torch::rand", x.relu() "at::Tensor::relu", conv->forward(x) on a module holder
// "torch::nn::Conv2dImpl::forward" with the holder as receiver, conv(x) "torch::nn::ModuleHolder::operator()".
// Local variables and parameters are qualified by their function ("main::seed").

inline constexpr const char* kFactsSchema = "reprobe-facts/1";

/// A place in a source file. `file` indexes TranslationUnit::files; line and column count from 1, `offset` from 0.
/// Code from a macro stands where the macro is expanded.
struct Position {
  std::uint32_t file = 0, line = 0, column = 0, offset = 0;
  bool operator==(const Position&) const = default;
};

struct Range {
  Position begin, end; // end is one past the last character
};

/// What is known of an expression without running it. Copies, temporaries and implicit conversions are seen through
/// (`f(1)` for a Scalar parameter is the integer 1), and so is an overloaded `->`.
struct Value {
  enum class Kind : std::uint8_t {
    unknown,
    integer,     // `integer`
    floating,    // `floating`
    boolean,     // `integer` is 0 or 1
    string,      // `text` is the literal
    enumerator,  // `text` is the qualified name (also macros that name one), `integer` its value
    null,
    variable,    // `text` is the qualified name, `id` its USR; parameters, locals, globals and fields (receiver in operands[0])
    call,        // the result of event `event` of the same function; `text` its callee
    lambda,      // `id` is the USR of the Function made from its body
    function,    // `text` is the qualified name of a function, `id` its USR
    compound,    // operator, cast, conditional or braced list over `operands`; `text` the operator's spelling
  };
  Kind kind = Kind::unknown;
  std::string text, id;
  std::string type; // canonical type without cv and reference, empty where clang had to recover from an error
  std::int64_t integer = 0;
  double floating = 0;
  std::uint32_t event = 0;
  std::vector<Value> operands;
  std::string source; // as written, shortened to 120 characters
  // Where a constant, enumerator or variable is written, if not in a macro's body: `length` bytes from `at`. 0: not known
  Position at;
  std::uint32_t length = 0;
};

/// One thing that happens, in evaluation order within its block.
struct Event {
  enum class Kind : std::uint8_t {
    call,      // functions, methods, operators (callee "operator+=" on class types), kernel launches have `launch`.
               // Inline assembly is a call of "asm" with its text and inputs; its outputs are assigned from it
    construct, // a constructor; `variable` names the object when it is a declared one
    destroy,   // scope end of a variable with a destructor (guards: NoGradGuard, AutocastGuard …)
    declare,   // a variable that no constructor call makes (of builtin type, a reference, or the result of a call or copy),
               // with its initialiser in arguments[0]; for the variable of a range-for loop that is compound "element"
               // over the container; `text` is "static" for static locals, "thread_local", "reference", "shared" for __shared__
               // variables (also of `construct`, "thread_local" also of globals); structured bindings are declared one by one
    assign,    // writes to a variable, field, array element or through a pointer: target in `receiver`, value in arguments[0];
               // `text` is the operator ("=", "+=", "++" …)
    iterate,   // a loop: the range or begin() object in `receiver`; `text` is "range-for", "for", "while" or "do". A range-for
               // has it before the loop, the others in the first block of the loop. do … while (0) is no loop
    returns,   // `return value;`, the value in arguments[0]
    access,    // subscript or dereference that reads or writes memory, in kernels and device functions only: base in
               // `receiver`, index in arguments[0], `text` is "read" or "write". `->` and &x[i] are no accesses
  };
  Kind kind = Kind::call;
  std::uint32_t id = 0;             // its index in Function::events; in source order, inner expressions first
  Range range;                      // the whole expression
  Position name;                    // where the callee's name stands
  std::string callee;               // qualified, without template arguments: "torch::manual_seed", "at::Tensor::index_add_"
  std::string callee_usr;           // empty when unresolved
  bool resolved = true;             // false: recovered or dependent, `callee` is as written ("cv::imread", "train")
  bool external = false;            // the definition is not in the user's own files
  std::vector<std::string> template_arguments;
  std::optional<Value> receiver;    // object of a method call, target of an assignment, range of a loop
  std::vector<Value> arguments;     // default arguments are left out
  std::string result_type;          // canonical
  bool result_used = false;
  bool launch = false;              // callee<<<grid, block>>>(…); the configuration is in `configuration`
  std::vector<Value> configuration;
  std::string variable, variable_id; // declared variable: name and USR; scope-ended variable for destroy
  std::string text;
  std::string macro;                // outermost macro whose expansion this comes from
};

struct Edge {
  std::uint32_t block = 0;
  std::optional<Value> condition; // the branch condition, absent on unconditional edges
  bool when = true;               // the edge is taken when the condition has this value
  std::string label;              // for switch: the case's constant as written, "default" or empty; "exception" into handlers
};

struct Block {
  std::uint32_t id = 0;              // its index in Function::blocks
  std::vector<std::uint32_t> events; // indices into Function::events, in evaluation order
  std::vector<Edge> successors;
  bool in_loop = false;
};

struct Parameter {
  std::string name, type, id; // id: USR
  bool reference = false;
};

/// A function, method, constructor, lambda, or "<static-init>" (initialisers of the file's global variables). A class
/// whose members have initialisers but that has no constructor of its own gets one (USR of the class + "#initializers").
/// Templates stand as their instantiations (16 at most), as their pattern only where there is none.
struct Function {
  std::string usr, name; // name: qualified, without template arguments; lambdas "<enclosing>::<lambda>"
  Range range;
  std::vector<Parameter> parameters;
  std::string result_type;
  bool is_main = false, is_constructor = false, is_lambda = false;
  bool is_kernel = false, is_device = false; // __global__, __device__ (or __host__ __device__)
  bool is_template_pattern = false;          // the uninstantiated pattern
  std::string owner;                         // class of a method, USR of the enclosing function of a lambda
  std::vector<std::string> overrides;        // USRs of the virtual methods that it overrides, of bases of bases too
  std::uint32_t entry = 0, exit = 0;
  std::vector<Event> events;
  std::vector<Block> blocks; // empty when clang could not build the graph: events then stand in source order
};

/// A `#pragma` that changes what the code after it computes: OpenMP, OpenACC, floating-point modes. Read from the
/// text, so it is there whatever the compile flags, and also where a macro such as _OPENMP leaves it out.
struct Pragma {
  Position where;  // of its `#`
  std::string text; // without "#pragma", words separated by one space: "omp parallel for reduction(+ : sum)"
  Range statement; // the statement that follows
};

struct SourceFile {
  std::string path; // relative to the scan's root where it lies below it, else absolute
  bool user = true;   // false for system headers and third-party folders
  std::string digest; // of the user's files as they were parsed: xxHash3, 16 hexadecimal digits
};

/// A word in a comment that starts with NOLINT, with the rest of its line: "NOLINT(missing-seed): seeded by Python".
struct SuppressionComment {
  Position where; // of the word
  std::string text;
};

struct TranslationUnit {
  std::string schema = kFactsSchema;
  std::string main_file;
  std::string language;                    // "c", "c++", "cuda", "hip"
  std::string status = "full";             // "full", "partial" (errors, missing headers), "failed"
  std::string reason;                      // why partial or failed, one line
  std::vector<std::string> missing_headers;
  std::uint32_t errors = 0;
  std::vector<std::string> flags;          // options that change floating-point results: -ffast-math, --use_fast_math …
  std::string libtorch_version, cuda_version; // of the headers that were seen; empty when none; "declarations": Reprobe's own
  bool inferred_flags = false;             // no compilation database entry
  std::vector<std::string> includes;       // direct includes of user files, as written, without quotes or brackets
  std::vector<SourceFile> files;
  std::vector<Pragma> pragmas;             // of user files
  std::vector<Function> functions;
  std::vector<SuppressionComment> suppressions; // in the user's own files
};

/// A compiler option in the text of a build file. Lines and columns count from 1.
struct BuildFlag {
  std::string file; // relative to the scan's root
  std::uint32_t line = 0, column = 0;
  std::string text; // "-ffast-math"
};

/// JSON, one document a translation unit. `from_json` throws reprobe::Error on anything it does not understand.
std::string to_json(const TranslationUnit&);
TranslationUnit from_json(const std::string&, const std::string& origin);

} // namespace reprobe::scan
