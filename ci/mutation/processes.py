"""The processes that a run starts, and one way to end them all.

Each has a process group of its own: what it started ends with it, and Ctrl-C reaches ci/mutate alone.
"""

import os
import signal
import subprocess


class Stopped(Exception):
    """The run is over: this process was ended, or not started."""


class Processes:
    def __init__(self):
        self.running, self.stopped = set(), False

    def run(self, arguments, timeout=None, **options):
        """As subprocess.run with captured text. Throws Stopped after stop(), subprocess.TimeoutExpired after so many seconds."""
        if self.stopped:
            raise Stopped
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                 **options)
        self.running.add(child)
        if self.stopped:  # it was started while stop() went through the others
            self._kill(child)
        try:
            output, errors = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self._kill(child)
            child.communicate()
            raise
        finally:
            self.running.discard(child)
        if self.stopped:
            raise Stopped
        return subprocess.CompletedProcess(arguments, child.returncode, output, errors)

    def stop(self):
        """Ends all that run, and lets no more begin. May be called from the handler of a signal."""
        self.stopped = True
        for child in list(self.running):
            self._kill(child)

    @staticmethod
    def _kill(child):
        if child.returncode is None:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
