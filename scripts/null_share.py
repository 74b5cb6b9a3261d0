"""python ../scripts/null_share.py RUN, in examples/: how much of its attention each head gives to the null key.

RUN is a finished run of `three_addends:THREE`. A row for each number of addends that have a digit at the place to be
written, over 200 strings of scale 5; a head that reads the addends' digits can tell their number by it.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor

import ldhd
from ldhd.train.data import to_tensors

SCALE, STRINGS = 5, 200


def main(run: Path) -> None:
    _, task, model = ldhd.load_run(run)
    generator = torch.Generator().manual_seed(0)
    instances = [task.instance(task.latent.sample(SCALE, generator)) for _ in range(STRINGS)]
    weights: list[Tensor] = []
    model.blocks[0].attention.weights.register_forward_hook(lambda _module, _inputs, found: weights.append(found))
    with torch.no_grad():
        model.eval()(to_tensors(instances)[0])
    shares: dict[int, list[Tensor]] = {0: [], 1: [], 2: [], 3: []}
    for row, instance in enumerate(instances):
        prompt = instance.text.index("=") + 1
        addends = instance.text[1 : prompt - 1].split("+")
        for place in range(len(instance.text) - prompt - 1):
            present = sum(place < len(addend) for addend in addends)
            shares[present].append(1 - weights[0][row, :, prompt - 1 + place].sum(-1))
    print("addends  null key's share, head by head")
    for present, found in shares.items():
        print(f"{present:7}  {'  '.join(f'{share:.2f}' for share in torch.stack(found).mean(0).tolist())}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
