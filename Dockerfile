# The sidecar as a non-root process, without an agent CLI and with one:
#
#   docker build -t turnwire .                          runs the scripted agent; put a CLI of your own on top of it
#   docker build -t turnwire-claude --target claude .   with Claude Code
#   docker build -t turnwire-npm --target npm --build-arg PACKAGE=... .   with an agent that is an npm package
#
# `make image` and `make worker-image` do the same. All optional parts are in it: editors (acp), web pages (agui), Redis, web push.
#
# Images are named by version, so that the same build gives the same tomorrow. To move on, change them here.
FROM python:3.13.7-slim-bookworm@sha256:adafcc17694d715c905b4c7bebd96907a1fd5cf183395f0ebc4d3428bd22d92d AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels --constraint constraints.txt '.[acp,agui,mcp,push,qr,redis,tui,usechat,uvloop]'

FROM python:3.13.7-slim-bookworm@sha256:adafcc17694d715c905b4c7bebd96907a1fd5cf183395f0ebc4d3428bd22d92d AS turnwire
RUN useradd --create-home --uid 10001 turnwire
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels 'turnwire[acp,agui,mcp,push,qr,redis,tui,usechat,uvloop]' && rm -r /wheels
USER turnwire
WORKDIR /home/turnwire
# Made here so that volumes mounted over them belong to the user; everything else may be read-only.
RUN mkdir -m 700 -p .local/state/turnwire recordings .claude
ENV TURNWIRE_RECORD_DIR=/home/turnwire/recordings
EXPOSE 8790
ENTRYPOINT ["turnwire"]
# Whoever listens on all addresses must say who may come in: give TURNWIRE_TOKEN, 16 characters or more.
CMD ["run", "--agent", "demo", "--host", "0.0.0.0"]

FROM node:22.20.0-bookworm-slim AS cli
ARG CLAUDE_CODE_VERSION=2.1.330
# Its installer puts the program for this platform, which needs no Node, behind this one name.
RUN npm install --prefix /cli "@anthropic-ai/claude-code@${CLAUDE_CODE_VERSION}" \
    && cp -L /cli/node_modules/.bin/claude /claude

FROM turnwire AS claude
USER root
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=cli /claude /usr/local/bin/claude
USER turnwire
# What it would write into the home directory goes where a volume can be.
ENV CLAUDE_CONFIG_DIR=/home/turnwire/.claude
WORKDIR /workspace
CMD ["run", "--host", "0.0.0.0"]

FROM node:22.20.0-bookworm-slim AS package
ARG PACKAGE
# A version, too: name@1.2.3
RUN test -n "${PACKAGE}" && npm install --prefix /agent "${PACKAGE}"

FROM turnwire AS npm
USER root
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=package /usr/local/bin/node /usr/local/bin/node
COPY --from=package /agent /opt/agent
ENV PATH=/opt/agent/node_modules/.bin:/usr/local/bin:/usr/bin:/bin
USER turnwire
WORKDIR /workspace
CMD ["serve", "--host", "0.0.0.0"]

# What `docker build` without --target gives.
FROM turnwire
