"""Entry point of `python -m thalweg`, which is the command line."""

from thalweg.cli import main

if __name__ == "__main__":
    main()
