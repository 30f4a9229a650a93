/** The two forms in which contexts give out the state of their session. */

import { SessionError } from '../errors/errors.js';
import { checkState } from '../json/check.js';
import { writeJson } from '../json/write.js';
import type { StateShape } from '../state/state_shape.js';
import { State } from '../state/state.js';
import type { StateSchema } from '../state/state_schema.js';

/** State that can be read only. Objects come as frozen copies, so that nothing in them can be changed. */
export class ReadonlyState<S extends StateShape = StateShape> extends State<S> {
  protected override assertWritable(key: string): void {
    throw new SessionError(
      'readonly',
      `state key ${JSON.stringify(key)} cannot be written: this context is read-only; write in a callback or a tool`,
      { key },
    );
  }

  /** A copy each time: a kept one would have to be compared, which costs as much. */
  protected override handOut(key: string, object: object): unknown {
    const isPlain = checkState(object) === 'plain';
    const json = isPlain
      ? JSON.stringify(object)
      : writeJson(object, { rules: 'state', path: [key] });
    return json === undefined ? undefined : deepFrozen(JSON.parse(json));
  }
}

/** Freezes what `JSON.parse` gave: a tree of at most 200 levels. */
function deepFrozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  return Object.freeze(value);
}

/** State whose writes an event will carry, as long as the invocation runs. */
export class TrackedState<S extends StateShape = StateShape> extends State<S> {
  readonly #assertRunning: () => void;

  constructor(
    value: NoInfer<Partial<S>>,
    delta: StateShape,
    schema: StateSchema | undefined,
    assertRunning: () => void,
  ) {
    super(value, delta, schema);
    this.#assertRunning = assertRunning;
  }

  /** A tool that finishes late would put `temp:` keys on a handle which the next invocation uses. */
  protected override assertWritable(): void {
    this.#assertRunning();
  }
}
