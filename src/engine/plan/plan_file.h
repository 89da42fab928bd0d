// Plan files (.hplan): a graph after the passes with its packed weights, to be mapped.
//
//   header   64 bytes: PlanHeader
//   metadata flatbuffer (plan_file.fbs), then zeros to the next page
//   blobs    page-aligned, read in place
#pragma once

#include <memory>
#include <string>

#include "engine/ir/graph.h"
#include "engine/ops/packed.h"

namespace hasten {

struct PlanHeader {
  char magic[8];  // "HASTPLAN"
  uint32_t format;
  uint32_t reserved;  // 0
  uint64_t metadata_bytes;
  uint64_t file_bytes;
  char metadata_hash[32];  // hash_hex of the metadata
};
static_assert(sizeof(PlanHeader) == 64);

struct PlanFile {
  std::string producer;    // "hasten 0.1.0"
  std::string isa;         // tier whose packed weights it holds
  std::string model_hash;  // hash_hex of the ONNX file
  bool exact_math = false;
  Graph graph;
  std::unique_ptr<PackedStore> packed;
};

/// The bytes of a plan file.
std::string write_plan(const Graph& graph, const PackedStore& packed, const std::string& isa,
                       const std::string& model_hash, bool exact_math);

/// Written beside and renamed. Errors: io.
Status save_plan(const std::string& path, const Graph& graph, const PackedStore& packed,
                 const std::string& isa, const std::string& model_hash, bool exact_math);

/// Maps the file; weights stay in it. Everything that could lead out of bounds is hashed and
/// checked here; with `verify_blobs` the weights' hash too. Errors: invalid_model (truncated,
/// changed, another format), unsupported (made for another tier or by another version), io.
Result<PlanFile> load_plan(const std::string& path, const std::string& isa,
                           bool verify_blobs = false);

}  // namespace hasten
