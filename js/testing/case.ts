import type { Storage } from '../core/storage/storage.js';
import type { JsonObject } from '../values/json/rules.js';

/** A requirement, stated as a sentence, and its test: through a service, or of a storage without one. */
export type SuiteCase = Case | VerbCase;

/**
 * A test case: a sentence and the steps that show it, as in `conformance/cases.json`. The docs of
 * `conformance/rust/mod.rs` explain the format.
 */
export interface Case {
  readonly name: string;
  /** The service's option `stale`; absent: `'merge'`. */
  readonly stale?: 'merge' | 'append' | 'reject';
  /** Whether the Rust API has no such case. */
  readonly javascript?: true;
  /** The service's option `autoTitle`. */
  readonly autoTitle?: true;
  /** What a storage does wrong when only this case and cases like it fail. */
  readonly hint?: string;
  readonly steps: readonly JsonObject[];
}

/** A test of a storage's verbs. */
export interface VerbCase {
  readonly name: string;
  /** The rule or the section of `docs/writing_a_storage.md` that it shows. */
  readonly hint: string;
  run(storage: Storage): Promise<void>;
}

/** One call of a method of the service. */
export interface CaseCall {
  readonly op: string;
  readonly with: JsonObject;
  /** Name under which the returned session is kept. */
  readonly as: string | undefined;
  /** Name of the handle to append through or to inspect. */
  readonly handle: string | undefined;
  /** The clock's time, in milliseconds. */
  readonly now: number;
  /** Whether the result is compared with `expect`, which may be `null`. */
  readonly expects: boolean;
  readonly expect: unknown;
  readonly error: string | undefined;
  readonly mayFail: string | undefined;
}

/** A step with its generated values filled in. */
export type Step =
  | { readonly call: CaseCall }
  | { readonly calls: readonly CaseCall[]; readonly outcomes: JsonObject | undefined };

/** Returns the steps of a case, with repetitions expanded. */
export function readSteps(steps: readonly JsonObject[]): Step[] {
  return expandRepeats(steps).map((step) => {
    if (step.parallel === undefined) return { call: readCall(step) };
    const calls = expandRepeats(step.parallel as readonly JsonObject[]).map(readCall);
    return { calls, outcomes: step.outcomes as JsonObject | undefined };
  });
}

function readCall(step: JsonObject): CaseCall {
  const { op, with: request = {}, as, handle, now = 1000, expect, error, mayFail, ...rest } = step;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new Error(`a step has the unknown field "${unknown}"`);
  return {
    op: op as string,
    with: expandValue(request) as JsonObject,
    as: as as string | undefined,
    handle: handle as string | undefined,
    now: now as number,
    expects: 'expect' in step,
    expect: expandValue(expect),
    error: error as string | undefined,
    mayFail: mayFail as string | undefined,
  };
}

/** Expands `repeat`. */
function expandRepeats(steps: readonly JsonObject[]): JsonObject[] {
  return steps.flatMap((step) => {
    const { repeat, ...once } = step;
    if (repeat === undefined) return [step];
    const template = (once.steps as readonly JsonObject[] | undefined) ?? [once];
    return range(1, repeat).flatMap((i) =>
      template.map((step) => substitute(step, i) as JsonObject),
    );
  });
}

function range(from: unknown, to: unknown): number[] {
  const numbers = [];
  for (let i = from as number; i <= (to as number); i++) numbers.push(i);
  return numbers;
}

/** Replaces `${i}` in keys and strings. */
function substitute(value: unknown, i: number): unknown {
  if (value === '${i}') return i;
  if (typeof value === 'string') return value.replaceAll('${i}', String(i));
  if (Array.isArray(value)) return value.map((value) => substitute(value, i));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([key, value]) => [key.replaceAll('${i}', String(i)), substitute(value, i)]),
  );
}

/**
 * Returns a copy of a value, with `$text`, `$nest`, `$list` and `$members` replaced by the values that they
 * stand for.
 */
function expandValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expandValue);
  if (typeof value !== 'object' || value === null) return value;
  const { $text, $nest, $list } = value as Record<string, readonly unknown[] | undefined>;
  if ($text !== undefined) return ($text[1] as string).repeat($text[0] as number);
  if ($nest !== undefined) {
    return range(1, $nest[0]).reduce((inside: unknown) => [inside], expandValue($nest[1]));
  }
  if ($list !== undefined) {
    return range($list[0], $list[1]).map((i) => expandValue(substitute($list[2], i)));
  }
  // Uses `fromEntries` instead of assignments, so that `__proto__` is an ordinary key.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, value]: [string, unknown]) => {
      if (key !== '$members') return [[key, expandValue(value)]];
      const [from, to, template] = value as readonly unknown[];
      return range(from, to).flatMap((i) =>
        Object.entries(expandValue(substitute(template, i)) as JsonObject),
      );
    }),
  );
}
