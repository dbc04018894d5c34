// The search in prompts, answers, URLs and bodies: by the server, or in the index of a static folder.

import { isStatic, load } from "./data";

const LONGEST = 200;

/** The trials that hold a text; `note` says how far a search came that was cut short. */
export interface Matches {
  trials: string[];
  note: string;
}

/** The head of the index: which trials hold each text. The texts stand in parts. */
interface Index {
  trials: string[];
  holders: number[][];
  parts: number;
  note: string;
}

/** Return the trials of a run that hold a text. Rejects with a sentence. */
export async function search(run: number, text: string): Promise<Matches> {
  return isStatic
    ? searchFolder(run, [...text].slice(0, LONGEST).join(""))
    : load<Matches>(`search/${run}?q=${encodeURIComponent(text)}`);
}

/** Search as search.py does, whose texts are in lower case in the index. */
async function searchFolder(run: number, text: string): Promise<Matches> {
  const index = await load<Index>(`search/${run}`);
  const quoted = JSON.stringify(text).slice(1, -1);
  const needles = [
    ...new Set([text, quoted, quoted.replace(/[^ -~]/g, escaped)].map(lower)),
  ];
  const holding = new Set<number>();
  let number = 0;
  for (let part = 0; part < index.parts; part++) {
    for (const packed of await load<string[]>(`search/${run}/${part}`)) {
      const trials = index.holders[number++]!;
      if (trials.every((trial) => holding.has(trial))) continue;
      if (await holds(packed, needles)) trials.forEach((trial) => holding.add(trial));
    }
  }
  return { trials: index.trials.filter((_, trial) => holding.has(trial)), note: index.note };
}

const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Whether a compressed text holds one of the needles; only a piece of it is in memory at once. */
async function holds(packed: string, needles: string[]): Promise<boolean> {
  const characters = atob(packed);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
  const pieces = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"))
    .pipeThrough(new TextDecoderStream("utf-8", { ignoreBOM: true }))
    .getReader();
  const longest = Math.max(...needles.map((needle) => needle.length));
  let tail = "";
  for (;;) {
    const { value, done } = await pieces.read();
    if (done) return false;
    const text = tail + value;
    if (needles.some((needle) => text.includes(needle))) {
      await pieces.cancel();
      return true;
    }
    tail = longest > 1 ? text.slice(1 - longest) : "";
  }
}
