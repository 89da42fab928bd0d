// What a caller of our engine holds: checks of its inputs around a BlockRunner.
#pragma once

#include <memory>
#include <vector>

#include "engine/exec/block_runner.h"
#include "engine/exec/native.h"

namespace hasten {

class NativeRunner final : public Runner {
 public:
  explicit NativeRunner(NativeEngine& engine);

  Status bind(std::span<const TensorView> inputs) override;
  Status run(Observer* observer) override;
  std::span<const TensorView> outputs() const override { return runner_.outputs(); }

  /// The segments that the last run went through.
  std::vector<const Segment*> segments() const { return runner_.segments(); }

 private:
  Status check_input(size_t i, const TensorView& view) const;

  NativeEngine& engine_;
  ThreadPool* pool_;
  BlockRunner runner_;
  bool bound_ = false;
};

}  // namespace hasten
