// The documents that the server, or a folder of static files, holds; and how they are loaded.

export type State = "solved" | "failed" | "void" | "unscored" | "running" | "damaged";

export interface Runs {
  runs: string[];
  follow: boolean;
}

export interface TrialRow {
  id: string;
  benchmark: string;
  agent: string;
  condition: string;
  task: string;
  repeat: number;
  attempt: number;
  state: State;
  score: number | null;
  has_figures: boolean;
  latency_s?: number | null;
  steps?: number | null;
  cost_usd?: number | null;
  recovered?: boolean | null;
  detected?: boolean | null;
  false_success?: boolean | null;
  planned?: number | null;
  delivered?: number | null;
  site?: string | null;
  /** The kinds of its planned faults. */
  faults?: string[] | null;
  void_reason?: string | null;
}

export interface Estimate {
  value: number;
  interval: [number, number] | null;
  hits?: number;
  n?: number;
  median?: number;
}

export interface ConditionRow {
  agent: string;
  condition: string;
  n: number;
  success: Estimate | null;
  delta: (Estimate & { p?: number | null; p_holm?: number | null }) | null;
  recovery: Estimate | null;
  cost_usd: Estimate | null;
  voids: number;
  planned: number;
  delivered: number;
  /** How many trials part where from their clean twins. */
  parting: Partial<Record<"same" | "before_faults" | "at_fault" | "after_fault", number>> | null;
}

export interface Run {
  name: string;
  path: string;
  has_figures: boolean;
  /** Whether to compute the figures takes long. */
  is_large: boolean;
  verdict: string[];
  conditions: ConditionRow[];
  trials: TrialRow[];
}

export interface PromptPart {
  change: "equal" | "added" | "removed";
  role: string;
  text: string;
  left_out: number;
}

export interface Prompt {
  characters: number;
  parts: PromptPart[];
}

export interface ClickPoint {
  x: number;
  y: number;
  unit: "pixel" | "thousandth";
  action: string;
}

/** A body of a request or an answer. */
export interface Body {
  file: string;
  size: number;
  form: "JSON" | "HTML" | "text" | "binary";
  text: string;
  notes: string[];
}

/** What an agent printed: its beginning and its end, with bytes left out between them. */
export interface Log {
  file: string;
  size: number;
  left_out: number;
  parts: string[];
}

export interface Step {
  seq: number;
  number: number;
  t: number;
  end: number;
  model: string;
  page: string;
  faults: string[];
  observation: string;
  images: string[];
  points: ClickPoint[];
  answer: string;
  error: string;
  actions: string[];
  input_tokens: number | null;
  output_tokens: number | null;
}

export interface Exchange {
  seq: number;
  response_seq: number | null;
  t: number;
  end: number | null;
  method: string;
  url: string;
  resource: string;
  status: number | null;
  by: string | null;
  error: string | null;
  size: number | null;
}

export interface Fault {
  id: string;
  kind: string;
  rule: string;
  url: string;
  /** The line of the request that it hit; null if there is none. */
  request_seq: number | null;
  seq: number;
  t: number;
  fate: "delivered" | "missed" | "open";
  fate_seq: number | null;
  end: number | null;
  reason: string;
  waited_s: number;
  changes: [string, string, string | null][];
}

export interface Verdict {
  verdict: string;
  why: string;
  confidence: string;
  call_seq: number | null;
  request_seq: number | null;
}

/** What takes longer than the trial itself. */
export interface Judgement {
  recovery: string;
  problem: string | null;
  verdicts: Record<string, Verdict>;
  costs: Record<string, number | null>;
}

export interface Report {
  seq: number;
  t: number;
  injection: string;
  what: string;
  detail: string;
}

export interface Moment {
  seq: number;
  t: number;
  kind: string;
  text: string;
}

/** A trial that this one may be laid beside. */
export interface Other {
  run: number;
  id: string;
  differs: "clean twin" | "attempt" | "repeat" | "agent" | "run" | "condition";
  label: string;
}

export interface Trial {
  key: { benchmark: string; agent: string; condition: string; task: string; repeat: number };
  attempt: number;
  path: string;
  seed: number | null;
  scenario: string | null;
  outcome: string;
  answer: string | null;
  reasons: string[];
  state: State;
  problems: string[];
  has_log: boolean;
  end: number;
  steps: Step[];
  exchanges: Exchange[];
  faults: Fault[];
  witness: Report[];
  moments: Moment[];
  twin: string | null;
  others: Other[];
  judgement: Judgement | null;
}

export type PairStep = [number, number, string];

export interface Pair {
  trials: [[number, string], [number, string]];
  /** The task of both, or the two; the agent is empty if theirs differ. */
  task: string;
  agent: string;
  names: [string, string];
  summary: string[];
  sides: [PairStep[], PairStep[]];
  pairs: [number, number][];
  equal_steps: number;
  place: string | null;
  rejoined: ({ seq: number } | null)[] | null;
  sustained_divergence: ({ seq: number } | null)[] | null;
}

const RAW_CHUNK = 50;
const MOST_CACHED = 200;
export const isStatic = document.querySelector('meta[name="warex-static"]') !== null;

type Waiting = { resolve: (value: unknown) => void };
const waiting = new Map<string, Waiting>();
const cache = new Map<string, Promise<unknown>>();

declare global {
  interface Window {
    warexData: (name: string, value: unknown) => void;
  }
}

window.warexData = (name, value) => waiting.get(name)?.resolve(value);

/** Return a document, from the cache unless `anew`. Rejects with a sentence. */
export function load<T>(name: string, anew = false): Promise<T> {
  if (anew || !cache.has(name)) {
    const loading = (isStatic ? loadScript(name) : fetchJson(name)).then((document) => {
      const error = (document as { error?: string } | null)?.error;
      if (error && isStatic) throw new Error(error);
      return name.startsWith("trial/") && !error ? withRows(document as Columns) : document;
    });
    loading.catch(() => cache.delete(name));
    cache.set(name, loading);
    if (cache.size > MOST_CACHED) cache.delete(cache.keys().next().value!);
  }
  return cache.get(name) as Promise<T>;
}

interface Coded<T> {
  values: T[];
  codes: number[];
}

interface Columns {
  exchanges: {
    left_out: number[];
    seq: number[];
    t: number[];
    url: string[];
    request: Coded<[method: string, resource: string]>;
    answer_seq: number[];
    duration: (number | null)[];
    answer: Coded<[status: number | null, resource: string | null, by: string | null, error: string | null]>;
    size: number[];
  };
}

/** Return a trial whose exchanges are objects: they are sent as columns, which are shorter. */
function withRows(trial: Columns): unknown {
  const all = trial.exchanges;
  const leftOut = new Set(all.left_out);
  const exchanges: Exchange[] = [];
  all.seq.forEach((seq, row) => {
    if (leftOut.has(row)) return;
    const [method, asked] = all.request.values[all.request.codes[row]!]!;
    const [status, resource, by, error] = all.answer.values[all.answer.codes[row]!]!;
    const [t, duration, answer, size] = [all.t[row]!, all.duration[row]!, all.answer_seq[row]!, all.size[row]!];
    exchanges.push({
      seq,
      response_seq: answer < 0 ? null : answer,
      t,
      end: duration === null ? null : t + duration,
      method,
      url: all.url[row]!,
      resource: resource ?? asked,
      status,
      by,
      error,
      size: size < 0 ? null : size,
    });
  });
  return { ...trial, exchanges };
}

async function fetchJson(name: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`data/${name}`);
  } catch {
    throw new Error("The viewer's server does not answer; `warex view` may have ended.");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok || body === null) {
    throw new Error(body?.error ?? `The server's answer cannot be read (status ${response.status}).`);
  }
  return body;
}

function loadScript(name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    waiting.set(name, { resolve });
    const script = document.createElement("script");
    script.src = `data/${name.replaceAll("/", "-")}.js`;
    script.onload = () => script.remove();
    script.onerror = () => {
      script.remove();
      reject(new Error("The folder does not hold this; view the run with `warex view`."));
    };
    document.head.append(script);
  });
}

/** Return a line of a trial's trace. */
export async function loadLine(run: number, trial: string, seq: number): Promise<unknown> {
  const chunk = Math.floor((seq - 1) / RAW_CHUNK);
  const lines = await load<string[]>(`raw/${run}/${trial}/${chunk}`);
  const stamp = new RegExp(`"seq": ?${seq},`);
  const line = lines.find((one) => stamp.test(one.slice(0, 100)));
  if (line === undefined) throw new Error(`The trace has no line ${seq}.`);
  return JSON.parse(line);
}

export function imageAddress(run: number, trial: string, reference: string): string {
  return isStatic
    ? `data/blob-${run}-${trial}-${reference.replace("/", "-")}`
    : `data/blob/${run}/${trial}/${reference}`;
}
