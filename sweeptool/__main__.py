"""``python -m sweeptool`` is the command ``sweeptool``."""

from sweeptool.cli import main

if __name__ == "__main__":
    main()
