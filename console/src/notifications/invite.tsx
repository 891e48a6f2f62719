/** A picture for a phone's camera: it logs that phone in, once. */
import { useEffect, useState } from "preact/hooks";
import { encode } from "uqr";
import { Modal } from "../parts/modal.js";
import type { ConsoleState } from "../state/console_state.js";
import { visibleCode } from "../text/visible.js";

type Role = "view" | "control";

/** Only this machine knows itself by such a name. */
const ALONE = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/;

function address(code: string, session: string | undefined): string {
  const url = new URL(document.baseURI);
  url.hash = `token=${code}${session === undefined ? "" : `&session=${encodeURIComponent(session)}`}`;
  return url.href;
}

function Code({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 3 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : []))).join("");
  return (
    <svg class="code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code" shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

export function Invite({ hub, onClose }: { hub: ConsoleState; onClose: () => void }) {
  const [role, setRole] = useState<Role>("view");
  const [made, setMade] = useState<{ text: string; minutes: number } | undefined>(undefined);
  const [wrong, setWrong] = useState("");
  const alone = ALONE.test(location.hostname);
  useEffect(() => {
    let wanted = true;
    setMade(undefined);
    setWrong("");
    const fail = (error: unknown) => {
      if (wanted) setWrong(hub.why(error));
    };
    if (!alone)
      void hub.run({ type: "access.invite", role }, {}, fail).then((result) => {
        const told = result as { code: string; seconds: number } | undefined;
        if (wanted && told) setMade({ text: address(told.code, hub.current?.id), minutes: Math.round(told.seconds / 60) });
      });
    return () => {
      wanted = false;
    };
  }, [role]);
  return (
    <Modal label="Open on a phone" onClose={onClose}>
      <h2>Open on a phone</h2>
      {alone ? (
        <p>
          This page is open at <code>{location.host}</code>, which no other device reaches. Open it at an address that the phone has, too:
          by a proxy with https, or <code>--host</code> with a token.
        </p>
      ) : (
        <>
          <label class="inline">
            It may
            <select value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
              <option value="view">only look</option>
              <option value="control">answer and prompt</option>
            </select>
          </label>
          <div class="code-box">{made && <Code text={made.text} />}</div>
          <label>
            Link <input type="text" readOnly value={made?.text ?? ""} onFocus={(event) => event.currentTarget.select()} />
          </label>
          {wrong && (
            <p class="wrong" role="alert">
              {visibleCode(wrong)}
            </p>
          )}
          <p class="quiet">{made && `Good once, for ${made.minutes} minutes.`}</p>
        </>
      )}
      <form method="dialog">
        <button type="submit" class="secondary">
          Close
        </button>
      </form>
    </Modal>
  );
}
