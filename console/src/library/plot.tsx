/** A plot of bars as SVG: columns for days, rows for names. Its values stand in the table beside it as well. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleCode } from "../text/visible.js";
import { type Bar, ticks } from "./sums.js";

interface Props {
  bars: readonly Bar[];
  columns: boolean;
  format: (value: number) => string;
  label: string;
}

const HEIGHT = 240;
/** Room for the axes' words, and of a row with its bar. */
const LEFT = 62;
const BOTTOM = 24;
const TOP = 12;
const ROW = 30;
const WORD = 84;

export function Plot({ bars, columns, format, label }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const node = box.current;
    if (!node) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, node.clientWidth)));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  const marks = ticks(Math.max(0, ...bars.map(({ value }) => value)));
  const most = marks.at(-1) ?? 1;
  const height = columns ? HEIGHT : bars.length * ROW + 8;
  return (
    <div class="plot" ref={box}>
      <svg role="img" aria-label={label} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {columns ? Columns({ bars, marks, most, width, format }) : Rows({ bars, most, width, format })}
      </svg>
    </div>
  );
}

function Columns(props: { bars: readonly Bar[]; marks: readonly number[]; most: number; width: number; format: Props["format"] }) {
  const { bars, marks, most, width, format } = props;
  const tall = HEIGHT - BOTTOM - TOP;
  const step = (width - LEFT - 6) / Math.max(1, bars.length);
  const broad = Math.max(1, Math.min(48, step * 0.72));
  const every = Math.ceil(WORD / step);
  const y = (value: number) => TOP + tall * (1 - value / most);
  return (
    <>
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={LEFT} x2={width} y1={y(mark)} y2={y(mark)} />
          <text x={LEFT - 8} y={y(mark) + 4} text-anchor="end">
            {format(mark)}
          </text>
        </g>
      ))}
      {bars.map(({ name, value }, index) => {
        const middle = LEFT + step * (index + 0.5);
        return (
          <g key={name}>
            <rect x={middle - broad / 2} y={y(value)} width={broad} height={TOP + tall - y(value)} rx={Math.min(3, broad / 2)}>
              <title>{`${name}: ${format(value)}`}</title>
            </rect>
            {index % every === 0 && middle <= width - WORD / 2 + 8 && (
              <text x={middle} y={HEIGHT - 6} text-anchor="middle">
                {name}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

function Rows({ bars, most, width, format }: { bars: readonly Bar[]; most: number; width: number; format: Props["format"] }) {
  const room = width - WORD;
  return bars.map(({ name, value }, index) => {
    const [long, top] = [Math.max(value > 0 ? 2 : 0, (room * value) / most), index * ROW];
    return (
      <g key={name}>
        <text x={0} y={top + 13}>
          {visibleCode(name.length > 60 ? `…${name.slice(-59)}` : name)}
        </text>
        <rect x={0} y={top + 18} width={long} height={7} rx={3} />
        <text class="value" x={long + 6} y={top + 26}>
          {format(value)}
        </text>
      </g>
    );
  });
}
