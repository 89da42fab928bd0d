// https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html, opsets 9-21: strings, int32 and int64
// [C] or [N,C]. Weights are those of the n-grams of the pool, in its order, as the specification
// says.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

using Strings = std::vector<std::string>;

struct Settings {
  std::string mode;
  int64_t min_length = 0, max_length = 0, max_skips = 0;
  std::vector<int64_t> counts, indexes;  // ngram_counts, ngram_indexes
  std::vector<float> weights;            // one for each n-gram
  bool strings = false;
  std::vector<int64_t> ints;
  Strings texts;

  size_t pool_size() const { return strings ? texts.size() : ints.size(); }
};

/// How many n-grams the pool has, from ngram_counts: where those of each length start.
Result<size_t> grams_in_pool(const OpContext& c, const Settings& s) {
  const auto size = static_cast<int64_t>(s.pool_size());
  size_t total = 0;
  for (size_t n = 0; n < s.counts.size(); ++n) {
    const int64_t begin = s.counts[n], end = n + 1 < s.counts.size() ? s.counts[n + 1] : size;
    if (begin < 0 || begin > end || end > size) {
      return c.invalid("attribute 'ngram_counts' has {} and then {}, the pool has {} items", begin,
                       end, size);
    }
    const auto length = static_cast<int64_t>(n) + 1;
    if ((end - begin) % length != 0) {
      return c.invalid("{} items of the pool are no whole number of {}-grams", end - begin, length);
    }
    total += static_cast<size_t>((end - begin) / length);
  }
  return total;
}

Result<Settings> settings_of(const OpContext& c) {
  for (const char* name : {"mode", "min_gram_length", "max_gram_length", "max_skip_count",
                           "ngram_counts", "ngram_indexes"}) {
    if (c.node().find_attr(name) == nullptr) return c.invalid("attribute '{}' is missing", name);
  }
  Settings s;
  s.mode = c.node().attr_string("mode", "");
  if (s.mode != "TF" && s.mode != "IDF" && s.mode != "TFIDF") {
    return c.invalid("attribute 'mode' is '{}', it must be TF, IDF or TFIDF", s.mode);
  }
  const Attr *texts = c.node().find_attr("pool_strings"), *ints = c.node().find_attr("pool_int64s");
  if ((texts == nullptr) == (ints == nullptr)) {
    return c.invalid("it must have one of the attributes 'pool_strings' and 'pool_int64s'");
  }
  s.strings = texts != nullptr;
  s.ints = c.node().attr_ints("pool_int64s");
  if (texts != nullptr && std::holds_alternative<Strings>(*texts))
    s.texts = std::get<Strings>(*texts);
  s.counts = c.node().attr_ints("ngram_counts");
  s.indexes = c.node().attr_ints("ngram_indexes");
  s.min_length = c.node().attr_int("min_gram_length", 0);
  s.max_length = c.node().attr_int("max_gram_length", 0);
  s.max_skips = c.node().attr_int("max_skip_count", 0);
  const auto lengths = static_cast<int64_t>(s.counts.size());
  if (s.min_length < 1 || s.max_length < s.min_length || s.max_length > lengths) {
    return c.invalid("n-grams from {} to {} items, the pool has those of 1 to {}", s.min_length,
                     s.max_length, lengths);
  }
  if (s.max_skips < 0) return c.invalid("attribute 'max_skip_count' is {}", s.max_skips);
  HASTEN_TRY(const size_t grams, grams_in_pool(c, s));
  if (grams == 0 || grams != s.indexes.size()) {
    return c.invalid("the pool has {} n-grams, attribute 'ngram_indexes' {}", grams,
                     s.indexes.size());
  }
  for (const int64_t i : s.indexes) {
    if (i < 0 || i == std::numeric_limits<int64_t>::max()) {
      return c.invalid("attribute 'ngram_indexes' has {}", i);
    }
  }
  s.weights = c.node().attr_floats("weights");
  if (c.node().find_attr("weights") == nullptr) s.weights.assign(grams, 1.0f);
  if (s.weights.size() != grams) {
    return c.invalid("{} weights for {} n-grams", s.weights.size(), grams);
  }
  return s;
}

int64_t width_of(const Settings& s) {
  return *std::max_element(s.indexes.begin(), s.indexes.end()) + 1;
}

Status infer(InferContext& c) {
  const Facts& x = c.in(0);
  HASTEN_CHECK(check_dtype(c, 0, kStrings | dtypes({DType::kI32, DType::kI64})));
  HASTEN_TRY(const Settings s, settings_of(c));
  if (x.dtype != DType::kNone && s.strings != (x.dtype == DType::kString)) {
    return c.invalid("the input is {}, the pool has {}", dtype_name(x.dtype),
                     s.strings ? "strings" : "integers");
  }
  if (!x.has_shape) {
    c.set_unknown(0, DType::kF32);
    return {};
  }
  if (x.rank() != 1 && x.rank() != 2) {
    return c.invalid("the input has the shape {}, it must be [C] or [N,C]", shape_text(x.shape));
  }
  Shape shape = x.shape;
  shape.back() = Dim(width_of(s));
  c.set(0, DType::kF32, std::move(shape));
  return {};
}

/// The n-grams of the pool as a tree: an edge for each item.
template <class Item>
class Tree {
 public:
  static constexpr int kNowhere = -1;
  struct Vertex {
    std::unordered_map<Item, int> edges;
    int gram = kNowhere;  // the n-gram that ends here
  };

  /// False if it is there already.
  bool add(const Item* items, int64_t length, int gram) {
    int at = 0;
    for (int64_t i = 0; i < length; ++i) {
      const auto [edge, added] =
          vertices_[static_cast<size_t>(at)].edges.emplace(items[i], static_cast<int>(size()));
      at = edge->second;
      if (added) vertices_.emplace_back();
    }
    int& here = vertices_[static_cast<size_t>(at)].gram;
    if (here != kNowhere) return false;
    here = gram;
    return true;
  }
  int next(int at, const Item& item) const {
    const auto& edges = vertices_[static_cast<size_t>(at)].edges;
    const auto found = edges.find(item);
    return found == edges.end() ? kNowhere : found->second;
  }
  int gram(int at) const { return vertices_[static_cast<size_t>(at)].gram; }

 private:
  size_t size() const { return vertices_.size(); }
  std::vector<Vertex> vertices_{1};
};

template <class Item>
Result<Tree<Item>> tree_of(const OpContext& c, const Settings& s, const std::vector<Item>& pool) {
  Tree<Item> tree;
  int gram = 0;
  for (size_t n = 0; n < s.counts.size(); ++n) {
    const auto length = static_cast<int64_t>(n) + 1;
    const int64_t end =
        n + 1 < s.counts.size() ? s.counts[n + 1] : static_cast<int64_t>(pool.size());
    for (int64_t at = s.counts[n]; at < end; at += length, ++gram) {
      if (length < s.min_length || length > s.max_length) continue;
      if (!tree.add(pool.data() + at, length, gram)) {
        return c.invalid("n-gram {} is in the pool twice", gram);
      }
    }
  }
  return tree;
}

/// Counts the n-grams of `items`: those of one item once, longer ones for each number of skips.
template <class Item>
void count_grams(const Settings& s, const Tree<Item>& tree, std::span<const Item> items,
                 std::vector<int64_t>& counts) {
  const auto n = static_cast<int64_t>(items.size());
  const int64_t last_skip = s.max_length == 1 ? 0 : std::min(s.max_skips, n);
  for (int64_t skip = 0; skip <= last_skip; ++skip) {
    const int64_t step = skip + 1;
    const int64_t starts = skip == 0 ? n : n - step;
    for (int64_t first = 0; first < starts; ++first) {
      int at = 0;
      int64_t length = 0;
      for (int64_t i = first; i < n && length < s.max_length; i += step) {
        at = tree.next(at, items[static_cast<size_t>(i)]);
        if (at < 0) break;
        ++length;
        if (length == 1 && skip > 0) continue;
        if (const int gram = tree.gram(at); gram >= 0) ++counts[static_cast<size_t>(gram)];
      }
    }
  }
}

template <class Item>
Status vectorize(RefContext& c, const Settings& s, const std::vector<Item>& pool,
                 std::span<const Item> items) {
  const Dims& dims = c.in(0).dims;
  HASTEN_TRY(const Tree<Item> tree, tree_of(c, s, pool));
  Dims out_dims = dims;
  const int64_t width = out_dims.back() = width_of(s);
  HASTEN_TRY(void* memory, c.out(0, DType::kF32, out_dims));
  auto* out = static_cast<float*>(memory);
  const int64_t rows = dims.size() == 2 ? dims[0] : 1;
  std::fill(out, out + rows * width, 0.0f);
  const auto length = static_cast<size_t>(dims.back());
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int64_t> counts(s.indexes.size(), 0);
    count_grams(s, tree, items.subspan(static_cast<size_t>(row) * length, length), counts);
    for (size_t g = 0; g < counts.size(); ++g) {
      const auto count =
          static_cast<float>(s.mode == "IDF" ? std::min<int64_t>(counts[g], 1) : counts[g]);
      const float weight = s.mode == "TF" ? 1.0f : s.weights[g];
      if (count != 0) out[row * width + s.indexes[g]] += count * weight;
    }
  }
  return {};
}

Status reference(RefContext& c) {
  const TensorView& x = c.in(0);
  HASTEN_TRY(const Settings s, settings_of(c));
  if (s.strings) {
    return vectorize<std::string>(c, s, s.texts,
                                  std::span(x.as<std::string>(), static_cast<size_t>(x.count())));
  }
  return vectorize<int64_t>(c, s, s.ints, read_ints(x));
}

}  // namespace

std::vector<OpDef> ops_tfidf_vectorizer() {
  return {{"",
           "TfIdfVectorizer",
           9,
           kLastOpset,
           1,
           1,
           1,
           1,
           {"max_gram_length", "max_skip_count", "min_gram_length", "mode", "ngram_counts",
            "ngram_indexes", "pool_int64s", "pool_strings", "weights"},
           infer,
           reference}};
}

}  // namespace hasten
