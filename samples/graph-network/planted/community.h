// A small social network: members with a home town and interests, and who is whose friend.
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

constexpr std::int64_t kMembers = 1200;
constexpr std::int64_t kCommunities = 5;
constexpr std::int64_t kTowns = 12;
constexpr std::int64_t kInterests = 8;

struct Member {
  std::int64_t number = 0; // row in the graph's tensors
  std::int64_t community = 0, town = 0;
  std::array<float, kInterests> interests{};
};

using Members = std::vector<std::unique_ptr<Member>>;

/// The network as tensors, ready for message passing.
struct Graph {
  torch::Tensor interests; // float [members, kInterests]
  torch::Tensor town;      // int64 [members]
  torch::Tensor community; // int64 [members]: what is to be predicted
  torch::Tensor edges;     // int64 [2, edges]: from, to
  torch::Tensor known;     // int64: members whose community is known
};

/// One part of the member list, as it would be read from one of its files.
inline Members read_members(std::int64_t first, std::int64_t count) {
  std::mt19937 engine(static_cast<std::uint32_t>(100 + first));
  const auto uniform = [&engine] { return static_cast<float>(engine() >> 8) / 16777216.0f; };
  Members members;
  for (std::int64_t i = first; i < first + count; ++i) {
    auto member = std::make_unique<Member>();
    member->number = i;
    member->community = engine() % kCommunities;
    member->town = uniform() < 0.5f ? 2 * member->community : engine() % kTowns;
    for (std::int64_t k = 0; k < kInterests; ++k)
      member->interests[k] = (k == member->community ? 0.6f : 0.0f) + 2 * uniform() - 1;
    members.push_back(std::move(member));
  }
  return members;
}

/// Reads both parts at once.
inline Members read_all_members() {
  auto second = std::async(std::launch::async, read_members, kMembers / 2, kMembers - kMembers / 2);
  Members members = read_members(0, kMembers / 2);
  for (auto& member : second.get())
    members.push_back(std::move(member));
  return members;
}

inline Graph read_graph() {
  const Members members = read_all_members();
  std::unordered_map<const Member*, std::vector<const Member*>> friends;
  std::mt19937 engine(7000);
  for (const auto& member : members)
    for (int tries = 0; tries < 24; ++tries) {
      const Member* other = members[engine() % members.size()].get();
      const unsigned chance = other->community == member->community ? 70 : 8;
      if (other == member.get() || engine() % 100 >= chance)
        continue;
      friends[member.get()].push_back(other);
      friends[other].push_back(member.get());
    }

  std::vector<std::int64_t> from, to;
  for (const auto& [member, others] : friends)
    for (const Member* other : others) {
      from.push_back(other->number);
      to.push_back(member->number);
    }

  Graph graph;
  std::vector<float> interests;
  std::vector<std::int64_t> town, community, known;
  for (const auto& member : members) {
    interests.insert(interests.end(), member->interests.begin(), member->interests.end());
    town.push_back(member->town);
    community.push_back(member->community);
    if (member->number % 3 == 0)
      known.push_back(member->number);
  }
  graph.interests = torch::tensor(interests).view({kMembers, kInterests});
  graph.town = torch::tensor(town);
  graph.community = torch::tensor(community);
  graph.edges = torch::stack({torch::tensor(from), torch::tensor(to)});
  graph.known = torch::tensor(known);
  return graph;
}
