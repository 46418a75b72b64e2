"""Every setting of the server; each is an environment variable with the prefix GRADWALK_."""

import ipaddress
import os
from pathlib import Path
from urllib.parse import urlsplit

from limits import parse
from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from gradwalk.api.logs import LogFormat, LogLevel
from gradwalk.rooms.storage import RoomLimits
from gradwalk.sandbox.limits import RunLimits

_STATIC = Path(__file__).parents[1] / "static"
_PREFIX = "GRADWALK_"
UNLESS_SET = "unless_set"
"""What the table says of a default that depends on the machine."""
_MASK = "***"


def _default_running_count() -> int:
    return max(2, os.cpu_count() or 1)


def _default_data_directory() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "gradwalk"


class Settings(BaseSettings):
    """How one server runs."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="ignore", frozen=True)

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    as_root: bool = Field(default=False, description="Listen to others though it is root that runs it.")
    allowed_hosts: list[str] = Field(
        default_factory=list,
        description='Names (JSON list) under which it may be asked, besides those of this machine; `["*"]` for any.',
    )

    log_format: LogFormat = Field(
        default="auto", description="`json`, `text`, or `auto`: text in a terminal, else JSON."
    )
    log_level: LogLevel = Field(
        default="info", description="`debug`, `info` (a line per request), `warning` or `error`."
    )

    cluster_url: str = Field(
        default="",
        pattern=r"^(|rediss?://.+)$",
        description="Redis or Valkey that servers and workers share, `redis://host:6379/0`; unset: this machine alone.",
    )
    data_directory: Path = Field(
        default_factory=_default_data_directory,
        description="Where traces are kept.",
        json_schema_extra={UNLESS_SET: "`~/.local/share/gradwalk`"},
    )
    trace_bytes_max: int = Field(
        default=2 << 30, gt=0, description="Compressed traces kept; the longest unused go first."
    )
    snippet_bytes_max: int = Field(default=256 << 20, gt=0, description="Programs kept for permalinks.")

    run_seconds: float = Field(default=10.0, gt=0, description="Time of one run, without what recording takes.")
    recording_seconds: float = Field(default=30.0, ge=0, description="Time for recording the passes of one run.")
    run_memory_bytes: int = Field(default=1 << 30, gt=0, description="Memory of one run, on top of torch itself.")
    spare_count: int = Field(default=1, ge=0, description="Children forked ahead of the next request.")
    running_count: int = Field(
        default_factory=_default_running_count,
        gt=0,
        description="Runs at once.",
        json_schema_extra={UNLESS_SET: "cores, at least 2"},
    )
    waiting_count: int = Field(default=600, ge=0, description="Runs that may wait; more are answered 429.")
    client_waiting_count: int = Field(
        default=320, ge=0, description="Runs of one address that may wait: a lecture hall may share one."
    )
    client_rate: str = Field(default="3000/minute", description="New runs that one address may ask for.")
    link_rate: str = Field(
        default="1000/minute",
        description="Those among them that links, frames and players on other pages may start.",
    )
    cpu_rate: str = Field(
        default="900/10 minutes",
        description="Seconds of processor time that runs and files of one address may use; empty: any number. "
        "30 people behind one address, each with three programs of a second per minute, use 900 in ten minutes; "
        "an example uses 0.05, a film of one 11 to 35. Servers and workers need the same.",
    )
    trusted_proxies: list[str] = Field(
        default_factory=list,
        description="Proxies (JSON list of addresses or networks) whose `X-Forwarded-For` says who the client is.",
    )
    abandon_seconds: float = Field(default=1.0, ge=0, description="After the last reader has left, a run is stopped.")
    retain_seconds: float = Field(
        default=60.0, ge=0, description="How long a result that is not kept can be read again."
    )

    rooms_max: int = Field(
        default=500, ge=0, description="Live rooms at once; then the emptiest that nobody presents makes room."
    )
    client_rooms_max: int = Field(default=50, ge=0, description="Those among them that one address has opened.")
    room_places_max: int = Field(default=5_000, gt=0, description="Followers of one room.")
    room_idle_seconds: float = Field(
        default=3_600.0, gt=0, description="A room ends this long after its presenter has left; nothing of it is kept."
    )
    room_rate: str = Field(
        default="60000/minute",
        description="What one address may send to rooms (moves, answers): a lecture hall may share one.",
    )
    guess_rate: str = Field(
        default="3000/minute", description="Codes of no room that one address may ask for: a hall that lost its room."
    )
    owner_token: SecretStr = Field(
        default=SecretStr(""),
        description="With it, `PUT /api/snippets/{id}/pin` keeps a permalink for good; unless set, nobody can.",
        json_schema_extra={UNLESS_SET: "nothing"},
    )
    participant_rate: str = Field(default="120/minute", description="Answers and moves of one follower of a room.")

    client_connections_max: int = Field(
        default=4_096,
        gt=0,
        description="Connections of one address; at most half of what the system lets a server have.",
    )
    request_seconds: float = Field(default=20.0, gt=0, description="How long a request may take to arrive as a whole.")
    memory_bytes_max: int = Field(
        default=1 << 30,
        gt=0,
        description="Memory of the server itself; above it, it begins nothing new and answers 503.",
    )
    body_bytes_max: int = Field(
        default=128 << 10, gt=0, description="Length of one request, each list in it 16 more; to a room 4 KiB."
    )
    body_rate: str = Field(
        default="16000000/minute",
        description="Bytes in the bodies of one address's requests; one that does not say its length counts in full.",
    )
    frame_ancestors: str = Field(
        default="*",
        pattern=r"^[^;,\s]+( [^;,\s]+)*$",
        description="Pages that may show the embed page in a frame, as in `frame-ancestors`, separated by blanks.",
    )
    static_directory: Path = Field(
        default=_STATIC, description="The built front end.", json_schema_extra={UNLESS_SET: "the one in the package"}
    )

    @field_validator("client_rate", "link_rate", "cpu_rate", "room_rate", "guess_rate", "participant_rate", "body_rate")
    @classmethod
    def _check_rate(cls, text: str, field: ValidationInfo) -> str:
        if text or field.field_name != "cpu_rate":
            parse(text)
        return text

    def describe(self) -> dict[str, str]:
        """Every setting under the name of its variable, as it can be shown: passwords in addresses are masked."""
        return {variable(name): _mask(str(getattr(self, name))) for name in type(self).model_fields}

    @property
    def is_public(self) -> bool:
        """True when others than this machine can reach the server."""
        if self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return True

    @property
    def run_limits(self) -> RunLimits:
        """The part that the sandbox needs."""
        return RunLimits(
            wall_seconds=self.run_seconds,
            recording_seconds=self.recording_seconds,
            memory_bytes=self.run_memory_bytes,
            spare_count=self.spare_count,
        )

    @property
    def room_limits(self) -> RoomLimits:
        """The part that rooms need."""
        return RoomLimits(
            rooms_max=self.rooms_max,
            client_rooms_max=self.client_rooms_max,
            places_max=self.room_places_max,
            idle_seconds=self.room_idle_seconds,
        )


def variable(name: str) -> str:
    """Of the setting of this name."""
    return f"{_PREFIX}{name}".upper()


def _mask(text: str) -> str:
    parts = urlsplit(text)
    return text.replace(f":{parts.password}@", f":{_MASK}@") if parts.password else text
