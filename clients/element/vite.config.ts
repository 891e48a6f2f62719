/** One script without anything beside it: style and what the console loads later are in it. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  resolve: { alias: { "turnwire-client": here("../typescript/src/index.ts") } },
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: here("dist"),
    target: "es2022",
    lib: { entry: here("src/element.tsx"), formats: ["es"], fileName: () => "turnwire-session.js" },
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
