import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "turnwire-client": fileURLToPath(new URL("clients/typescript/src/index.ts", import.meta.url)) } },
  test: {
    include: ["{clients/typescript,console}/test/**/*.test.{ts,tsx}"],
    pool: "threads",
    maxWorkers: 1,
    // they say that something hangs: the machine may be busy, or stand still
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
