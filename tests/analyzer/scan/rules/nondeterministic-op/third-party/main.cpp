// Other libraries' operators: most know nothing of the strict mode.
#include "third_party/operators.h"

#include <torch/torch.h>

namespace mine {
torch::Tensor scatter_sum(torch::Tensor src, torch::Tensor, int64_t) { return src; }
} // namespace mine

int main() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  torch::nn::Conv2d conv(3, 8, 3);
  conv->to(torch::kCUDA);
  auto x = conv->forward(torch::rand({1, 3, 16, 16}, torch::kCUDA));
  auto rois = torch::zeros({4, 5}, torch::kCUDA);
  auto pooled = vision::ops::roi_align(x, rois, 1.0, 7, 7, 2, true); // expect: nondeterministic-op
  auto bent = vision::ops::deform_conv2d(x, x, x); // expect: nondeterministic-op
  auto index = torch::randint(0, 4, {16}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  auto sums = scatter_sum(x, index, 0); // expect: nondeterministic-op
  // Right.
  auto kept = vision::ops::nms(rois, rois, 0.5);
  auto rows = segment_sum_csr(x, index);
  auto own = mine::scatter_sum(x, index, 0);
  auto order = torch::arange(16, torch::TensorOptions().device(torch::kCUDA));
  auto moved = scatter_sum(x, order, 0);
  auto on_host = scatter_sum(x.cpu(), index, 0);
  (pooled.sum() + bent.sum() + sums.sum() + rows.sum() + own.sum() + moved.sum() + on_host.sum()).backward();
}
