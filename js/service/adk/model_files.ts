import { findArtifacts } from '../../core/core_of.js';
import type { ArtifactService, ArtifactVersionRequest } from '../../values/model/artifact.js';
import type { Event } from '../../values/model/event/event.js';
import type { Part } from '../../values/model/event/content.js';
import { filesOf, type MessageFile } from '../../values/model/event/message_files.js';
import type { Session } from '../../values/model/session.js';

/** The most bytes of files that a model gets in one turn. A request of Gemini has at most 20 MB, base64 included. */
const MAX_TURN_BYTES = 15 * 2 ** 20;

/** The types that models take as bytes and as texts, by the rule of the framework's `LOAD_ARTIFACTS`. */
const AS_BYTES = /^(image|audio|video)\/|^application\/pdf$/;
const AS_TEXT = /^text\/|^application\/(csv|json|xml)$/;

/** The files that the events of a handle have, for one turn. */
interface TurnFiles {
  /** The bytes of the files that were read, and of those that are being read, as far as their sizes are known. */
  bytes: number;
  readonly parts: Map<string, Promise<Part | undefined>>;
  readonly events: WeakSet<Event>;
}

/**
 * Gives the events of a handle the files of their messages, behind the texts that stand for them, so that the model sees
 * them. The events with files are copies: nothing of it is stored.
 *
 * The newest files come first, while there is room. One that has no room, cannot be read, or has a type that models do not
 * take, stays a text, and the agent may load it with `LOAD_ARTIFACTS`.
 */
export class ModelFiles {
  /** Absent: the service has no files, and nobody waits for them. */
  readonly artifacts: Required<ArtifactService> | undefined;
  readonly #turns = new WeakMap<Session, TurnFiles>();

  constructor(service: object) {
    this.artifacts = findArtifacts(service);
  }

  /** Gives the files to the events that have none yet. Never rejects. */
  async give(session: Session): Promise<void> {
    const { artifacts } = this;
    if (artifacts === undefined) return;
    const turn = this.#turns.get(session) ?? {
      ...{ bytes: 0, parts: new Map<string, Promise<Part | undefined>>() },
      events: new WeakSet(),
    };
    this.#turns.set(session, turn);
    const lacking: Promise<void>[] = [];
    for (const event of [...session.events].reverse()) {
      if (turn.events.has(event)) continue;
      const files = filesOf(event);
      if (files.length === 0) continue;
      const parts: [MessageFile, Promise<Part | undefined>][] = [];
      for (const file of files.reverse()) {
        const part = partOf(artifacts, session, file, turn);
        parts.push([file, part]);
        // Only then it is known how much room older files have.
        if (file.size === undefined) await part;
      }
      lacking.push(putInto(session, event, parts, turn));
    }
    await Promise.all(lacking);
  }
}

/** Reads a file once in a turn. Never rejects. */
function partOf(
  artifacts: Required<ArtifactService>,
  { appName, userId, id: sessionId }: Session,
  { name: filename, version, mimeType = '', size = 0 }: MessageFile,
  turn: TurnFiles,
): Promise<Part | undefined> {
  const name = JSON.stringify([filename, version]);
  let part = turn.parts.get(name);
  if (part !== undefined) return part;
  const type = mimeType.split(';')[0]!.trim().toLowerCase();
  const isText = AS_TEXT.test(type);
  const isFull = turn.bytes + Math.max(size, 1) > MAX_TURN_BYTES;
  if (isFull || !(isText || AS_BYTES.test(type))) return Promise.resolve(undefined);
  turn.bytes += size;
  const request = { appName, userId, sessionId, filename, version };
  const read = isText ? readText(artifacts, request) : readBytes(artifacts, request);
  part = read
    .catch(() => undefined)
    .then((file) => {
      // The message may tell no size, and another program may have stored any.
      const bytes = turn.bytes - size + (file?.bytes ?? 0);
      const fits = bytes <= MAX_TURN_BYTES;
      turn.bytes = fits ? bytes : turn.bytes - size;
      return fits ? file?.part : undefined;
    });
  turn.parts.set(name, part);
  return part;
}

/** A file that was read, and its size. */
interface ReadPart {
  readonly part: Part;
  readonly bytes: number;
}

async function readText(
  artifacts: Required<ArtifactService>,
  request: ArtifactVersionRequest,
): Promise<ReadPart | undefined> {
  const blob = await artifacts.open(request);
  return blob && { part: { text: await blob.text() }, bytes: blob.size };
}

async function readBytes(
  artifacts: Required<ArtifactService>,
  request: ArtifactVersionRequest,
): Promise<ReadPart | undefined> {
  const part = await artifacts.loadArtifact(request);
  const { text = '', inlineData: { data = '' } = {} } = part ?? {};
  const padding = data.indexOf('=', data.length - 2);
  const encoded = padding === -1 ? data.length : padding;
  return part && { part, bytes: text.length + Math.floor(encoded * 0.75) };
}

/** Replaces an event of the handle by a copy with the parts of its files. */
async function putInto(
  session: Session,
  event: Event,
  parts: readonly (readonly [MessageFile, Promise<Part | undefined>])[],
  turn: TurnFiles,
): Promise<void> {
  const all: Part[] = [...event.content!.parts!];
  // From the last part on, so that the places of the others stay.
  for (const [file, reading] of parts) {
    const part = await reading;
    if (part !== undefined) all.splice(file.part + 1, 0, part);
  }
  const copy = { ...event, content: { ...event.content, parts: all } };
  turn.events.add(copy);
  const index = session.events.indexOf(event);
  if (index >= 0) session.events[index] = copy;
}
