"""torch's own databases for the tests of the tracer."""

from tests.databases import module_database, operator_database

__all__ = ["module_database", "operator_database"]
