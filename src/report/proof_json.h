// Proofs as JSON, both ways.
#pragma once

#include "measure/proof.h"
#include "report/json.h"

namespace hasten {

Json to_json(const Accuracy& accuracy);
Json to_json(const Tried& tried);
/// What `optimize --json` prints and, with `data_path` and `shapes`, what proof.json holds.
Json to_json(const Proof& proof);

/// What a proof claims, as far as it can be checked again.
struct Claim {
  std::string hasten_version, model_path, model_hash, fingerprint, data_path, created;
  std::string baseline, chosen;  // options as in a target
  bool keeps_baseline = true;    // nothing was proven faster
  double speedup = 1;
  Interval ci{1, 1};
};
/// Error: invalid_argument, naming the file and what is missing.
Result<Claim> claim_from_json(const std::string& text, const std::string& place);

}  // namespace hasten
