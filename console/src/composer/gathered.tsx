/** Comments that go with the next prompt, each of which can be taken away. */
import { useState } from "preact/hooks";
import { Fold } from "../parts/parts.js";
import { useLive } from "../state/context.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { RemarkView } from "../tools/remarks.js";

export function Gathered() {
  const { remarks } = useLive();
  useSource(remarks.changed);
  const [open, setOpen] = useState(false);
  if (remarks.all.length === 0) return null;
  return (
    <Fold
      className="gathered"
      open={open}
      onToggle={() => setOpen(!open)}
      head={<span class="subject">{plural(remarks.all.length, "comment")} will go with this prompt</span>}
    >
      <div class="gathered-list">
        {remarks.all.map((remark, index) => (
          <RemarkView key={index} remark={remark} where />
        ))}
      </div>
    </Fold>
  );
}
