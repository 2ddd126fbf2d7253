"""Program of a worker process: reads points from a socket and answers with outcomes, until the socket closes.

It runs as a script, so that neither this package nor the user's `__main__` is imported. Messages are pickles, with at most one
under way in each direction.
"""

import os
import pickle
import signal
import socket
import sys
import threading
import time


def end_with(parent: int) -> None:
    """End this process and its children soon after its parent has ended, even during an evaluation."""
    while os.getppid() == parent:
        time.sleep(0.5)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def main(descriptor: int, parent: int) -> None:
    """Load the objective, then answer each point with its outcome until the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    os.set_inheritable(descriptor, False)  # a program that the objective starts must not keep it open when this process dies
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rb") as source:
        try:
            folder, path, evaluate = pickle.load(source)
            sys.path[:] = path
            os.chdir(folder)
            evaluate = pickle.loads(evaluate)
        except EOFError:
            return
        except BaseException as error:  # an import that fails may raise anything
            connection.sendall(pickle.dumps(f"{type(error).__name__}: {error}"))
            return
        connection.sendall(pickle.dumps(None))
        while True:
            try:
                x = pickle.load(source)
            except EOFError:
                return
            connection.sendall(pickle.dumps(evaluate(x)))


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]))
    except OSError:  # the other side closed in the middle of a message
        sys.exit(1)
