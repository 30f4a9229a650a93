// The calls of tabs that change histories.

import {
  branches,
  fork,
  rewind,
  type RewindResult,
  switchBranch,
  undoRewind,
} from '../../../js/core/history/index.js';
import { rewindTargetOf } from '../../../js/values/model/event/markers.js';
import { editTurn, regenerateTurn } from '../../../js/core/history/turns.js';
import type { CompositeSessionKey, Event } from '../../../js/index.js';
import type { Tab } from './device.js';
import type { NewWrite } from './journal.js';
import type { Check, Play } from './play.js';
import { eventOf } from './server.js';
import type { Step } from './steps.js';

/** A call of a tab on one session. */
interface HistoryCall {
  readonly play: Play;
  readonly tab: Tab;
  readonly step: Step;
  readonly key: CompositeSessionKey;
  /** `owner/id` of the session. */
  readonly name: string;
  /** The text of what it writes. */
  readonly value: string;
}

/** Calls the functions of histories over the service of a tab. @returns what to check at the end of the call */
export async function callHistory(request: HistoryCall): Promise<Check> {
  const { tab, step, key, value } = request;
  const { service } = tab;
  const { n, count = 0 } = step;
  const raw = await service.getSession(key);
  const pick = <T>(from: readonly T[]): T | undefined => from[count % from.length];
  if (raw === undefined) return undefined;
  switch (step.do) {
    case 'rewind': {
      const event = pick(raw.events.filter(({ invocationId }) => invocationId !== ''));
      if (event === undefined) return undefined;
      const { id: eventId, invocationId } = event;
      const before = n % 2 === 0 ? { eventId } : { invocationId };
      return marked(request, invocationId, () => rewind(service, { ...key, before }));
    }
    case 'undo rewind': {
      if (!raw.events.some((event) => rewindTargetOf(event) !== undefined)) return undefined;
      request.play.journal.undone.add(request.name);
      return marked(request, undefined, () => undoRewind(service, key));
    }
    case 'switch branch': {
      const places = await branches(service, key);
      const all = places.flatMap(({ alternatives }) => alternatives);
      const branch = pick(all.flatMap(({ branch }) => branch ?? []));
      if (branch === undefined) return undefined;
      return marked(request, branch, () => switchBranch(service, { ...key, branch }));
    }
    case 'edit turn':
    case 'regenerate': {
      const shown = await service.getSession({ ...key, config: { view: 'transcript' } });
      const isEdit = step.do === 'edit turn';
      const event = pick((shown?.events ?? []).filter(isEdit ? isMessage : isFilled));
      if (event === undefined) return undefined;
      const turn = { ...key, eventId: event.id } as const;
      const content = { role: 'user', parts: [{ text: value }] };
      const began = request.play.journal.now();
      const message = await (isEdit
        ? editTurn(service, { ...turn, content })
        : regenerateTurn(service, turn));
      const text = message.content?.parts?.[0]?.text ?? '';
      return stored(request, began, message.id, text, !isEdit);
    }
    case 'fork': {
      const event = pick(raw.events);
      if (event === undefined) return undefined;
      const newSessionId = `f${n}`;
      const place = { eventId: event.id };
      const forked = { ...key, newSessionId, ...(n % 2 === 0 ? { at: place } : { before: place }) };
      request.play.server.reference!.forks.set(newSessionId, forked);
      const session = await fork(service, forked);
      return () => void request.play.addHandle(tab, `${tab.owner}/${newSessionId}`, session);
    }
    case 'answer':
      return answer(request, raw.events);
    default:
      throw new Error(`${step.do} is not done here`);
  }
}

/** Notes that a rewind was stored, or will be. */
async function marked(
  request: HistoryCall,
  target: string | undefined,
  run: () => Promise<RewindResult>,
): Promise<Check> {
  const began = request.play.journal.now();
  const { event } = await run();
  const before = rewindTargetOf(event);
  if (target !== undefined && before !== target) {
    request.play.world.fail(`${request.name} is rewound to ${before} and not to ${target}`);
  }
  return stored(request, began, event.id, '', target === undefined);
}

/** Notes that an event is stored, or will be, and that the call has returned. */
function stored(
  { play: { journal }, tab: { device, owner }, name }: HistoryCall,
  began: number,
  eventId: string,
  value: string,
  mayBeRefused: boolean,
): Check {
  journal.rewound.add(name);
  const write: NewWrite = {
    register: `${name} ${eventId}`,
    session: name,
    eventId,
    value,
    isNew: true,
    mayBeRefused,
  };
  const begun = journal.begin(device.number, owner, [write], began);
  return () => journal.end(begun);
}

/** Answers the last call that waits, as the tab sees it. */
async function answer(
  { play, tab, step: { n }, key, name, value }: HistoryCall,
  events: readonly Event[],
): Promise<Check> {
  const calls = events.flatMap(({ content }) =>
    (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []),
  );
  const call = calls.at(-1);
  const session = await tab.service.getSession(key);
  if (call === undefined || session === undefined) return undefined;
  const parts = [{ functionResponse: { id: call.id!, name: call.name!, response: { value } } }];
  const event = {
    ...eventOf(`e${n}`, ''),
    invocationId: `i${n}`,
    content: { role: 'user', parts },
  };
  play.server.reference!.expect([event]);
  const register = `${name} ${event.id}`;
  const write = { register, session: name, eventId: event.id, value: '', isNew: true };
  const answers = `${name} ${call.id}`;
  const { device, owner } = tab;
  const begun = play.journal.begin(device.number, owner, [
    { ...write, mayBeRefused: true, answers },
  ]);
  await tab.service.appendEvent({ session, event });
  return () => play.journal.end(begun);
}

function isMessage({ author, content }: Event): boolean {
  return author === 'user' && content?.parts?.[0]?.text !== undefined;
}

function isFilled({ content }: Event): boolean {
  return content !== undefined;
}
