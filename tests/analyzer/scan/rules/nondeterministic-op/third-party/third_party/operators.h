#pragma once
#include <torch/torch.h>

namespace vision::ops {
at::Tensor roi_align(const at::Tensor& input, const at::Tensor& rois, double scale, int64_t height, int64_t width, int64_t ratio, bool aligned);
at::Tensor deform_conv2d(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& offset);
at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double threshold);
} // namespace vision::ops
torch::Tensor scatter_sum(torch::Tensor src, torch::Tensor index, int64_t dim);
torch::Tensor segment_sum_csr(torch::Tensor src, torch::Tensor indptr);
