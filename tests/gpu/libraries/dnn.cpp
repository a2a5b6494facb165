// cuDNN: each backward algorithm by name, pooling, CTC loss, spatial transformer, batch normalisation.
#include "measure.h"

#include <cudnn.h>

namespace libraries {
namespace {

struct Shape {
  int n, c, h, w;
  std::size_t count() const { return std::size_t(n) * c * h * w; }
};

cudnnTensorDescriptor_t tensor(Shape s) {
  cudnnTensorDescriptor_t descriptor;
  CHECK(cudnnCreateTensorDescriptor(&descriptor));
  CHECK(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w));
  return descriptor;
}

void measure_convolution(cudnnHandle_t handle, int image, int kernel) {
  const Shape input{16, 64, image, image}, output{16, 64, image, image};
  const auto x = tensor(input), y = tensor(output);
  cudnnFilterDescriptor_t w;
  CHECK(cudnnCreateFilterDescriptor(&w));
  CHECK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 64, 64, kernel, kernel));
  cudnnConvolutionDescriptor_t convolution;
  CHECK(cudnnCreateConvolutionDescriptor(&convolution));
  CHECK(cudnnSetConvolution2dDescriptor(convolution, kernel / 2, kernel / 2, 1, 1, 1, 1,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  CHECK(cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH));
  Buffer<float> dx(input.count()), dw(64 * 64 * kernel * kernel), xs(wide(input.count(), 1)),
      dy(wide(output.count(), 2)), ws(wide(64 * 64 * kernel * kernel, 3));
  static Buffer<char> workspace(std::size_t(4) << 30);
  const float one = 1, zero = 0;
  const std::string shape =
      ", " + std::to_string(image) + "x" + std::to_string(image) + ", kernel " + std::to_string(kernel);
  for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT; ++algorithm)
    measure("DNN-01", "CUDNN_CONVOLUTION_BWD_FILTER_ALGO " + std::to_string(algorithm) + shape,
            {{dw.get(), dw.bytes()}}, [&] {
              return int(cudnnConvolutionBackwardFilter(handle, &one, x, xs.get(), y, dy.get(), convolution,
                                                        cudnnConvolutionBwdFilterAlgo_t(algorithm),
                                                        workspace.get(), workspace.bytes(), &zero, w,
                                                        dw.get()));
            });
  for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT; ++algorithm)
    measure("DNN-03", "CUDNN_CONVOLUTION_BWD_DATA_ALGO " + std::to_string(algorithm) + shape,
            {{dx.get(), dx.bytes()}}, [&] {
              return int(cudnnConvolutionBackwardData(handle, &one, w, ws.get(), y, dy.get(), convolution,
                                                      cudnnConvolutionBwdDataAlgo_t(algorithm),
                                                      workspace.get(), workspace.bytes(), &zero, x,
                                                      dx.get()));
            });
}

void measure_pooling(cudnnHandle_t handle) {
  const Shape input{16, 64, 65, 65};
  struct Mode {
    const char* name;
    cudnnPoolingMode_t mode;
  };
  for (const Mode& mode :
       {Mode{"CUDNN_POOLING_MAX", CUDNN_POOLING_MAX},
        Mode{"CUDNN_POOLING_MAX_DETERMINISTIC", CUDNN_POOLING_MAX_DETERMINISTIC},
        Mode{"CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING", CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING}})
    for (const int stride : {1, 3}) {
      cudnnPoolingDescriptor_t pooling;
      CHECK(cudnnCreatePoolingDescriptor(&pooling));
      CHECK(cudnnSetPooling2dDescriptor(pooling, mode.mode, CUDNN_PROPAGATE_NAN, 3, 3, 1, 1, stride, stride));
      const auto x = tensor(input);
      Shape output{};
      CHECK(cudnnGetPooling2dForwardOutputDim(pooling, x, &output.n, &output.c, &output.h, &output.w));
      const auto y = tensor(output);
      Buffer<float> xs(wide(input.count(), 4)), ys(output.count()), dy(wide(output.count(), 5)),
          dx(input.count());
      const float one = 1, zero = 0;
      CHECK(cudnnPoolingForward(handle, pooling, &one, x, xs.get(), &zero, y, ys.get()));
      measure("DNN-04", std::string(mode.name) + " backward, window 3, stride " + std::to_string(stride),
              {{dx.get(), dx.bytes()}}, [&] {
                return int(cudnnPoolingBackward(handle, pooling, &one, y, ys.get(), y, dy.get(), x, xs.get(),
                                                &zero, x, dx.get()));
              });
    }
}

void measure_sampler(cudnnHandle_t handle) {
  const Shape shape{8, 32, 64, 64};
  const int dims[4] = {shape.n, shape.c, shape.h, shape.w};
  cudnnSpatialTransformerDescriptor_t transformer;
  CHECK(cudnnCreateSpatialTransformerDescriptor(&transformer));
  CHECK(
      cudnnSetSpatialTransformerNdDescriptor(transformer, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, dims));
  const auto x = tensor(shape);
  Buffer<float> xs(wide(shape.count(), 6)), dy(wide(shape.count(), 7)), dx(shape.count());
  std::vector<float> grid = wide(std::size_t(shape.n) * shape.h * shape.w * 2, 8);
  for (float& g : grid)
    g = g - static_cast<int>(g); // into the picture
  Buffer<float> places(grid), dgrid(grid.size());
  const float one = 1, zero = 0;
  measure(
      "DNN-05", "cudnnSpatialTfSamplerBackward", {{dx.get(), dx.bytes()}, {dgrid.get(), dgrid.bytes()}}, [&] {
        return int(cudnnSpatialTfSamplerBackward(handle, transformer, &one, x, xs.get(), &zero, x, dx.get(),
                                                 &one, x, dy.get(), places.get(), &zero, dgrid.get()));
      });
}

void measure_ctc(cudnnHandle_t handle) {
  constexpr int time = 200, batch = 32, letters = 64, length = 40;
  const int dims[3] = {time, batch, letters}, strides[3] = {batch * letters, letters, 1};
  cudnnTensorDescriptor_t shape;
  CHECK(cudnnCreateTensorDescriptor(&shape));
  CHECK(cudnnSetTensorNdDescriptor(shape, CUDNN_DATA_FLOAT, 3, dims, strides));
  cudnnCTCLossDescriptor_t loss;
  CHECK(cudnnCreateCTCLossDescriptor(&loss));
  CHECK(cudnnSetCTCLossDescriptorEx(loss, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX,
                                    CUDNN_PROPAGATE_NAN));
  std::vector<int> labels = indices(batch * length, letters - 1, 9), lengths(batch, length),
                   times(batch, time);
  for (int& label : labels)
    ++label;
  Buffer<float> probabilities(wide(std::size_t(time) * batch * letters, 10)), costs(batch),
      gradients(std::size_t(time) * batch * letters);
  static Buffer<char> workspace(std::size_t(256) << 20);
  struct Algorithm {
    const char* name;
    cudnnCTCLossAlgo_t algorithm;
  };
  for (const Algorithm& algorithm :
       {Algorithm{"CUDNN_CTC_LOSS_ALGO_DETERMINISTIC", CUDNN_CTC_LOSS_ALGO_DETERMINISTIC},
        Algorithm{"CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC", CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC}})
    measure("DNN-06", algorithm.name, {{costs.get(), costs.bytes()}, {gradients.get(), gradients.bytes()}},
            [&] {
              return int(cudnnCTCLoss(handle, shape, probabilities.get(), labels.data(), lengths.data(),
                                      times.data(), costs.get(), shape, gradients.get(), algorithm.algorithm,
                                      loss, workspace.get(), workspace.bytes()));
            });
}

void measure_batch_norm(cudnnHandle_t handle) {
  const Shape shape{64, 64, 56, 56}, channels{1, 64, 1, 1};
  const auto x = tensor(shape), c = tensor(channels);
  Buffer<float> xs(wide(shape.count(), 11)), dy(wide(shape.count(), 12)), dx(shape.count()),
      scale(wide(64, 13)), dscale(64), dbias(64);
  const float one = 1, zero = 0;
  struct Mode {
    const char* name;
    cudnnBatchNormMode_t mode;
  };
  for (const Mode& mode : {Mode{"CUDNN_BATCHNORM_SPATIAL", CUDNN_BATCHNORM_SPATIAL},
                           Mode{"CUDNN_BATCHNORM_SPATIAL_PERSISTENT", CUDNN_BATCHNORM_SPATIAL_PERSISTENT}})
    measure("none", std::string("cudnnBatchNormalizationBackward ") + mode.name,
            {{dx.get(), dx.bytes()}, {dscale.get(), dscale.bytes()}, {dbias.get(), dbias.bytes()}}, [&] {
              return int(cudnnBatchNormalizationBackward(handle, mode.mode, &one, &zero, &one, &zero, x,
                                                         xs.get(), x, dy.get(), x, dx.get(), c, scale.get(),
                                                         dscale.get(), dbias.get(), 1e-5, nullptr, nullptr));
            });
}

} // namespace

void measure_dnn() {
  cudnnHandle_t handle;
  CHECK(cudnnCreate(&handle));
  measure_convolution(handle, 56, 3);
  measure_convolution(handle, 28, 5);
  measure_pooling(handle);
  measure_sampler(handle);
  measure_ctc(handle);
  measure_batch_norm(handle);
  CHECK(cudnnDestroy(handle));
}

} // namespace libraries
