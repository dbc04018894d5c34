// One axis of time over four lanes: steps, requests, faults, reports of pages. A range selects.

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Exchange, Judgement, Trial } from "./data";
import { seconds } from "./format";
import { Screenshot } from "./screenshot";

export type Range = [number, number];

const WIDTH = 1000;
const LANES = [
  ["steps", 8],
  ["requests", 34],
  ["faults", 78],
  ["page, end", 104],
] as const;
const HEIGHT = 126;
const REQUEST_ROWS = 9;

interface Props {
  trial: Trial;
  judgement: Judgement;
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
  const ticks = ticksTo(end);
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
  const chosen = drag ?? props.range;
  const range = chosen && [Math.max(0, Math.min(...chosen)), Math.min(end, Math.max(...chosen))];
  const recoveries = useMemo(() => {
    const wanted = new Set(Object.values(props.judgement.verdicts).map((one) => one.request_seq));
    return trial.exchanges.filter((one) => wanted.has(one.seq));
  }, [trial, props.judgement]);
  return (
    <figure class="axis">
      <FilmStrip {...props} end={end} />
      <div class="plot">
      <div class="lane-names" aria-hidden="true">
        {LANES.map(([name, y]) => <span key={name} style={{ top: `${y - 4}px` }}>{name}</span>)}
      </div>
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
        {ticks.map((t) => (
          <line key={t} class="tick" x1={x(t)} x2={x(t)} y1="0" y2={HEIGHT} />
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
        {recoveries.map((request) => (
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
        <rect class={`end ${trial.state}`} x={WIDTH - 4} y={LANES[3][1] - 2} width="4" height="20">
          <title>{`end: ${trial.outcome}`}</title>
        </rect>
        {range && (
          <rect
            class="range"
            x={x(range[0]!)}
            y="0"
            width={Math.max(0, x(range[1]!) - x(range[0]!))}
            height={HEIGHT}
          />
        )}
      </svg>
      <div class="ticks" aria-hidden="true">
        {ticks.map((t) => <span key={t} style={{ left: `${(t / end) * 100}%` }}>{t} s</span>)}
      </div>
      </div>
      <figcaption>
        <span>
          {range
            ? `${seconds(range[0])} to ${seconds(range[1])} selected `
            : "drag to select a range"}
          {props.range && (
            <button type="button" class="link" onClick={() => props.onRange(null)}>
              show all
            </button>
          )}
        </span>
        <span>ends after {seconds(end)}</span>
      </figcaption>
    </figure>
  );
}

/** Return round times along the axis, a few of them. */
function ticksTo(end: number): number[] {
  const power = 10 ** Math.floor(Math.log10(end / 5));
  const between = [1, 2, 5, 10].map((one) => one * power).find((one) => end / one <= 6)!;
  const count = Math.floor(end / between);
  return Array.from({ length: count + 1 }, (_, tick) => Number((tick * between).toPrecision(12)));
}

/** Return one path for each kind of exchange: thousands of elements would be slow. */
function paths(exchanges: Exchange[], x: (t: number) => number): Record<string, string> {
  const kinds: Record<string, string> = {};
  const drawn = new Set<string>();
  exchanges.forEach((exchange, index) => {
    const kind = exchange.by === "warex" ? "fault" : exchangeFailed(exchange) ? "bad" : "good";
    const y = LANES[1][1] + (index % REQUEST_ROWS) * 4 + 1;
    const width = Math.max(1.5, x(exchange.end ?? exchange.t) - x(exchange.t));
    // What would lie on another mark is left out: there may be hundreds of thousands.
    const mark = `${kind} ${Math.round(x(exchange.t))} ${y} ${Math.round(width)}`;
    if (drawn.has(mark)) return;
    drawn.add(mark);
    kinds[kind] = `${kinds[kind] ?? ""}M${x(exchange.t).toFixed(1)} ${y}h${width.toFixed(1)}`;
  });
  return kinds;
}

export const exchangeFailed = (exchange: Exchange): boolean =>
  exchange.status === null || exchange.status >= 400;

const inRange = (range: Range | null, step: { t: number; end: number }): boolean =>
  !range || (step.end >= range[0] && step.t <= range[1]);

/** The screenshots that the agent sent to its model; of steps without one, what the page said. */
function FilmStrip(props: Props & { end: number }): JSX.Element | null {
  const steps = props.trial.steps.filter(
    (step) => (step.images.length > 0 || step.observation) && inRange(props.range, step),
  );
  const strip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [box, chosen] = [strip.current, strip.current?.querySelector<HTMLElement>(".on")];
    if (!box || !chosen) return;
    const [from, to] = [chosen.offsetLeft - box.offsetLeft, box.clientWidth];
    if (from < box.scrollLeft || from + chosen.offsetWidth > box.scrollLeft + to) {
      box.scrollLeft = from - (to - chosen.offsetWidth) / 2;
    }
  }, [props.selected]);
  if (steps.length === 0) return null;
  return (
    <div class="film" ref={strip} tabIndex={0} role="list" aria-label="What the model was shown">
      {steps.map((step) => (
        <div role="listitem" key={step.seq}>
        <button
          type="button"
          class={step.seq === props.selected ? "on" : ""}
          aria-label={`Step ${step.number}`}
          onClick={() => props.onSelect(step.seq)}
        >
          {step.images.length > 0 ? (
            <Screenshot {...props} step={step} reference={step.images.at(-1)!} />
          ) : (
            <span class="observation">{step.observation}</span>
          )}
          <small>step {step.number}</small>
        </button>
        </div>
      ))}
    </div>
  );
}
