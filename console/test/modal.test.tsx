// @vitest-environment happy-dom
import { render } from "preact";
import { expect, test } from "vitest";
import { Modal } from "../src/parts/modal.js";

test("a dialog is open as soon as it is drawn, so that no key typed at once is lost", () => {
  render(
    <Modal label="Go to" onClose={() => undefined}>
      <input />
    </Modal>,
    document.body,
  );
  expect(document.querySelector("dialog")?.open).toBe(true);
  render(null, document.body);
});
