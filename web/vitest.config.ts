import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "turnwire-client": fileURLToPath(new URL("client/src/index.ts", import.meta.url)) } },
  test: { include: ["*/test/**/*.test.ts"], pool: "threads", maxWorkers: 1 },
});
