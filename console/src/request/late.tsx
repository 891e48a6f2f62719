/** Says that an answer has not arrived, while it is not known what came of it. */
import { useEffect, useState } from "preact/hooks";

/** Milliseconds without a reply after which people are told. */
const LATE_MS = 2000;

export function Late({ busy }: { busy: boolean }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!busy) return setLate(false);
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  if (!late) return null;
  return (
    <p class="wrong" role="alert">
      This has not arrived yet: the connection does not respond.
    </p>
  );
}
