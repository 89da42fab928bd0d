// Constants in the form that kernels want them, kept with the model.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/ir/graph.h"

namespace hasten {

/// Key: (value, format). Filled once, then shared by all instances of the model. Thread-safe.
class PackedStore {
 public:
  struct Entry {
    std::shared_ptr<const void> data;
    size_t bytes = 0;
  };

  /// `limit` bytes in all; 0: none.
  explicit PackedStore(size_t limit = 0) : limit_(limit) {}
  /// Errors: out_of_memory; invalid_model where a plan file's are of another size.
  Result<const void*> get(ValueId value, const std::string& format, size_t bytes,
                          const std::function<void(void*)>& fill);
  /// Puts what a plan file holds.
  void put(ValueId value, const std::string& format, Entry entry);
  size_t bytes() const;
  std::map<std::pair<ValueId, std::string>, Entry> entries() const;

 private:
  mutable std::mutex mutex_;
  size_t limit_;
  size_t bytes_ = 0;
  std::map<std::pair<ValueId, std::string>, Entry> entries_;
};

}  // namespace hasten
