/** One script, one style sheet, a worker, names that do not change: the build is committed, and must come out the same anywhere. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: { alias: { "turnwire-client": here("../clients/typescript/src/index.ts") } },
  build: {
    outDir: here("../turnwire/hub/static"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    // What the page's own script imports at its start is asked for beside it.
    modulePreload: { polyfill: false, resolveDependencies: (_, deps, { hostType }) => (hostType === "html" ? deps : []) },
    rolldownOptions: {
      // The worker imports nothing, so nothing is shared between the two.
      input: { console: here("index.html"), worker: here("src/worker/worker.ts") },
      output: {
        entryFileNames: "[name].js",
        assetFileNames: "console[extname]",
        // Loaded on demand; what it shares with the page stays in the page's own script.
        chunkFileNames: "[name].js",
      },
    },
  },
});
