# The sidecar as a non-root process. An agent CLI is not in it: build your own image on top, or try `--agent demo`.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels --constraint constraints.txt '.[uvloop,redis]'

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 turnwire
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels 'turnwire[uvloop,redis]' && rm -r /wheels
USER turnwire
WORKDIR /home/turnwire
# Made here so that a volume mounted over it belongs to the user.
RUN mkdir -m 700 -p .local/state/turnwire
EXPOSE 8790
ENTRYPOINT ["turnwire"]
# Whoever listens on all addresses must say who may come in: give TURNWIRE_TOKEN, 16 characters or more.
CMD ["run", "--agent", "demo", "--host", "0.0.0.0"]
