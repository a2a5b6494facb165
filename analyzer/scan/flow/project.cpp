#include "analyzer/scan/flow/project.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <tuple>

namespace reprobe::scan {
namespace {

std::size_t shared_folders(const std::string& a, const std::string& b) {
  std::size_t shared = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    shared += a[i] == '/';
  return shared;
}

// Qualified names in a type: "std::shared_ptr<app::Net>" → std::shared_ptr, app::Net.
std::vector<std::string> identifiers_in(const std::string& type) {
  std::vector<std::string> names;
  std::string current;
  for (char c : type + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':')
      current += c;
    else if (!current.empty())
      names.push_back(std::move(current)), current.clear();
  }
  return names;
}

} // namespace

const std::string& file_of(const TranslationUnit& unit, const Position& position) {
  static const std::string unknown;
  return position.file < unit.files.size() ? unit.files[position.file].path : unknown;
}

const std::string& file_of(FunctionRef ref) {
  return file_of(*ref.unit, ref.function->range.begin);
}

const Event* event_of(const Function& function, std::uint32_t id) {
  if (id < function.events.size() && function.events[id].id == id)
    return &function.events[id];
  const auto found = std::find_if(function.events.begin(), function.events.end(),
                                  [&](const Event& e) { return e.id == id; });
  return found == function.events.end() ? nullptr : &*found;
}

const Block* block_of(const Function& function, const Event& event) {
  for (const Block& block : function.blocks)
    if (std::find(block.events.begin(), block.events.end(), event.id) != block.events.end())
      return &block;
  return nullptr;
}

bool reaches(const Function& function, std::uint32_t from, std::uint32_t to) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    if (id == to)
      return true;
    if (id >= function.blocks.size() || !seen.insert(id).second)
      continue;
    for (const Edge& edge : function.blocks[id].successors)
      open.push_back(edge.block);
  }
  return false;
}

bool share_loop(const Function& function, const Block& a, const Block& b) {
  return reaches(function, a.id, b.id) && reaches(function, b.id, a.id);
}

bool is_object_assignment(const Event& event) {
  return event.kind == Event::Kind::call && event.receiver && event.receiver->kind == Value::Kind::variable &&
         !event.receiver->id.empty() && event.arguments.size() == 1 && last_part(event.callee) == "operator=";
}

const Event* tie_assigned_by(const Function& function, const Event& event) {
  if (event.kind != Event::Kind::call || last_part(event.callee) != "operator=" || !event.receiver ||
      event.receiver->kind != Value::Kind::call)
    return nullptr;
  const Event* tie = event_of(function, event.receiver->event);
  return tie && tie->callee == "std::tie" ? tie : nullptr;
}

bool changes_its_object(const std::string& name) {
  static const std::set<std::string> kOperators = {"operator+=", "operator-=", "operator*=", "operator/="};
  return kOperators.contains(name) || (name.ends_with('_') && !name.ends_with("__"));
}

Codebase::Codebase(const std::vector<TranslationUnit>& units) : units_(units) {
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::string>;
  std::set<Key> seen;
  for (const TranslationUnit& unit : units_)
    for (const Function& function : unit.functions) {
      const FunctionRef ref{&unit, &function};
      std::string instance; // instantiations of one template differ in their parameters
      for (const Parameter& parameter : function.parameters)
        instance += parameter.type + ",";
      const bool anywhere = function.name == "<static-init>";
      const Key key{function.usr, anywhere ? unit.main_file : file_of(ref), function.range.begin.offset,
                    instance};
      if (!seen.insert(key).second)
        continue;
      index(ref);
    }
  for (const FunctionRef& ref : functions_)
    for (const Event& event : ref.function->events)
      for (const FunctionRef& callee : callees(ref, event))
        callers_[callee.function].push_back({ref, &event});
}

void Codebase::index(FunctionRef ref) {
  functions_.push_back(ref);
  if (ref.function->is_main)
    mains_.push_back(ref);
  if (!ref.function->usr.empty())
    by_usr_[ref.function->usr].push_back(ref);
  if (!ref.function->owner.empty() && !ref.function->is_lambda)
    by_owner_[plain_name(ref.function->owner)].push_back(ref);
  if (ref.function->name.find("::~") != std::string::npos)
    destructors_[plain_name(ref.function->name)].push_back(ref);
  for (const std::string& usr : ref.function->overrides)
    overriders_[usr].push_back(ref);
  for (const Event& event : ref.function->events) {
    if (event.kind == Event::Kind::destroy)
      continue;
    if (!event.variable_id.empty())
      definitions_[event.variable_id].push_back({ref, &event});
    if (event.kind == Event::Kind::assign && event.receiver && !event.receiver->id.empty() &&
        event.receiver->id != event.variable_id)
      definitions_[event.receiver->id].push_back({ref, &event});
    // Objects are assigned by a call.
    if (is_object_assignment(event) && event.receiver->id != event.variable_id)
      definitions_[event.receiver->id].push_back({ref, &event});
  }
}

// The class that a call or construction hands its arguments on to.
std::string Codebase::forwarded_class(const Event& event) const {
  if (event.kind == Event::Kind::construct) {
    const std::string module = plain_name(event.result_type) + "Impl";
    return by_owner_.contains(module) ? module : std::string();
  }
  const std::string name = last_part(event.callee);
  const bool makes = name == "make_shared" || name == "make_unique" || name == "make_intrusive";
  return makes && event.kind == Event::Kind::call && !event.template_arguments.empty()
             ? plain_name(event.template_arguments[0])
             : std::string();
}

FunctionRef Codebase::definition(const std::string& usr, const TranslationUnit& from) const {
  const auto found = usr.empty() ? by_usr_.end() : by_usr_.find(usr);
  if (found == by_usr_.end())
    return {};
  if (found->second.size() == 1)
    return found->second.front();
  const auto [known, is_new] = nearest_[&from].try_emplace(&found->second);
  if (!is_new)
    return known->second;
  FunctionRef& best = known->second;
  std::size_t best_score = 0;
  for (const FunctionRef& candidate : found->second) {
    std::size_t score = 1 + shared_folders(file_of(candidate), from.main_file) * 2;
    if (candidate.unit == &from)
      score += 1000;
    if (!candidate.function->is_template_pattern)
      score += 1;
    if (score > best_score)
      best = candidate, best_score = score;
  }
  return best;
}

const std::vector<FunctionRef>& Codebase::callees(FunctionRef ref, const Event& event) const {
  const auto known = callees_.find(&event);
  return known != callees_.end() ? known->second
                                 : callees_.emplace(&event, find_callees(ref, event)).first->second;
}

std::vector<FunctionRef> Codebase::find_callees(FunctionRef ref, const Event& event) const {
  std::vector<FunctionRef> out;
  const auto add = [&](const std::string& usr) {
    if (const FunctionRef callee = definition(usr, *ref.unit);
        callee && std::find(out.begin(), out.end(), callee) == out.end())
      out.push_back(callee);
  };
  if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct ||
      event.kind == Event::Kind::destroy)
    add(event.callee_usr);
  // TORCH_MODULE's holder constructs the module that it holds, make_shared the class that it names.
  const std::string made = out.empty() ? forwarded_class(event) : std::string();
  if (const auto members = by_owner_.find(made); !made.empty() && members != by_owner_.end())
    for (const FunctionRef& member : members->second)
      if (member.function->is_constructor && member.function->parameters.size() >= event.arguments.size())
        add(member.function->usr);
  // The end of a variable's scope names its destructor, without a USR.
  if (const auto found = destructors_.find(plain_name(event.callee));
      event.kind == Event::Kind::destroy && event.callee_usr.empty() && found != destructors_.end())
    add(found->second.front().function->usr);
  if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
    return out;
  if (event.receiver && event.receiver->kind == Value::Kind::lambda)
    add(event.receiver->id);
  for (const Value& argument : event.arguments)
    for_each_value(argument, [&](const Value& value) {
      if (value.kind == Value::Kind::lambda || value.kind == Value::Kind::function)
        add(value.id);
    });
  return out;
}

const std::vector<Site>& Codebase::callers(const Function* function) const {
  static const std::vector<Site> none;
  const auto found = callers_.find(function);
  return found == callers_.end() ? none : found->second;
}

const std::vector<FunctionRef>& Codebase::overriders(const std::string& usr) const {
  static const std::vector<FunctionRef> none;
  const auto found = usr.empty() ? overriders_.end() : overriders_.find(usr);
  return found == overriders_.end() ? none : found->second;
}

std::vector<Site> Codebase::definitions(const std::string& id, FunctionRef from) const {
  const auto found = id.empty() ? definitions_.end() : definitions_.find(id);
  if (found == definitions_.end())
    return {};
  // USRs of locals hold file name and offset: two programs may share them.
  std::vector<Site> here, file, elsewhere;
  for (const Site& site : found->second) {
    if (site.in.function == from.function)
      here.push_back(site);
    else if (file_of(site.in) == file_of(from))
      file.push_back(site);
    else
      elsewhere.push_back(site);
  }
  const bool local = id.find("@F@") != std::string::npos && id.rfind('@') > id.find("@F@") + 3;
  if (!here.empty() && local)
    return here;
  here.insert(here.end(), file.begin(), file.end());
  if (here.empty() || !local)
    here.insert(here.end(), elsewhere.begin(), elsewhere.end());
  return here;
}

std::set<const Function*> Codebase::reachable(FunctionRef main) const {
  std::set<const Function*> reached;
  std::set<std::string> classes;
  std::vector<FunctionRef> open = {main};
  // Globals of every file that the program is made of are initialised.
  std::set<const TranslationUnit*> units;
  const auto use_unit = [&](const TranslationUnit* unit) {
    if (units.insert(unit).second)
      for (const FunctionRef& ref : functions_)
        if (ref.function->name == "<static-init>" && ref.unit == unit)
          open.push_back(ref);
  };
  // Virtual calls, data loaders and module holders run members that no call names: a class in use brings all
  // of them.
  const auto use_class = [&](const std::string& name, const TranslationUnit& unit) {
    const auto members = by_owner_.find(name);
    if (members == by_owner_.end() || !classes.insert(name).second)
      return;
    for (const FunctionRef& member : members->second)
      if (definition(member.function->usr, unit) == member)
        open.push_back(member);
  };
  while (!open.empty()) {
    const FunctionRef ref = open.back();
    open.pop_back();
    if (!reached.insert(ref.function).second)
      continue;
    use_unit(ref.unit);
    if (!ref.function->is_lambda)
      use_class(plain_name(ref.function->owner), *ref.unit);
    for (const Event& event : ref.function->events) {
      for (const FunctionRef& callee : callees(ref, event))
        open.push_back(callee);
      for (const std::string& argument : event.template_arguments)
        for (const std::string& name : identifiers_in(argument))
          use_class(name, *ref.unit);
      if (event.kind == Event::Kind::construct)
        for (const std::string& name : identifiers_in(event.result_type))
          use_class(name, *ref.unit);
    }
  }
  return reached;
}

} // namespace reprobe::scan
