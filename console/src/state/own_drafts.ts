/** The drafts of this tab. */
import { Drafts } from "./drafts.js";

export const drafts = new Drafts(sessionStorage);
