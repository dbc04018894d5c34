// Chooses a trial that another one is laid beside.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Other } from "./data";
import { pairLink } from "./route";

const GROUPS: Record<Other["differs"], string> = {
  "clean twin": "clean twin",
  attempt: "other attempts",
  repeat: "other repeats",
  agent: "other agents",
  run: "other runs",
  condition: "other conditions",
};

interface Props {
  others: Other[];
  run: number;
  id: string;
  label: string;
}

export function Compare(props: Props): JSX.Element | null {
  const [chosen, setChosen] = useState("");
  const { others } = props;
  if (others.length === 0) return null;
  const groups = Object.entries(GROUPS).filter(([differs]) =>
    others.some((other) => other.differs === differs),
  );
  return (
    <form
      class="compare"
      onSubmit={(event) => {
        event.preventDefault();
        const other = others[Number(chosen)];
        if (chosen && other) location.hash = pairLink(other.run, other.id, props.id, props.run);
      }}
    >
      <label>
        {props.label}{" "}
        <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
          <option value="">choose a trial</option>
          {groups.map(([differs, title]) => (
            <optgroup key={differs} label={title}>
              {others.map((other, place) =>
                other.differs === differs && (
                  <option key={place} value={String(place)}>{other.label}</option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      <button type="submit" disabled={!chosen}>compare</button>
    </form>
  );
}
