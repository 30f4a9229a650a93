import type { CreateRequest, SessionStore } from '../storage/session_store.js';

/** Stores at one kind of server. */
export type ServerStore = Omit<SessionStore, 'open' | 'free' | 'appendMany'>;

/** Returns the body of a request to create a session. The texts go into it as they are. */
export function createBody(request: CreateRequest): string {
  const { key, state, events, delta, description, lastUpdateTime, sharesState } = request;
  const { title, labels } = description;
  const members = [`"sessionId":${JSON.stringify(key.sessionId)}`, `"state":${state}`];
  if (events.length > 0) members.push(`"events":[${events.map(({ text }) => text).join()}]`);
  if (delta !== '{}') members.push(`"stateDelta":${delta}`);
  if (title) members.push(`"title":${JSON.stringify(title)}`);
  if (labels) members.push(`"labels":${labels}`);
  if (lastUpdateTime !== undefined) members.push(`"lastUpdateTime":${lastUpdateTime}`);
  if (!sharesState) members.push('"sharedState":"keep"');
  return `{${members.join()}}`;
}
