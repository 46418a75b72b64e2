"""docker-compose.yml and Dockerfile agree with each other, the settings and the tree. No Docker engine is needed."""

import re
import shlex

import pytest
import yaml

from gradwalk.api.settings import Settings
from gradwalk.cli.worker import SIGN_OF_LIFE
from tests.house.tree import ROOT

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_locked_down(name: str) -> None:
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"], service["restart"]) == (True, ["ALL"], "unless-stopped")
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["pids_limit"] > 0 < service["cpus"]
    assert service["mem_limit"]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), "reachable from this machine only"


def test_a_service_reaches_those_that_it_waits_for() -> None:
    for name, service in SERVICES.items():
        for other, condition in service.get("depends_on", {}).items():
            assert condition["condition"] == "service_healthy"
            assert "healthcheck" in SERVICES[other]
            assert not SERVICES[other].get("profiles"), f"{other} is not always there"
            assert set(service["networks"]) & set(SERVICES[other]["networks"]), f"{name} does not reach {other}"


def test_programs_run_where_nothing_reaches_the_world_and_every_setting_exists() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["worker"]["networks"] == SERVICES["valkey"]["networks"] == ["inside"]
    assert not SERVICES["worker"].get("ports")
    known = {f"GRADWALK_{field}".upper() for field in Settings.model_fields}
    named = {variable for service in SERVICES.values() for variable in service.get("environment", {})}
    assert named <= known, f"no such settings: {sorted(named - known)}"


def test_every_service_has_a_name_and_a_password_of_its_own_in_the_shared_server() -> None:
    command = SERVICES["valkey"]["command"]
    users = {command[at + 1]: command[at + 3] for at, word in enumerate(command) if word == "--user"}
    assert (users.pop("default"), users.pop("health")) == ("resetpass", "nopass")
    for service, user in (("api", "web"), ("worker", "worker")):
        (variable,) = re.findall(r"^>(\$\{\w+):\?\}$", users.pop(user))
        assert SERVICES[service]["environment"]["GRADWALK_CLUSTER_URL"].startswith(f"redis://{user}:{variable}:?")
        assert variable[2:] in (ROOT / "server" / "deploy" / "README.md").read_text()
    assert not users


def test_ports_and_the_sign_of_life_agree_everywhere() -> None:
    service = SERVICES["api"]
    port = service["environment"]["GRADWALK_PORT"]
    assert re.findall(r"EXPOSE (\d+)", DOCKERFILE) == [port]
    assert [mapping.rsplit(":", 1)[1] for mapping in service["ports"]] == [port]
    assert f"127.0.0.1:{port}/readyz" in service["healthcheck"]["test"][-1]
    assert f"server api:{port} " in (ROOT / "server" / "deploy" / "nginx.conf").read_text()
    (scraped,) = yaml.safe_load((ROOT / "server" / "deploy" / "prometheus.yml").read_text())["scrape_configs"]
    assert [(source["names"], str(source["port"])) for source in scraped["dns_sd_configs"]] == [(["api"], port)]
    worker = SERVICES["worker"]
    file = f"{worker['environment']['GRADWALK_DATA_DIRECTORY']}/{SIGN_OF_LIFE}"
    assert f'getmtime("{file}")' in worker["healthcheck"]["test"][-1]
    assert any(file.startswith(mount.split(":")[0]) for mount in worker["tmpfs"])


def test_the_images_run_as_an_ordinary_user_and_what_they_copy_exists_and_is_not_ignored() -> None:
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["gradwalk"]
    for name in ("api", "worker"):
        assert f"FROM nobody AS {name}\n" in DOCKERFILE, "which has the user"
    assert "torch" not in DOCKERFILE.partition("\nFROM server AS tracer\n")[0], "the server's has none"
    assert "COPY --from=server" in DOCKERFILE.partition(" AS api\n")[2].partition("\nFROM ")[0]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for arguments in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        for source in shlex.split(arguments)[:-1]:
            assert (ROOT / source).exists(), source
            assert f"!{source.split('/')[0]}" in ignored, f"{source} is left out by .dockerignore"
