/** The parameters of queries. Each says how the OpenAPI document describes it, and how its text is read. */
import { invalid, invalidValue } from '../../values/errors/invalid.js';
import { unknownMember } from '../http/request_body.js';
import * as schemas from '../../stores/http/schema.js';

/** A kind of parameter. */
export interface Parameter<T> {
  readonly schema: schemas.Schema;
  /** Whether it may be given several times. */
  readonly isList?: true;
  /**
   * @param texts at least one; exactly one unless it is a list
   * @throws SessionError `invalid_argument`
   */
  readonly read: (name: string, texts: readonly string[]) => T;
}

/** The parameters of a route, by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The values of parameters. Absent ones are `undefined`. */
export type ValuesOf<Known extends Parameters> = {
  readonly [Name in keyof Known]?: ReturnType<Known[Name]['read']> | undefined;
};

/** @param read returns `undefined` for a text that breaks the rule */
function single<T>(
  schema: schemas.Schema,
  rule: string,
  read: (text: string) => T | undefined,
): Parameter<T> {
  return {
    schema,
    read: (name, [text = '']) => {
      const value = read(text);
      if (value === undefined) throw invalidValue(name, rule, text);
      return value;
    },
  };
}

export const TEXT = single(schemas.TEXT, '', (text) => text);

const WHOLE_TEXT = /^\d{1,16}$/;

export const WHOLE = single(schemas.WHOLE, 'must be a whole number', (text) =>
  WHOLE_TEXT.test(text) ? Number(text) : undefined,
);

const COUNT_SCHEMA: schemas.Schema = { anyOf: [schemas.WHOLE, schemas.oneOf(['all'])] };

export const COUNT = single(COUNT_SCHEMA, "must be a whole number, or 'all'", (text) =>
  text === 'all' ? text : WHOLE_TEXT.test(text) ? Number(text) : undefined,
);

const TIME_SCHEMA: schemas.Schema = { type: 'number', description: 'A time since 1970.' };

/** In the unit of the client. */
export const TIME = single(TIME_SCHEMA, 'must be a time since 1970', (text) =>
  /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined,
);

export const FLAG = single(schemas.FLAG, 'must be true or false', (text) =>
  text === 'true' || text === 'false' ? text === 'true' : undefined,
);

export function oneOf<const Words extends readonly string[]>(
  words: Words,
): Parameter<Words[number]> {
  return single<Words[number]>(schemas.oneOf(words), `must be ${words.join(' or ')}`, (text) =>
    words.find((word) => word === text),
  );
}

export const TEXTS: Parameter<readonly string[]> = {
  schema: schemas.listOf(schemas.TEXT),
  isList: true,
  read: (_, texts) => texts,
};

/** Labels, each as `key:value`. */
export const LABELS: Parameter<Record<string, string>> = {
  ...TEXTS,
  read: (name, texts) => {
    const labels = new Map<string, string>();
    for (const label of texts) {
      const at = label.indexOf(':');
      if (at < 0) throw invalid(name, 'must be a key, a colon and a value');
      const key = label.slice(0, at);
      if (labels.has(key)) throw invalid(name, `has the key ${JSON.stringify(key)} twice`);
      labels.set(key, label.slice(at + 1));
    }
    return Object.fromEntries(labels);
  },
};

/** The texts of the parameters of a request, by name: each has at least one. */
type GivenParameters = ReadonlyMap<string, readonly string[]>;

/**
 * Takes the known parameters of a query. Refuses one that is given twice: a proxy may have checked the other value.
 *
 * @param ignoresUnknown whether other parameters are left out; else they are refused
 * @throws SessionError `invalid_argument` for an unknown parameter, or one that is given twice
 */
export function takeParameters(
  query: URLSearchParams,
  known: Parameters,
  ignoresUnknown: boolean,
): GivenParameters {
  const taken = new Map<string, string[]>();
  for (const [name, text] of query) {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    if (parameter === undefined) {
      if (ignoresUnknown) continue;
      throw unknownMember(name, Object.keys(known));
    }
    const before = taken.get(name) ?? [];
    if (before.length > 0 && parameter.isList === undefined)
      throw invalid(name, 'is given twice in the query');
    taken.set(name, [...before, text]);
  }
  return taken;
}

/** Reads the values of parameters. @throws SessionError `invalid_argument` naming the wrong one */
export function readParameters(given: GivenParameters, known: Parameters): ValuesOf<Parameters> {
  const values = [...given].map(([name, texts]) => [name, known[name]!.read(name, texts)]);
  return Object.fromEntries(values) as ValuesOf<Parameters>;
}
