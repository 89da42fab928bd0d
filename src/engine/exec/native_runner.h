// One caller's buffers, and the loop that runs the steps.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/exec/native.h"

namespace hasten {

class NativeRunner final : public Runner {
 public:
  explicit NativeRunner(NativeEngine& engine);

  Status bind(std::span<const TensorView> inputs) override;
  Status run(Observer* observer) override;
  std::span<const TensorView> outputs() const override { return output_views_; }

  /// The segments that the last run went through.
  std::vector<const Segment*> segments() const;

 private:
  /// A segment with the addresses of its operands.
  struct Bound {
    std::shared_ptr<Segment> segment;
    Tensor arena;  // grows; shared by all segments of this depth
    std::vector<const void*> in;
    std::vector<void*> out;
    struct Call {
      uint32_t in, out;  // where the step's operands begin
      std::byte* scratch;
    };
    std::vector<Call> calls;
  };

  Status check_input(size_t i, const TensorView& view) const;
  Status bind_segment(size_t depth, std::shared_ptr<Segment> segment);
  Status run_steps(Bound& bound, Observer* observer);
  Status run_reference(const Step& step, const Bound::Call& call, const Bound& bound);
  /// The child in which the run goes on after `bound`.
  Result<std::shared_ptr<Segment>> next(Bound& bound);
  Result<std::shared_ptr<Segment>> child(Segment& segment, const std::string& key,
                                         const std::function<void(Path&)>& advance);
  const void* address(const Place& place) const;
  TensorView view(const Path& path, ValueId id) const;
  Status set_output(const Segment::Output& output);

  NativeEngine& engine_;
  ThreadPool* pool_;
  std::vector<TensorView> inputs_;
  std::vector<std::unique_ptr<Bound>> bound_;  // by depth
  std::shared_ptr<Segment> root_;
  size_t used_depths_ = 0;
  std::unordered_map<int, Tensor> heap_;
  std::vector<Tensor> outputs_;
  std::vector<TensorView> output_views_;
  std::atomic<int64_t> fault_{0};
};

}  // namespace hasten
