"""How a training is ended: gently, and never by a framework's own flag.

A framework that is told to stop believes that it has finished, and saves the half-trained model as
the final one.
"""

import os
import signal
import threading

# What a shell takes for: try again later. Under torchrun a failure would start the workers anew.
_STATUS, _ELASTIC = 75, "TORCHELASTIC_RUN_ID"
# After so many steps that went on in spite of it, the stop is a signal.
_MOST_RAISED = 3


class StopMeasuring(SystemExit):
    """Ends the script at the border of a step.

    It shows no traceback; `finally`, context managers and atexit run. Handlers of Exception and of
    KeyboardInterrupt do not take it for theirs.
    """


def stop(times: int) -> None:
    """End the script, for the so manyth time: from 1.

    Raises:
        StopMeasuring: always, in the main thread. In others the main thread gets a SIGINT, as an
            exception would end the thread alone, and the script would take it for trained.
    """
    if threading.get_ident() != threading.main_thread().ident:
        if times == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return
    if times > _MOST_RAISED:
        os.kill(os.getpid(), signal.SIGTERM)
        return
    raise StopMeasuring(0 if _ELASTIC in os.environ else _STATUS)
