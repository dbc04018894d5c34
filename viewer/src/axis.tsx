// One axis of time over four lanes: steps, requests, faults, reports of pages. A range selects.

import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { imageAddress, type Exchange, type Trial } from "./data";
import { seconds } from "./format";

export type Range = [number, number];

const WIDTH = 1000;
const LANES = [
  ["steps", 8],
  ["requests", 34],
  ["faults", 78],
  ["page", 104],
] as const;
const HEIGHT = 126;
const REQUEST_ROWS = 9;

interface Props {
  trial: Trial;
  run: number;
  id: string;
  range: Range | null;
  selected: number | null;
  onRange: (range: Range | null) => void;
  onSelect: (seq: number) => void;
}

export function Axis(props: Props): JSX.Element {
  const { trial } = props;
  const end = Math.max(trial.end, 0.001);
  const picture = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<Range | null>(null);
  const x = (t: number) => (t / end) * WIDTH;
  const requests = useMemo(() => paths(trial.exchanges, x), [trial]);

  const timeAt = (event: PointerEvent) => {
    const box = picture.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * end;
  };
  const down = (event: PointerEvent) => {
    const at = timeAt(event);
    setDrag([at, at]);
  };
  const move = (event: PointerEvent) => drag && setDrag([drag[0], timeAt(event)]);
  const up = () => {
    if (!drag) return;
    const [from, to] = [Math.min(...drag), Math.max(...drag)];
    setDrag(null);
    if (to - from > end / 100) props.onRange([from, to]);
    else if (props.range) props.onRange(null);
  };
  const range = drag ?? props.range;
  return (
    <figure class="axis">
      <FilmStrip {...props} end={end} />
      <svg
        ref={picture}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Time axis of ${seconds(end)}; the lists below hold the same`}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerLeave={up}
      >
        {LANES.map(([name, y]) => (
          <line key={name} class="lane" x1="0" x2={WIDTH} y1={y - 5} y2={y - 5} />
        ))}
        {trial.steps.map((step) => (
          <rect
            key={step.seq}
            class={`step ${step.error ? "bad" : ""} ${step.seq === props.selected ? "on" : ""}`}
            x={x(step.t)}
            y={LANES[0][1]}
            width={Math.max(2, x(step.end) - x(step.t))}
            height="18"
            onClick={() => props.onSelect(step.seq)}
          >
            <title>{`step ${step.number}: ${step.actions.join("; ") || step.answer.slice(0, 80)}`}</title>
          </rect>
        ))}
        {Object.entries(requests).map(([kind, d]) => <path key={kind} class={`request ${kind}`} d={d} />)}
        {trial.faults.map((fault) => (
          <g key={fault.id} class={`fault ${fault.fate}`} onClick={() => props.onSelect(fault.seq)}>
            <rect
              class={fault.seq === props.selected ? "on" : ""}
              x={x(fault.t)}
              y={LANES[2][1]}
              width={Math.max(4, x(fault.end ?? fault.t) - x(fault.t))}
              height="18"
            />
            <title>{`${fault.kind} ${fault.id}: ${fault.fate} ${fault.reason}`}</title>
          </g>
        ))}
        {trial.faults
          .map((fault) => trial.exchanges.find((one) => one.seq === fault.request_seq))
          .map((request) =>
            request && (
              <circle key={request.seq} class="recovered" cx={x(request.t)} cy={LANES[2][1] + 9} r="4">
                <title>recovered here</title>
              </circle>
            ))}
        {trial.witness.map((report) => (
          <rect
            key={report.seq}
            class="report"
            x={x(report.t)}
            y={LANES[3][1]}
            width="3"
            height="16"
            onClick={() => props.onSelect(report.seq)}
          >
            <title>{`${report.injection}: ${report.what} ${report.detail}`}</title>
          </rect>
        ))}
        {range && (
          <rect
            class="range"
            x={x(Math.min(...range))}
            y="0"
            width={Math.abs(x(range[1]) - x(range[0]))}
            height={HEIGHT}
          />
        )}
      </svg>
      <figcaption>
        <span>0 s</span>
        <span>
          {LANES.map(([name]) => name).join(", ")}
          {props.range
            ? ` · ${seconds(props.range[0])} to ${seconds(props.range[1])} selected `
            : " · drag to select a range"}
          {props.range && (
            <button type="button" class="link" onClick={() => props.onRange(null)}>
              show all
            </button>
          )}
        </span>
        <span>{seconds(end)}</span>
      </figcaption>
    </figure>
  );
}

/** Return one path for each kind of exchange: thousands of elements would be slow. */
function paths(exchanges: Exchange[], x: (t: number) => number): Record<string, string> {
  const kinds: Record<string, string> = {};
  exchanges.forEach((exchange, index) => {
    const kind = exchange.by === "warex" ? "fault" : exchangeFailed(exchange) ? "bad" : "good";
    const y = LANES[1][1] + (index % REQUEST_ROWS) * 4 + 1;
    const width = Math.max(1.5, x(exchange.end ?? exchange.t) - x(exchange.t));
    kinds[kind] = `${kinds[kind] ?? ""}M${x(exchange.t).toFixed(1)} ${y}h${width.toFixed(1)}`;
  });
  return kinds;
}

export const exchangeFailed = (exchange: Exchange): boolean =>
  exchange.status === null || exchange.status >= 400;

function FilmStrip(props: Props & { end: number }): JSX.Element | null {
  const shots = props.trial.steps.filter((step) => step.images.length > 0);
  if (shots.length === 0) return null;
  return (
    <div class="film" tabIndex={0} role="list" aria-label="Screenshots that the agent sent">
      {shots.map((step) => (
        <div role="listitem" key={step.seq}>
        <button
          type="button"
          class={step.seq === props.selected ? "on" : ""}
          onClick={() => props.onSelect(step.seq)}
        >
          <img
            loading="lazy"
            src={imageAddress(props.run, props.id, step.images.at(-1)!)}
            alt={`Screenshot before step ${step.number}`}
          />
          <small>step {step.number}</small>
        </button>
        </div>
      ))}
    </div>
  );
}
