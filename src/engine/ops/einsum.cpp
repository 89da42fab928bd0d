// https://onnx.ai/onnx/operators/onnx__Einsum.html, opsets 12-21, numbers. An index of size 1
// broadcasts against the same index of another operand; what the output does not name is summed,
// an ellipsis too. Floats are summed in double, integers wrap.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/ops/convert.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

/// The indices of one operand, or of the output: letters; kEllipsis once at most.
using Term = std::string;
constexpr char kEllipsis = '.';

struct Equation {
  std::vector<Term> operands;
  Term output;
};

Result<Term> read_term(const OpContext& c, std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (text.substr(i, 3) == "...") {
      if (term.find(kEllipsis) != Term::npos) {
        return c.invalid("the term '{}' of the equation has two ellipses", text);
      }
      term += kEllipsis;
      i += 2;
    } else if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
      term += letter;
    } else {
      return c.invalid("the term '{}' of the equation has the character '{}'", text, letter);
    }
  }
  return term;
}

Result<Equation> read_equation(const OpContext& c) {
  std::string text = c.node().attr_string("equation", "");
  if (c.node().find_attr("equation") == nullptr) return c.invalid("equation is missing");
  std::erase(text, ' ');
  Equation e;
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    HASTEN_TRY(Term term, read_term(c, left.substr(0, comma)));
    e.operands.push_back(std::move(term));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (e.operands.size() != c.inputs()) {
    return c.invalid("equation '{}' is of {} operands, there are {}", text, e.operands.size(),
                     c.inputs());
  }
  std::map<char, int> uses;
  for (const Term& term : e.operands) {
    for (const char letter : term) ++uses[letter];
  }
  if (arrow == std::string::npos) {
    // Ordered by letter; the ellipsis sorts first.
    for (const auto& [letter, n] : uses) {
      if (n == 1 || letter == kEllipsis) e.output += letter;
    }
    return e;
  }
  HASTEN_TRY(e.output, read_term(c, std::string_view(text).substr(arrow + 2)));
  for (const char letter : e.output) {
    if (std::count(e.output.begin(), e.output.end(), letter) > 1) {
      return c.invalid("equation '{}' names '{}' twice after the arrow", text, letter);
    }
    if (letter != kEllipsis && !uses.contains(letter)) {
      return c.invalid("equation '{}' has '{}' only after the arrow", text, letter);
    }
  }
  return e;
}

/// An index of the walk: a letter, or (behind the letters) a dim of the ellipsis.
using Label = int;

/// The terms with the ellipsis spelled out, and the size of each label.
struct Labels {
  std::vector<std::vector<Label>> operands;
  std::vector<Label> output;
  std::map<Label, Dim> dims;
};

std::vector<Label> labels_of(const Term& term, size_t ellipsis) {
  std::vector<Label> labels;
  for (const char letter : term) {
    if (letter != kEllipsis) {
      labels.push_back(letter);
    } else {
      for (size_t k = 0; k < ellipsis; ++k) labels.push_back(256 + static_cast<Label>(k));
    }
  }
  return labels;
}

/// Shapes may be missing (null); the ellipsis must be known then. Errors: invalid_model.
Result<Labels> read_labels(const OpContext& c, const Equation& e,
                           const std::vector<const Shape*>& shapes) {
  std::optional<size_t> ellipsis;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] == nullptr) continue;
    const Term& term = e.operands[i];
    const bool open = term.find(kEllipsis) != Term::npos;
    const size_t letters = term.size() - (open ? 1 : 0), rank = shapes[i]->size();
    if (open ? rank < letters : rank != letters) {
      return c.invalid("operand {} is {}, its term names {} indices", i, shape_text(*shapes[i]),
                       letters);
    }
    if (!open) continue;
    if (ellipsis && *ellipsis != rank - letters) {
      return c.invalid("the ellipsis stands for {} dims in operand {}, for {} before",
                       rank - letters, i, *ellipsis);
    }
    ellipsis = rank - letters;
  }
  Labels l;
  for (size_t i = 0; i < shapes.size(); ++i) {
    l.operands.push_back(labels_of(e.operands[i], ellipsis.value_or(0)));
    for (size_t d = 0; d < l.operands[i].size(); ++d) {
      const Label label = l.operands[i][d];
      const Dim dim = shapes[i] == nullptr ? Dim::fresh() : (*shapes[i])[d];
      const auto [it, is_new] = l.dims.emplace(label, dim);
      if (is_new) continue;
      auto both = broadcast({it->second}, {dim});
      if (!both) {
        return c.invalid("axis {} of operand {} has {} elements, the same index {} before", d, i,
                         dim.text(), it->second.text());
      }
      it->second = (*both)[0];
    }
  }
  l.output = labels_of(e.output, ellipsis.value_or(0));
  return l;
}

Status infer(InferContext& c) {
  HASTEN_TRY(const Equation e, read_equation(c));
  HASTEN_CHECK(check_same_dtype(c));
  std::vector<const Shape*> shapes;
  bool open = false;
  for (size_t i = 0; i < c.inputs(); ++i) {
    HASTEN_CHECK(check_dtype(c, i, kNumbers));
    shapes.push_back(c.in(i).has_shape ? &c.in(i).shape : nullptr);
    open = open || (shapes.back() == nullptr && e.operands[i].find(kEllipsis) != Term::npos);
  }
  const DType dtype = common_dtype(c);
  if (open) {
    c.set_unknown(0, dtype);
    return {};
  }
  HASTEN_TRY(const Labels l, read_labels(c, e, shapes));
  Shape out;
  for (const Label label : l.output) out.push_back(l.dims.at(label));
  return set_checked(c, 0, dtype, std::move(out));
}

/// Offsets of the operands while the labels count up, the last the fastest.
class Walk {
 public:
  Walk(const Labels& l, const std::vector<Label>& order, const std::vector<Dims>& operands) {
    for (const Label label : order) dims_.push_back(l.dims.at(label).value());
    for (size_t k = 0; k < operands.size(); ++k) {
      const Dims dense = row_major_strides(operands[k]);
      Dims strides;
      for (const Label label : order) {
        int64_t stride = 0;  // of a repeated index: along the diagonal
        for (size_t d = 0; d < dense.size(); ++d) {
          if (l.operands[k][d] == label && operands[k][d] != 1) stride += dense[d];
        }
        strides.push_back(stride);
      }
      strides_.push_back(std::move(strides));
    }
  }
  /// f() for each index; `at` are the offsets, moved along and put back.
  template <class F>
  void each(std::vector<int64_t>& at, F&& f) const {
    if (std::find(dims_.begin(), dims_.end(), 0) != dims_.end()) return;
    Dims index(dims_.size(), 0);
    while (true) {
      f();
      size_t d = dims_.size();
      for (; d > 0; --d) {
        const bool carries = ++index[d - 1] == dims_[d - 1];
        for (size_t k = 0; k < at.size(); ++k) {
          at[k] += carries ? -strides_[k][d - 1] * (dims_[d - 1] - 1) : strides_[k][d - 1];
        }
        if (!carries) break;
        index[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }
  const Dims& dims() const { return dims_; }

 private:
  Dims dims_;
  std::vector<Dims> strides_;  // [operand][label]
};

Status reference(RefContext& c) {
  HASTEN_TRY(const Equation e, read_equation(c));
  std::vector<Shape> shapes;
  std::vector<Dims> dims;
  for (size_t i = 0; i < c.inputs(); ++i) {
    dims.push_back(c.in(i).dims);
    shapes.push_back(to_shape(dims.back()));
  }
  std::vector<const Shape*> pointers;
  pointers.reserve(shapes.size());
  for (const Shape& s : shapes) pointers.push_back(&s);
  HASTEN_TRY(const Labels l, read_labels(c, e, pointers));
  std::vector<Label> summed;
  for (const auto& [label, dim] : l.dims) {
    if (std::find(l.output.begin(), l.output.end(), label) == l.output.end()) {
      summed.push_back(label);
    }
  }
  const Walk outer(l, l.output, dims), inner(l, summed, dims);
  const DType dtype = c.in(0).dtype;
  HASTEN_TRY(void* memory, c.out(0, dtype, outer.dims()));
  dispatch_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    std::vector<const T*> data;
    for (size_t k = 0; k < c.inputs(); ++k) data.push_back(c.in(k).as<T>());
    std::vector<int64_t> at(data.size(), 0);
    T* out = static_cast<T*>(memory);
    outer.each(at, [&] {
      Sum sum = 0;
      inner.each(at, [&] {
        Sum product = 1;
        for (size_t k = 0; k < data.size(); ++k) {
          product *= static_cast<Sum>(Compute<T>::load(data[k][at[k]]));
        }
        sum += product;
      });
      *out++ = convert_number<T>(sum);
    });
  });
  return {};
}

}  // namespace

std::vector<OpDef> ops_einsum() {
  return {{"", "Einsum", 12, kLastOpset, 1, -1, 1, 1, {"equation"}, infer, reference}};
}

}  // namespace hasten
