/** What was used: totals, a plot, and the same as a table. */
import { useState } from "preact/hooks";
import { useAnswer } from "../state/ask.js";
import { count, money } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { type By, type Spent, usage } from "./answers.js";
import { Trouble } from "./history.js";
import { Plot } from "./plot.js";
import { bars, costOf, isTime, type Measure, since, tokens, total } from "./sums.js";

const GROUPS: Record<By, string> = {
  day: "Day",
  week: "Week",
  month: "Month",
  block: "Five hours",
  session: "Session",
  project: "Project",
  model: "Model",
  agent: "Agent",
};
const SPANS = { 7: "7 days", 30: "30 days", 90: "90 days", 0: "All time" } as const;

const cost = (one: Spent): string => costOf(one) || "unknown";

function Sums({ all }: { all: Spent }) {
  const sums = [
    ["Cost", cost(all)],
    ["Tokens in", count(all.input)],
    ["Tokens out", count(all.output)],
    ["Tokens cached", count(all.cached)],
    ["Answers", count(all.answers)],
  ] as const;
  return (
    <dl class="sums">
      {sums.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Row({ one }: { one: Spent }) {
  return (
    <tr>
      <th scope="row">{visibleCode(one.name)}</th>
      <td>{cost(one)}</td>
      <td>{count(one.input)}</td>
      <td>{count(one.output)}</td>
      <td>{count(one.cached)}</td>
      <td>{count(one.answers)}</td>
    </tr>
  );
}

function Table({ spent, by, all }: { spent: readonly Spent[]; by: By; all: Spent }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={`Usage by ${by}, as a table`}>
      <table>
        <thead>
          <tr>
            {[GROUPS[by], "Cost", "In", "Out", "Cached", "Answers"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spent.map((one) => (
            <Row key={one.name} one={one} />
          ))}
        </tbody>
        <tfoot>
          <Row one={all} />
        </tfoot>
      </table>
    </div>
  );
}

/** Bars of a panel. */
const LISTED = 6;

/** The largest of one sort, or the newest of times, beside the plot. */
function Panel({ by, days, measure }: { by: By; days: number; measure: Measure }) {
  const asked = useAnswer({ type: "library.usage", by: [by], ...(days > 0 && { since: since(Date.now(), days) }) });
  const spent = asked.answer === undefined ? [] : usage(asked.answer, by);
  const all = bars(spent, by, measure);
  const shown = isTime(by) ? all.slice(-LISTED).reverse() : all.slice(0, LISTED);
  const most = Math.max(...shown.map(({ value }) => value), Number.MIN_VALUE);
  const format = measure === "cost" ? money : count;
  if (shown.length === 0) return null;
  return (
    <section class="panel">
      <h2>{by === "block" ? "Last five-hour blocks" : `By ${by}`}</h2>
      <ul>
        {shown.map(({ name, value }) => (
          <li key={name}>
            <span class="name" title={visibleCode(name)}>
              <bdi>{visibleCode(by === "project" ? namedPath(name).name || name : name)}</bdi>
            </span>
            <span class="value">{format(value)}</span>
            <span class="track" aria-hidden="true">
              <span style={{ width: `${(100 * value) / most}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Usage() {
  const [by, setBy] = useState<By>("day");
  const [days, setDays] = useState(30);
  const [measure, setMeasure] = useState<Measure>("cost");
  const asked = useAnswer({ type: "library.usage", by: [by], ...(days > 0 && { since: since(Date.now(), days) }) });
  const spent = asked.answer === undefined ? [] : usage(asked.answer, by);
  const all = total(spent);
  const format = measure === "cost" ? money : count;
  return (
    <>
      <div class="filter">
        <label>
          By{" "}
          <select value={by} onChange={(event) => setBy(event.currentTarget.value as By)}>
            {Object.entries(GROUPS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Of{" "}
          <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {Object.entries(SPANS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Plot{" "}
          <select value={measure} onChange={(event) => setMeasure(event.currentTarget.value as Measure)}>
            <option value="cost">Cost</option>
            <option value="tokens">Tokens</option>
          </select>
        </label>
      </div>
      <Trouble asked={asked} />
      {asked.answer !== undefined && spent.length === 0 && <p class="quiet">Nothing was used in this time.</p>}
      {spent.length > 0 && (
        <>
          <h2 class="heard">Totals</h2>
          <Sums all={all} />
          {all.estimated && (
            <p class="quiet">“About”: some agents and older versions tell no cost; it is estimated by the prices of their models.</p>
          )}
          {!all.whole && <p class="quiet">“At least”: what models with an unknown price used is counted in tokens alone.</p>}
          <h2>{`${measure === "cost" ? "Cost" : "Tokens"} by ${by}`}</h2>
          <Plot
            bars={bars(spent, by, measure)}
            columns={isTime(by)}
            format={format}
            label={`${measure === "cost" ? "Cost" : "Tokens"} by ${by}, ${measure === "cost" ? cost(all) : count(tokens(all))} in all; the table below has the values`}
          />
          {by === "day" && (
            <div class="panels">
              <Panel by="project" days={days} measure={measure} />
              <Panel by="model" days={days} measure={measure} />
              <Panel by="block" days={days} measure={measure} />
            </div>
          )}
          <Table spent={isTime(by) ? [...spent].reverse() : spent} by={by} all={all} />
          <p class="quiet">Times are those of the machine that turnwire runs on.</p>
        </>
      )}
    </>
  );
}
