// Runs the hasten binary: text in, text out.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/adapters/tiny_onnx.h"

namespace hasten::test {

struct Outcome {
  int code = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

/// `hasten ARGUMENTS` by way of a shell.
inline Outcome hasten_with(const std::string& arguments, const std::string& environment = "") {
  TempDir dir;
  const std::string command = environment + " " HASTEN_BINARY " " + arguments + " >" +
                              dir.file("out") + " 2>" + dir.file("err") + " </dev/null";
  const int status = std::system(command.c_str());
  auto slurp = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(dir.file("out")),
          slurp(dir.file("err"))};
}

}  // namespace hasten::test
