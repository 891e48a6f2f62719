// @vitest-environment happy-dom
/** The list between a reader's move and its scroll event. happy-dom has no layout, so the list's heights are given. */
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";
import { VirtualList } from "../src/virtual/list.js";

const HEIGHT = 5000;
const VIEW = 500;

function List({ items, onFollow }: { items: readonly number[]; onFollow: (following: boolean) => void }) {
  return (
    <VirtualList
      items={items}
      itemKey={(item) => item}
      estimate={() => 50}
      render={(item) => <p>{item}</p>}
      label="Numbers"
      follow
      onFollow={onFollow}
    />
  );
}

function scrolled(scroller: HTMLElement): void {
  act(() => {
    scroller.dispatchEvent(new Event("scroll"));
  });
}

afterEach(() => {
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

test("a move upwards holds when the list is drawn again before its scroll event", () => {
  vi.spyOn(Element.prototype, "scrollHeight", "get").mockReturnValue(HEIGHT);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(VIEW);
  const items = Array.from({ length: 100 }, (_, index) => index);
  const followed: boolean[] = [];
  const draw = () => act(() => render(<List items={items} onFollow={(following) => followed.push(following)} />, document.body));
  draw();
  const scroller = document.querySelector(".scroller") as HTMLElement;
  scroller.scrollTop = HEIGHT - VIEW;
  scrolled(scroller);
  expect(followed).toEqual([]);

  scroller.scrollTop = 0;
  draw();
  expect(scroller.scrollTop).toBe(0);
  scrolled(scroller);
  draw();
  expect(scroller.scrollTop).toBe(0);
  expect(followed).toEqual([false]);
  expect(document.querySelector(".item")?.textContent).toBe("0");
  act(() => render(null, document.body));
});
