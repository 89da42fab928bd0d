// Bundles: a folder with a model, the way to run it that was found best, and the proof.
#pragma once

#include <map>
#include <string>

#include "engine/exec/native.h"
#include "measure/inputs.h"
#include "report/json.h"

namespace hasten {

/// bundle.json.
struct BundleInfo {
  std::string target;                        // "model.hplan@engine=native,threads=2"
  std::string fingerprint;                   // of the machine
  std::map<std::string, std::string> files;  // name -> hash_hex
};
/// Errors: io, invalid_model.
Result<BundleInfo> read_bundle(const std::string& folder);

/// The first file of the bundle whose content isn't the one recorded, in words; "" if all are.
/// Errors: io.
Result<std::string> changed_file(const std::string& folder, const BundleInfo& info);

/// Makes a bundle folder all at once: files are written beside it, and the folder renamed into its
/// place when `commit` succeeds. Until then, or on an error, nothing of it is left.
class BundleWriter {
 public:
  /// Errors: io (a parent that can't be written to), invalid_argument (`folder` holds something
  /// that is no bundle).
  static Result<BundleWriter> open(const std::string& folder);
  BundleWriter(BundleWriter&& other) noexcept;
  BundleWriter& operator=(BundleWriter&&) = delete;
  ~BundleWriter();

  /// Copies the model, and what its external data lies in.
  Status add_model(const std::string& path);
  /// The plan of a native engine that has run, so that its weights are packed.
  Status add_plan(const NativeEngine& engine, const std::string& model_hash);
  Status add_text(const std::string& name, std::string_view text);
  /// A few samples to verify with, where all have the same shapes: inputs.npz.
  Status add_inputs(const Samples& samples);
  /// Writes bundle.json and puts the folder into its place, instead of an older bundle.
  Status commit(const std::string& target, const std::string& fingerprint);

 private:
  BundleWriter(std::string folder, std::string work)
      : folder_(std::move(folder)), work_(std::move(work)) {}
  Status record(const std::string& name);

  std::string folder_, work_;  // where it goes, and where it is made
  std::map<std::string, std::string> files_;
};

}  // namespace hasten
