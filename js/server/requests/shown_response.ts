/** What a client may see of a response. The one place through which each value of a route leaves the server. */
import { EVENTS_PER_TASK, mapInTasks } from '../../core/call/scheduling.js';
import { isPlainObject, type JsonObject } from '../../values/json/rules.js';
import { publicView } from '../rights/public_view.js';
import { JSON_TEXT, refName, type Schema } from '../../stores/http/schema.js';
import { type ResponseName, SCHEMAS } from './schemas.js';

/**
 * Returns the part of a response that a client may see: that of each JSON value in it, and of each JSON value whose
 * text is in it. The schema of the response says which members are such texts.
 *
 * @param maySeeCredentials whether the secrets of credentials stay
 */
function shownResponse(
  value: unknown,
  response: ResponseName,
  maySeeCredentials: boolean,
): unknown {
  const shown = showTexts(value, SCHEMAS[response], maySeeCredentials);
  return publicView(shown, maySeeCredentials);
}

/**
 * Returns the JSON text of {@link shownResponse}. The events of a long session are printed in several tasks: the server
 * answers others between them.
 */
export async function responseText(
  value: unknown,
  response: ResponseName,
  maySeeCredentials: boolean,
): Promise<string> {
  const shownPart = (part: unknown): unknown => shownResponse(part, response, maySeeCredentials);
  const events: unknown = isPlainObject(value) ? value.events : undefined;
  if (!isPlainObject(value) || !Array.isArray(events) || events.length <= EVENTS_PER_TASK) {
    return JSON.stringify(shownPart(value));
  }
  const texts = await mapInTasks(events as readonly unknown[], (events) => {
    const text = JSON.stringify((shownPart({ events }) as JsonObject).events);
    return [text.slice(1, -1)];
  });
  const members = Object.entries(shownPart({ ...value, events: [] }) as JsonObject);
  const printed = members.flatMap(([name, member]) => {
    const text = name === 'events' ? `[${texts.join()}]` : textOf(member);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${printed.join()}}`;
}

/** `undefined` has no JSON text, which the type of `JSON.stringify` does not say. */
const textOf: (value: unknown) => string | undefined = JSON.stringify;

/** Replaces the JSON texts in a value. What has none is the same object. */
function showTexts(value: unknown, schema: Schema, maySeeCredentials: boolean): unknown {
  if (!hasTexts(schema)) return value;
  const { contentMediaType, items, properties } = resolved(schema);
  if (contentMediaType !== undefined) {
    return typeof value === 'string' ? shownText(value, maySeeCredentials) : value;
  }
  if (items !== undefined) {
    if (!Array.isArray(value)) return value;
    return value.map((item: unknown) => showTexts(item, items, maySeeCredentials));
  }
  if (!isPlainObject(value)) return value;
  let shown = value;
  for (const [name, member] of Object.entries(properties ?? {})) {
    if (hasTexts(member) && Object.hasOwn(value, name)) {
      shown = { ...shown, [name]: showTexts(value[name], member, maySeeCredentials) };
    }
  }
  return shown;
}

function shownText(text: string, maySeeCredentials: boolean): string {
  const value: unknown = JSON.parse(text);
  const shown = publicView(value, maySeeCredentials);
  return shown === value ? text : JSON.stringify(shown);
}

function resolved(schema: Schema): Schema {
  const { $ref } = schema;
  return $ref === undefined ? schema : SCHEMAS[refName($ref) as ResponseName];
}

const KNOWN = new Map<Schema, boolean>();

/** Whether a value of a schema has members that are JSON texts. Most have none, and are not visited. */
function hasTexts(schema: Schema): boolean {
  const known = KNOWN.get(schema);
  if (known !== undefined) return known;
  const { contentMediaType, items, properties = {} } = resolved(schema);
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  const has = contentMediaType === JSON_TEXT.contentMediaType || inner.some(hasTexts);
  KNOWN.set(schema, has);
  return has;
}
