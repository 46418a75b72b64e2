# One CPU-only image: API, page and tracer. Build and run it with `docker compose up --build`.
ARG PYTHON_IMAGE=python:3.12-slim-bookworm
ARG NODE_IMAGE=node:22-bookworm-slim

FROM ${NODE_IMAGE} AS page
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
# Vite writes to /src/server/gradwalk/static.
RUN npm run build && npm run build:embed --if-present

FROM ${PYTHON_IMAGE} AS python
# PyTorch publishes its CPU-only builds on an index of its own; on x86-64 the general index has only the builds for
# graphics cards, several gigabytes large. For a mirror: --build-arg TORCH_INDEX=...
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/gradwalk
WORKDIR /src
COPY requirements/run.lock requirements/run.lock
RUN /opt/gradwalk/bin/pip install --extra-index-url "${TORCH_INDEX}" --constraint requirements/run.lock \
        "$(grep '^torch==' requirements/run.lock)" \
    && /opt/gradwalk/bin/pip install --requirement requirements/run.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY server server
COPY --from=page /src/server/gradwalk/static server/gradwalk/static
RUN GRADWALK_SKIP_FRONTEND=1 /opt/gradwalk/bin/pip install --no-deps .

FROM ${PYTHON_IMAGE}
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin gradwalk \
    && install --directory --owner gradwalk /data
COPY --from=python /opt/gradwalk /opt/gradwalk
ENV PATH=/opt/gradwalk/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER gradwalk
WORKDIR /data
EXPOSE 8000
CMD ["gradwalk", "serve"]
