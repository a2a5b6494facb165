// Names and values of cuDNN's header, so that the test needs none.
enum cudnnConvolutionBwdFilterAlgo_t {
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 = 0,
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 = 1,
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3 = 3
};
enum cudnnConvolutionBwdDataAlgo_t { CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 = 1 };
enum cudnnConvolutionFwdAlgo_t { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0 };
enum cudnnPoolingMode_t { CUDNN_POOLING_MAX = 0, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1, CUDNN_POOLING_MAX_DETERMINISTIC = 3 };
enum cudnnCTCLossAlgo_t { CUDNN_CTC_LOSS_ALGO_DETERMINISTIC = 0, CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC = 1 };
enum cudnnNanPropagation_t { CUDNN_NOT_PROPAGATE_NAN = 0 };
extern "C" {
int cudnnConvolutionBackwardFilter(void*, const void*, cudnnConvolutionBwdFilterAlgo_t);
int cudnnConvolutionBackwardData(void*, const void*, cudnnConvolutionBwdDataAlgo_t);
int cudnnConvolutionForward(void*, const void*, cudnnConvolutionFwdAlgo_t);
int cudnnSetPooling2dDescriptor(void*, cudnnPoolingMode_t, cudnnNanPropagation_t, int, int, int, int, int, int);
int cudnnPoolingBackward(void*, const void*);
int cudnnCTCLoss(void*, cudnnCTCLossAlgo_t);
int cudnnSpatialTfSamplerBackward(void*, const void*);
}

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
