// Says of dist/commonjs that its modules are CommonJS, as the package itself is of ES modules.
import { writeFileSync } from "node:fs";

writeFileSync(new URL("../dist/commonjs/package.json", import.meta.url), '{ "type": "commonjs" }\n');
