/** A button that decides something: it does nothing until it has stood still for half a second, and shows how far that is. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Arming } from "./arming.js";
import { LOOK_MS, placeOf } from "./sight.js";

interface Props {
  /** What it decides. Another meaning begins its time anew. */
  meaning: string;
  onDecide: () => void;
  /** It cannot decide now, however long it has stood. */
  blocked?: boolean;
  className: string;
  option?: string;
  submit?: boolean;
  label?: string;
  current?: boolean;
  children: ComponentChildren;
}

const presses = ({ key }: KeyboardEvent) => key === "Enter" || key === " ";

export function Decide({ meaning, onDecide, blocked = false, className, option, submit = false, label, current, children }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const arming = useRef(new Arming());
  /** Whether the pointer was pressed when this could decide; undefined where no pointer is. */
  const pressed = useRef<boolean | undefined>(undefined);
  /** Whether a key that is held down now was pressed when this could decide; undefined while none is held. */
  const held = useRef<boolean | undefined>(undefined);
  // Of another meaning nothing is known yet, also in its first drawing.
  const [armedFor, setArmed] = useState<string | undefined>(undefined);
  const armed = armedFor === meaning;
  const [early, setEarly] = useState(false);
  function look(): boolean {
    const ready = arming.current.observe(placeOf(button.current), meaning, performance.now());
    // Not by a drawing of Preact's: ten times a second, and of each button, only this changes.
    button.current?.style.setProperty("--stood", String(arming.current.share));
    return ready;
  }

  useEffect(() => {
    const show = () => setArmed(look() ? meaning : undefined);
    show();
    const timer = setInterval(show, LOOK_MS);
    // Wherever it is pressed: Enter in a field presses the button of its form.
    const onKeyDown = (event: KeyboardEvent) => {
      if (!presses(event)) return;
      if (!event.repeat) held.current = look();
      // It was pressed before this was there.
      else held.current ??= false;
    };
    // A blank presses a button when it is let go, after this.
    const onKeyUp = (event: KeyboardEvent) => void (presses(event) && setTimeout(() => (held.current = undefined)));
    addEventListener("keydown", onKeyDown, true);
    addEventListener("keyup", onKeyUp, true);
    return () => {
      clearInterval(timer);
      removeEventListener("keydown", onKeyDown, true);
      removeEventListener("keyup", onKeyUp, true);
    };
  }, [meaning]);

  return (
    <button
      ref={button}
      type={submit ? "submit" : "button"}
      class={`${className} ${armed || blocked ? "" : "arming"} ${early && !armed ? "early" : ""}`}
      // Not `disabled`: a button that loses the focus each time it moves cannot be used by the keyboard.
      aria-disabled={blocked || !armed}
      data-option={option}
      aria-label={label}
      aria-current={current}
      title={label}
      onPointerDown={() => {
        pressed.current = look();
      }}
      onClick={(event) => {
        // A form is sent by its button alone, so that Enter in a field passes this way, too.
        event.preventDefault();
        const began = (event.detail > 0 ? pressed.current : held.current) !== false;
        const stood = look();
        const ready = stood && began;
        pressed.current = undefined;
        setEarly(!ready);
        if (!stood) arming.current.restart();
        if (!ready || blocked) return;
        held.current = false;
        onDecide();
      }}
    >
      {children}
    </button>
  );
}
