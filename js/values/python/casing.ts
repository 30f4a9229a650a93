/**
 * Converts names between camelCase, which `@google/adk` and REST use, and snake_case, which Python uses.
 *
 * Both directions keep users' data and unknown fields exactly, and keep the order of members. They leave out
 * known fields that are `null`, which in Python means that the field is missing. A value that was written is
 * read back unchanged, whatever its names:
 *
 * - A name is read as Python reads it: a known field may have either casing. If an object has both, the
 *   camelCase member is the field, and the other is an unknown member that has the field's snake_case name.
 * - So if an unknown member has the snake_case name of a field, the field is written with its camelCase name
 *   beside it. That member is `null` if the object has no such field.
 */
import { defineMember } from '../members.js';
import { MAX_EVENT_LEVELS, type JsonObject } from '../json/rules.js';
import type { Fields, Shape } from './fields.js';
import { snakeName } from './names.js';

/** The spelling of the fields of sessions and events. */
export type Casing = 'camel' | 'snake';

/**
 * Converts names to those of our types. Reads camelCase, snake_case or a mixture of them.
 *
 * @param value JSON; not changed. Data in it is shared with the result.
 */
export function readNames(value: unknown, shape: Shape): unknown {
  return convert(value, shape, readFieldNames, 1);
}

/**
 * Converts the names of our types to the given casing.
 *
 * @param value JSON; not changed. Data in it is shared with the result.
 */
export function writeNames(value: unknown, shape: Shape, casing: Casing): unknown {
  return convert(value, shape, casing === 'camel' ? writeCamel : writeSnake, 1);
}

/** Passes each member of the result to `put`, with its shape. */
type MemberConverter = (object: JsonObject, fields: Fields, put: PutMember) => void;
type PutMember = (name: string, value: unknown, shape: Shape) => void;

function convert(
  value: unknown,
  shape: Shape,
  convertMembers: MemberConverter,
  level: number,
): unknown {
  // Nothing this deep can be stored, and storing it fails with an error of its own.
  if (shape === 'data' || typeof value !== 'object' || value === null || level > MAX_EVENT_LEVELS) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => convert(item, shape, convertMembers, level + 1));
  }
  const converted: Record<string, unknown> = {};
  convertMembers(value as JsonObject, shape, (name, member, memberShape) => {
    defineMember(converted, name, convert(member, memberShape, convertMembers, level + 1));
  });
  return converted;
}

const readFieldNames: MemberConverter = (object, { members, camelNames }, put) => {
  for (const key of Object.keys(object)) {
    const value = object[key];
    const camelName = camelNames.get(key) ?? key;
    const isUnknownMember = camelName !== key && Object.hasOwn(object, camelName);
    const shape = isUnknownMember ? undefined : members.get(camelName);
    if (shape === undefined) put(key, value, 'data');
    else if (value !== null) put(camelName, value, shape);
  }
};

function fieldNameWriter(writtenName: (camelName: string) => string): MemberConverter {
  return (object, { members, camelNames }, put) => {
    for (const key of Object.keys(object)) {
      const value = object[key];
      const shape = members.get(key);
      if (shape !== undefined) {
        const name = writtenName(key);
        if (value !== null) put(Object.hasOwn(object, name) ? key : name, value, shape);
        continue;
      }
      put(key, value, 'data');
      const fieldName = camelNames.get(key);
      if (fieldName !== undefined && (object[fieldName] ?? null) === null) {
        put(fieldName, null, 'data');
      }
    }
  };
}

const writeCamel = fieldNameWriter((camelName) => camelName);
const writeSnake = fieldNameWriter(snakeName);
