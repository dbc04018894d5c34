// Parts that several views share.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { load } from "./data";

export type Loaded<T> = { value?: T; error?: string };

/** Load a document by its name; `refresh` in milliseconds loads it again and again. */
export function useDocument<T>(name: string | null, refresh = 0): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { name?: string | null }>({});
  useEffect(() => {
    if (name === null) return;
    let isCurrent = true;
    const get = (anew: boolean) =>
      load<T>(name, anew).then(
        (value) => isCurrent && setState({ value, name }),
        (error: Error) =>
          isCurrent && setState((old) => ({ ...old, error: error.message, name })),
      );
    get(false);
    const timer = refresh ? setInterval(() => get(true), refresh) : undefined;
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [name, refresh]);
  return state.name === name ? state : {};
}

export function Wait<T>(props: {
  of: Loaded<T>;
  children: (value: T) => ComponentChildren;
}): JSX.Element {
  const { value, error } = props.of;
  return (
    <>
      {error && <p class="problem" role="alert">{error}</p>}
      {value !== undefined ? props.children(value) : error ? null : <p class="quiet">Loading …</p>}
    </>
  );
}

/** A scrolling list of rows of one height, of which only the visible ones are in the page. */
export function Rows<T>(props: {
  items: T[];
  height: number;
  class: string;
  label: string;
  shown?: number;
  /** Stays above the rows. */
  head?: JSX.Element;
  row: (item: T, index: number) => JSX.Element;
}): JSX.Element {
  const { items, height } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  useLayoutEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setRoom(entry.contentRect.height));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || props.shown === undefined || props.shown < 0) return;
    const at = props.shown * height;
    if (at < element.scrollTop || at + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = at - element.clientHeight / 2;
    }
  }, [props.shown, height]);
  const first = Math.max(0, Math.floor(top / height) - 8);
  const last = Math.min(items.length, Math.ceil((top + room) / height) + 8);
  return (
    <div
      class={`rows ${props.class}`}
      ref={box}
      role="group"
      aria-label={props.label}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      {props.head}
      <div class="all" role="list" style={{ height: `${items.length * height}px` }}>
        <div style={{ transform: `translateY(${first * height}px)` }}>
          {items.slice(first, last).map((item, index) => props.row(item, first + index))}
        </div>
      </div>
    </div>
  );
}

/** Text of a run: always as text, long texts in a box of their own. */
export function Block(props: { text: string; class?: string }): JSX.Element {
  return <pre class={props.class ?? "block"} tabIndex={0}>{props.text}</pre>;
}

export function Definition(props: { pairs: [string, ComponentChildren][] }): JSX.Element {
  return (
    <dl class="facts">
      {props.pairs.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Call a function for keys that are pressed outside of fields. */
export function useKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  latest.current = keys;
  // Before the view is painted: whoever sees it may press a key.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest("input, select, textarea")) {
        if (event.key === "Escape") target.blur();
        return;
      }
      const act = latest.current[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
