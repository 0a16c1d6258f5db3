"""Commands that measure, each run by `python -m benchmarks.NAME`. They touch no database but their own."""

from benchmarks.database import refuse_foreign_databases

refuse_foreign_databases()
