/** A button that decides something: it does nothing until it has stood still for a second, and shows that it waits. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Arming, type Place } from "./arming.js";

/** How often a deciding control is looked at, in milliseconds. */
const LOOK_MS = 100;

function placeOf(node: Element | null): Place | undefined {
  if (!node) return undefined;
  const { left, top, right, bottom, width, height } = node.getBoundingClientRect();
  const seen = width > 0 && height > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  return seen && document.visibilityState === "visible" ? { left, top, width, height } : undefined;
}

interface Props {
  /** What it decides. Another meaning begins the second anew. */
  meaning: string;
  onDecide: () => void;
  /** It cannot decide now, whatever its second. */
  blocked?: boolean;
  className: string;
  option?: string;
  submit?: boolean;
  title?: string | undefined;
  children: ComponentChildren;
}

export function Decide({ meaning, onDecide, blocked = false, className, option, submit = false, title, children }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const arming = useRef(new Arming());
  const pressed = useRef(false);
  const [armed, setArmed] = useState(false);
  const [early, setEarly] = useState(false);
  const look = () => arming.current.observe(placeOf(button.current), meaning, performance.now());

  useEffect(() => {
    setArmed(look());
    const timer = setInterval(() => setArmed(look()), LOOK_MS);
    return () => clearInterval(timer);
  }, [meaning]);

  return (
    <button
      ref={button}
      type={submit ? "submit" : "button"}
      class={`${className} ${armed || blocked ? "" : "arming"} ${early && !armed ? "early" : ""}`}
      // Not `disabled`: a button that loses the focus each time it moves cannot be used by the keyboard.
      aria-disabled={blocked || !armed}
      data-option={option}
      title={title}
      onPointerDown={() => {
        pressed.current = look();
      }}
      onClick={(event) => {
        // A form is sent by its button alone, so that Enter in a field passes this way, too.
        event.preventDefault();
        const byPointer = event.detail > 0;
        const ready = look() && (!byPointer || pressed.current);
        pressed.current = false;
        setEarly(!ready);
        if (ready && !blocked) onDecide();
      }}
    >
      {children}
    </button>
  );
}
