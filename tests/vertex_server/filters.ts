// The filters of lists: comparisons joined by AND (https://google.aip.dev/160), on the fields that each list supports.

import { camelCase } from './proto_json.js';
import { invalid } from './status.js';
import { nanosOf } from './timestamp.js';

export interface Comparison {
  /** The camelCase name, or `labels.KEY`. */
  readonly field: string;
  readonly operator: string;
  readonly literal: string;
}

const TERM =
  /^\s*([A-Za-z_]\w*(?:\.[\w-]+)?)\s*(>=|<=|!=|=|>|<)\s*(?:"((?:[^"\\]|\\.)*)"|([\w.-]+))\s*/;

export function comparisonsOf(filter: string): Comparison[] {
  const comparisons: Comparison[] = [];
  for (let rest = filter; rest !== '';) {
    const match = TERM.exec(rest);
    if (match === null) throw invalid(`Invalid filter: ${filter}`);
    const [all, field = '', operator = '', quoted, bare = ''] = match;
    const literal = quoted?.replace(/\\(.)/g, '$1') ?? bare;
    comparisons.push({ field: fieldOf(field), operator, literal });
    rest = rest.slice(all.length);
    const joined = /^AND\s+/.exec(rest);
    if (rest !== '' && joined === null) throw invalid(`Invalid filter: ${filter}`);
    rest = rest.slice(joined?.[0].length ?? 0);
  }
  return comparisons;
}

function fieldOf(name: string): string {
  return name.startsWith('labels.') ? name : camelCase(name);
}

/** Returns a test for strings, in which each `*` of the filter matches any text, as in AIP-160. */
export function wildcard(literal: string): (value: unknown) => boolean {
  const parts = literal
    .split('*')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  const pattern = new RegExp(`^${parts.join('.*')}$`, 's');
  return (value) => typeof value === 'string' && pattern.test(value);
}

/** Returns a test for times in the range of the filter. */
export function timeRange(filter: string): (nanos: bigint) => boolean {
  const tests = comparisonsOf(filter).map(({ field, operator, literal }) => {
    const bound = nanosOf(literal);
    if (field !== 'timestamp' || bound === undefined) throw invalid(`Invalid filter: ${filter}`);
    return (nanos: bigint) => {
      const sign = nanos < bound ? -1 : nanos > bound ? 1 : 0;
      return isMatch(sign, operator);
    };
  });
  return (nanos) => tests.every((test) => test(nanos));
}

function isMatch(sign: number, operator: string): boolean {
  switch (operator) {
    case '>=':
      return sign >= 0;
    case '<=':
      return sign <= 0;
    case '>':
      return sign > 0;
    case '<':
      return sign < 0;
    case '!=':
      return sign !== 0;
    default:
      return sign === 0;
  }
}

/**
 * Parses the order of a list.
 *
 * @param orderBy for example `timestamp desc`
 */
export function orderOf(orderBy: string, fields: readonly string[]) {
  const [name = '', direction = 'asc', ...more] = orderBy.trim().split(/\s+/);
  const field = camelCase(name);
  const known = fields.includes(field) && ['asc', 'desc'].includes(direction);
  if (!known || more.length > 0) throw invalid(`Invalid order by: ${orderBy}`);
  return { field, descending: direction === 'desc' };
}
