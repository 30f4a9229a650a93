// One turn of the framework's Runner on a session of 10,000 events: it reads the whole session, stores a question, calls
// the model and stores the answer. The session service's share is mainly the read.

import {
  BaseLlm,
  BaseSessionService,
  createEvent,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
} from '@google/adk';
import { InMemorySessionService } from 'adk-session-wasm/adk';
import { makeEvents } from '../events.mjs';
import { atMost, inTurns, shown, timeOf } from '../measure.mjs';
import { appName, fillPeer, keyOf, PeerService, userId } from '../services.mjs';

const COUNT = 10_000;
const RECENT = 50;

/** A model that answers immediately. */
class Model extends BaseLlm {
  constructor() {
    super({ model: 'bench' });
  }

  async *generateContentAsync() {
    yield { content: { role: 'model', parts: [{ text: 'an answer' }] } };
  }

  /** @returns {Promise<never>} */
  connect() {
    return Promise.reject(new Error('This model holds no live connection.'));
  }
}

/** Returns a session that was parsed before: this measures the turn without a service. */
class FreeService extends BaseSessionService {
  /** @param {import('@google/adk').Session} session */
  constructor(session) {
    super();
    this.session = session;
  }

  async getSession() {
    return { ...this.session, events: this.session.events.slice() };
  }

  /** @returns {Promise<never>} */
  refuse() {
    return Promise.reject(new Error('A turn does not ask for this.'));
  }

  createSession = this.refuse;
  listSessions = this.refuse;
  deleteSession = this.refuse;
}

/** @param {BaseSessionService} sessionService */
function turnOn(sessionService) {
  const agent = new LlmAgent({ name: 'guide', model: new Model() });
  const runner = new Runner({ appName, agent, sessionService });
  const { sessionId } = keyOf(COUNT);
  return async () => {
    const newMessage = { role: 'user', parts: [{ text: 'a question' }] };
    let last;
    for await (const event of runner.runAsync({ userId, sessionId, newMessage })) last = event;
    if (last?.content?.parts?.[0]?.text !== 'an answer') throw new Error('the turn failed');
  };
}

/** Every fifth event is a question. */
function conversation() {
  return makeEvents(COUNT, 0, (event) => {
    const isQuestion = Number(event.actions.stateDelta.step) % 5 === 0;
    if (!isQuestion) return createEvent(event);
    return createEvent({ ...event, author: 'user', content: { ...event.content, role: 'user' } });
  });
}

/** @param {InMemorySessionService} service */
async function fill(service) {
  const session = await service.createSession(keyOf(COUNT));
  for (const event of conversation()) await service.appendEvent({ session, event });
}

/** @returns {Promise<import('../measure.mjs').Result[]>} */
export default async function turn() {
  setLogLevel(LogLevel.ERROR);
  const [ours, capped] = [
    new InMemorySessionService(),
    new InMemorySessionService({ numRecentEvents: RECENT }),
  ];
  await fill(ours);
  await fill(capped);
  const peer = new PeerService();
  await fillPeer(peer, COUNT);
  const events = conversation();
  const text = JSON.stringify(events);
  const session = {
    ...keyOf(COUNT),
    id: keyOf(COUNT).sessionId,
    state: {},
    events,
    lastUpdateTime: 0,
  };

  const turns = {
    ours: turnOn(ours),
    capped: turnOn(capped),
    free: turnOn(new FreeService(session)),
    peer: turnOn(peer),
  };
  const times = await inTurns({
    ours: () => timeOf(turns.ours),
    capped: () => timeOf(turns.capped),
    free: () => timeOf(turns.free),
    parse: () => timeOf(() => JSON.parse(text)),
    peer: (round) => (round % 3 === 0 ? timeOf(turns.peer) : Promise.resolve([])),
  });
  const floor = times.free + times.parse;
  const [name, unit] = ['a Runner turn at 10,000 events', 'ms'];
  return [
    atMost({
      case: name,
      ours: times.ours,
      peer: floor,
      unit,
      most: 1.3,
      than: 'a free service and one JSON.parse',
    }),
    shown({ case: `${name}, the peer`, ours: times.ours, peer: times.peer, unit }),
    shown({ case: `${name}, the last ${RECENT} of them`, ours: times.capped, peer: floor, unit }),
  ];
}
