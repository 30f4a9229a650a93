/**
 * Schemas for state: the allowed keys and the types of their values.
 *
 * Any library that follows Standard Schema (https://standardschema.dev) works: zod, valibot,
 * arktype, or a validator of your own. The interface is declared here, as the specification
 * recommends, so that it needs no dependency.
 *
 * @module
 */

import { requireObject } from '../errors/option_values.js';
import { reasonOf } from '../errors/describe.js';
import { SessionError, StateSchemaError } from '../errors/errors.js';
import { formatPath } from '../json/rules.js';
import { isTemp, REMOVED } from './scope.js';

/**
 * One problem that a validator found.
 */
export interface SchemaIssue {
  /** What is wrong, for people. */
  readonly message: string;
  /** The path within the value, outermost first. */
  readonly path?:
    | ReadonlyArray<
        | PropertyKey
        | {
            /** The key of the step. */
            readonly key: PropertyKey;
          }
      >
    | undefined;
}

/**
 * The result of a validator: the value, or the problems that it found.
 */
export type SchemaResult<Output> =
  | {
      /** The result of the validator, which is not stored. */
      readonly value: Output;
      /** Absent: the value is valid. */
      readonly issues?: undefined;
    }
  | {
      /** The problems of the value. */
      readonly issues: readonly SchemaIssue[];
    };

/**
 * A Standard Schema, version 1.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What the specification asks of a schema. */
  readonly '~standard': {
    /** The version of the specification. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** Must return its result synchronously: a promise is refused. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Only for the compiler: the types of the schema. */
    readonly types?:
      | {
          /** The type of the values that are checked. */
          readonly input: Input;
          /** The type of the validator's result. */
          readonly output: Output;
        }
      | undefined;
  };
}

/**
 * State key → schema of its value. Prefixes are part of the key.
 *
 * - A key without a prefix (without a colon) must be declared to be written or removed.
 * - A key with a prefix is checked only if it is declared. `temp:` keys are never checked, since
 *   they may hold anything; declaring one only gives it a type.
 * - A declared key is optional, and may be removed.
 * - The schema only validates. Its output (a default, a trimmed or converted value) is dropped: the
 *   given value is stored.
 *
 * @example
 * ```ts
 * import type { StateSchema } from 'adk-session-wasm';
 * import { z } from 'zod';
 *
 * const stateSchema = { topic: z.string(), 'user:visits': z.number().int() } satisfies StateSchema;
 * ```
 */
export type StateSchema = Readonly<Record<string, StandardSchema>>;

/**
 * The schema of a state of shape `S`, of which any key may be declared. A service that is given one infers `S` from it.
 */
export type StateSchemaOf<S> = { readonly [K in keyof S]?: StandardSchema<S[K], unknown> };

/**
 * The shape of a state that fits a schema: the schema's input types, not its output types.
 *
 * @example
 * ```ts
 * import type { InferState } from 'adk-session-wasm';
 * import { z } from 'zod';
 *
 * const stateSchema = { topic: z.string(), 'user:visits': z.number() };
 * type MyState = InferState<typeof stateSchema>; // { topic: string; 'user:visits': number }
 * ```
 */
export type InferState<T extends StateSchema> = {
  -readonly [K in keyof T]: NonNullable<T[K]['~standard']['types']>['input'];
};

/** The most declared keys that a message lists. */
const MAX_LISTED_KEYS = 20;

/**
 * Returns the option `stateSchema`, which may be absent.
 *
 * @throws SessionError `invalid_argument` if it is not an object of Standard Schemas
 */
export function optionalStateSchema(schema: unknown): StateSchema | undefined {
  if (schema === undefined) return undefined;
  requireObject('stateSchema', schema);
  for (const [key, declared] of Object.entries(schema)) requireStandard(key, declared);
  return schema as StateSchema;
}

/**
 * Checks all entries of a delta.
 *
 * @throws StateSchemaError naming the first key that is undeclared or has an invalid value, with
 *   the reason; SessionError `invalid_argument` if a validator is missing or returns a promise
 */
export function validateDelta(schema: StateSchema, delta: object): void {
  for (const [key, value] of Object.entries(delta)) validateEntry(schema, key, value);
}

/**
 * Checks one entry of a delta: a value for `key`, or its removal (`undefined`, `State.REMOVED`).
 *
 * @throws as {@link validateDelta}
 */
export function validateEntry(schema: StateSchema, key: string, value: unknown): void {
  if (isTemp(key)) return;
  if (!Object.hasOwn(schema, key)) {
    if (key.includes(':')) return;
    throw new StateSchemaError(undeclaredMessage(schema, key), { key });
  }
  if (value === undefined || value === REMOVED) return;
  const issues = findIssues(schema[key], key, value);
  if (issues === undefined) return;
  throw new StateSchemaError(
    `the value of state key ${JSON.stringify(key)} violates the state schema: ${issues || 'no reason given'}`,
    { key },
  );
}

/** Returns the issues of a value as text; `undefined` if it is valid. */
function findIssues(declared: unknown, key: string, value: unknown): string | undefined {
  const standard = requireStandard(key, declared);
  let result: ReturnType<typeof standard.validate>;
  try {
    result = standard.validate(value);
    // `null` counts as no issues.
    if (isSchemaResult(result)) return result.issues?.map(issueText).join('; ');
  } catch (cause) {
    throw new StateSchemaError(
      `the validator of state key ${JSON.stringify(key)} threw: ${reasonOf(cause)}`,
      { key, cause },
    );
  }
  // A promise's outcome no longer matters, and must not be reported as an unhandled rejection.
  Promise.resolve(result).catch(() => undefined);
  throw new SessionError(
    'invalid_argument',
    `the validator of state key ${JSON.stringify(key)} must return {value} or {issues} synchronously`,
    { key },
  );
}

function requireStandard(key: string, declared: unknown): StandardSchema['~standard'] {
  const standard = (declared as Partial<StandardSchema> | null | undefined)?.['~standard'];
  if (typeof standard?.validate === 'function') return standard;
  throw new SessionError(
    'invalid_argument',
    `the state schema of key ${JSON.stringify(key)} is not a Standard Schema: it has no '~standard'.validate; use zod, valibot, arktype or your own`,
    { key },
  );
}

function isSchemaResult(result: unknown): result is SchemaResult<unknown> {
  if (typeof result !== 'object' || result === null) return false;
  const { then, issues } = result as { then?: unknown; issues?: unknown };
  return (
    typeof then !== 'function' && ((issues ?? undefined) === undefined || Array.isArray(issues))
  );
}

function issueText({ message, path = [] }: SchemaIssue): string {
  if (path.length === 0) return message;
  const keys = path.map((step) => (typeof step === 'object' ? step.key : step));
  return `${formatPath(keys.map((key) => (typeof key === 'symbol' ? String(key) : key)))}: ${message}`;
}

function undeclaredMessage(schema: StateSchema, key: string): string {
  const declared = Object.keys(schema);
  const names = declared.slice(0, MAX_LISTED_KEYS).map((name) => JSON.stringify(name));
  if (declared.length > MAX_LISTED_KEYS)
    names.push(`and ${declared.length - MAX_LISTED_KEYS} more`);
  return (
    `state key ${JSON.stringify(key)} is not declared in the state schema, which has ` +
    `${names.length === 0 ? 'no keys' : names.join(', ')}; declare it, or give it a prefix such as 'temp:'`
  );
}
