/** Text of any length and origin: prose, code with line numbers, terminal output. Long text is shown piece by piece. */
import { Component, createRef } from "preact";
import { useMemo, useState } from "preact/hooks";
import { coloured } from "../state/coloured.js";
import { useSource } from "../state/source.js";
import { runs, withoutColours } from "../text/ansi.js";
import { bytes } from "../text/format.js";
import { highlight } from "../text/highlight.js";
import { LONGEST_SEGMENT, render } from "../text/markdown.js";
import { bothEnds, segments } from "../text/segments.js";
import { orderedCode, visibleCode, visibleProse } from "../text/visible.js";
import { Copy } from "./copy.js";
import { useCut, useLimit } from "./cuts.js";

/** Characters shown at once; the reader asks for more. */
const STEP = 60_000;
const PANE = 12_000;

/** Of what is decided on. */
const DECIDED = 400_000;

function More({ shown, total, onMore }: { shown: number; total: number; onMore: () => void }) {
  useCut();
  return (
    <button type="button" class="more" onClick={onMore}>
      Show more ({bytes(shown)} of {bytes(total)} shown)
    </button>
  );
}

/** One paragraph without any mark of Markdown, as most answers begin: it needs no parser. */
const PLAIN = /^(?![-+\d\s])(?!.*(?::\/\/|www\.|@))[^*_`[\]<>#&|~\\\n=$]{1,2000}\n{0,2}$/;

/** A class, as that is how Preact itself lets a part stay as it is; `memo` is in its React layer, which is large. */
class Segment extends Component<{ text: string; colours: number }> {
  private readonly node = createRef<HTMLDivElement>();

  override shouldComponentUpdate({ text, colours }: { text: string; colours: number }): boolean {
    return text !== this.props.text || (colours !== this.props.colours && /```|~~~/.test(text));
  }

  override render({ text }: { text: string; colours: number }) {
    if (PLAIN.test(text))
      return (
        <div class="prose">
          <p dir="auto">{visibleProse(text.trimEnd())}</p>
        </div>
      );
    if (text.length > LONGEST_SEGMENT) return <pre class="plain">{visibleCode(text)}</pre>;
    return <div class="prose" ref={this.node} dangerouslySetInnerHTML={{ __html: render(text) }} />;
  }

  override componentDidMount(): void {
    this.componentDidUpdate();
  }

  override componentDidUpdate(): void {
    // Whoever has no finger and no wheel scrolls a wide table by the arrow keys.
    for (const table of this.node.current?.querySelectorAll("table") ?? []) if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    if (this.node.current?.querySelector("code.math, code.math-block")) setFormulas(this.node.current);
  }
}

let math: typeof import("../math/math.js") | undefined;

/** At once where what sets them is there, so that a text that grows does not flicker. */
function setFormulas(node: Element): void {
  if (math) return math.typeset(node);
  void import("../math/math.js").then(
    (loaded) => {
      math = loaded;
      math.typeset(node);
    },
    // They stay as they were written.
    () => undefined,
  );
}

export function Prose({ text }: { text: string }) {
  useSource(coloured);
  const [shown, setShown] = useState(useLimit(STEP, DECIDED));
  const visible = text.length > shown ? text.slice(0, shown) : text;
  return (
    <>
      {segments(visible).map((segment, index) => (
        <Segment key={index} text={segment} colours={coloured.version} />
      ))}
      {text.length > shown && <More shown={shown} total={text.length} onMore={() => setShown(shown + STEP)} />}
    </>
  );
}

interface CodeProps {
  text: string;
  language?: string;
  /** Number of the first line; without it there are no numbers. */
  start?: number;
  label: string;
}

export function Code({ text, language = "", start, label }: CodeProps) {
  const [shown, setShown] = useState(useLimit(PANE, DECIDED));
  const visible = text.length > shown ? text.slice(0, shown) : text;
  useSource(coloured);
  const html = useMemo(() => highlight(orderedCode(visible), language), [visible, language, coloured.version]);
  const lines = start === undefined ? 0 : visible.replace(/\n$/, "").split("\n").length;
  return (
    <div class="copied">
      <div class="pane" tabIndex={0} role="group" aria-label={label}>
        <div class="code-lines">
          {start !== undefined && lines < 20_000 && (
            <pre class="numbers" aria-hidden="true">
              {Array.from({ length: lines }, (_, i) => start + i).join("\n")}
            </pre>
          )}
          {html === undefined ? (
            <pre class="code" dir="ltr">
              {orderedCode(visible)}
            </pre>
          ) : (
            <pre class="code hljs" dir="ltr" dangerouslySetInnerHTML={{ __html: html }} />
          )}
        </div>
        {text.length > shown && <More shown={shown} total={text.length} onMore={() => setShown(shown + STEP)} />}
      </div>
      <Copy text={text} what={label.toLowerCase()} />
    </div>
  );
}

export function Terminal({ text, label, error = false }: { text: string; label: string; error?: boolean }) {
  const [shown, setShown] = useState(useLimit(PANE, DECIDED));
  const { head, tail } = useMemo(() => bothEnds(text, shown), [text, shown]);
  return (
    <div class="copied">
      <div class={`pane terminal ${error ? "stderr" : ""}`} tabIndex={0} role="group" aria-label={label}>
        <Styled text={head} />
        {tail !== "" && <More shown={shown} total={text.length} onMore={() => setShown(shown + STEP)} />}
        {tail !== "" && <Styled text={tail} />}
      </div>
      <Copy text={() => withoutColours(text)} what={label.toLowerCase()} />
    </div>
  );
}

function Styled({ text }: { text: string }) {
  const styled = useMemo(() => runs(text), [text]);
  return (
    <pre class="code" dir="ltr">
      {styled.map((run, index) =>
        run.className ? (
          <span key={index} class={run.className} style={{ "--ansi": run.colour, "--ansi-ground": run.ground }}>
            {run.text}
          </span>
        ) : (
          run.text
        ),
      )}
    </pre>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  const text = useMemo(() => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "")), [value]);
  return <Code text={text} language="json" label={label} />;
}
