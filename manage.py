#!/usr/bin/env python
"""Django's command line for Freshet, in a clone."""

from crawler.operation.command_line import main

if __name__ == "__main__":
    main()
