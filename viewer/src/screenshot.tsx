// A screenshot that the agent sent to its model, with the points at which its answer clicks.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type ClickPoint, imageAddress, type Step } from "./data";

interface Props {
  run: number;
  id: string;
  step: Step;
  reference: string;
  class?: string;
}

export function Screenshot(props: Props): JSX.Element {
  const { step, reference } = props;
  const [size, setSize] = useState<[number, number] | null>(null);
  const [isMissing, setMissing] = useState(false);
  // The answer is to the last picture.
  const points = reference === step.images.at(-1) ? step.points : [];
  if (isMissing) return <span class="quiet">The screenshot of step {step.number} cannot be shown.</span>;
  return (
    <span class={`shot ${props.class ?? ""}`}>
      <img
        loading="lazy"
        src={imageAddress(props.run, props.id, reference)}
        alt={`Screenshot in the prompt of step ${step.number}${points.length ? `; ${wordsOf(points)}` : ""}`}
        onLoad={({ currentTarget: image }) => setSize([image.naturalWidth, image.naturalHeight])}
        onError={() => setMissing(true)}
      />
      {size &&
        points.map((point, place) => (
          <span
            key={place}
            class="point"
            title={wordsOf([point])}
            style={{
              left: `${share(point.x, point.unit, size[0])}%`,
              top: `${share(point.y, point.unit, size[1])}%`,
            }}
          />
        ))}
    </span>
  );
}

const share = (at: number, unit: ClickPoint["unit"], length: number): number =>
  Math.min(100, Math.max(0, (at / (unit === "pixel" ? length : 1000)) * 100));

const wordsOf = (points: ClickPoint[]): string =>
  points.map(({ action, x, y, unit }) => `${action} at ${x}, ${y}${unit === "pixel" ? "" : " of 1000"}`).join("; ");
