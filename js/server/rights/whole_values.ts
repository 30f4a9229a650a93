/** Values of a state that a client has seen in part: the secrets of credentials were hidden. */
import { isEqualJson } from '../../values/json/equal.js';
import { isObject, isPlainObject, type JsonObject } from '../../values/json/rules.js';
import type { NewEvent } from '../../values/model/event/event.js';
import { HttpRefusal } from '../http/http_refusal.js';
import { publicView } from './public_view.js';

/** Whether a change of a state has a value that may be one that a client has seen in part. */
export function mayBeInPart(delta: unknown): boolean {
  return isPlainObject(delta) && Object.values(delta).some(isObject);
}

/** Returns an event with {@link wholeDelta}. */
export function withWholeDelta(event: NewEvent, state: JsonObject): NewEvent {
  const { actions } = event;
  const delta: unknown = actions?.stateDelta;
  if (!isPlainObject(delta) || !mayBeInPart(delta)) return event;
  return { ...event, actions: { ...actions!, stateDelta: wholeDelta(delta, state) } };
}

/**
 * Returns a client's change of a state without any value in part: a value that the client sends as it was shown is the
 * stored one, with what was hidden.
 *
 * A credential that the client has changed is refused, unless it has secrets of its own. The hidden ones are not put
 * into it: a client could send them to another server that way, by changing only the server's address.
 *
 * @param state the stored state, with the keys of the delta
 * @throws HttpRefusal 403 naming the path
 */
export function wholeDelta(delta: JsonObject, state: JsonObject): JsonObject {
  const entries = Object.entries(delta).map(([key, value]): [string, unknown] => {
    if (!isObject(value) || !Object.hasOwn(state, key)) return [key, value];
    // The name of the key may say that its value is a credential.
    const [stored, given] = [{ [key]: state[key] }, { [key]: value }].map((member) => ({
      value: member[key],
      shown: publicView<JsonObject>(member, false)[key],
    }));
    return [key, wholeValue(given!, stored!, key)];
  });
  return Object.fromEntries(entries);
}

/** A value, and what a client sees of it: the same object if that is all. */
interface SeenValue {
  readonly value: unknown;
  readonly shown: unknown;
}

function wholeValue(given: SeenValue, stored: SeenValue, path: string): unknown {
  if (stored.shown === stored.value || !isObject(given.value)) return given.value;
  if (isEqualJson(stored.shown, given.value)) return stored.value;
  const hasOwnSecrets = given.shown !== given.value;
  if (Array.isArray(given.value) && Array.isArray(stored.value)) {
    if (given.value.length !== stored.value.length && !hasOwnSecrets) throw inPart(path);
    return given.value.map((_, at) =>
      wholeValue(memberOf(given, at), memberOf(stored, at), `${path}[${at}]`),
    );
  }
  if (!isPlainObject(given.value) || !isPlainObject(stored.value)) return given.value;
  const seen = Object(stored.shown) as object;
  if (Object.keys(stored.value).some((name) => !Object.hasOwn(seen, name))) {
    if (hasOwnSecrets) return given.value;
    throw inPart(path);
  }
  const entries = Object.keys(given.value).map((name): [string, unknown] => [
    name,
    wholeValue(memberOf(given, name), memberOf(stored, name), `${path}.${name}`),
  ]);
  return Object.fromEntries(entries);
}

function memberOf({ value, shown }: SeenValue, name: string | number): SeenValue {
  const own = (object: unknown): unknown => {
    const members = Object(object) as Readonly<Record<string | number, unknown>>;
    return Object.hasOwn(members, name) ? members[name] : undefined;
  };
  return { value: own(value), shown: own(shown) };
}

function inPart(path: string): HttpRefusal {
  const message = `This request may not change ${path}, whose secrets it does not see: send it as it was read, with secrets of its own, or without it.`;
  return new HttpRefusal(403, message);
}
