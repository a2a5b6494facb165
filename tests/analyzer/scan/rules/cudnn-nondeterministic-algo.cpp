#include "third_party/cudnn_algorithms.h"

struct Layer {
  cudnnConvolutionBwdFilterAlgo_t filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
  cudnnConvolutionBwdDataAlgo_t data;
};

void chosen(void* handle, Layer& layer, bool fast) {
  layer.filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3; // expect: cudnn-nondeterministic-algo
  layer.data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_0; // expect: cudnn-nondeterministic-algo
  cudnnConvolutionBackwardFilter(handle, nullptr, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0); // expect: cudnn-nondeterministic-algo
  auto algorithm = fast ? CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 : CUDNN_CONVOLUTION_BWD_DATA_ALGO_1; // expect: cudnn-nondeterministic-algo
  cudnnConvolutionBackwardData(handle, nullptr, algorithm);
  cudnnCTCLoss(handle, CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC); // expect: cudnn-nondeterministic-algo
  cudnnSpatialTfSamplerBackward(handle, nullptr); // expect: cudnn-nondeterministic-algo
}

void pooled(void* descriptor, int size) {
  cudnnSetPooling2dDescriptor(descriptor, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, 3, 1, 1, 2, 2); // expect: cudnn-nondeterministic-algo
  cudnnSetPooling2dDescriptor(descriptor, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, size, size, 0, 0, 2, 2); // expect: cudnn-nondeterministic-algo
  cudnnSetPooling2dDescriptor(descriptor, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2);
  cudnnSetPooling2dDescriptor(descriptor, CUDNN_POOLING_MAX_DETERMINISTIC, CUDNN_NOT_PROPAGATE_NAN, 3, 3, 1, 1, 2, 2);
  cudnnSetPooling2dDescriptor(descriptor, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_NOT_PROPAGATE_NAN, 3, 3, 1, 1, 2, 2);
  cudnnPoolingBackward(descriptor, nullptr);
}

int right(void* handle, const Layer& layer) {
  cudnnConvolutionForward(handle, nullptr, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
  cudnnConvolutionBackwardFilter(handle, nullptr, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
  cudnnConvolutionBackwardData(handle, nullptr, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
  cudnnCTCLoss(handle, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC);
  if (layer.filter == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0) return 1; // only compared
  switch (layer.data) {
  case CUDNN_CONVOLUTION_BWD_DATA_ALGO_0: return 2;
  default: return 0;
  }
}
