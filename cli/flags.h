// The flags of one command: how they are declared, read and explained. Only its source knows the
// parser. Flags may stand in any order; a value is read only once every word is known.
//
// Refuses, with BadInput that names the word at fault: a flag or a word that the command does not
// take (and suggests the nearest flag), a number out of its range, a file whose name looks like a
// flag, two results that would be written to the same file, and flags that exclude each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay {

class Flags {
 public:
  // `command` is how it is called, such as "assay check".
  Flags(const std::string& command, const std::string& purpose);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // The first word, which is one of `known`.
  void subject(const std::vector<std::string>& known);
  // All other words that are no flags.
  void words(const char* name, std::vector<std::string>& values, const char* meaning);

  void flag(const char* name, bool& value, const char* meaning);
  void text(const char* name, std::string& value, const char* type, const char* meaning);
  void text(const char* name, std::optional<std::string>& value, const char* type,
            const char* meaning);
  // One value each time the flag is given: in `--backend simt naive`, naive is a variant.
  void texts(const char* name, std::vector<std::string>& values, const char* type,
             const char* meaning);
  void number(const char* name, int& value, int least, int most, const char* meaning);
  void number(const char* name, std::uint64_t& value, const char* meaning);
  // A file that the command writes; no two of them may be the same.
  void result(const char* name, std::string& value, const char* meaning);
  // --corpus, whose default is $ASSAY_CORPUS, else the project's own.
  void corpus(std::string& value);

  // Refuses two that are both given; `why` is the message.
  void exclude(const char* one, const char* other, const char* why);
  // Keeps the whole command line, for reports to repeat.
  void keep_all(std::vector<std::string>& command_line);
  // What --help prints below the flags.
  void footer(const std::string& text);

  // Reads a command line that begins with the program and the command. Returns false if it asked
  // for help, which is then printed.
  bool read(const std::vector<std::string>& command_line);

 private:
  template <class Number>
  void whole(const char* name, Number& value, Number least, Number most,
             const std::string& meaning);
  void refuse_unknown_words() const;

  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace assay
