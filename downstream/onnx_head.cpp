// A head that `mirenc export HEAD --onnx out` wrote, asked from C++ by onnxruntime:
//
//     c++ -std=c++17 -I ONNXRUNTIME/include onnx_head.cpp -L ONNXRUNTIME/lib -lonnxruntime -o onnx_head
//     echo 0.5 1 0 ... | ./onnx_head out/thread_coarsening.onnx
//
// Standard input has one row of features in the order of the model's metadata; a head that is told of settings takes
// a second tensor, `settings`. The scores are printed, and the choice where the head chooses.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <vector>

#include <onnxruntime_cxx_api.h>

int main(int count, char **words)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: %s HEAD.onnx < FEATURES\n", words[0]);
        return 2;
    }
    try {
        Ort::Env environment(ORT_LOGGING_LEVEL_WARNING, "onnx_head");
        Ort::Session session(environment, words[1], Ort::SessionOptions());
        const auto shape = session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape();
        std::vector<double> row((std::istream_iterator<double>(std::cin)), std::istream_iterator<double>());
        const std::int64_t sizes[] = {1, static_cast<std::int64_t>(row.size())};
        if (sizes[1] != shape[1]) {
            std::fprintf(stderr, "%zu features; the head takes %lld\n", row.size(), static_cast<long long>(shape[1]));
            return 1;
        }
        const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
        const auto features = Ort::Value::CreateTensor<double>(memory, row.data(), row.size(), sizes, 2);
        const char *const input = "features", *const outputs[] = {"score", "choice"};
        const auto found = session.Run(Ort::RunOptions(), &input, &features, 1, outputs, session.GetOutputCount());
        const double *score = found[0].GetTensorData<double>();
        for (std::size_t i = 0; i < found[0].GetTensorTypeAndShapeInfo().GetElementCount(); i++)
            std::printf("score %zu: %.17g\n", i, score[i]);
        if (found.size() > 1)
            std::printf("choice: %lld\n", static_cast<long long>(*found[1].GetTensorData<std::int64_t>()));
    } catch (const Ort::Exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
