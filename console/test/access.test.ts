/** How a browser is let in: the token leaves the address, and whatever else stands there stays. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { enter } from "../src/state/access.js";

const BASE = "http://127.0.0.1:7000/";
const page = { href: BASE };
let logins: string[] = [];
let stored: Record<string, string> = {};

/** The hub answers once `meanwhile` is done; where that throws, it is not reached. */
function hub(meanwhile: () => void = () => undefined): void {
  vi.stubGlobal("fetch", async (_: URL, { headers }: { headers: { authorization: string } }) => {
    logins.push(headers.authorization);
    await Promise.resolve();
    meanwhile();
    return new Response(JSON.stringify({ role: "control", key: `key of ${headers.authorization}` }));
  });
}

beforeEach(() => {
  logins = [];
  stored = {};
  const storage = {
    getItem: (name: string) => stored[name] ?? null,
    removeItem: (name: string) => delete stored[name],
    setItem: (name: string, value: string) => (stored[name] = value),
  };
  vi.stubGlobal("location", page);
  vi.stubGlobal("document", { baseURI: BASE });
  vi.stubGlobal("localStorage", storage);
  vi.stubGlobal("sessionStorage", storage);
  vi.stubGlobal("history", { replaceState: (_state: null, _title: string, url: URL) => (page.href = url.href) });
});
afterEach(() => vi.unstubAllGlobals());

test.each([
  ["#token=t1", "", ["Bearer t1"]],
  ["#token=t1&session=a%20b", "#/s/a%20b", ["Bearer t1"]],
  ["?token=t1#/s/a", "#/s/a", ["Bearer t1"]],
  ["?token=t2&x=1#token=t1", "?x=1", ["Bearer t1"]],
  ["#/s/token=t1", "#/s/token=t1", []],
  ["#session=a", "#/s/a", []],
])("an address that ends in %s leaves %j", async (end, left, sent) => {
  hub();
  page.href = BASE + end;
  await enter();
  expect(page.href).toBe(BASE + left);
  expect(logins).toEqual(sent);
});

test.each([
  ["#token=t1&session=a", "#/s/b"],
  ["?token=t1#/s/a", "?token=t1#/s/b"],
])("a link that is followed from %s while the hub answers is where one is then", async (end, followed) => {
  hub(() => (page.href = BASE + followed));
  page.href = BASE + end;
  await enter();
  expect(page.href).toBe(`${BASE}#/s/b`);
  expect(logins).toEqual(["Bearer t1"]);
});

test("a token that comes while the hub answers to another is used, too", async () => {
  hub(() => (page.href = `${BASE}#token=t2`));
  page.href = `${BASE}#token=t1`;
  await enter();
  expect(logins).toEqual(["Bearer t1", "Bearer t2"]);
  expect(stored).toEqual({ "turnwire.key": "key of Bearer t2" });
  expect(page.href).toBe(BASE);
});

test("an address keeps its token where the hub is not reached", async () => {
  hub(() => {
    throw new TypeError("Failed to fetch");
  });
  page.href = `${BASE}#token=t1`;
  await enter();
  expect(page.href).toBe(`${BASE}#token=t1`);
});
