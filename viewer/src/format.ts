// Numbers and words as they are shown.

import type { Estimate, State } from "./data";

export const percent = (value: number): string => `${Math.round(value * 100)} %`;

export const points = (value: number): string =>
  `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(Math.round(value * 100))}`;

export function interval(estimate: Estimate, show: (value: number) => string): string {
  const between = estimate.interval;
  return between ? `[${show(between[0])}, ${show(between[1])}]` : "";
}

export function withInterval(
  estimate: Estimate | null | undefined,
  show: (value: number) => string,
): string {
  if (!estimate) return "—";
  return `${show(estimate.value)} ${interval(estimate, show)}`.trim();
}

export const seconds = (value: number | null | undefined): string =>
  value == null ? "—" : value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;

export const usd = (value: number | null | undefined): string =>
  value == null ? "—" : `$${value < 0.1 ? value.toFixed(4) : value.toFixed(2)}`;

export const bytes = (value: number | null | undefined): string =>
  value == null ? "—" : value < 1000 ? `${value} B` : `${(value / 1000).toFixed(1)} kB`;

export const MARKS: Record<State, string> = {
  solved: "✓",
  failed: "✗",
  void: "∅",
  unscored: "·",
  running: "…",
  damaged: "!",
};

export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
