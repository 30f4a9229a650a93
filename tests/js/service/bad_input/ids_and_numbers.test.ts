import type { SessionService } from '../../../../js/index.js';
import { KEY, says, show } from '../fixture.js';
import {
  appending,
  type Call,
  invalid,
  listing,
  LONE,
  LONG,
  METHODS,
  reading,
  refusesAll,
  type Row,
  through,
  updating,
} from './rows.js';

const ids = [
  ['empty', '', 'it is ""'],
  ['too long', LONG, '512'],
  ['with half a surrogate pair', LONE, 'well-formed'],
  ['a number', 5, 'it is 5'],
  ['null', null, 'null'],
  ['an object', {}, 'Object'],
  ['an array', ['app'], 'an array'],
  ['a symbol', Symbol('x'), 'a symbol'],
  ['a bigint', 1n, 'BigInt'],
  ['a boxed text', new String('app'), 'String'],
] as const;

const key = (field: string, value: unknown): typeof KEY => ({ ...KEY, [field]: value });

function* wrongIds(): Generator<Row> {
  for (const [what, id, shownAs] of ids) {
    for (const field of ['appName', 'userId']) {
      for (const method of METHODS) {
        if (field === 'userId' && method.includes('App')) continue;
        const delta = method === 'updateState' ? { stateDelta: { a: 1 } } : {};
        const wrong = { ...key(field, id), ...delta } as typeof KEY & { stateDelta: object };
        const names = new RegExp(`${field}.*${shownAs}`, 's');
        yield [
          `${method}: ${field} ${what}`,
          ({ service }: { service: SessionService }) => service[method](wrong),
          invalid,
          names,
        ];
      }
    }
    if (what !== 'empty' && what !== 'null') {
      const wrong = key('sessionId', id);
      const call: Call = ({ service }) => service.createSession(wrong);
      yield [`createSession: sessionId ${what}`, call, invalid, 'sessionId'];
    }
    const update = updating({ ...key('sessionId', id), stateDelta: { a: 1 } });
    yield [`updateState: sessionId ${what}`, update, invalid, 'sessionId'];
    for (const field of ['id', 'appName', 'userId']) {
      const call = through((session) => ({ ...session, [field]: id }));
      yield [`appendEvent: session.${field} ${what}`, call, invalid, `session.${field}`];
    }
    if (what === 'empty') continue;
    yield [`appendEvent: event.id ${what}`, appending({ ...says('x'), id }), invalid, 'id'];
  }
}

function* wrongNumbers(): Generator<Row> {
  const fractions = [-1, Number.NaN, Infinity, -Infinity, 2 ** 53];
  const others = ['5', 5n, {}, [], true, Symbol('x')];
  for (const value of [1.5, ...fractions, ...others]) {
    const name = 'numRecentEvents';
    yield [`getSession: ${name} ${show(value)}`, reading({ [name]: value }), invalid, name];
    for (const field of ['limit', 'page']) {
      const call = listing({ limit: 5, [field]: value });
      yield [`listSessions: ${field} ${show(value)}`, call, invalid, field];
    }
  }
  for (const value of [Number.NaN, ...others]) {
    const name = 'afterTimestamp';
    yield [`getSession: ${name} ${show(value)}`, reading({ [name]: value }), invalid, name];
  }
  for (const timestamp of [...fractions, 253402300800000, ...others]) {
    const call = appending({ ...says('x'), timestamp });
    yield [`appendEvent: timestamp ${show(timestamp)}`, call, invalid, '253402300799999'];
  }
  yield ['listSessions: page 0', listing({ limit: 5, page: 0 }), invalid, 'page'];
  yield ['listSessions: page without limit', listing({ page: 1 }), invalid, 'limit'];
  for (const order of ['up', '', null, 1, 1n, {}, Symbol('asc')]) {
    yield [`listSessions: order ${show(order)}`, listing({ order }), invalid, 'order'];
  }
}

refusesAll('Wrong ids', wrongIds());
refusesAll('Wrong numbers', wrongNumbers());
