// Loops over unordered containers whose order reaches a result.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct Node {
  int id;
  double weight;
};

double sum_of_pointers(const std::unordered_map<Node*, double>& weights) {
  double total = 0;
  for (const auto& [node, weight] : weights) // expect: unordered-iteration
    total += weight;
  return total;
}

std::vector<Node*> flattened(const std::unordered_set<Node*>& nodes) {
  std::vector<Node*> out;
  for (Node* node : nodes) out.push_back(node); // expect: unordered-iteration
  return out;
}

std::vector<std::string> by_name(const std::unordered_map<std::string, int>& counts) {
  std::vector<std::string> names;
  for (auto it = counts.begin(); it != counts.end(); ++it) // expect: unordered-iteration
    names.push_back(it->first);
  return names;
}

void written(const std::unordered_map<std::string, double>& values) {
  std::ofstream file("values.txt");
  for (const auto& entry : values) file << entry.first << " " << entry.second << "\n"; // expect: unordered-iteration
}

float ordered_by_address(const std::map<Node*, float>& weights) {
  float total = 0;
  for (const auto& entry : weights) total += entry.second; // pointer-order's
  return total;
}

int numbered(const std::unordered_set<Node*>& nodes, int* order) {
  int next = 0;
  for (Node* node : nodes) { // expect: unordered-iteration
    order[next] = node->id;
    ++next;
  }
  return next;
}

double added_in_full(const std::unordered_map<Node*, double>& weights) {
  double total = 0;
  for (const auto& entry : weights) total = total + entry.second; // expect: unordered-iteration
  return total;
}

double accumulated(const std::unordered_set<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0); // expect: unordered-iteration
}

double for_each(const std::unordered_set<Node*>& nodes) {
  double total = 0;
  std::for_each(nodes.begin(), nodes.end(), [&](Node* node) { total += node->weight; }); // expect: unordered-iteration
  return total;
}

std::vector<Node*> copied(const std::unordered_set<Node*>& nodes) {
  std::vector<Node*> out(nodes.begin(), nodes.end()); // expect: unordered-iteration
  return out;
}

void appended(const std::unordered_set<Node*>& nodes, std::vector<Node*>& out) {
  std::copy(nodes.begin(), nodes.end(), std::back_inserter(out)); // expect: unordered-iteration
}

void placed(const std::unordered_map<std::string, int>& counts, std::vector<std::string>& names, std::vector<int>& values) {
  std::size_t i = 0;
  for (const auto& entry : counts) names[i++] = entry.first; // expect: unordered-iteration
  int j = 0;
  for (const auto& entry : counts) values[j++] = entry.second; // expect: unordered-iteration
}

// Right.
std::vector<int> copied_and_sorted(const std::unordered_set<int>& values) {
  std::vector<int> out(values.begin(), values.end());
  std::sort(out.begin(), out.end());
  return out;
}

int accumulated_integers(const std::unordered_set<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

std::set<int> copied_into_a_set(const std::unordered_set<int>& values) {
  return std::set<int>(values.begin(), values.end());
}

void each_alone(const std::unordered_set<Node*>& nodes) {
  std::for_each(nodes.begin(), nodes.end(), [](Node* node) { node->weight = 0; });
}

int counted(const std::unordered_set<Node*>& nodes) {
  int count = 0;
  for (Node* node : nodes)
    if (node->weight > 0) ++count;
  return count;
}

long summed_integers(const std::unordered_map<Node*, long>& values) {
  long total = 0;
  for (const auto& entry : values) total += entry.second;
  return total;
}

double largest(const std::unordered_map<Node*, double>& weights) {
  double best = 0;
  for (const auto& entry : weights) best = std::max(best, entry.second);
  return best;
}

std::map<int, double> into_a_map(const std::unordered_map<Node*, double>& weights) {
  std::map<int, double> sorted;
  for (const auto& [node, weight] : weights) sorted[node->id] = weight;
  return sorted;
}

std::set<int> into_a_set(const std::unordered_set<Node*>& nodes) {
  std::set<int> ids;
  for (Node* node : nodes) ids.insert(node->id);
  return ids;
}

std::vector<int> sorted_afterwards(const std::unordered_set<int>& values) {
  std::vector<int> out;
  for (int value : values) out.push_back(value);
  std::sort(out.begin(), out.end());
  return out;
}

double keyed_by_name(const std::map<std::string, double>& weights) {
  double total = 0;
  for (const auto& entry : weights) total += entry.second;
  return total;
}

double vector_sum(const std::vector<double>& values) {
  double total = 0;
  for (double value : values) total += value;
  return total;
}

void scaled(std::unordered_map<Node*, double>& weights) {
  for (auto& entry : weights) entry.second *= 0.5;
}

void cleared(const std::unordered_set<Node*>& nodes) {
  for (Node* node : nodes) {
    double local = 0;
    local += node->weight;
    node->weight = local;
    std::vector<double> own;
    own.push_back(local);
  }
}

double looked_up(const std::unordered_map<Node*, double>& weights, const std::vector<Node*>& order) {
  double total = 0;
  for (Node* node : order) total += weights.at(node);
  return total;
}

struct ById {
  bool operator()(const Node* a, const Node* b) const { return a->id < b->id; }
};

float own_comparison(const std::map<Node*, float, ById>& weights) {
  float total = 0;
  for (const auto& entry : weights) total += entry.second;
  return total;
}

double counted(const std::unordered_map<Node*, double>& weights) {
  double heavy = 0;
  for (const auto& entry : weights)
    if (entry.second > 3) heavy += 1;
  return heavy;
}

void doubled(const std::unordered_map<Node*, double>& weights, std::unordered_map<Node*, double>& out) {
  for (const auto& entry : weights) out[entry.first] += entry.second * 2;
}
