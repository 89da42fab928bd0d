// What the fuzzers call: by libFuzzer (main.cpp), and over the corpora by tests/fuzz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hasten::fuzz {

using Input = std::span<const uint8_t>;

/// Each says what is wrong, or nothing.
/// Bytes as an ONNX file: an error, or a graph that verifies and infers and, if it is small, runs.
std::string onnx_load(Input bytes);
/// Bytes as the text of a graph: an error, or a graph whose text reads back as the same text.
std::string graph_text(Input bytes);
/// Bytes choose a graph: as it is on the references, and through all passes on the kernels, it
/// gives the same answers, within what the passes may move them.
std::string passes(Input bytes);
/// Bytes choose an operator and what it is run on: the kernels give the same bits on each tier of
/// this CPU, and the reference the same answer.
std::string kernels(Input bytes);
/// Bytes choose a graph and changes to its plan file, behind the hash: an error, or a run. Without
/// changes it loads.
std::string plan_file(Input bytes);

/// Changes a message of protobuf in place and keeps its lengths right; returns its new size.
size_t mutate_proto(uint8_t* data, size_t size, size_t max_size, uint32_t seed);

}  // namespace hasten::fuzz
