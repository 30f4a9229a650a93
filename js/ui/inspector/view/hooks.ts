import type { LiveStore } from '../../live/index.js';
import { useCallback, useEffect, useRef, useState } from './preact.js';

/** The part of a store that a component uses. */
type Readable<Snapshot> = Pick<LiveStore<Snapshot>, 'subscribe' | 'getSnapshot'>;

/** Returns the snapshot of a store, and renders again when it changes. */
export function useStore<Snapshot>(store: Readable<Snapshot>): Snapshot {
  const [last, setLast] = useState({ store, snapshot: store.getSnapshot() });
  useEffect(() => store.subscribe((snapshot) => setLast({ store, snapshot })), [store]);
  return last.store === store ? last.snapshot : store.getSnapshot();
}

/** Something that a button starts. */
export interface Action {
  readonly isBusy: boolean;
  /** What the last run threw. */
  readonly error: unknown;
  readonly run: (work: () => unknown) => Promise<void>;
}

/** Returns an action: one run at a time, with its error. */
export function useAction(): Action {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isBusy: false, error: undefined });
  const isBusy = useRef(false);
  const run = useCallback(async (work: () => unknown): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setState({ isBusy: true, error: undefined });
    let error: unknown;
    try {
      await work();
    } catch (reason) {
      error = reason;
    }
    isBusy.current = false;
    setState({ isBusy: false, error });
  }, []);
  return { ...state, run };
}

/**
 * Returns the value once it has stayed the same for a moment, so that a text that is being typed is not searched for.
 */
export function useSettled<Value>(value: Value, milliseconds = 200): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

/** What a component reads. */
interface ShownRead<Value> {
  /** The last value, which stays until there is another one. */
  readonly value: Value | undefined;
  /** Why the last read failed. */
  readonly error: unknown;
  readonly isBusy: boolean;
}

/** Reads again when one of the inputs changes. The read before is then aborted, and what it returns is not shown. */
export function useReading<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): ShownRead<Value> {
  const [last, setLast] = useState<ShownRead<Value>>({ value: undefined, error: undefined, isBusy: true }); // prettier-ignore
  useEffect(() => {
    const reading = new AbortController();
    const { signal } = reading;
    const note = (changes: Partial<ShownRead<Value>>): void => {
      if (!signal.aborted) setLast((last) => ({ ...last, isBusy: false, ...changes }));
    };
    note({ isBusy: true });
    read(signal).then(
      (value) => note({ value, error: undefined }),
      (error: unknown) => note({ error }),
    );
    return () => reading.abort();
  }, inputs);
  return last;
}

/** Returns what is measured of an element, now and whenever its size has changed. */
export function useMeasured<Value>(
  box: { readonly current: HTMLElement | null },
  first: Value,
  measure: (element: HTMLElement) => Value,
): Value {
  const [measured, setMeasured] = useState(first);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setMeasured(() => measure(element)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return measured;
}

/**
 * Returns the position that a key moves to in a list box; `undefined` for other keys.
 *
 * @param position the present one; -1 for none
 * @param page the number of items that a page has
 */
export function nextPosition(
  key: string,
  position: number,
  length: number,
  page: number,
): number | undefined {
  const moves: ReadonlyMap<string, number> = new Map([
    ['ArrowUp', position - 1],
    ['ArrowDown', position + 1],
    ['PageUp', position - page],
    ['PageDown', position + page],
    ['Home', 0],
    ['End', length - 1],
  ]);
  const next = moves.get(key);
  return next === undefined || length === 0 ? undefined : Math.max(0, Math.min(length - 1, next));
}
