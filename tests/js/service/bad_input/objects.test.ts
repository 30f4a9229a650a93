import { type SessionService, createEvent } from '../../../../js/index.js';
import { says, show } from '../fixture.js';
import {
  appending,
  appendingAfter,
  type Call,
  creating,
  invalid,
  METHODS,
  Money,
  refusesAll,
  revoked,
  type Row,
  through,
} from './rows.js';

/** An object that throws whenever it is read; a text, which is no error. */
const hostile = new Proxy(
  {},
  {
    get() {
      throw 'a text';
    },
  },
);

function* wrongObjects(): Generator<Row> {
  for (const request of [undefined, null, 5, 'request', Symbol('x')]) {
    for (const method of [...METHODS, 'appendEvent', 'appendEvents'] as const) {
      const call = ({ service }: { service: SessionService }) => service[method](request as never);
      yield [`${method}: ${show(request)}`, call, invalid, 'request'];
    }
  }
  const states = { text: 'a', number: 5, array: [1], Map: new Map(), Money: new Money(), revoked: revoked(), function: () => 1 }; // prettier-ignore
  for (const [what, state] of Object.entries(states)) {
    const actions = { ...createEvent().actions, stateDelta: state as never };
    yield [`createSession: an invalid state (${what})`, creating(state), invalid, 'state'];
    yield [`appendEvent: an invalid delta (${what})`, appending({ ...says('x'), actions }), invalid, 'stateDelta']; // prettier-ignore
  }
  const events = { undefined, null: null, number: 5, text: 'event', array: [], function: () => 1, revoked: revoked(), hostile, promise: Promise.resolve(says('x')) }; // prettier-ignore
  for (const [what, event] of Object.entries(events)) {
    yield [`appendEvent: an invalid event (${what})`, appending(event), invalid, 'event'];
    yield [`appendEvents: an invalid event (${what})`, appendingAfter(event), invalid, 'event'];
  }
  for (const actions of [null, 5, 'actions', []]) {
    const call = appending({ ...says('x'), actions });
    yield [`appendEvent: actions are ${show(actions)}`, call, invalid, 'actions'];
  }
  for (const events of [undefined, null, 5, {}, 'events']) {
    const call: Call = ({ service, session }) =>
      service.appendEvents({ session, events: events as never });
    yield [`appendEvents: no array but ${show(events)}`, call, invalid, 'events'];
  }
  const sessions = { undefined, null: null, number: 5, text: 'a', object: {}, array: [], revoked: revoked(), hostile }; // prettier-ignore
  for (const [what, session] of Object.entries(sessions)) {
    yield [`appendEvent: an invalid session (${what})`, through(() => session), invalid, 'session'];
  }
  for (const field of ['state', 'events']) {
    for (const value of [undefined, null, 5, 'x', Object.freeze([])]) {
      const call = through((session) => ({ ...session, [field]: value }));
      yield [`appendEvent: session.${field} is ${show(value)}`, call, invalid, `session.${field}`];
    }
  }
}

refusesAll('Values of the wrong type', wrongObjects());
