// Orders that addresses decide.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct Node {
  int id;
  float weight;
};

void sorted_by_address(std::vector<Node*>& nodes) {
  std::sort(nodes.begin(), nodes.end()); // expect: pointer-order
}

void shared_pointers(std::vector<std::shared_ptr<Node>>& nodes) {
  std::stable_sort(nodes.begin(), nodes.end()); // expect: pointer-order
}

void array_of_pointers(Node** nodes, int n) {
  std::sort(nodes, nodes + n); // expect: pointer-order
}

float ordered_by_address(const std::map<Node*, float>& weights) {
  float total = 0;
  for (const auto& entry : weights) total += entry.second; // expect: pointer-order
  return total;
}

std::vector<Node*> listed(const std::set<Node*>& nodes) {
  return std::vector<Node*>(nodes.begin(), nodes.end()); // a temporary: where it goes is not followed
}

void kept(const std::set<Node*>& nodes, std::vector<int>& ids) {
  for (Node* node : nodes) ids.push_back(node->id); // expect: pointer-order
}

// Right.
void by_id(std::vector<Node*>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
}

void values(std::vector<float>& values, std::vector<std::string>& names) {
  std::sort(values.begin(), values.end());
  std::sort(names.begin(), names.end());
}

void pointer_into_values(float* values, int n) { std::sort(values, values + n); }

struct ById {
  bool operator()(const Node* a, const Node* b) const { return a->id < b->id; }
};

float own_comparison(const std::map<Node*, float, ById>& weights) {
  float total = 0;
  for (const auto& entry : weights) total += entry.second;
  return total;
}

int counted(const std::set<Node*>& nodes) {
  int count = 0;
  for (Node* node : nodes) count += node->weight > 0;
  return count;
}

float keyed_by_name(const std::map<std::string, float>& weights) {
  float total = 0;
  for (const auto& entry : weights) total += entry.second;
  return total;
}
