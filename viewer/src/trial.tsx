// A trial: the axis of time, the lists of its lanes, and the detail of what is selected.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Axis, exchangeFailed, type Range } from "./axis";
import type { Exchange, Fault, Report, Step, Trial } from "./data";
import { Detail } from "./detail";
import { bytes, seconds } from "./format";
import { Definition, Rows, useDocument, useKeys, Wait } from "./parts";
import { pairLink, type Route, setQuery } from "./route";

export type Item =
  | { lane: "steps"; seq: number; t: number; step: Step }
  | { lane: "requests"; seq: number; t: number; exchange: Exchange }
  | { lane: "faults"; seq: number; t: number; fault: Fault }
  | { lane: "page"; seq: number; t: number; report: Report };

const LANES = ["all", "steps", "requests", "faults", "page"] as const;

export function TrialView(props: { run: number; id: string; route: Route }): JSX.Element {
  const trial = useDocument<Trial>(`trial/${props.run}/${props.id}`);
  return (
    <main>
      <Wait of={trial}>{(value) => <Shown {...props} trial={value} />}</Wait>
    </main>
  );
}

function Shown(props: { run: number; id: string; route: Route; trial: Trial }): JSX.Element {
  const { trial, run, id } = props;
  const { key } = trial;
  const [range, setRange] = useState<Range | null>(null);
  const items = useMemo(() => itemsOf(trial), [trial]);
  const lane = (props.route.query.get("lane") ?? "all") as (typeof LANES)[number];
  const needle = (props.route.query.get("find") ?? "").toLowerCase();
  const shown = useMemo(
    () =>
      items.filter(
        (item) =>
          (lane === "all" || item.lane === lane) &&
          (!range || (item.t >= range[0] && item.t <= range[1])) &&
          (!needle || textOf(item).toLowerCase().includes(needle)),
      ),
    [items, lane, range, needle],
  );
  const given = props.route.query.get("at");
  const selected = given ? Number(given) : (firstOfInterest(trial, items)?.seq ?? null);
  const place = shown.findIndex((item) => item.seq === selected);
  const select = (seq: number) => setQuery({ at: String(seq) });
  const go = (by: number) => {
    const next = shown[Math.min(shown.length - 1, Math.max(0, (place < 0 ? -1 : place) + by))];
    if (next) select(next.seq);
  };
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    ArrowDown: () => go(1),
    ArrowUp: () => go(-1),
    "/": () => document.querySelector<HTMLInputElement>("#find")?.focus(),
  });
  const item = items.find((one) => one.seq === selected);
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a href={`#/run/${run}`}>run</a> / {key.agent} / {key.condition}
      </nav>
      <h1>{key.task}</h1>
      <p>
        <strong class={trial.state ?? ""}>{trial.outcome}</strong> · {trial.recovery}
        {trial.twin && (
          <>
            {" · "}
            <a href={pairLink(run, trial.twin, id)}>compare with the clean twin</a>
          </>
        )}
      </p>
      {[...trial.harness_broke, ...(trial.truncated ? [trial.truncated] : [])].map((problem) => (
        <p class="problem" key={problem}>{problem}</p>
      ))}
      <details>
        <summary>about this trial</summary>
        <Definition
          pairs={[
            ["folder", trial.path],
            ["benchmark", key.benchmark],
            ["repeat", `${key.repeat}, attempt ${trial.attempt}`],
            ["scenario", trial.scenario ?? "none"],
            ["seed", trial.seed ?? "—"],
            ["last answer", trial.answer ?? "—"],
            ["score", trial.reasons.join(" ") || "—"],
          ]}
        />
      </details>
      <Axis
        trial={trial}
        run={run}
        id={id}
        range={range}
        selected={selected}
        onRange={setRange}
        onSelect={select}
      />
      <div class="split">
        <section aria-label="What happened">
          <div class="filters">
            <label>
              lane{" "}
              <select
                value={lane}
                onChange={(event) => setQuery({ lane: event.currentTarget.value })}
              >
                {LANES.map((name) => <option key={name}>{name}</option>)}
              </select>
            </label>
            <label>
              find{" "}
              <input
                id="find"
                type="search"
                value={props.route.query.get("find") ?? ""}
                onInput={(event) => setQuery({ find: event.currentTarget.value })}
              />
            </label>
          </div>
          <Rows
            items={shown}
            height={30}
            class="events"
            label="Events"
            shown={place}
            row={(one) => (
              <div role="listitem" key={`${one.lane}${one.seq}`}>
              <button
                type="button"
                class={`event ${one.lane} ${classOf(one)} ${one.seq === selected ? "on" : ""}`}
                aria-current={one.seq === selected}
                onClick={() => select(one.seq)}
              >
                <span class="time">{seconds(one.t)}</span>
                <span class="text" title={textOf(one)}>{textOf(one)}</span>
              </button>
              </div>
            )}
          />
        </section>
        <section aria-label="Detail" class="detail">
          {item ? (
            <Detail item={item} trial={trial} run={run} id={id} onSelect={select} />
          ) : (
            <p class="quiet">Nothing is selected.</p>
          )}
        </section>
      </div>
    </>
  );
}

function itemsOf(trial: Trial): Item[] {
  const items: Item[] = [
    ...trial.steps.map((step): Item => ({ lane: "steps", seq: step.seq, t: step.t, step })),
    ...trial.exchanges.map(
      (exchange): Item => ({ lane: "requests", seq: exchange.seq, t: exchange.t, exchange }),
    ),
    ...trial.faults.map((fault): Item => ({ lane: "faults", seq: fault.seq, t: fault.t, fault })),
    ...trial.witness.map((report): Item => ({ lane: "page", seq: report.seq, t: report.t, report })),
  ];
  return items.sort((one, other) => one.t - other.t || one.seq - other.seq);
}

/** Return the step after the first delivered fault that was not recovered from, or the last one. */
function firstOfInterest(trial: Trial, items: Item[]): Item | undefined {
  const fault = trial.faults.find(
    (one) => one.fate === "delivered" && one.verdict !== "recovered" && one.verdict !== "not_needed",
  );
  if (fault) {
    const step = items.find((item) => item.lane === "steps" && item.t >= fault.t);
    if (step) return step;
  }
  return items.findLast((item) => item.lane === "steps") ?? items[0];
}

export function textOf(item: Item): string {
  switch (item.lane) {
    case "steps": {
      const { step } = item;
      const did = step.actions.join("; ") || step.answer.replaceAll("\n", " ");
      return `step ${step.number}: ${step.error ? `${step.error}. ` : ""}${did}`;
    }
    case "requests": {
      const { exchange } = item;
      const by = exchange.by && exchange.by !== "site" ? ` by ${exchange.by}` : "";
      const result = exchange.status ?? exchange.error ?? "no answer";
      return `${exchange.method} ${exchange.url} → ${result}${by} (${exchange.resource}, ${bytes(exchange.size)})`;
    }
    case "faults": {
      const { fault } = item;
      const verdict = fault.verdict ? `, ${fault.verdict.replaceAll("_", " ")}` : "";
      return `fault ${fault.id}: ${fault.kind} ${fault.fate}${fault.reason ? ` (${fault.reason})` : ""}${verdict}`;
    }
    case "page":
      return `page reports ${item.report.what} of ${item.report.injection} ${item.report.detail}`;
  }
}

function classOf(item: Item): string {
  switch (item.lane) {
    case "steps":
      return item.step.error ? "bad" : "";
    case "requests":
      return item.exchange.by === "warex" ? "fault" : exchangeFailed(item.exchange) ? "bad" : "";
    case "faults":
      return item.fault.verdict === "recovered" ? "recovered" : item.fault.fate;
    case "page":
      return "";
  }
}
