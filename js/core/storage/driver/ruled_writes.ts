/** The writes that the core decides. Each is run by a verb that reads rows, calls `decide` and stores what it returns. */
import type { Call } from '../../call/call.js';
import { callCore, requireRoom } from '../../wasm/core.js';
import type { CreateWrite, PlacedAppend, UpdateWrite } from '../../write.js';
import type { Appended, CreatedSession, SharedRevisions } from '../store.js';
import { storageKey } from '../scopes.js';
import type { Storage } from '../storage.js';
import {
  packAppends,
  packComputed,
  packCreation,
  type PackedAppended,
  type PackedCreated,
  unpackAppend,
  unpackCreated,
} from '../wasm/packed.js';
import { prepareWrite, type PreparedWrite } from './prepared_write.js';

/** The parts of a write that appends nothing. */
const NO_EVENTS = {
  events: [],
  creation: undefined,
  firstTitle: undefined,
  lastEventId: undefined,
} as const;

export function prepareCreate(
  storage: Pick<Storage, 'create'>,
  creation: CreateWrite,
  call: Call,
): PreparedWrite<CreatedSession | undefined> {
  const { key, events, operation } = creation;
  const { packed, numbers, texts = [] } = packCreation(creation, false);
  const write = callCore(({ DrivenWrite }) => DrivenWrite.create(packed, numbers, texts));
  const parts = { key, call, operation, ...NO_EVENTS, events, creation };
  const end = (): CreatedSession | undefined => {
    const created = write.finish() as PackedCreated | undefined;
    return created && unpackCreated(created, events.length);
  };
  return prepareWrite('create', storage, write, parts, end);
}

export function prepareAppend(
  storage: Pick<Storage, 'append'>,
  append: PlacedAppend,
  call: Call,
): PreparedWrite<Appended> {
  const { key, position, events, firstTitle, compute, operation } = append;
  const { packed, numbers, texts = [] } = packAppends([append], false, false);
  const write = callCore(({ DrivenWrite }) =>
    DrivenWrite.append(packed, numbers, texts, packComputed(compute)),
  );
  const lastEventId = position.kind === 'lastEvent' ? position.lastEventId : undefined;
  // Without a spread of two parts: that took 3 of the 70 µs of an append to SQLite.
  const parts = {
    key,
    events,
    creation: undefined,
    firstTitle,
    lastEventId,
    call,
    operation,
  };
  const end = () => unpackAppend(write.finish() as PackedAppended, append);
  return prepareWrite('append', storage, write, parts, end);
}

export function prepareUpdate(
  storage: Pick<Storage, 'append'>,
  { key, delta, operation }: UpdateWrite,
  call: Call,
): PreparedWrite<SharedRevisions> {
  const { appName, userId } = key;
  const [text, compute] = typeof delta === 'string' ? [delta] : ['{}', delta];
  requireRoom(text.length);
  const write = callCore(({ DrivenWrite }) =>
    DrivenWrite.update(appName, userId, text, packComputed(compute)),
  );
  const parts = { key: storageKey(key), call, operation, ...NO_EVENTS };
  const end = () => write.finish() as SharedRevisions;
  return prepareWrite('append', storage, write, parts, end);
}
