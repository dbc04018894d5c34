// A trial: the axis of time, the lists of its lanes, and the detail of what is selected.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Axis, exchangeFailed, type Range } from "./axis";
import { Compare } from "./compare";
import type { Exchange, Fault, Judgement, Log, Moment, Report, Step, Trial } from "./data";
import { Detail } from "./detail";
import { bytes, plural, seconds } from "./format";
import { Block, Definition, Rows, useDocument, useKeys, Wait } from "./parts";
import { pairLink, type Route, setQuery } from "./route";

export type Item =
  | { lane: "steps"; seq: number; t: number; end: number; step: Step }
  | { lane: "requests"; seq: number; t: number; end: number; exchange: Exchange }
  | { lane: "faults"; seq: number; t: number; end: number; fault: Fault }
  | { lane: "page"; seq: number; t: number; end: number; report: Report }
  | { lane: "end"; seq: number; t: number; end: number }
  | { lane: "other"; seq: number; t: number; end: number; moment: Moment };

const LANES = ["all", "steps", "requests", "faults", "page", "end", "other"] as const;
const REFRESH = 3000;
/** The end is no line of the trace. */
const END = 0;
const NOT_JUDGED: Judgement = { recovery: "", problem: null, verdicts: {}, costs: {} };

interface Props {
  run: number;
  id: string;
  route: Route;
  follow: boolean;
}

export function TrialView(props: Props): JSX.Element {
  const name = `${props.run}/${props.id}`;
  const [isRunning, setRunning] = useState(false);
  const trial = useDocument<Trial>(`trial/${name}`, props.follow && isRunning ? REFRESH : 0);
  const value = trial.value;
  useEffect(() => setRunning(value?.state === "running"), [value]);
  const later = useDocument<Judgement>(value && !value.judgement ? `judgement/${name}` : null);
  const judgement = value?.judgement ?? later.value ?? {
    ...NOT_JUDGED,
    recovery: later.error ? "not judged" : "the recovery is being judged …",
    problem: later.error ?? null,
  };
  return (
    <main>
      {!value && (
        <nav class="crumbs" aria-label="Where this is">
          <a href={`#/run/${props.run}`}>run</a> / a trial
        </nav>
      )}
      <Wait of={trial}>{(shown) => <Shown {...props} trial={shown} judgement={judgement} />}</Wait>
    </main>
  );
}

function Shown(props: Props & { trial: Trial; judgement: Judgement }): JSX.Element {
  const { trial, run, id, judgement } = props;
  const { key } = trial;
  const { query } = props.route;
  const range = rangeOf(query);
  const setRange = (between: Range | null) =>
    setQuery({
      from: between ? between[0].toFixed(2) : "",
      to: between ? between[1].toFixed(2) : "",
    });
  const items = useMemo(() => itemsOf(trial), [trial]);
  const lane = (query.get("lane") ?? "all") as (typeof LANES)[number];
  const needle = (query.get("find") ?? "").toLowerCase();
  const shown = useMemo(
    () =>
      items.filter(
        (item) =>
          (lane === "all" || item.lane === lane) &&
          (!range || (item.end >= range[0] && item.t <= range[1])) &&
          (!needle || searched(item).toLowerCase().includes(needle)),
      ),
    [items, lane, range?.[0], range?.[1], needle],
  );
  const given = query.get("at");
  // Once: what is judged later does not move what a person looks at.
  const [first] = useState(() => firstOfInterest(trial, judgement, items)?.seq ?? null);
  const selected = given ? Number(given) : first;
  const place = shown.findIndex((item) => item.seq === selected);
  const select = (seq: number) => setQuery({ at: String(seq) });
  const go = (by: number) => {
    const next = shown[Math.min(shown.length - 1, Math.max(0, (place < 0 ? -1 : place) + by))];
    if (next) select(next.seq);
  };
  const toStep = (by: 1 | -1) => {
    const steps = shown.filter((item) => item.lane === "steps");
    const now = items.find((item) => item.seq === selected)?.t ?? 0;
    const next =
      by > 0
        ? steps.find((item) => item.t > now)
        : steps.findLast((item) => item.t < now);
    if (next) select(next.seq);
  };
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    ArrowDown: () => go(1),
    ArrowUp: () => go(-1),
    ArrowRight: () => toStep(1),
    ArrowLeft: () => toStep(-1),
    "/": () => document.querySelector<HTMLInputElement>("#find")?.focus(),
  });
  const item = items.find((one) => one.seq === selected);
  const text = (one: Item) => textOf(one, trial, judgement);
  const bound = (name: "from" | "to", label: string) => (
    <label>
      {label}{" "}
      <input
        class="second"
        type="number"
        min="0"
        step="any"
        value={query.get(name) ?? ""}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <>
      <nav class="crumbs" aria-label="Where this is">
        <a href={`#/run/${run}`}>run</a> / {key.agent} / {key.condition}
        {key.repeat > 1 && ` / repeat ${key.repeat}`}
      </nav>
      <h1>{key.task}</h1>
      <p>
        <strong class={trial.state}>{trial.outcome}</strong> · {judgement.recovery}
        {trial.twin && (
          <>
            {" · "}
            <a href={pairLink(run, trial.twin, id)}>compare with the clean twin</a>
          </>
        )}
      </p>
      {[...trial.problems, ...(judgement.problem ? [judgement.problem] : [])].map((problem) => (
        <p class="problem" key={problem}>{problem}</p>
      ))}
      <div class="tools">
      <Compare others={trial.others} run={run} id={id} label="compare with" />
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
      {trial.has_log && <AgentLog run={run} id={id} />}
      </div>
      <Axis
        trial={trial}
        judgement={judgement}
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
                value={query.get("find") ?? ""}
                onInput={(event) => setQuery({ find: event.currentTarget.value })}
              />
            </label>
            {bound("from", "from second")}
            {bound("to", "to")}
          </div>
          <p class="quiet" role="status">{plural(shown.length, "event")}</p>
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
                class={`event ${one.lane} ${classOf(one, trial, judgement)} ${one.seq === selected ? "on" : ""}`}
                aria-current={one.seq === selected}
                onClick={() => select(one.seq)}
              >
                <span class="time">{seconds(one.t)}</span>
                <span class="text" title={text(one)}>{text(one)}</span>
              </button>
              </div>
            )}
          />
        </section>
        <section aria-label="Detail" class="detail">
          {item ? (
            <Detail
              item={item}
              trial={trial}
              judgement={judgement}
              run={run}
              id={id}
              onSelect={select}
            />
          ) : (
            <p class="quiet">Nothing is selected.</p>
          )}
        </section>
      </div>
    </>
  );
}

function AgentLog(props: { run: number; id: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const log = useDocument<Log>(isOpen ? `log/${props.run}/${props.id}` : null);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>what the agent printed</summary>
      {isOpen && (
        <Wait of={log}>
          {({ file, size, left_out, parts }) => (
            <>
              <p class="quiet">
                {`${bytes(size)}, in ${file}.`}
                {left_out > 0 && ` ${bytes(left_out)} between the beginning and the end are left out.`}
              </p>
              {parts.map((text, place) => <Block key={place} text={text || "nothing"} />)}
            </>
          )}
        </Wait>
      )}
    </details>
  );
}

function rangeOf(query: URLSearchParams): Range | null {
  const [from, to] = [query.get("from"), query.get("to")];
  if (!from && !to) return null;
  const number = (text: string | null, otherwise: number) => {
    const value = Number(text);
    return text && Number.isFinite(value) ? value : otherwise;
  };
  return [number(from, 0), number(to, Infinity)];
}

function itemsOf(trial: Trial): Item[] {
  const items: Item[] = [
    ...trial.steps.map(
      (step): Item => ({ lane: "steps", seq: step.seq, t: step.t, end: step.end, step }),
    ),
    ...trial.faults.map(
      (fault): Item => ({
        lane: "faults",
        seq: fault.seq,
        t: fault.t,
        end: fault.end ?? fault.t,
        fault,
      }),
    ),
    ...trial.witness.map(
      (report): Item => ({ lane: "page", seq: report.seq, t: report.t, end: report.t, report }),
    ),
    ...trial.moments.map(
      (moment): Item => ({ lane: "other", seq: moment.seq, t: moment.t, end: moment.t, moment }),
    ),
  ];
  for (const exchange of trial.exchanges) {
    const { seq, t } = exchange;
    items.push({ lane: "requests", seq, t, end: exchange.end ?? t, exchange });
  }
  items.sort((one, other) => one.t - other.t || one.seq - other.seq);
  items.push({ lane: "end", seq: END, t: trial.end, end: trial.end });
  return items;
}

/** Return the step after the first delivered fault that was not recovered from, or the last one. */
function firstOfInterest(trial: Trial, judgement: Judgement, items: Item[]): Item | undefined {
  const fault = trial.faults.find(({ id, fate }) => {
    const verdict = judgement.verdicts[id]?.verdict;
    return fate === "delivered" && verdict !== "recovered" && verdict !== "not_needed";
  });
  if (fault) {
    const step = items.find((item) => item.lane === "steps" && item.t >= fault.t);
    if (step) return step;
  }
  return items.findLast((item) => item.lane === "steps") ?? items[0];
}

export function textOf(item: Item, trial: Trial, judgement: Judgement): string {
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
      const judged = judgement.verdicts[fault.id];
      const verdict = judged ? `, ${judged.verdict.replaceAll("_", " ")}` : "";
      return `fault ${fault.id}: ${fault.kind} ${fault.fate}${fault.reason ? ` (${fault.reason})` : ""}${verdict}`;
    }
    case "page":
      return `page reports ${item.report.what} of ${item.report.injection} ${item.report.detail}`;
    case "end":
      return `end: ${trial.outcome}`;
    case "other":
      return `${item.moment.kind.replaceAll("_", " ")}: ${item.moment.text}`;
  }
}

/** The text in which `find` looks. */
function searched(item: Item): string {
  switch (item.lane) {
    case "steps": {
      const { step } = item;
      return [`step ${step.number}`, step.page, step.observation, step.answer, step.error, ...step.actions].join("\n");
    }
    case "requests": {
      const { exchange } = item;
      return `${exchange.method} ${exchange.url} ${exchange.status ?? exchange.error} ${exchange.resource}`;
    }
    case "faults":
      return `${item.fault.id} ${item.fault.kind} ${item.fault.rule} ${item.fault.url} ${item.fault.fate}`;
    case "page":
      return `${item.report.injection} ${item.report.what} ${item.report.detail}`;
    case "end":
      return "end";
    case "other":
      return `${item.moment.kind} ${item.moment.text}`;
  }
}

function classOf(item: Item, trial: Trial, judgement: Judgement): string {
  switch (item.lane) {
    case "steps":
      return item.step.error ? "bad" : "";
    case "requests":
      return item.exchange.by === "warex" ? "fault" : exchangeFailed(item.exchange) ? "bad" : "";
    case "faults":
      return judgement.verdicts[item.fault.id]?.verdict === "recovered" ? "recovered" : item.fault.fate;
    case "end":
      return trial.state;
    case "page":
    case "other":
      return "";
  }
}
