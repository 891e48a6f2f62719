/** Code has colours from now on: what was drawn without them is drawn anew. */
import { onGrammars } from "../text/languages.js";
import { Source } from "./source.js";

export const coloured = new Source();

onGrammars(() => coloured.emit());
