// The address of a view: `#/trial/0/3f…?at=12`. Each view has a link of its own.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  parts: string[];
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean), query: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

/** Change the query of the current address; an empty value takes the name out. */
export function setQuery(changes: Record<string, string>): void {
  const { parts, query } = parse(location.hash);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  const hash = `#/${parts.join("/")}${text ? `?${text}` : ""}`;
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export const trialLink = (run: number, id: string, at?: number): string =>
  `#/trial/${run}/${id}${at === undefined ? "" : `?at=${at}`}`;

export const pairLink = (run: number, one: string, other: string, otherRun = run): string =>
  `#/pair/${run}/${one}/${otherRun}/${other}`;
