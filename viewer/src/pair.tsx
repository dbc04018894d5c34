// Two trials side by side: where they part, and their aligned steps.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Compare } from "./compare";
import type { Pair, PairStep, Trial } from "./data";
import { Rows, useDocument, Wait } from "./parts";
import { type Route, trialLink } from "./route";

interface Line {
  one: PairStep | null;
  other: PairStep | null;
  isEqual: boolean;
  /** What this line is in the story of the pair. */
  mark: "" | "first divergence" | "together again" | "part for good";
}

export function PairView(props: { route: Route }): JSX.Element {
  const [, run, one, otherRun, other] = props.route.parts;
  const pair = useDocument<Pair>(`pair/${run}/${one}/${otherRun}/${other}`);
  return (
    <main>
      <nav class="crumbs" aria-label="Where this is">
        <a href={`#/run/${run}`}>run</a>
        {pair.value?.agent && ` / ${pair.value.agent}`} / two trials
      </nav>
      <Wait of={pair}>{(value) => <Shown pair={value} />}</Wait>
    </main>
  );
}

function Shown(props: { pair: Pair }): JSX.Element {
  const { pair } = props;
  const lines = useMemo(() => linesOf(pair), [pair]);
  const link = (side: 0 | 1, step: PairStep | null) => {
    const [run, id] = pair.trials[side];
    if (!step) return <span class="quiet">no step</span>;
    return (
      <a href={trialLink(run, id, step[1])} title={step[2]}>
        {step[0]}. {step[2]}
      </a>
    );
  };
  return (
    <>
      <h1>{pair.task}</h1>
      <p>
        <strong>{pair.names[0]}</strong> and <strong>{pair.names[1]}</strong>
      </p>
      <ul class="summary">
        {pair.summary.map((sentence) => <li key={sentence}>{sentence}</li>)}
      </ul>
      <div class="pair-line head">
        {([0, 1] as const).map((side) => (
          <a key={side} href={trialLink(...pair.trials[side])}>{pair.names[side]}</a>
        ))}
      </div>
      <Rows
        items={lines}
        height={34}
        class="pairs"
        label="Aligned steps"
        shown={Math.max(0, lines.findIndex((line) => line.mark === "first divergence"))}
        row={(line, index) => (
          <div
            key={index}
            role="listitem"
            class={`pair-line ${line.isEqual ? "" : "differs"} ${line.mark.split(" ")[0]}`}
          >
            <span>{link(0, line.one)}</span>
            <span>
              {line.mark ? <b>{line.mark}: </b> : !line.isEqual && <span class="mark">≠ </span>}
              {link(1, line.other)}
            </span>
          </div>
        )}
      />
      <Others pair={pair} />
    </>
  );
}

/** What else both may be laid beside. */
function Others(props: { pair: Pair }): JSX.Element {
  const { trials, names } = props.pair;
  const one = useDocument<Trial>(`trial/${trials[0].join("/")}`);
  const other = useDocument<Trial>(`trial/${trials[1].join("/")}`);
  return (
    <section aria-label="Other pairs">
      {[one, other].map((trial, side) => {
        const [run, id] = trials[side as 0 | 1];
        return (
          trial.value && (
            <Compare
              key={id}
              others={trial.value.others}
              run={run}
              id={id}
              label={`compare ${names[side as 0 | 1]} with`}
            />
          )
        );
      })}
    </section>
  );
}

function linesOf(pair: Pair): Line[] {
  const [one, other] = pair.sides;
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  for (const [first, second] of [...pair.pairs, [one.length, other.length] as [number, number]]) {
    while (i < first || j < second) {
      lines.push({
        one: i < first ? (one[i++] ?? null) : null,
        other: j < second ? (other[j++] ?? null) : null,
        isEqual: false,
        mark: "",
      });
    }
    if (i < one.length && j < other.length) {
      lines.push({ one: one[i++]!, other: other[j++]!, isEqual: true, mark: "" });
    }
  }
  const mark = (steps: Pair["rejoined"], as: Line["mark"]) => {
    const [mine, theirs] = steps ?? [];
    const line = lines.find(
      (each) =>
        (mine && each.one?.[1] === mine.seq) || (theirs && each.other?.[1] === theirs.seq),
    );
    if (line && !line.mark) line.mark = as;
  };
  const parted = lines.find((line) => !line.isEqual);
  if (parted) parted.mark = "first divergence";
  mark(pair.rejoined, "together again");
  mark(pair.sustained_divergence, "part for good");
  return lines;
}
