/** The two kinds of state that contexts return for their session. */

import { SessionError } from '../../values/errors/errors.js';
import type { StateShape } from '../../values/state/state_shape.js';
import { State } from '../../values/state/state.js';
import { stateText } from '../../values/state/state_value.js';
import type { StateSchema } from '../../values/state/state_schema.js';

/**
 * State that can only be read. Objects are returned as frozen copies, so that nothing in them can
 * be changed.
 */
export class ReadonlyState<S extends object = StateShape> extends State<S> {
  protected override assertWritable(key: string): void {
    throw new SessionError(
      'readonly',
      `state key ${JSON.stringify(key)} cannot be written: this context is read-only; write in a callback or a tool`,
      { key },
    );
  }

  /** Makes a new copy each time: a cached one would have to be compared, which costs as much. */
  protected override exposeObject(key: string, object: object): unknown {
    const json = stateText(object, [key]);
    return json === undefined ? undefined : deepFreeze(JSON.parse(json));
  }
}

/** Freezes a result of `JSON.parse`: a tree of at most 200 levels. */
function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/** State whose writes go into an event. It can be written only while the invocation runs. */
export class TrackedState<S extends object = StateShape> extends State<S> {
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

  /**
   * Otherwise a tool that finishes late would put `temp:` keys on a handle that the next invocation
   * uses.
   */
  protected override assertWritable(): void {
    this.#assertRunning();
  }
}
