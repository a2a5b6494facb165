"""Expands the lists of names in libtorch.h and writes a C++ source that holds the text.

usage: generate.py libtorch.h cuda.h RULES_DIR OUT.cpp

Names that the tables `operators` and `knobs` speak of are declared too, so that a new row needs no line here.
"""
import os
import re
import sys

import yaml

METHODS = """to cpu cuda clone detach contiguous view reshape flatten permute transpose t squeeze unsqueeze expand expand_as repeat
 narrow slice select index index_put index_put_ index_add index_add_ index_copy index_copy_ index_fill_ index_select index_reduce_
 gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ put_ masked_fill masked_fill_ masked_select masked_scatter_ take
 add add_ sub sub_ mul mul_ div div_ pow pow_ exp exp_ log log_ sqrt sqrt_ rsqrt abs neg sin cos tanh sigmoid relu relu_ softmax log_softmax
 sum mean std var prod cumsum cumprod argmax argmin norm matmul mm bmm mv dot addmm addmm_ addcmul_ addcdiv_ lerp_ eq ne lt le gt ge
 logical_and logical_or logical_not all any clamp clamp_ clamp_min clamp_max floor ceil round sign where zero_ fill_ copy_ normal_ uniform_
 random_ bernoulli bernoulli_ exponential_ geometric_ cauchy_ log_normal_ multinomial randperm dropout type type_as toType set_requires_grad requires_grad_
 resize_ resize_as_ new_zeros new_ones new_empty new_full new_tensor bincount histc unique roll flip triu tril diag diagonal inverse
 bitwise_and nonzero argsort isnan isinf isfinite retain_grad data variable_data view_as movedim repeat_interleave unfold swapaxes pin_memory
 element_size storage nbytes alias hypot atan2 fmod remainder maximum minimum max_pool2d amax amin erf erfinv trace det cross outer
 baddbmm addbmm sparse_mask coalesce to_dense to_sparse data_sync set_data""".split()
METHODS = [name for name in METHODS if name not in ("where", "randperm", "data_sync", "hypot")]
FUNCTIONS = """relu sigmoid tanh softmax log_softmax dropout nll_loss cross_entropy_loss mse_loss l1_loss binary_cross_entropy
 binary_cross_entropy_with_logits smooth_l1_loss kl_div conv1d conv2d conv3d conv_transpose2d batch_norm layer_norm group_norm
 max_pool2d max_pool3d avg_pool2d avg_pool3d adaptive_avg_pool2d adaptive_max_pool2d upsample_nearest2d upsample_bilinear2d
 grid_sampler embedding embedding_bag matmul mm bmm addmm baddbmm dot mv einsum tensordot cat stack concat hstack vstack sum mean std var prod
 max min argmax argmin cumsum cumprod norm abs exp log sqrt pow sin cos add sub mul div clamp where masked_fill masked_select
 index index_add index_put index_select index_copy gather scatter scatter_add scatter_reduce take bincount histc nonzero isnan isinf all any
 eq ne lt le gt ge logical_and logical_or logical_not floor round sign flatten squeeze unsqueeze reshape transpose permute flip roll
 bernoulli multinomial normal poisson ctc_loss interpolate pad reflection_pad2d replication_pad2d constant_pad_nd repeat_interleave
 scaled_dot_product_attention linear gelu leaky_relu elu silu one_hot from_blob allclose equal cdist inverse outer cross triu tril
 maximum minimum zeros_like ones_like empty_like rand_like randn_like randint_like full_like linspace dstack lstm gru atan2 fmod""".split()
FUNCTIONS = [name for name in FUNCTIONS if name != "from_blob" and not name.endswith("_like") and name != "linspace"]
FACTORIES = """rand randn randint randperm zeros ones empty full eye arange linspace logspace tensor from_blob normal zeros_like
 ones_like empty_like rand_like randn_like randint_like full_like hann_window""".split()
FACTORIES = [name for name in FACTORIES if name != "normal"]
MODULES = """Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d BatchNorm3d
 InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm GroupNorm Dropout Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout
 Embedding EmbeddingBag LSTM GRU RNN LSTMCell GRUCell RNNCell ReLU ReLU6 LeakyReLU PReLU ELU SELU GELU SiLU Mish Sigmoid Tanh Softmax
 LogSoftmax Softplus MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d
 AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
 ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad2d ConstantPad2d Upsample PixelShuffle
 Flatten Unflatten Identity Sequential ModuleList ModuleDict ParameterList MultiheadAttention Transformer TransformerEncoder
 TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer MSELoss L1Loss SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss
 BCELoss BCEWithLogitsLoss KLDivLoss CTCLoss CosineEmbeddingLoss TripletMarginLoss MarginRankingLoss Bilinear CosineSimilarity
 Fold Unfold Functional""".split()
FUNCTIONALS = """interpolate grid_sample affine_grid pad dropout dropout2d relu leaky_relu elu gelu silu softmax log_softmax
 cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div ctc_loss
 max_pool2d avg_pool2d adaptive_avg_pool2d conv2d conv_transpose2d linear embedding embedding_bag batch_norm layer_norm instance_norm
 group_norm normalize one_hot cosine_similarity unfold fold max_unpool2d multi_head_attention_forward tanh sigmoid""".split()
FUNCTIONAL_OPTIONS = """Interpolate GridSample Pad Dropout Softmax LogSoftmax CrossEntropy NLLLoss MSELoss L1Loss SmoothL1Loss
 BinaryCrossEntropy BinaryCrossEntropyWithLogits KLDiv CTCLoss MaxPool2d AvgPool2d Conv2d ConvTranspose2d Embedding EmbeddingBag
 BatchNorm Normalize LeakyReLU ELU CosineSimilarity""".split()
SETTERS = """stride padding dilation groups bias padding_mode transposed eps momentum affine track_running_stats p inplace mode size
 scale_factor align_corners reduction weight num_layers bidirectional batch_first dropout hidden_size input_size padding_idx
 negative_slope kernel_size in_channels out_channels in_features out_features output_padding num_embeddings embedding_dim ceil_mode
 elementwise_affine dim label_smoothing ignore_index beta value count_include_pad recompute_scale_factor training sparse""".split()
ENUMS = """Sum Mean None BatchMean Nearest Linear Bilinear Bicubic Trilinear Area Zeros Border Reflection Constant Reflect
 Replicate Circular Max ReLU GELU Tanh Sigmoid FanIn FanOut LeakyReLU""".split()


# Functions of the tables that return (value, indices); `median` does so with a dimension only.
TUPLES = """kthvalue median nanmedian fractional_max_pool2d fractional_max_pool3d max_pool3d_with_indices adaptive_max_pool3d
 _ctc_loss _cudnn_ctc_loss _embedding_bag linalg_svd linalg_eigh linalg_eig linalg_qr linalg_lstsq svd""".split()


def names_in_tables(rules, prefix):
    """What follows `prefix` in the symbols of the tables, where no further namespace or class follows."""
    names = set()
    for table in ("operators", "knobs"):
        with open(os.path.join(rules, "tables", table + ".yaml"), encoding="utf-8") as file:
            for row in yaml.safe_load(file):
                names.update(symbol[len(prefix):] for symbol in row["symbols"] if symbol.startswith(prefix))
    return sorted(name for name in names if re.fullmatch(r"\w+", name))


def missing(text, names, known):
    return [name for name in names if name not in known and not re.search(rf"\b{name}\(", text)]


def add_names_of_tables(text, rules):
    METHODS.extend(missing(text, names_in_tables(rules, "at::Tensor::"), METHODS))
    FUNCTIONS.extend(missing(text, names_in_tables(rules, "at::"), FUNCTIONS + FACTORIES + TUPLES + ["NoGradGuard", "AutoGradMode"]))
    MODULES.extend(missing(text, names_in_tables(rules, "torch::nn::"), MODULES))
    FUNCTIONALS.extend(missing(text, names_in_tables(rules, "torch::nn::functional::"), FUNCTIONALS))
    return {"TUPLE_FUNCTIONS": "".join(f"template <class... A> std::tuple<Tensor, Tensor> {name}(A&&...); " for name in TUPLES),
            "SWITCHES": "".join(f"template <class... A> void {name}(A&&...); "
                                for name in missing(text, names_in_tables(rules, "at::Context::"), [])),
            "AUTOCAST": "".join(f"template <class... A> void {name}(A&&...); "
                                for name in missing(text, names_in_tables(rules, "at::autocast::"), []))}


def calls(macro, names):
    return "\n".join(f"{macro}({name})" for name in names)


def setters(struct):
    return " ".join(f"template <class T> {struct}& {name}(T&&); template <class T> {struct}& {name}(std::initializer_list<T>);"
                    for name in SETTERS)


def expand(text, rules):
    values = {
        **add_names_of_tables(text, rules),
        "METHODS": calls("REPROBE_METHOD", METHODS),
        "FUNCTIONS": calls("REPROBE_FUNCTION", FUNCTIONS),
        "FACTORIES": calls("REPROBE_FACTORY", FACTORIES),
        "MODULES": calls("REPROBE_MODULE", MODULES),
        "FUNCTIONALS": calls("REPROBE_FUNCTIONAL", FUNCTIONALS),
        "FUNCTIONAL_OPTIONS": calls("REPROBE_FUNC_OPTIONS", FUNCTIONAL_OPTIONS),
        "OPTIONS": setters("NAME##Options"),
        "OPTIONS_OF_FUNCTIONS": setters("NAME##FuncOptions"),
        "ENUM_STRUCTS": " ".join(f"struct k{name} {{}};" for name in ENUMS),
        "ENUM_CONSTANTS": " ".join(f"inline constexpr enumtype::k{name} k{name}{{}};" for name in ENUMS),
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def main():
    torch, cuda, rules, out = sys.argv[1:]
    with open(torch, encoding="utf-8") as file:
        torch_text = expand(file.read(), rules)
    with open(cuda, encoding="utf-8") as file:
        cuda_text = file.read()
    with open(out, "w", encoding="utf-8") as file:
        file.write("namespace reprobe::scan {\n")
        for name, text in (("kLibtorchDeclarations", torch_text), ("kCudaDeclarations", cuda_text)):
            file.write(f"extern const char* const {name};\nconst char* const {name} =\n")
            for line in text.split("\n"):
                escaped = line.replace("\\", "\\\\").replace('"', '\\"')
                file.write(f'"{escaped}\\n"\n')
            file.write(";\n")
        file.write("} // namespace reprobe::scan\n")


if __name__ == "__main__":
    main()
