// The viewer: which view an address shows.

import { render } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import type { Runs } from "./data";
import { PairView } from "./pair";
import { useDocument, useKeys, Wait } from "./parts";
import { useRoute } from "./route";
import { RunView } from "./run";
import { TrialView } from "./trial";

const KEYS = [
  ["j, ↓", "next event"],
  ["k, ↑", "event before"],
  ["→", "next step"],
  ["←", "step before"],
  ["/", "search"],
  ["?", "these keys"],
] as const;

function Viewer() {
  const runs = useDocument<Runs>("runs");
  const route = useRoute();
  const [hasHelp, setHelp] = useState(false);
  useKeys({ "?": () => setHelp(!hasHelp), Escape: () => setHelp(false) });
  const [failure, resetFailure] = useErrorBoundary();
  useEffect(() => resetFailure(), [location.hash]);
  const [view, first, second] = route.parts;
  return (
    <>
      <header>
        <a class="brand" href="#/">WAREX</a>
        <button type="button" class="link" aria-expanded={hasHelp} onClick={() => setHelp(!hasHelp)}>
          keys
        </button>
      </header>
      {hasHelp && (
        <div class="keys" role="dialog" aria-label="Keys">
        <dl>
          {KEYS.map(([key, act]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{act}</dd>
            </div>
          ))}
        </dl>
        </div>
      )}
      {failure && (
        <p class="problem" role="alert">
          This cannot be shown: {String(failure.message ?? failure)}. <a href="#/">Back to the run</a>
        </p>
      )}
      {!failure && <Wait of={runs}>
        {({ runs: names, follow }) => {
          if (view === "trial" && first && second) {
            return <TrialView key={second} run={Number(first)} id={second} route={route} follow={follow} />;
          }
          if (view === "pair") return <PairView route={route} />;
          if (view === "run" || names.length === 1) {
            const number = Number(first ?? 0);
            return <RunView key={number} number={number} route={route} follow={follow} />;
          }
          return (
            <main>
              <h1>Runs</h1>
              <ul>
                {names.map((name, number) => (
                  <li key={number}>
                    <a href={`#/run/${number}`}>{name}</a>
                  </li>
                ))}
              </ul>
            </main>
          );
        }}
      </Wait>}
    </>
  );
}

if (!location.hash) history.replaceState(null, "", "#/");
render(<Viewer />, document.body);
