// JSON as a server with protobuf messages reads it. A field has two names, and null means absent. Unknown names are
// refused. Numbers are doubles, and the keys of an object have no order.

import { type Kind, type Message } from './messages.js';
import { invalid } from './status.js';
import { nanosOf, timestampOf } from './timestamp.js';

export type Fields = Record<string, unknown>;

export type UnknownNames = 'refused' | 'ignored';

/**
 * Parses a message, with camelCase names in the result.
 *
 * @param path the path of the message in error messages
 */
export function parseMessage(
  value: unknown,
  message: Message,
  path: string,
  unknownNames: UnknownNames,
): Fields {
  const names = namesOf(message);
  const parsed: Fields = {};
  for (const [given, inner] of Object.entries(objectAt(value, path))) {
    const name = names.get(given);
    if (name === undefined && unknownNames === 'refused') throw unknownName(given, path);
    const kind = name === undefined ? undefined : message.fields[name];
    if (name === undefined || kind === undefined || inner === null) continue;
    if (name in parsed) throw invalid(`Duplicate field '${given}' at '${path}'.`);
    parsed[name] = parse(inner, kind, path === '' ? given : `${path}.${given}`, unknownNames);
  }
  return parsed;
}

export function unknownName(name: string, path: string): Error {
  const at = path === '' ? '' : ` at '${path}'`;
  return invalid(`Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`);
}

function parse(value: unknown, kind: Kind, path: string, unknownNames: UnknownNames): unknown {
  if (typeof kind === 'object') {
    if ('fields' in kind) return parseMessage(value, kind, path, unknownNames);
    if ('list' in kind) {
      if (!Array.isArray(value)) throw wrongType(value, path);
      return value.map((item, index) => parse(item, kind.list, `${path}[${index}]`, unknownNames));
    }
    const entries = Object.entries(objectAt(value, path));
    return Object.fromEntries(
      entries.map(([key, item]) => [key, parse(item, kind.map, path, unknownNames)]),
    );
  }
  switch (kind) {
    case 'struct':
      return structOf(objectAt(value, path));
    case 'opaque':
      return withCamelCaseNames(value);
    case 'timestamp': {
      const nanos = typeof value === 'string' ? nanosOf(value) : undefined;
      if (nanos === undefined) throw wrongType(value, path);
      return timestampOf(nanos);
    }
    case 'bytes':
      if (typeof value !== 'string' || !/^[\w+/-]*=*$/.test(value)) throw wrongType(value, path);
      return Buffer.from(value, 'base64').toString('base64');
    default:
      if (typeof value !== kind) throw wrongType(value, path);
      return value;
  }
}

/** google.protobuf.Struct. */
function structOf(object: object): Fields {
  return shuffled(Object.entries(object).map(([key, value]) => [key, valueOf(value)]));
}

/** The keys of a Struct, in another order than most clients write them. */
export function shuffled(entries: readonly (readonly [key: string, value: unknown])[]): Fields {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? 1 : -1)));
}

function valueOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueOf);
  if (value === Infinity || value === -Infinity) throw invalid('Number out of range.');
  return typeof value === 'object' && value !== null ? structOf(value) : value;
}

function withCamelCaseNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelCaseNames);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([k, v]) => [camelCase(k), withCamelCaseNames(v)]);
  return Object.fromEntries(entries) as Fields;
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function namesOf({ fields }: Message): Map<string, string> {
  const names = Object.keys(fields);
  return new Map(
    names.flatMap((name) => [
      [name, name],
      [snakeCase(name), name],
    ]),
  );
}

function objectAt(value: unknown, path: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongType(value, path);
  }
  return value;
}

function wrongType(value: unknown, path: string): Error {
  return invalid(`Invalid value at '${path}', ${JSON.stringify(value)}`);
}
