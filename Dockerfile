# The sidecar as a non-root process, without an agent CLI and with one:
#
#   docker build -t turnwire .                          runs the scripted agent; put a CLI of your own on top of it
#   docker build -t turnwire-claude --target claude .   with Claude Code
#   docker build -t turnwire-npm --target npm --build-arg PACKAGE=... .   with an agent that is an npm package
#
# `make image` and `make worker-image` do the same. All optional parts are in it: editors (acp), web pages (agui), Redis, web push.
#
# Images are named by version and digest, so that the same build gives the same tomorrow. To move on, change them here; a mirror, or a
# base of your own, is given as --build-arg PYTHON=... For several platforms at once: docker buildx build --platform linux/amd64,linux/arm64 .
ARG PYTHON=python:3.13.7-slim-bookworm@sha256:adafcc17694d715c905b4c7bebd96907a1fd5cf183395f0ebc4d3428bd22d92d
ARG NODE=node:22.20.0-bookworm-slim

# What turnwire needs, apart from its source: a change of that fetches nothing anew. Each file has a hash that is listed.
FROM ${PYTHON} AS dependencies
COPY release/requirements.txt /requirements.txt
RUN python -m venv /opt/turnwire && /opt/turnwire/bin/pip install --no-cache-dir --require-hashes --requirement /requirements.txt

FROM ${PYTHON} AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels --constraint constraints.txt .

# What is in the image, as CycloneDX.
FROM dependencies AS contents
COPY release/tools.txt /tools.txt
RUN python -m venv /tools && /tools/bin/pip install --no-cache-dir --require-hashes --requirement /tools.txt
COPY --from=build /wheels /wheels
RUN /opt/turnwire/bin/pip install --no-cache-dir --no-index --no-deps /wheels/*.whl \
    && /tools/bin/cyclonedx-py environment --output-reproducible --output-file /sbom.cdx.json /opt/turnwire/bin/python

FROM ${PYTHON} AS turnwire
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="turnwire" \
    org.opencontainers.image.description="A sidecar for coding-agent CLIs: typed events, frontends, permissions" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
RUN groupadd --gid 10001 turnwire && useradd --create-home --uid 10001 --gid 10001 turnwire
COPY --from=dependencies /opt/turnwire /opt/turnwire
# Copied and not mounted: not every builder sees that what is mounted has changed.
COPY --from=build /wheels /wheels
RUN /opt/turnwire/bin/pip install --no-cache-dir --no-index --no-deps /wheels/*.whl && rm -r /wheels
COPY --from=contents /sbom.cdx.json /opt/turnwire/share/sbom.cdx.json
# Who asks for the health gets the container's variables. The kernel hides those of a program that only its owner may read.
RUN install -m 711 "$(readlink -f /opt/turnwire/bin/python)" /opt/turnwire/bin/probe
ENV PATH=/opt/turnwire/bin:/usr/local/bin:/usr/bin:/bin
# By number, which an orchestrator can see not to be root.
USER 10001:10001
WORKDIR /home/turnwire
# Made here so that volumes mounted over them belong to the user; everything else may be read-only.
RUN mkdir -m 700 -p .local/state/turnwire recordings .claude
ENV TURNWIRE_RECORD_DIR=/home/turnwire/recordings
EXPOSE 8790
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s \
    CMD ["probe", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8790/readyz', timeout=3)"]
ENTRYPOINT ["turnwire"]
# Whoever listens on all addresses must say who may come in: give TURNWIRE_TOKEN, 16 characters or more.
CMD ["run", "--agent", "demo", "--host", "0.0.0.0"]

FROM ${NODE} AS cli
ARG CLAUDE_CODE_VERSION=2.1.330
# Its installer puts the program for this platform, which needs no Node, behind this one name.
RUN npm install --prefix /cli "@anthropic-ai/claude-code@${CLAUDE_CODE_VERSION}" \
    && cp -L /cli/node_modules/.bin/claude /claude

FROM turnwire AS claude
USER root
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=cli /claude /usr/local/bin/claude
USER 10001:10001
# What it would write into the home directory goes where a volume can be.
ENV CLAUDE_CONFIG_DIR=/home/turnwire/.claude
WORKDIR /workspace
CMD ["run", "--host", "0.0.0.0"]

FROM ${NODE} AS package
ARG PACKAGE
# A version, too: name@1.2.3
RUN test -n "${PACKAGE}" && npm install --prefix /agent "${PACKAGE}"

FROM turnwire AS npm
USER root
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=package /usr/local/bin/node /usr/local/bin/node
COPY --from=package /agent /opt/agent
ENV PATH=/opt/agent/node_modules/.bin:/opt/turnwire/bin:/usr/local/bin:/usr/bin:/bin
USER 10001:10001
WORKDIR /workspace
CMD ["serve", "--host", "0.0.0.0"]

# What `docker build` without --target gives.
FROM turnwire
