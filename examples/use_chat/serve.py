"""A page on the AI SDK and the stream that `useChat` reads, in one application: how `create_app` is mounted into one's own.

    npx vite build examples/use_chat --outDir /tmp/page
    python examples/use_chat/serve.py TURNWIRE_URL /tmp/page

Page and endpoint have one origin, so CORS stays shut. In FastAPI: `app.mount("/", create_app(hub))`.
"""

import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from turnwire.frontends.ai_sdk.app import create_app


def main(hub: str, folder: str) -> None:
    """Serve on a free port of this machine, and print the page's URL."""
    page = StaticFiles(directory=folder, html=True)
    app = Starlette(routes=[Mount("/page", page), Mount("/", create_app(hub))])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        # what the printed URL has behind # is the token and the session
        print(f"http://127.0.0.1:{port}/page/#{hub.partition('#')[2]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
