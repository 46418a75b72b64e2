"""`python -m gradwalk`."""

from gradwalk.cli.main import main

main(prog_name="gradwalk")
