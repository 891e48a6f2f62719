/** A dialog that has the keyboard to itself. Escape closes it, and the focus goes back to where it was. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { rootOf } from "./keyboard.js";

interface Props {
  label: string;
  onClose: () => void;
  /** A click beside it closes it; not where that would lose what was written. */
  byBackdrop?: boolean;
  children: preact.ComponentChildren;
}

export function Modal({ label, onClose, byBackdrop = true, children }: Props) {
  const node = useRef<HTMLDialogElement>(null);
  // Before anything is painted: keys typed right after the one that opened it are for it.
  useLayoutEffect(() => {
    const before = node.current && rootOf(node.current).activeElement;
    node.current?.showModal();
    return () => {
      // Its node goes with what is in it: the browser then gives the focus to the page.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; Escape does, too
    <dialog
      ref={node}
      class="modal"
      aria-label={label}
      onClose={onClose}
      onClick={(event) => {
        if (byBackdrop && event.target === node.current) node.current?.close();
      }}
    >
      {children}
    </dialog>
  );
}
