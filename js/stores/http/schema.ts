/**
 * The part of JSON Schema that messages over HTTP are described and checked with. The OpenAPI document has the same
 * schemas.
 */
import { isPlainObject } from '../../values/json/rules.js';

/** How each type is checked, and the rule that a message of an error names. */
const TYPES = {
  string: [(value) => typeof value === 'string', 'a text'],
  number: [(value) => typeof value === 'number', 'a number'],
  integer: [Number.isSafeInteger, 'a whole number'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  object: [isPlainObject, 'an object'],
  array: [Array.isArray, 'a list'],
  null: [(value) => value === null, 'null'],
} as const satisfies Readonly<
  Record<string, readonly [isOfType: (value: unknown) => boolean, name: string]>
>;

type TypeName = keyof typeof TYPES;

export interface Schema {
  /** Absent: any value. */
  readonly type?: TypeName | readonly TypeName[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  /** Only of parameters of a query and of responses for others, which are not checked by their schema. */
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The members without a name in `properties`. `false`: there are none. */
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  /** `application/json`: the text is that of a JSON value. */
  readonly contentMediaType?: string;
  readonly description?: string;
  readonly $ref?: string;
}

/** Where a value breaks its schema. */
export interface Mismatch {
  readonly path: string;
  readonly rule: string;
  readonly value: unknown;
}

/** Returns where a JSON value breaks its schema. An absent member counts as `undefined`. */
export type FindMismatch = (value: unknown, schema: Schema, path: string) => Mismatch | undefined;

/** @param named the schemas that others refer to by {@link ref} */
export function mismatchFinder(named: Readonly<Record<string, Schema>>): FindMismatch {
  const find: FindMismatch = (value, schema, path) => {
    const { $ref, type, minimum = -Infinity, maximum = Infinity, enum: words } = schema;
    if ($ref !== undefined) return find(value, named[refName($ref)]!, path);
    const broken = (rule: string): Mismatch => ({ path, rule: `must be ${rule}`, value });
    if (words?.includes(value) === false) return broken(words.join(' or '));
    if (type === undefined) return undefined;
    const types = typeof type === 'string' ? [type] : type;
    if (!types.some((name) => TYPES[name][0](value))) {
      return broken(types.map((name) => TYPES[name][1]).join(' or '));
    }
    if (typeof value === 'number' && (value < minimum || value > maximum)) {
      return broken(`from ${minimum} up${maximum === Infinity ? '' : ` to ${maximum}`}`);
    }
    if (Array.isArray(value)) return schema.items && findInList(value, schema.items, path);
    return isPlainObject(value) ? findInObject(value, schema, path) : undefined;
  };
  const findInList = (list: readonly unknown[], items: Schema, path: string) => {
    for (const [index, item] of list.entries()) {
      const mismatch = find(item, items, `${path}[${index}]`);
      if (mismatch !== undefined) return mismatch;
    }
    return undefined;
  };
  const findInObject = (
    object: Readonly<Record<string, unknown>>,
    { properties = {}, required = [], additionalProperties: others }: Schema,
    path: string,
  ) => {
    const within = (name: string): string => (path === '' ? name : `${path}.${name}`);
    for (const [name, schema] of Object.entries(properties)) {
      const member = Object.hasOwn(object, name) ? object[name] : undefined;
      // Python writes null for what is absent.
      if ((member ?? undefined) === undefined && !required.includes(name)) continue;
      const mismatch = find(member, schema, within(name));
      if (mismatch !== undefined) return mismatch;
    }
    if (others === undefined) return undefined;
    for (const name of Object.keys(object)) {
      if (Object.hasOwn(properties, name)) continue;
      if (others === false) return { path: within(name), rule: 'is unknown', value: object[name] };
      const mismatch = find(object[name], others, within(name));
      if (mismatch !== undefined) return mismatch;
    }
    return undefined;
  };
  return find;
}

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Returns the name that {@link ref} was called with. */
export const refName = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1);

export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOf = (words: readonly unknown[]): Schema => ({ enum: words });
export const orNull = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type as TypeName, 'null'],
});

export function objectOf(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

export const TEXT: Schema = { type: 'string' };
export const WHOLE: Schema = { type: 'integer', minimum: 0 };
export const OBJECT: Schema = { type: 'object' };
export const FLAG: Schema = { type: 'boolean' };
export const LABELS: Schema = { type: 'object', additionalProperties: TEXT };
/** A JSON value as text. The handler shows a client what it may see of that value. */
export const JSON_TEXT: Schema = { type: 'string', contentMediaType: 'application/json' };
