"""Small LibTorch trainers, each different from the next, the same at each call: what the benchmark scans."""
import random

_LAYERS = [
    ("Linear", lambda r: f"torch::nn::Linear({r.choice((32, 64, 128))}, {r.choice((32, 64, 128))})"),
    ("Conv2d", lambda r: f"torch::nn::Conv2d(torch::nn::Conv2dOptions({r.choice((1, 3, 8))}, 16, {r.choice((3, 5))}))"),
    ("BatchNorm2d", lambda r: f"torch::nn::BatchNorm2d({r.choice((16, 32))})"),
    ("Dropout", lambda r: f"torch::nn::Dropout(0.{r.randint(1, 5)})"),
    ("Embedding", lambda r: f"torch::nn::Embedding({r.randint(100, 1000)}, 32)"),
    ("ConvTranspose2d", lambda r: "torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(16, 8, 4))"),
    ("LayerNorm", lambda r: "torch::nn::LayerNorm(torch::nn::LayerNormOptions({32}))"),
]
_STEPS = [
    "x = torch::relu(x);",
    "x = x + torch::randn_like(x) * 0.1;",
    "x.index_add_(0, torch::randint(0, x.size(0), {4}), x.slice(0, 0, 4));",
    "x = torch::cumsum(x, 0);",
    "x = torch::nn::functional::interpolate(x, torch::nn::functional::InterpolateFuncOptions().scale_factor(std::vector<double>{2.0, 2.0}));",
    "x = x.scatter_add(0, torch::zeros({4}, torch::kLong), x.slice(0, 0, 4));",
    "x = torch::softmax(x, -1);",
    "for (const auto& p : parameters()) x = x + p.sum();",
]
_OTHER_INCLUDES = ["<vector>", "<string>", "<iostream>", "<map>", "<unordered_map>", "<fstream>", "<chrono>", "<random>",
                   "<algorithm>", "<numeric>", "<filesystem>", "<thread>", "<mutex>", "<cmath>", "<memory>"]


def program(number: int, header: str = "torch/torch.h") -> str:
    r = random.Random(number)
    includes = sorted(r.sample(_OTHER_INCLUDES, r.randint(1, 6)) + ["<vector>"])
    out = [f"#include <{header}>", ""] + [f"#include {name}" for name in dict.fromkeys(includes)] + [""]
    models = r.randint(1, 4)
    for m in range(models):
        layers = [r.choice(_LAYERS) for _ in range(r.randint(3, 9))]
        out += [f"struct Model{m}Impl : torch::nn::Module {{", f"  Model{m}Impl() {{"]
        out += [f'    register_module("layer{i}", layer{i});' for i in range(len(layers))]
        out += ["  }", "  torch::Tensor forward(torch::Tensor x) {"]
        for i in range(len(layers)):
            out += [f"    x = layer{i}->forward(x);", f"    {r.choice(_STEPS)}"]
        out += ["    return x;", "  }"]
        out += [f"  torch::nn::{kind} layer{i}{{{make(r)[len('torch::nn::' + kind):]}}};".replace("{(", "{").replace(")}", "}")
                for i, (kind, make) in enumerate(layers)]
        out += ["};", f"TORCH_MODULE(Model{m});", ""]
    out += ["int main(int argc, char** argv) {"]
    if r.random() < 0.5:
        out += [f"  torch::manual_seed({number});"]
    if r.random() < 0.5:
        out += ["  at::globalContext().setBenchmarkCuDNN(true);"]
    out += ["  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);"]
    for m in range(models):
        out += [f"  Model{m} model{m};", f"  model{m}->to(device);",
                f"  torch::optim::Adam optimizer{m}(model{m}->parameters(), torch::optim::AdamOptions(1e-3));"]
    out += ["  for (int epoch = 0; epoch < 10; ++epoch) {", "    torch::Tensor input = torch::rand({8, 32}).to(device);"]
    for m in range(models):
        out += [f"    optimizer{m}.zero_grad();", f"    torch::Tensor loss{m} = model{m}->forward(input).mean();",
                f"    loss{m}.backward();", f"    optimizer{m}.step();"]
    out += ["  }", f'  torch::save(model0, argc > 1 ? argv[1] : "model{number}.pt");', "}", ""]
    return "\n".join(out)
