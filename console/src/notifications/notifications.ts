/** How turnwire reaches people, and people turnwire, beyond this page; loaded once somebody asks for it. */
export { Invite } from "./invite.js";
export { subscribe, unsubscribe } from "./push.js";
