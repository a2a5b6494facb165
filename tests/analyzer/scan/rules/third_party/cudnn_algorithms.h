// Names of the library's header, so that tests need none.
#pragma once
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
