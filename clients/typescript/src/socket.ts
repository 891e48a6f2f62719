/** The part of the WebSocket interface this client uses; browsers, Node 22 and the `ws` package all have it. */
export interface SocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Ends the connection without the hub's consent; the `ws` package has it. */
  terminate?(): void;
}

export type SocketFactory = (url: string, protocols: string[]) => SocketLike;

/** Wraps a WebSocket class: the global one where there is one. */
export function socketFactory(implementation?: unknown): SocketFactory {
  const found = implementation ?? (globalThis as { WebSocket?: unknown }).WebSocket;
  if (typeof found !== "function") {
    throw new TypeError('There is no global WebSocket here (Node before 22): pass one, for instance `import WebSocket from "ws"`.');
  }
  const Socket = found as new (url: string, protocols: string[]) => SocketLike;
  return (url, protocols) => new Socket(url, protocols);
}
