// Message passing with attention over friends, and what is usual in one's town.
#pragma once

#include "community.h"

#include <torch/torch.h>

namespace nn = torch::nn;

/// Sends each member's state along the edges; each receiver weighs what arrives.
struct MessageLayerImpl : nn::Module {
  explicit MessageLayerImpl(std::int64_t width)
      : message(register_module("message", nn::Linear(2 * width, width))),
        score(register_module("score", nn::Linear(2 * width, 1))),
        update(register_module("update", nn::GRUCell(width, width))) {}

  torch::Tensor forward(const torch::Tensor& state, const torch::Tensor& edges) {
    const auto from = edges[0], to = edges[1];
    const auto pairs = torch::cat({state.index_select(0, from), state.index_select(0, to)}, 1);
    const auto weight = torch::exp(torch::tanh(score->forward(pairs))).squeeze(1);
    auto total = torch::zeros({state.size(0)}, state.options());
    total.scatter_add_(0, to, weight);
    const auto share = weight / total.gather(0, to);
    const auto messages = torch::relu(message->forward(pairs)) * share.unsqueeze(1);
    auto received = torch::zeros_like(state);
    received.index_add_(0, to, messages);
    return update->forward(received, state);
  }

  nn::Linear message, score;
  nn::GRUCell update;
};
TORCH_MODULE(MessageLayer);

struct NetworkImpl : nn::Module {
  explicit NetworkImpl(std::int64_t width)
      : town(register_module("town", nn::Embedding(kTowns, width))),
        interests(register_module("interests", nn::Linear(kInterests, width))),
        first(register_module("first", MessageLayer(width))),
        second(register_module("second", MessageLayer(width))),
        dropout(register_module("dropout", nn::Dropout(0.3))),
        classify(register_module("classify", nn::Linear(2 * width, kCommunities))) {}

  torch::Tensor forward(const Graph& graph) {
    auto state = torch::tanh(town->forward(graph.town) + interests->forward(graph.interests));
    state = second->forward(first->forward(state, graph.edges), graph.edges);
    auto usual = torch::zeros({kTowns, state.size(1)}, state.options());
    usual.scatter_reduce_(0, graph.town.unsqueeze(1).expand_as(state), state, "mean", /*include_self=*/false);
    const auto neighbourhood = usual.index_select(0, graph.town);
    return classify->forward(dropout->forward(torch::cat({state, neighbourhood}, 1)));
  }

  nn::Embedding town;
  nn::Linear interests;
  MessageLayer first, second;
  nn::Dropout dropout;
  nn::Linear classify;
};
TORCH_MODULE(Network);
