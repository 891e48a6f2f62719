/** The drafts of this tab. */
import { Drafts } from "./drafts.js";
import { inTab } from "./kept.js";

export const drafts = new Drafts(inTab);
