import { describe, expect, test } from "vitest";
import { allowOnce, deny, label, type PermissionOption, type PermissionRequest } from "../src/index.js";

const asked = (...options: [string, PermissionOption["kind"]][]): PermissionRequest => ({
  type: "permission_request",
  pending_id: "p",
  permission_title: "touch made.txt",
  action_type: "command",
  permission_options: options.map(([option_id, kind]) => ({ option_id, kind, name: option_id })),
});

describe("a permission request", () => {
  // Gemini CLI 0.61 and Grok 1.0 as recorded: the answer that lasts comes first
  test.each([
    [asked(["proceed_always", "allow_always"], ["proceed_once", "allow_once"], ["cancel", "reject_once"]), "proceed_once", "cancel"],
    [
      asked(
        ["always-allow", "allow_always"],
        ["allow-once", "allow_once"],
        ["reject-always", "reject_always"],
        ["reject-once", "reject_once"],
      ),
      "allow-once",
      "reject-once",
    ],
  ])("names the options that hold for one call", (request, allowed, denied) => {
    expect(allowOnce(request)).toBe(allowed);
    expect(deny(request)).toBe(denied);
  });

  test("without such an option says what it has", () => {
    const request = asked(["ever", "allow_always"], ["never", "reject_always"]);
    expect(() => allowOnce(request)).toThrow(
      "Request p has no option of the kind allow_once. Choose among its options: ever (allow_always)",
    );
    expect(deny(request)).toBe("never");
    expect(() => deny(asked())).toThrow("its options: none.");
  });

  test("calls an answer that lasts by what it comes to", () => {
    const option: PermissionOption = { option_id: "a", name: "Always", kind: "allow_always", effect: "Allows it for ever." };
    expect(label(option)).toBe("Allows it for ever.");
    expect(label({ ...option, kind: "allow_once" })).toBe("Always");
    expect(label({ option_id: "a", name: "Always", kind: "allow_always" })).toBe("Always");
  });
});
