// A run: its verdict, its conditions, and the grid of tasks and conditions.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConditionRow, Run, TrialRow } from "./data";
import { interval, MARKS, percent, plural, points, seconds, usd, withInterval } from "./format";
import { Rows, useDocument, useKeys, Wait } from "./parts";
import { type Route, setQuery, trialLink } from "./route";
import { type Matches, search } from "./search";

const REFRESH = 3000;

export function RunView(props: { number: number; route: Route; follow: boolean }): JSX.Element {
  const quick = useDocument<Run>(`run/${props.number}`, props.follow ? REFRESH : 0);
  const [isAsked, setAsked] = useState(false);
  const lacks = quick.value !== undefined && !quick.value.has_figures && !props.follow;
  const needed = lacks && (isAsked || !quick.value?.is_large);
  const full = useDocument<Run>(needed ? `figures/${props.number}` : null);
  const shown = full.value ? full : quick;
  return (
    <main>
      <Wait of={shown}>
        {(run) => (
          <>
            <h1>{run.name}</h1>
            {run.path !== run.name && <p class="quiet">{run.path}</p>}
            {needed && !full.value && (
              <p class="quiet" role="status">
                {full.error ?? "The figures are computed from the traces …"}
              </p>
            )}
            {lacks && !needed && (
              <p>
                <button type="button" class="link" onClick={() => setAsked(true)}>
                  compute the figures
                </button>{" "}
                <span class="quiet">from the traces, which takes a while</span>
              </p>
            )}
            <Conditions run={run} />
            <Grid run={run} number={props.number} route={props.route} />
          </>
        )}
      </Wait>
    </main>
  );
}

function Conditions(props: { run: Run }): JSX.Element | null {
  const { conditions, verdict } = props.run;
  if (conditions.length === 0) return null;
  const open = (row: ConditionRow) => setQuery({ agent: row.agent, condition: row.condition });
  return (
    <section aria-label="Conditions">
      <details class="verdict">
        <summary>{plural(verdict.length, "conclusion")}</summary>
        <ul>{verdict.map((line) => <li key={line}>{line}</li>)}</ul>
      </details>
      <div class="wide" tabIndex={0}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">agent</th>
              <th scope="col">condition</th>
              <th scope="col">trials</th>
              <th scope="col">success</th>
              <th scope="col">Δ in points</th>
              <th scope="col" title="Trials that part from their clean twin before any fault: the noise floor of Δ">
                part before a fault
              </th>
              <th scope="col">recovered</th>
              <th scope="col">faults delivered</th>
              <th scope="col">cost a trial</th>
              <th scope="col">void</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map((row) => (
              <tr key={`${row.agent}/${row.condition}`}>
                <td>{row.agent}</td>
                <td>
                  <button type="button" class="link" onClick={() => open(row)}>
                    {row.condition}
                  </button>
                </td>
                <td>{row.n}</td>
                <td>{withInterval(row.success, percent)}</td>
                <td>{withInterval(row.delta, points)}</td>
                <td>{partBeforeFaults(row)}</td>
                <td>
                  {row.recovery?.n
                    ? `${row.recovery.hits} of ${row.recovery.n} ${interval(row.recovery, percent)}`
                    : "—"}
                </td>
                <td>{row.planned ? `${row.delivered} of ${row.planned}` : "—"}</td>
                <td>{withInterval(row.cost_usd, usd)}</td>
                <td>{row.voids || ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function partBeforeFaults({ parting }: ConditionRow): string {
  const counts = Object.values(parting ?? {});
  const known = counts.reduce((sum, count) => sum + count, 0);
  return known ? `${parting?.before_faults ?? 0} of ${known}` : "—";
}

const STATES: [string, string, (trial: TrialRow) => boolean][] = [
  ["", "all trials", () => true],
  ["failed", "failed", (trial) => trial.state === "failed"],
  ["unrecovered", "not recovered", (trial) => trial.recovered === false],
  ["false", "false success", (trial) => trial.false_success === true],
  ["void", "void", (trial) => trial.state === "void" || trial.state === "damaged"],
  ["solved", "solved", (trial) => trial.state === "solved"],
];

interface TaskLine {
  name: string;
  cells: Map<string, TrialRow[]>;
}

function Grid(props: { run: Run; number: number; route: Route }): JSX.Element {
  const { query } = props.route;
  const { trials } = props.run;
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(query.get("q") ?? "");
  const [matches, setMatches] = useState<Matches | null>(null);
  const [isSearching, setSearching] = useState(false);
  const wanted = query.get("q") ?? "";
  useEffect(() => {
    if (!wanted) return setMatches(null);
    let isCurrent = true;
    setSearching(true);
    search(props.number, wanted)
      .catch((error: Error): Matches => ({ trials: [], note: error.message }))
      .then((result) => isCurrent && setMatches(result))
      .finally(() => isCurrent && setSearching(false));
    return () => {
      isCurrent = false;
    };
  }, [wanted, props.number]);
  useKeys({ "/": () => field.current?.focus() });

  const names = (read: (trial: TrialRow) => string | string[] | null | undefined) => [
    ...new Set(trials.flatMap(read).filter((name): name is string => Boolean(name))),
  ];
  const shown = useMemo(() => {
    const state = STATES.find(([name]) => name === (query.get("state") ?? "")) ?? STATES[0]!;
    const needle = wanted.toLowerCase();
    const holding = new Set(matches?.trials);
    return trials.filter(
      (trial) =>
        state[2](trial) &&
        (!query.get("agent") || trial.agent === query.get("agent")) &&
        (!query.get("condition") || trial.condition === query.get("condition")) &&
        (!query.get("fault") || trial.faults?.includes(query.get("fault")!)) &&
        (!query.get("site") || trial.site === query.get("site")) &&
        (!needle || trial.task.toLowerCase().includes(needle) || holding.has(trial.id)),
    );
  }, [trials, query.toString(), matches, wanted]);
  const columns = useMemo(() => {
    const seen = new Map<string, [string, string]>();
    const known = props.run.conditions.length ? props.run.conditions : trials;
    const kept = new Set(shown.map((trial) => `${trial.agent}\n${trial.condition}`));
    for (const row of known) {
      const name = `${row.agent}\n${row.condition}`;
      if (kept.has(name)) seen.set(name, [row.agent, row.condition]);
    }
    return [...seen.entries()];
  }, [props.run, shown]);
  const lines = useMemo(() => {
    const tasks = new Map<string, TaskLine>();
    const isOneBenchmark = trials.every((trial) => trial.benchmark === trials[0]?.benchmark);
    for (const trial of shown) {
      const name = isOneBenchmark ? trial.task : `${trial.benchmark} / ${trial.task}`;
      const line = tasks.get(name) ?? { name, cells: new Map() };
      const column = `${trial.agent}\n${trial.condition}`;
      line.cells.set(column, [...(line.cells.get(column) ?? []), trial]);
      tasks.set(name, line);
    }
    return [...tasks.values()];
  }, [shown]);

  const choice = (name: string, label: string, options: string[], least = 2) =>
    (options.length >= least || query.get(name)) && (
      <label>
        {label}{" "}
        <select
          value={query.get(name) ?? ""}
          onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
        >
          <option value="">all</option>
          {options.map((option) => <option key={option}>{option}</option>)}
        </select>
      </label>
    );
  const width = Math.max(
    5.6,
    ...lines.flatMap((line) => [...line.cells.values()].map((cell) => cell.length * 1.9)),
  );
  const template = { gridTemplateColumns: `var(--task-width) repeat(${columns.length}, ${width}rem)` };
  return (
    <section aria-label="Trials">
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: text });
        }}
      >
        <label>
          search{" "}
          <input
            ref={field}
            type="search"
            placeholder="task, answer, URL, body"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onBlur={() => setQuery({ q: text })}
          />
        </label>
        <label>
          show{" "}
          <select
            value={query.get("state") ?? ""}
            onChange={(event) => setQuery({ state: event.currentTarget.value })}
          >
            {STATES.map(([name, label]) => <option key={name} value={name}>{label}</option>)}
          </select>
        </label>
        {choice("agent", "agent", names((trial) => trial.agent))}
        {choice("condition", "condition", names((trial) => trial.condition))}
        {choice("fault", "fault", names((trial) => trial.faults).sort(), 1)}
        {choice("site", "site", names((trial) => trial.site))}
      </form>
      <p class="quiet" role="status">
        {isSearching
          ? "Searching …"
          : `${plural(shown.length, "trial")} of ${plural(lines.length, "task")}. `}
        {matches?.note && `${matches.note} `}
        ✓ solved, ✗ failed, ∅ void, … running, ↺ recovered, ! claims a success that is none
      </p>
      <Rows
        items={lines}
        height={34}
        class="tasks"
        label="Tasks"
        head={
          <div class="grid-line head" style={template}>
            <span class="name">task</span>
            {columns.map(([name, [agent, condition]]) => (
              <span key={name}>
                {condition}
                <small>{agent}</small>
              </span>
            ))}
          </div>
        }
        row={(line) => (
          <div class="grid-line" role="listitem" style={template} key={line.name}>
            <span class="name" title={line.name}>{line.name}</span>
            {columns.map(([name]) => (
              <span key={name}>
                {(line.cells.get(name) ?? []).map((trial) => (
                  <Cell key={trial.id} trial={trial} number={props.number} />
                ))}
              </span>
            ))}
          </div>
        )}
      />
    </section>
  );
}

function Cell(props: { trial: TrialRow; number: number }): JSX.Element {
  const { trial } = props;
  const recovery =
    trial.recovered === true ? "recovered" : trial.recovered === false ? "not recovered" : "";
  const words = [
    `${trial.task}, ${trial.agent}, ${trial.condition}, repeat ${trial.repeat}`,
    trial.void_reason ? `void: ${trial.void_reason}` : trial.state,
    recovery,
    trial.false_success ? "claims a success that is none" : "",
    trial.steps == null ? "" : plural(trial.steps, "step"),
    trial.latency_s == null ? "" : seconds(trial.latency_s),
    trial.cost_usd == null ? "" : usd(trial.cost_usd),
  ].filter(Boolean);
  return (
    <a
      class={`cell ${trial.state}`}
      href={trialLink(props.number, trial.id)}
      title={words.join("\n")}
      aria-label={words.join(", ")}
    >
      {MARKS[trial.state]}
      {trial.recovered ? "↺" : trial.false_success ? "!" : ""}
    </a>
  );
}
