/** Small parts that many views use. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons.js";

export function IconButton(props: {
  icon: IconName;
  label: string;
  onClick: () => void;
  pressed?: boolean;
  disabled?: boolean;
  className?: string;
}) {
  const { icon, label, onClick, pressed, disabled, className = "" } = props;
  return (
    <button
      type="button"
      class={`icon-button ${className}`}
      aria-label={label}
      title={label}
      onClick={onClick}
      disabled={disabled}
      {...(pressed !== undefined && { "aria-pressed": pressed })}
    >
      <Icon name={icon} />
    </button>
  );
}

export type Tone = "plain" | "busy" | "good" | "warn" | "bad";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A head that opens and closes what follows it. */
export function Fold(props: {
  open: boolean;
  onToggle: () => void;
  head: ComponentChildren;
  children: ComponentChildren;
  className?: string;
}) {
  const { open, onToggle, head, children, className = "" } = props;
  return (
    <div class={`fold ${open ? "open" : ""} ${className}`}>
      <button type="button" class="fold-head" aria-expanded={open} onClick={onToggle}>
        <span class="chevron">
          <Icon name="chevron" />
        </span>
        {head}
      </button>
      {open && children}
    </div>
  );
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
