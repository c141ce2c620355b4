// What compilers complain of, in a line of ours.
#pragma once

#include <string>

namespace assay {

// Why g++ does not take a file for the CPU executor: "mine.cu:12 launches with <<<>>>".
std::string why_not_taken(const std::string& said);

// ": what to do" where the complaint tells; else empty.
std::string cure_for(const std::string& said);

}  // namespace assay
