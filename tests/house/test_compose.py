"""docker-compose.yml and Dockerfile agree with each other, with the settings and with the tree.

No Docker engine is needed: the file is checked against the compose specification, and every name in it against
what it names.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gradwalk.api.settings import Settings
from gradwalk.cli.main import main as command_line

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")


def check_against_the_specification(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_file_keeps_to_the_compose_specification() -> None:
    outcome = check_against_the_specification(ROOT / "docker-compose.yml")
    assert outcome.returncode == 0, outcome.stdout


def test_a_misspelt_key_would_be_noticed(tmp_path: Path) -> None:
    misspelt = tmp_path / "docker-compose.yml"
    misspelt.write_text((ROOT / "docker-compose.yml").read_text().replace("interval:", "intervall:"))
    assert check_against_the_specification(misspelt).returncode == 1


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_locked_down(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["pids_limit"] > 0
    assert service["mem_limit"]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert all(port.startswith("127.0.0.1:") for port in service["ports"]), "reachable from this machine only"


def test_every_setting_in_the_file_exists() -> None:
    known = {f"GRADWALK_{field}".upper() for field in Settings.model_fields}
    named = {variable for service in SERVICES.values() for variable in service.get("environment", {})}
    assert named <= known, f"no such settings: {sorted(named - known)}"


def test_the_settings_in_the_file_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SERVICES["gradwalk"]["environment"].items():
        monkeypatch.setenv(variable, value)
    settings = Settings()
    assert str(settings.port) == SERVICES["gradwalk"]["environment"]["GRADWALK_PORT"]


def test_ports_agree_everywhere() -> None:
    service = SERVICES["gradwalk"]
    port = service["environment"]["GRADWALK_PORT"]
    assert re.findall(r"EXPOSE (\d+)", DOCKERFILE) == [port]
    assert [mapping.rsplit(":", 1)[1] for mapping in service["ports"]] == [port]
    assert f"127.0.0.1:{port}/healthz" in service["healthcheck"]["test"][-1]


def test_named_volumes_are_declared_and_mounted_where_the_user_may_write() -> None:
    for service in SERVICES.values():
        for mount in service.get("volumes", []):
            volume, folder = mount.split(":")
            assert volume in COMPOSE["volumes"]
            assert f"--owner gradwalk {folder}" in DOCKERFILE


def test_what_the_image_copies_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for arguments in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        *sources, _ = shlex.split(arguments)
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source.split('/')[0]}" in ignored, f"{source} is left out by .dockerignore"


def test_stages_that_are_copied_from_exist() -> None:
    stages = set(re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE))
    assert set(re.findall(r"--from=(\S+)", DOCKERFILE)) <= stages


def test_the_image_runs_as_nobody_in_particular() -> None:
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert re.search(r"^USER gradwalk$", last_stage, re.MULTILINE)


def test_the_image_starts_a_command_that_exists() -> None:
    (arguments,) = re.findall(r"^CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    program, command = yaml.safe_load(arguments)
    assert program == "gradwalk"
    assert command in command_line.commands
