"""An embedding whose process is killed as soon as it is used, as by a lack of memory."""

import os
import signal

from ldhd.positions import RPE


class Dying(RPE):
    def bias(self, *args, **options):
        os.kill(os.getpid(), signal.SIGKILL)
