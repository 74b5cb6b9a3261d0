"""What a process sets before it computes."""

import subprocess
import sys


def test_threads_are_set_and_memory_still_works():
    code = "import torch; from ldhd.process import prepare; prepare(1); x = torch.ones(10**7); "
    code += "print(torch.get_num_threads(), int((x + x).sum()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1", "20000000"], done.stderr
