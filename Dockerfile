# Two CPU-only images of one program: `api` serves the page without PyTorch, `worker` runs programs. The second one can do
# everything: `docker run gradwalk-worker gradwalk serve` needs no other. Built by `docker compose up --build`.
ARG PYTHON_IMAGE=python:3.12-slim-bookworm
ARG NODE_IMAGE=node:22-bookworm-slim

FROM ${NODE_IMAGE} AS page
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
# The catalogue, the kinds of facts and the licences that the page carries.
COPY server/gradwalk /src/server/gradwalk
# Vite writes to /src/server/gradwalk/static.
RUN npm run build && npm run build:embed --if-present

FROM ${PYTHON_IMAGE} AS server
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -m venv /opt/gradwalk
WORKDIR /src
COPY requirements requirements
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY scripts/server-requirements scripts/server-requirements
RUN scripts/server-requirements > requirements/server.txt \
    && /opt/gradwalk/bin/pip install --constraint requirements/lock.txt --requirement requirements/server.txt
COPY server server
COPY --from=page /src/server/gradwalk/static server/gradwalk/static
RUN GRADWALK_SKIP_FRONTEND=1 /opt/gradwalk/bin/pip install --no-deps .

FROM server AS tracer
# PyTorch publishes its CPU-only builds on an index of its own; on x86-64 the general index has only the builds for
# graphics cards, several gigabytes large. For a mirror: --build-arg TORCH_INDEX=...
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN /opt/gradwalk/bin/pip install --extra-index-url "${TORCH_INDEX}" --constraint requirements/lock.txt \
        "$(grep '^torch==' requirements/lock.txt)" \
    && /opt/gradwalk/bin/pip install --constraint requirements/lock.txt "gradwalk[cluster,video]"

FROM ${PYTHON_IMAGE} AS nobody
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin gradwalk \
    && install --directory --owner gradwalk /data
ENV PATH=/opt/gradwalk/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER gradwalk
WORKDIR /data
EXPOSE 8000

FROM nobody AS api
COPY --from=server /opt/gradwalk /opt/gradwalk
CMD ["gradwalk", "serve"]

FROM nobody AS worker
COPY --from=tracer /opt/gradwalk /opt/gradwalk
CMD ["gradwalk", "worker"]
