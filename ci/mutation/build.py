"""Compiles mutants of kernels as replacements of the shared libraries of a build folder."""

import hashlib
import re
import shlex
import subprocess
from pathlib import Path

from mutation.processes import Processes
from mutation.source import Source

# What a file is compiled into: libkernel_STEM.so and, to be watched, libwatched_STEM.so; or, by nvcc, libptx_STEM.so.
LIBRARIES = {"simt": ("kernel", "watched"), "ptx": ("ptx",)}


class Unfit(Exception):
    pass


class Build:
    """What the build folder compiles each kernel file with, for a backend."""

    def __init__(self, root, folder, backend):
        self.root, self.folder, self.backend = Path(root).resolve(), Path(folder).resolve(), backend
        self.processes = Processes()
        self.program = self.folder / "assay"
        if not self.program.exists():
            raise Unfit(f"{self.program} is missing: run `ci/build {'cpu' if backend == 'simt' else backend}`")
        self.stages, self.libraries, self.variants, self.parsed = {}, {}, {}, {}
        for path in sorted((self.root / "kernels").glob("*.cu")):
            found = [name for name in LIBRARIES[backend]
                     if (self.folder / f"lib/assay/lib{name}_{path.stem}.so").exists()]
            if found:  # others are not for this backend
                self.stages[path.name] = Source(path.name, path.read_text())
                self.libraries[path.name] = {name: self._commands(f"{name}_{path.stem}") for name in found}
                self.variants[path.name] = self._variants(self.stages[path.name])
        if not self.stages:
            raise Unfit(f"{self.folder}/lib has no library of a kernel for {backend}")
        self.made = self._times()

    def _times(self):
        return {path: path.stat().st_mtime_ns for path in [self.program, *(self.folder / "lib" / "assay").glob("*.so")]}

    def require_unchanged(self):
        """Throws Unfit if anything was built since: then nobody knows what was judged."""
        if self._times() != self.made:
            raise Unfit(f"{self.folder} was built anew while mutants were judged by it: run this again")

    def _commands(self, target):
        """The commands that compile and link a library, as lists of words."""
        answer = self.processes.run(["ninja", "-C", self.folder, "-t", "commands", f"lib/assay/lib{target}.so"])
        if answer.returncode != 0:
            raise Unfit(f"ninja does not know lib{target}.so in {self.folder}: configure the build folder with a preset")
        lines = answer.stdout.splitlines()
        compiles = [line for line in lines if f"/{target}.dir/" in line and " -c " in line]
        links = [line for line in lines if f" -o lib/assay/lib{target}.so " in line]
        if len(compiles) != 1 or len(links) != 1:
            raise Unfit(f"lib{target}.so is not made by one compilation and one link, as a kernel library is")
        words = shlex.split(compiles[0])
        words = words[next(i for i, word in enumerate(words) if re.search(r"(c\+\+|g\+\+|nvcc)[-\w.]*$", word)):]  # no launcher
        return self._without_outputs(words), shlex.split(links[0].removeprefix(": && ").removesuffix(" && :"))

    @staticmethod
    def _without_outputs(words):
        kept, skip = [], False
        for word in words:
            if not skip and word not in ("-o", "-MT", "-MF", "-MD"):
                kept.append(word)
            skip = not skip and word in ("-o", "-MT", "-MF")
        return kept

    @staticmethod
    def _variants(source):
        """The names that its records enter: the only texts in them that are one word."""
        records = [d for d in source.declarations if d.kind == "record"]
        texts = [text for d in records for text in source.texts(d.first, d.last - 1)]
        return [text.strip('"') for text in texts if re.fullmatch(r'"\w+"', text)]

    def parse_headers(self, scratch):
        """Parses once what every kernel includes: most of the time that a compilation by g++ takes. One set for each kind
        of library, because the options differ."""
        for name in LIBRARIES["simt"] if self.backend == "simt" else ():
            self._parse_headers(name, scratch)

    def _parse_headers(self, name, scratch):
        gemm = (self.root / "kernels/gemm.h").read_text()
        text = "#define SIMT_DEVICE_CODE\n" + "".join(re.findall(r"^#include <.*>\n", gemm, re.MULTILINE))
        every = [libraries[name][0] for libraries in self.libraries.values() if name in libraries]
        if not every:
            return
        words = [word for word in every[0][:-1] if word != "-c" and all(word in other for other in every)]
        header = Path(scratch) / name / "headers.h"
        header.parent.mkdir()
        header.write_text(text)
        answer = self.processes.run([*words, "-w", "-x", "c++-header", header, "-o", f"{header}.gch"], cwd=self.folder)
        if answer.returncode != 0:
            raise Unfit(f"the headers of kernels/gemm.h do not compile: {answer.stderr}")
        self.parsed[name] = header

    def compile(self, stage, replaced, text, scratch):
        """Compiles the libraries of a stage with kernels/`replaced` of that text into a folder. Returns what the compiler
        says where it does not compile, or None."""
        changed = Path(scratch) / "source/kernels" / replaced
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(f'#line 1 "{self.root}/kernels/{replaced}"\n{text}')  # the name is part of the machine code
        source = changed if replaced == stage else self.root / "kernels" / stage
        for name, (compile_words, link_words) in self.libraries[stage].items():
            target = f"{name}_{Path(stage).stem}"
            made = Path(scratch) / f"{target}.o"
            file, headers = source, []
            if self.backend == "simt":
                file, headers = Path(scratch) / f"{target}.cpp", ["-include", self.parsed[name]]
                original = Path(compile_words[-1]).read_text()
                file.write_text(re.sub(r'(#include ").*(")', rf"\g<1>{source}\g<2>", original))
            words = [compile_words[0], "-w", *headers, f"-I{changed.parent.parent}", *compile_words[1:-1], file, "-o", made]
            answer = self.processes.run(words, cwd=self.folder)
            if answer.returncode != 0:
                return answer.stderr
            library = Path(scratch) / f"lib{target}.so"
            swapped = [library if word == f"lib/assay/lib{target}.so" else made if word.endswith(".o") else word
                       for word in link_words]
            answer = self.processes.run(swapped, cwd=self.folder)
            if answer.returncode != 0:
                return answer.stderr
        return None

    def machine_code(self, stage, scratch):
        """A digest of the instructions, with what they refer to, and of the constants; places in the source are left out."""
        made = Path(scratch) / f"{LIBRARIES[self.backend][0]}_{Path(stage).stem}.o"
        answer = self.processes.run(["objdump", "-d", "-r", "--no-show-raw-insn", made])
        if answer.returncode != 0:
            raise Unfit(f"objdump cannot read {made}: {answer.stderr}")
        code = answer.stdout.split("\n", 3)[-1]
        sections = re.findall(r"^ *\d+ (\.rodata(?!\.str)\S*|\.data\.rel\.ro\S*|\.tbss\S*|\.tdata\S*) ",
                              self.processes.run(["objdump", "-h", made]).stdout, re.MULTILINE)
        for section in sorted(set(sections)):
            code += self.processes.run(["objdump", "-s", "-r", "-j", section, made]).stdout.split("\n", 3)[-1]
        if self.backend == "ptx":
            code = self._without_unique_names(code + self._ptx(made))
        return hashlib.sha256(code.encode()).hexdigest()

    def _ptx(self, made):
        """The lines of PTX in an object of nvcc's, without what tells places in the source."""
        text = made.with_suffix(".ptx")
        answer = self.processes.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin",
                                     "--set-section-flags", ".nv_fatbin=alloc", made, text])
        if answer.returncode != 0:
            raise Unfit(f"objcopy cannot read {made}: {answer.stderr}")
        data = text.read_bytes()
        begin = data.find(b".version")
        if begin < 0:
            raise Unfit(f"{made} has no PTX that can be read: nvcc was not given --no-compress")
        lines = data[begin:].decode(errors="replace").split("\n")
        places = re.compile(r"\s*\.(loc|file|b8|b16|b32|b64)\s")  # numbers alone are those of debug sections
        return "\n".join(line for line in lines if not places.match(line))

    @staticmethod
    def _without_unique_names(code):
        """nvcc makes a name of the file, of what it includes and of its own process, for all that is the file's own."""
        return re.sub(r"\d*_GLOBAL__N__[0-9a-f]{8}_|_[0-9a-f]{8}_\d+(?=_\w*_cu)|_cu_[0-9a-f]{8}_\d+|tmpxft_\w+", "", code)

    def check(self, stage, scratch, report, seconds, cases=()):
        """Runs `assay check` about the variants of a stage with the libraries in a folder. Returns its exit code, or None
        where the time ran out."""
        words = [self.program, "check", *self.variants[stage], "--backend", self.backend, "--no-corpus", "--first-failure",
                 "--jobs", "1", "--quiet", "--json", report, *cases]
        environment = {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "", "LD_LIBRARY_PATH": str(scratch)}
        try:
            return self.processes.run(words, env=environment, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            return None
